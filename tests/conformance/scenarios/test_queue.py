"""Who waits, who is woken, who is tried again."""

import time
from collections.abc import Iterator

import pytest

from tests.conformance.scenarios.preemption_stage import HIGH, SOON_SECONDS
from tests.conformance.scenarios.scene import GATE, REFUSED, STAYS_SECONDS, TRUE, Scene
from verify.auditor.auditor import Auditor
from verify.clusters.client import ApiError
from verify.clusters.eventually import eventually

QUIET_SECONDS = 1.0
RETRIES = 2
STUBBORN = "scenario-stubborn"


def test_a_new_member_of_a_refused_gang_is_in_the_next_attempt(scene: Scene) -> None:
    """Upstream waits for its back-off; ours starts as soon as there is a node."""
    scene.node(2)
    scene.gang("g", 3)
    scene.refused("g", "2 of 3 pods can be placed")
    scene.pod("g-3", priority=HIGH, group="g")
    scene.refused("g", "2 of 4 pods can be placed")
    scene.node(2)
    scene.started("g", 4)


@pytest.mark.parametrize("need", [2, None])
def test_a_late_member_of_a_running_group_is_scheduled_too(scene: Scene, need: int | None) -> None:
    scene.node(3)
    scene.group("g", need)
    scene.members("g", 2)
    scene.started("g", 2)
    scene.pod("g-2", priority=HIGH, group="g")
    scene.runs("g", 3)


@pytest.mark.parametrize("need", [3, None])
@pytest.mark.parametrize("fits", [True, False])
def test_a_member_that_comes_during_the_cycle_is_not_lost(scene: Scene, need: int | None, fits: bool) -> None:
    """That the cycle runs at that very moment is driven in tests/scheduler/core; here they come in one burst."""
    if fits:
        scene.node(8)
    scene.group("g", need)
    scene.members("g", 3)
    for number in range(3, 6):
        scene.pod(f"g-{number}", priority=HIGH, group="g")
    if not fits:
        scene.refused("g")
        scene.node(8)
    scene.started("g", 6)


@pytest.mark.parametrize("need", [2, None])
def test_one_gated_member_holds_the_whole_group(scene: Scene, need: int | None) -> None:
    scene.node(4)
    scene.group("g", need)
    scene.pod("g-2", priority=HIGH, group="g", **GATE)
    scene.members("g", 2)
    scene.nobody_starts("g")
    scene.ungate("g-2")
    scene.started("g", 3)


def test_a_gated_member_gates_a_refused_group(scene: Scene) -> None:
    scene.node(2)
    scene.gang("g", 3)
    scene.refused("g")
    scene.pod("g-3", priority=HIGH, group="g", **GATE)
    gated = scene.says_soon("g", "False", "SchedulingGated")
    assert gated["message"] == "1 pod has scheduling gates, which hold the whole group"
    scene.node(2)
    scene.nobody_starts("g")
    scene.ungate("g-3")
    scene.started("g", 4)


def test_a_gated_member_that_comes_with_the_room_gates_the_group(scene: Scene) -> None:
    scene.gang("g", 3)
    scene.refused("g")
    scene.pod("g-3", priority=HIGH, group="g", **GATE)
    scene.node(4)
    scene.nobody_starts("g")
    scene.ungate("g-3")
    scene.started("g", 4)


@pytest.fixture
def stubborn(scene: Scene) -> Iterator[None]:
    """The API server refuses to bind pods whose name ends with -stubborn, until the policy is taken back."""
    policy = {
        "metadata": {"name": STUBBORN},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "resourceRules": [
                    {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods/binding"]}
                ]
            },
            "validations": [{"expression": "!request.name.endsWith('-stubborn')", "message": "not yet"}],
        },
    }
    binding = {"policyName": STUBBORN, "validationActions": ["Deny"]}
    scene.api.create("validatingadmissionpolicies", policy)
    scene.api.create("validatingadmissionpolicybindings", {"metadata": {"name": STUBBORN}, "spec": binding})
    scene.pod("probe-stubborn", scheduler="nobody")
    eventually(lambda: _is_refused(scene, "probe-stubborn"), within_seconds=SOON_SECONDS)
    yield
    _allow(scene)


