"""Ordinary users see the gangs of their namespace and may make some of their own, by the roles that every cluster has."""

import secrets
from collections.abc import Callable

import pytest

from api.constants import SYSTEM_NAMESPACE
from tests.conformance.can_i import listed
from verify.clusters.cluster_files import ADMIN
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import Jobs, indexed_job
from verify.clusters.tutti_process import Tutti

pytestmark = pytest.mark.real_only("no stand-in puts the rules of cluster roles together")
SETTLE_SECONDS = 30
GROUPS = {"own": "tutti.scheduler", "built-in": "scheduling.k8s.io"}
USES = ("create", "update", "patch", "delete")


@pytest.fixture
def user_with(control_plane: ControlPlane, namespace: str) -> Callable[[str], str]:
    """Makes a user who has one of the roles that every cluster has, in the namespace only."""

    def make(role: str) -> str:
        user = f"{role}-{secrets.token_hex(3)}"
        binding = {
            "metadata": {"name": user},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}],
        }
        control_plane.admin.create("rolebindings", binding, namespace)
        return user

    return make


def may(control_plane: ControlPlane, user: str, verb: str, resource: str, namespace: str, *more: str) -> bool:
    """What `kubectl auth can-i` says for this user."""
    asked = ("auth", "can-i", verb, resource, "--as", user, "-n", namespace, *more)
    return control_plane.kubectl(*asked, user=ADMIN, code=None).out.strip() == "yes"


@pytest.mark.parametrize("role", ["view", "edit", "admin"])
def test_who_may_see_pods_sees_gangs_and_who_may_change_them_may_make_groups_of_his_own(
    jobs: Jobs,
    nodes: HollowNodes,
    tutti: Tutti,
    control_plane: ControlPlane,
    user_with: Callable[[str], str],
    role: str,
    group_api: str,
) -> None:
    user, here = user_with(role), jobs.namespace
    nodes.add(cpu="4")
    jobs.create(indexed_job("train", 2))
    name = eventually(lambda: jobs.groups("train"), within_seconds=SETTLE_SECONDS)[0]["metadata"]["name"]
    kind = "gang" if group_api == "own" else "podgroups.scheduling.k8s.io"

    def sees() -> bool:
        return name in control_plane.kubectl("get", kind, "--as", user, "-n", here, code=None).out

    eventually(sees, within_seconds=SETTLE_SECONDS)
    for resource in ("podgroups", "workloads"):
        full = f"{resource}.{GROUPS[group_api]}"
        assert all(may(control_plane, user, verb, full, here) for verb in ("get", "list", "watch"))
        assert {may(control_plane, user, verb, full, here) for verb in USES} == {role != "view"}
        assert not may(control_plane, user, "list", full, "default")
    assert not may(control_plane, user, "patch", f"podgroups.{GROUPS[group_api]}", here, "--subresource=status")
    assert not may(control_plane, user, "manage", "podgroups.tutti.scheduler", here)


@pytest.mark.one_api
@pytest.mark.parametrize("role", ["view", "edit", "admin"])
def test_of_all_that_is_ours_a_user_may_use_the_gangs_of_his_namespace_and_nothing_else(
    tutti: Tutti, control_plane: ControlPlane, namespace: str, user_with: Callable[[str], str], role: str
) -> None:
    user = user_with(role)
    full = "podgroups.tutti.scheduler"
    eventually(lambda: may(control_plane, user, "list", full, namespace), within_seconds=SETTLE_SECONDS)
    reads = {"get", "list", "watch"}
    writes = {*USES, "deletecollection"} if role != "view" else set()
    expected = {
        **dict.fromkeys(("podgroups", "compositepodgroups", "workloads"), reads | writes),
        "podgroups/status": reads,
        "compositepodgroups/status": reads,
    }
    found: dict[str, set[str]] = {}
    for right in listed(control_plane, user, namespace):
        if right.group == GROUPS["own"]:
            found.setdefault(right.resource, set()).add(right.verb)
    assert found == expected
    # Elsewhere, where our processes keep their Secret and their leases too, he may do what anybody may.
    for elsewhere in ("default", SYSTEM_NAMESPACE):
        assert listed(control_plane, user, elsewhere) == listed(control_plane, "nobody-at-all", elsewhere)
    told = control_plane.kubectl("get", "gang", "-A", "--as", user, code=1).err
    assert "Forbidden" in told


@pytest.mark.one_api
def test_after_an_uninstall_nobody_has_these_rights_any_more(
    tutti: Tutti, namespace: str, control_plane: ControlPlane, user_with: Callable[[str], str]
) -> None:
    user = user_with("edit")
    full = "podgroups.tutti.scheduler"
    eventually(lambda: may(control_plane, user, "create", full, namespace), within_seconds=SETTLE_SECONDS)
    assert tutti.stop() == 0
    tutti.uninstall()
    eventually(lambda: not may(control_plane, user, "list", full, namespace), within_seconds=SETTLE_SECONDS)
