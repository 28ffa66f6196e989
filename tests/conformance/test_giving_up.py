"""A Job that does not want to wait for ever: `tutti.scheduler/scheduling-timeout`."""

import pytest

from tests.conformance.scenarios.scene import Scene
from verify.clusters.client import ApiError
from verify.clusters.eventually import eventually, throughout
from verify.clusters.groups import pod_group
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import CONDITION, Jobs, condition, condition_entry, indexed_job
from verify.clusters.tutti_process import Tutti

TIMEOUT = "tutti.scheduler/scheduling-timeout"
ON_TIMEOUT = "tutti.scheduler/on-scheduling-timeout"
DESIRED = "tutti.scheduler/desired-count"
TIMED_OUT = "SchedulingTimedOut"


def test_a_gang_that_gives_up_stays_and_says_so(jobs: Jobs, nodes: HollowNodes, tutti: Tutti) -> None:
    nodes.add(cpu="1")
    jobs.create(indexed_job("hasty", 2, annotations={TIMEOUT: "2s"}))
    eventually(lambda: condition(jobs.group("hasty"), TIMED_OUT) == "True", within_seconds=15)
    told = condition_entry(jobs.group("hasty"), CONDITION) or {}
    assert (told["status"], told["reason"]) == ("False", "SchedulingTimeout")
    assert told["message"].startswith("gave up after 2 s: minCount (2) cannot be satisfied: 1 of 2 pods can be placed")
    eventually(lambda: jobs.events("Job", "hasty", "SchedulingTimeout"), within_seconds=10)
    nodes.add(cpu="2")
    throughout(lambda: jobs.waits("hasty"), seconds=1)


def test_a_job_that_asked_for_it_is_suspended_and_can_be_resumed(jobs: Jobs, nodes: HollowNodes, tutti: Tutti) -> None:
    nodes.add(cpu="1")
    jobs.create(indexed_job("hasty", 2, annotations={TIMEOUT: "2s", ON_TIMEOUT: "suspend"}))
    eventually(lambda: jobs.get("hasty")["spec"]["suspend"] and not jobs.pods("hasty"), within_seconds=20)
    eventually(lambda: condition(jobs.group("hasty"), TIMED_OUT) == "False", within_seconds=10)
    assert any("resume it to try again" in note for note in jobs.events("Job", "hasty", "SchedulingTimeout"))
    assert not jobs.get("hasty").get("status", {}).get("failed")
    nodes.add(cpu="2")
    throughout(lambda: jobs.get("hasty")["spec"]["suspend"], seconds=1)
    jobs.api.patch("jobs", "hasty", {"spec": {"suspend": False}}, jobs.namespace)
    eventually(lambda: jobs.whole("hasty"), within_seconds=20)


@pytest.mark.parametrize(
    ("annotations", "text"),
    [
        ({TIMEOUT: "soon"}, "'soon' is not a duration above zero and up to a year, such as 10m or 1h30m"),
        ({ON_TIMEOUT: "suspend"}, f"it needs {TIMEOUT} beside it"),
        ({DESIRED: "4"}, "it is for the policy basic"),
    ],
)
def test_an_unusable_wish_of_a_job_is_refused(jobs: Jobs, tutti: Tutti, annotations: dict[str, str], text: str) -> None:
    with pytest.raises(ApiError) as refused:
        jobs.create(indexed_job("hasty", 2, annotations=annotations))
    assert text in refused.value.message
    assert "metadata.annotations[tutti.scheduler/" in refused.value.message


@pytest.mark.parametrize(
    ("annotations", "need", "text"),
    [
        ({TIMEOUT: "soon"}, 2, "must be a duration above zero, such as 10m or 1h30m"),
        ({TIMEOUT: "0s"}, 2, "must be a duration above zero"),
        ({ON_TIMEOUT: "delete"}, 2, "must be stop or suspend"),
        ({DESIRED: "0"}, None, "must be a whole number above zero"),
        ({DESIRED: "4"}, 2, "on a PodGroup with the policy basic"),
        ({TIMEOUT: "1h30m", ON_TIMEOUT: "stop"}, 2, ""),
        ({TIMEOUT: "1.5h", DESIRED: "4"}, None, ""),
    ],
)
def test_an_unusable_wish_of_a_group_is_refused(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, annotations: dict[str, str], need: int | None, text: str
) -> None:
    scene = Scene(jobs, nodes, tutti)
    group = pod_group(jobs.api, "g", need, annotations=annotations)
    if not text:
        scene.api.create("podgroups", group, jobs.namespace)
        return
    with pytest.raises(ApiError) as refused:
        scene.api.create("podgroups", group, jobs.namespace)
    assert text in refused.value.message