def _is_refused(scene: Scene, pod: str) -> bool:
    body = {"metadata": {"name": pod}, "target": {"kind": "Node", "name": "none"}}
    try:
        scene.api.request("POST", scene.api.path("pods", scene.namespace, pod) + "/binding?dryRun=All", body)
    except ApiError as error:
        return "not yet" in error.message
    return False


def _allow(scene: Scene) -> None:
    scene.api.delete("validatingadmissionpolicybindings", STUBBORN)
    scene.api.delete("validatingadmissionpolicies", STUBBORN)


@pytest.mark.usefixtures("stubborn")
@pytest.mark.parametrize(("need", "size"), [(2, 2), (None, 2), (1, 1), (2, 3)])
def test_a_member_whose_bind_fails_is_tried_again(scene: Scene, auditor: Auditor, need: int | None, size: int) -> None:
    """Of three members the last one finds no room: that changes nothing for the others."""
    auditor.windows.widen(SOON_SECONDS)
    scene.node(min(size, 2))
    scene.group("g", need)
    scene.pod("g-stubborn", priority=HIGH, group="g")
    for number in range(1, size):
        scene.pod(f"g-{'z' * number}", priority=HIGH, group="g")
    scene.runs("g", min(size, 2) - 1)
    _allow(scene)
    scene.runs("g", min(size, 2))
    assert "g-stubborn" in scene.places("g")


def test_a_pod_of_a_group_that_was_deleted_waits_for_another_group(scene: Scene) -> None:
    scene.node(4)
    scene.gang("g", 2)
    scene.started("g", 2)
    scene.drop_group("g")
    scene.pod("g-2", priority=HIGH, group="g")
    scene.stays("g", 2)
    scene.group("g", 1)
    scene.runs("g", 3)


def test_what_a_deleted_group_had_not_placed_waits(scene: Scene) -> None:
    scene.node(2)
    scene.gang("g", 3, need=2)
    scene.started("g", 2)
    scene.drop_group("g")
    scene.node(2)
    scene.stays("g", 2)


def test_the_pods_of_a_refused_gang_that_was_deleted_wait_for_one_with_another_uid(scene: Scene) -> None:
    scene.node(2)
    scene.gang("g", 3)
    scene.refused("g")
    scene.drop_group("g")
    scene.node(2)
    scene.nobody_starts("g")
    scene.group("g", 4)
    scene.nobody_starts("g")
    scene.drop_group("g")
    scene.group("g", 3)
    scene.started("g", 3)


def test_a_refused_gang_is_tried_again_by_time_when_anything_has_changed(scene: Scene) -> None:
    """Upstream goes by time alone; ours leaves out what cannot end differently, for up to five minutes (decision 37)."""
    scene.node(2)
    scene.gang("g", 3)
    scene.refused("g")
    for _ in range(RETRIES):
        is_tried_again_after_a_node_of_no_use(scene)
    assert scene.says("g") == REFUSED


def is_tried_again_after_a_node_of_no_use(scene: Scene) -> None:
    before = scene.attempts()
    scene.node(0)
    eventually(lambda: scene.attempts() > before, within_seconds=SOON_SECONDS)


def test_pods_without_their_group_are_never_tried(scene: Scene) -> None:
    scene.node(2)
    before = scene.attempts()
    scene.members("g", 2)
    scene.nobody_starts("g")
    time.sleep(QUIET_SECONDS - STAYS_SECONDS)
    assert scene.attempts() == before
    scene.group("g", 2)
    scene.runs("g", 2)
    eventually(lambda: scene.says("g") == TRUE, within_seconds=SOON_SECONDS)
