"""One table of Workloads, PodGroups and CompositePodGroups, sent to our CRDs and to scheduling.k8s.io: taken and refused alike.

Run once per group API. Where the answers differ, the table says how and `docs/api-differences.md` says why. The objects live in
a namespace that no webhook of ours looks at.
"""

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conformance import composite_cases
from tests.conformance.api_cases import CHANGED, CREATED, Case, claims
from tests.conformance.definitions import groups_are_served, install_definitions
from tests.conformance.gated import GatedControlPlane
from verify.clusters.client import Api, ApiError
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.groups import type_of
from verify.clusters.jobs import plain_pod

NAMESPACE = "kube-public"
TREES = [*composite_cases.CREATED, *composite_cases.CHANGED]


@pytest.fixture(scope="module")
def api(request: pytest.FixtureRequest, group_api: str) -> Iterator[Api]:
    if group_api == "own":
        control_plane: ControlPlane = request.getfixturevalue("control_plane")
        install_definitions(control_plane.admin)
        yield control_plane.admin
        return
    # Without this gate the built-in API drops resource claims before it looks at them.
    assets: Path = request.getfixturevalue("assets")
    with GatedControlPlane("DRAWorkloadResourceClaims", assets=assets, stock_scheduler=False) as gated:
        eventually(lambda: groups_are_served(gated.admin), within_seconds=30)
        yield gated.admin


def outcome(api: Api, case: Case) -> ApiError | None:
    """The refusal of what the case sends, None when it was taken."""
    name = f"case-{secrets.token_hex(4)}"
    body = {**type_of(api, case.kind), "metadata": {"name": name}, "spec": case.spec}
    try:
        api.create(case.kind, body, NAMESPACE)
        if case.change is not None:
            api.patch(case.kind, name, {"spec": case.change}, NAMESPACE)
    except ApiError as error:
        return error
    finally:
        api.delete(case.kind, name, NAMESPACE)
    return None


@pytest.mark.parametrize("case", [*CREATED, *CHANGED, *TREES], ids=str)
def test_the_table_is_answered_alike(api: Api, group_api: str, case: Case) -> None:
    refusal = outcome(api, case)
    own = group_api == "own"
    words = case.own_words if own and case.own_words is not None else case.words
    if not words:
        assert refusal is None
        return
    assert refusal is not None, "it was taken"
    named = case.own_field if own and case.own_field is not None else case.field
    assert refusal.status == (case.own_code if own and case.own_code is not None else case.code)
    assert words in refusal.message, refusal.message
    assert named in refusal.message, refusal.message


DATED = {
    "type": "PodGroupInitiallyScheduled",
    "status": "False",
    "reason": "Unschedulable",
    "message": "no room",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}


@pytest.fixture
def with_claims(api: Api) -> Iterator[str]:
    name = f"case-{secrets.token_hex(4)}"
    metadata = {"name": name, "annotations": {"a": "b"}}
    body = {**type_of(api, "podgroups"), "metadata": metadata, "spec": claims("a")}
    made = api.create("podgroups", {**body, "status": {"conditions": [DATED]}}, NAMESPACE)
    assert not made.get("status", {}).get("conditions"), "a status came in with the creation"
    yield name
    api.delete("podgroups", name, NAMESPACE)


def tell(api: Api, name: str, status: dict[str, object], **more: object) -> dict[str, Any]:
    path = api.path("podgroups", NAMESPACE, name) + "/status"
    return api.request("PATCH", path, {"status": status, **more}, kind="merge")


def test_98_only_the_status_is_changed_through_the_status(api: Api, with_claims: str) -> None:
    told = tell(api, with_claims, {"conditions": [DATED]}, spec={"schedulingPolicy": {"gang": {"minCount": 9}}})
    assert told["status"]["conditions"] == [DATED]
    assert told["spec"]["schedulingPolicy"] == {"gang": {"minCount": 2}}


@pytest.mark.parametrize(
    ("status", "field"),
    [
        ({"conditions": [{**DATED, "reason": ""}]}, "status.conditions[0].reason"),
        ({"conditions": [{**DATED, "status": "Perhaps"}]}, "status.conditions[0].status"),
        ({"conditions": [DATED, DATED]}, "status.conditions[1]"),
        ({"resourceClaimStatuses": [{"name": "b"}]}, "status.resourceClaimStatuses"),
        ({"resourceClaimStatuses": [{"name": name} for name in "abcde"]}, "status.resourceClaimStatuses"),
    ],
)
def test_98_a_status_that_breaks_a_rule_is_refused(
    api: Api, with_claims: str, status: dict[str, object], field: str
) -> None:
    with pytest.raises(ApiError) as refused:
        tell(api, with_claims, status)
    assert refused.value.status == 422
    assert field in refused.value.message


@pytest.mark.parametrize("name", ["fine", "Bad_"])
def test_97_the_group_of_a_pod_is_kept_and_checked_or_dropped(api: Api, group_api: str, name: str) -> None:
    pod = plain_pod(f"case-{secrets.token_hex(4)}")
    pod["spec"]["schedulingGroup"] = {"podGroupName": name}
    if group_api == "own":
        assert "schedulingGroup" not in api.create("pods", pod, NAMESPACE, dry_run=True)["spec"]
    elif name == "fine":
        made = api.create("pods", pod, NAMESPACE, dry_run=True)
        assert made["spec"]["schedulingGroup"] == {"podGroupName": "fine"}
    else:
        with pytest.raises(ApiError, match=r"spec.schedulingGroup.podGroupName"):
            api.create("pods", pod, NAMESPACE, dry_run=True)
