"""Preemptions that are disturbed half-way, on a cluster that refuses for itself: admission policies stand in the way for a while.

What was planned is finished or given up, whole gangs leave whole, and nobody leaves who was not in the plan.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from tests.conformance.scenarios.preemption_stage import LOW, MID, SOON_SECONDS, Stage
from verify.clusters.client import ApiError, Object
from verify.clusters.eventually import eventually, throughout
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import Jobs
from verify.clusters.tutti_process import Tutti

POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
POLICY = "preemption-fault"
HAND_OVER_SECONDS = 60
DEADLINE_SECONDS = 3


@pytest.fixture
def impatient(jobs: Jobs, nodes: HollowNodes, tutti: Tutti) -> Iterator[Stage]:
    """A stage whose scheduler gives up on victims soon."""
    with tutti.deciding_with(victim_deadline_seconds=DEADLINE_SECONDS, eviction_pause_seconds=0.5):
        made = Stage(jobs, nodes, tutti)
        yield made
        made.clear()


@contextmanager
def refusing(
    stage: Stage, operation: str, resource: str, allowed: str, probe: Callable[[], object], reason: str = "Invalid"
) -> Iterator[None]:
    """The server allows this operation on pods of the stage only where the expression is true; `probe` tells when it does."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": [operation], "resources": [resource]}
    here = {"matchLabels": {"kubernetes.io/metadata.name": stage.namespace}}
    policy = {
        "metadata": {"name": POLICY},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [rule], "namespaceSelector": here},
            "validations": [{"expression": allowed, "message": "not now", "reason": reason}],
        },
    }
    binding: Object = {
        "metadata": {"name": POLICY},
        "spec": {"policyName": POLICY, "validationActions": ["Deny"]},
    }

    def is_in_force() -> bool:
        try:
            probe()
        except ApiError as error:
            return error.status in {403, 422}
        return False

    stage.api.request("POST", POLICIES, policy)
    stage.api.request("POST", BINDINGS, binding)
    try:
        eventually(is_in_force, within_seconds=SOON_SECONDS)
        yield
    finally:
        stage.api.request("DELETE", f"{BINDINGS}/{POLICY}")
        stage.api.request("DELETE", f"{POLICIES}/{POLICY}")


def keeping(stage: Stage, *names: str, reason: str = "Invalid") -> AbstractContextManager[None]:
    """Nobody may delete these pods."""
    path = f"{stage.api.path('pods', stage.namespace, names[0])}?dryRun=All"
    allowed = f"!(oldObject.metadata.name in {json.dumps(names)})"
    return refusing(stage, "DELETE", "pods", allowed, lambda: stage.api.request("DELETE", path), reason)


def a_whole_gang_in_the_way(stage: Stage) -> set[str]:
    """A gang of four on the only node that would do for another one, and a bystander elsewhere; the names of the four."""
    node = stage.node(4, tended=False)
    stage.group("v", 4, LOW, whole=True)
    stage.members("v", 4, priority=LOW, on=node)
    stage.pod("bystander-0", priority=MID, on=stage.node(1, tended=False))
    return {f"v-{number}" for number in range(4)}


@pytest.mark.parametrize("reason", ["Invalid", "Forbidden"])
def test_victims_of_one_gang_all_leave_although_some_deletes_are_refused_for_a_while(stage: Stage, reason: str) -> None:
    victims = a_whole_gang_in_the_way(stage)
    before = stage.wasted_evictions()
    with keeping(stage, "v-1", "v-2", reason=reason):
        stage.gang("g", 4)
        eventually(stage.leaving, within_seconds=SOON_SECONDS)
        throughout(lambda: stage.leaving() < victims, seconds=1.0)
    eventually(lambda: stage.leaving() == victims, within_seconds=2 * SOON_SECONDS)
    stage.end(*victims)
    stage.runs("g", 4)
    assert "bystander-0" in stage.staying()
    assert stage.wasted_evictions() == before


def test_a_preemptor_that_is_deleted_before_the_first_delete_evicts_nobody(stage: Stage) -> None:
    a_whole_gang_in_the_way(stage)
    before = stage.wasted_evictions()
    stage.pod("probe-0", priority=LOW, nodeSelector={"no": "where"})
    stage.pod_refused("probe-0")

    def nominate() -> None:
        path = stage.api.path("pods", stage.namespace, "probe-0") + "/status?dryRun=All"
        stage.api.request("PATCH", path, {"status": {"nominatedNodeName": "nowhere"}}, kind="merge")

    nobody = "!has(object.status.nominatedNodeName)"
    with refusing(stage, "UPDATE", "pods/status", nobody, nominate):
        stage.gang("g", 4)
        # The plan is made, and cannot be begun before the nominations are written.
        stage.refused("g", "preemption on nominated nodes")
        stage.end(*(f"g-{number}" for number in range(4)))
    throughout(lambda: not stage.leaving(), seconds=5.0)
    assert {"v-0", "v-1", "v-2", "v-3", "bystander-0"} <= stage.staying()
    assert stage.wasted_evictions() == before


def test_a_gang_that_was_half_evicted_when_the_scheduler_died_leaves_whole_for_its_successor(
    stage: Stage, tutti: Tutti
) -> None:
    victims = a_whole_gang_in_the_way(stage)
    with keeping(stage, "v-1", "v-2"):
        stage.gang("g", 4)
        eventually(stage.leaving, within_seconds=SOON_SECONDS)
        tutti.kill_child("scheduler")
    eventually(lambda: stage.leaving() == victims, within_seconds=HAND_OVER_SECONDS)
    assert "bystander-0" in stage.staying()
    stage.end(*victims)
    stage.runs("g", 4)


def test_a_victim_that_does_not_die_by_the_deadline_is_given_up_and_others_leave_one_plan_at_a_time(
    impatient: Stage,
) -> None:
    for node in range(3):
        name = impatient.node(2, tended=False)
        for number in range(2):
            impatient.pod(f"low-{node}-{number}", on=name)
    impatient.gang("g", 2)
    eventually(lambda: len(impatient.leaving()) == 2, within_seconds=SOON_SECONDS)
    first = impatient.leaving()
    throughout(lambda: impatient.leaving() == first, seconds=DEADLINE_SECONDS / 2)
    eventually(lambda: len(impatient.leaving()) == 4, within_seconds=SOON_SECONDS)
    second = impatient.leaving() - first
    impatient.end(*second)
    impatient.runs("g", 2)
    assert impatient.leaving() == first
