"""The preemption priority of a group: checked when it is said, changed at any time, used by the next decision (KEP-5710)."""

from contextlib import suppress

import pytest

from tests.conformance.scenarios.preemption_stage import HIGH, LOW, MID, SOON_SECONDS, TOP, Stage
from verify.clusters.client import ApiError
from verify.clusters.eventually import eventually, throughout
from verify.clusters.jobs import condition_entry, indexed_job

KEY = "tutti.scheduler/preemption-priority-class"
STAYS_SECONDS = 1.0


def say(stage: Stage, name: str | None, *, suffix: str = "") -> None:
    path = stage.api.path("podgroups", stage.namespace, "v") + suffix
    stage.api.request("PATCH", path, {"metadata": {"annotations": {KEY: name}}}, kind="merge")


def in_force(stage: Stage) -> tuple[str, str]:
    entry = condition_entry(stage.api.get("podgroups", "v", stage.namespace), "PreemptionPriority") or {}
    return entry.get("status", ""), entry.get("reason", "")


def test_a_group_with_a_higher_preemption_priority_stays_until_that_is_taken_back(stage: Stage) -> None:
    node = stage.node(2)
    stage.group("v", 2, LOW, whole=True, annotations={KEY: TOP})
    stage.members("v", 2, priority=LOW, on=node)
    stage.gang("g", 2)
    stage.refused("g", "No preemption victims found for incoming preemptor")
    eventually(lambda: in_force(stage) == ("True", "PodsNotMatchingPriority"), within_seconds=SOON_SECONDS)
    throughout(lambda: not stage.leaving(), seconds=STAYS_SECONDS)
    say(stage, None)
    stage.runs("g", 2)
    stage.preempted("v-0", "v-1")


def test_a_preemption_priority_that_is_too_low_too_high_or_unknown_is_refused(stage: Stage) -> None:
    stage.group("v", 2, MID)
    with pytest.raises(ApiError, match="no PriorityClass with name nowhere was found"):
        say(stage, "nowhere")
    with pytest.raises(ApiError, match="below 50, the priority the group is scheduled with"):
        say(stage, LOW)
    with pytest.raises(
        ApiError, match="above 50, the priority the group is scheduled with, and is not allowed for this"
    ):
        say(stage, HIGH)
    with pytest.raises(ApiError, match="which is for the system"):
        say(stage, "system-node-critical")
    say(stage, TOP)
    # Some servers ignore metadata that comes with a status; the others would let it pass if a policy did not forbid it.
    with suppress(ApiError):
        say(stage, LOW, suffix="/status")
    assert stage.api.get("podgroups", "v", stage.namespace)["metadata"]["annotations"][KEY] == TOP


def test_a_job_that_makes_itself_too_dear_to_evict_is_refused(stage: Stage) -> None:
    for name, words in ((HIGH, "is not allowed for this"), ("system-node-critical", "which is for the system")):
        with pytest.raises(ApiError) as refused:
            stage.jobs.create(indexed_job("dear", 2, annotations={KEY: name}))
        assert refused.value.message.count(f"metadata.annotations[{KEY}]: PriorityClass {name} has the value") == 1
        assert words in refused.value.message


def test_a_job_gives_its_preemption_priority_to_its_group(stage: Stage) -> None:
    stage.node(2)
    stage.jobs.create(indexed_job("early", 2, annotations={KEY: TOP}))
    eventually(lambda: stage.jobs.groups("early"), within_seconds=SOON_SECONDS)
    assert stage.jobs.group("early")["metadata"]["annotations"][KEY] == TOP
