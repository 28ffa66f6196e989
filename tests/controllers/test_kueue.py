"""A Job that Kueue admitted is stopped in Kueue's queue, and its `suspend` is never touched by us."""

from typing import Any

import pytest

from api.constants import (
    CONDITION_DISRUPTION_TARGET,
    CONDITION_TIMED_OUT,
    GATE,
    HELD,
    HELD_AND_GATED,
    KUEUE_JOB_UID,
    KUEUE_QUEUE,
    ON_SCHEDULING_TIMEOUT,
    POD_GROUP,
    SCHEDULING_TIMEOUT,
    STOPPED_IN_QUEUE,
)
from kube.client.resources import JOBS, KUEUE_WORKLOADS
from kube.groups.group_api import OWN
from tests.controllers.builders import GROUP_NAME, JOB_UID, group_manifest, job_manifest, owner_of, workload_manifest
from tests.controllers.fake_cluster import FakeCluster
from tests.controllers.world import World

NEWEST, OLDER = KUEUE_WORKLOADS


def kueue_workload(*, active: bool = True, job_uid: str = JOB_UID, why: str = "") -> dict[str, Any]:
    """Kueue's Workload of the Job, as Kueue makes it."""
    return {
        "metadata": {
            "name": "job-train-1a2b3",
            "namespace": "default",
            "uid": "uid-of-kueues",
            "labels": {KUEUE_JOB_UID: JOB_UID},
            "annotations": {STOPPED_IN_QUEUE: why} if why else {},
            "ownerReferences": [owner_of(job_uid)],
        },
        "spec": {"active": active, "queueName": "team"},
    }


def says(cluster: FakeCluster, kind: str, status: str, **annotations: str) -> None:
    """The scheduler says this on the group."""
    manifest = group_manifest()
    manifest["status"] = {"conditions": [{"type": kind, "status": status, "reason": "Because"}]}
    manifest["metadata"]["annotations"] = {**manifest["metadata"].get("annotations", {}), **annotations}
    cluster.put(OWN.pod_groups, manifest)


@pytest.fixture
def cluster() -> FakeCluster:
    """A gang that runs, admitted by Kueue."""
    made = FakeCluster()
    made.kueue_versions = {NEWEST.version, OLDER.version}
    job = job_manifest(gated=False, started=True, group=GROUP_NAME)
    job["metadata"]["labels"] = {KUEUE_QUEUE: "team"}
    made.put(JOBS, job)
    made.put(OWN.workloads, workload_manifest())
    made.put(OWN.pod_groups, group_manifest())
    made.put(NEWEST, kueue_workload())
    return made


def queued(cluster: FakeCluster) -> tuple[bool, str | None]:
    """Whether Kueue's Workload is active, and our mark on it."""
    found = cluster.one(NEWEST, "job-train-1a2b3")
    return found["spec"]["active"], found["metadata"]["annotations"].get(STOPPED_IN_QUEUE)


def writes_to_the_job(cluster: FakeCluster) -> list[tuple[str, str, str]]:
    return [call for call in cluster.written() if call[1] == "jobs"]


async def test_it_is_stopped_in_the_queue_for_a_preemptor_and_goes_on_when_its_pods_have_left(
    cluster: FakeCluster,
) -> None:
    world = World(cluster)
    says(cluster, CONDITION_DISRUPTION_TARGET, "True")
    await world.settle()
    assert queued(cluster) == (False, "preempted")
    says(cluster, CONDITION_DISRUPTION_TARGET, "False")
    await world.settle()
    assert queued(cluster) == (True, None)
    assert writes_to_the_job(cluster) == []


async def test_what_kueue_makes_of_it_meanwhile_starts_no_tug_of_war(cluster: FakeCluster) -> None:
    """Kueue resumes what it has admitted, and suspends what it has evicted: neither makes us write again."""
    world = World(cluster)
    says(cluster, CONDITION_DISRUPTION_TARGET, "True")
    await world.settle()
    before = cluster.writes
    for suspended in (True, False, True):
        cluster.one(JOBS, "train")["spec"]["suspend"] = suspended
        await world.settle()
    assert cluster.writes == before


@pytest.mark.parametrize(
    ("labels", "suspended"), [({}, False), ({KUEUE_QUEUE: "default"}, True)], ids=["ours", "queued"]
)
async def test_what_the_api_server_has_held_and_kueue_has_queued_since_is_resumed_by_kueue_alone(
    labels: dict[str, str], *, suspended: bool
) -> None:
    """No webhook of ours saw it (config/components/hold-gangs); Kueue's webhook has given it its default queue."""
    cluster = FakeCluster()
    job = job_manifest(gated=True)
    job["metadata"]["labels"] = labels
    job["metadata"]["annotations"][HELD] = HELD_AND_GATED
    cluster.put(JOBS, job)
    await World(cluster).settle()
    found = cluster.one(JOBS, "train")
    assert found["spec"]["suspend"] is suspended
    assert found["metadata"]["annotations"].keys().isdisjoint({GATE, HELD})
    assert found["spec"]["template"]["metadata"]["annotations"][POD_GROUP] == GROUP_NAME


async def test_a_stop_whose_answer_is_lost_is_looked_up(cluster: FakeCluster) -> None:
    world = World(cluster)
    says(cluster, CONDITION_DISRUPTION_TARGET, "True")
    cluster.fault = lambda number: "lost after" if number == 0 else None
    await world.settle()
    assert queued(cluster) == (False, "preempted")
    assert cluster.writes == 1


async def test_a_restart_in_between_lets_it_go_on(cluster: FakeCluster) -> None:
    cluster.put(NEWEST, kueue_workload(active=False, why="preempted"))
    says(cluster, CONDITION_DISRUPTION_TARGET, "False")
    await World(cluster).settle()
    assert queued(cluster) == (True, None)


async def test_what_somebody_else_stopped_stays_stopped(cluster: FakeCluster) -> None:
    cluster.put(NEWEST, kueue_workload(active=False))
    world = World(cluster)
    for status in ("True", "False"):
        says(cluster, CONDITION_DISRUPTION_TARGET, status)
        await world.settle()
    assert queued(cluster) == (False, None)
    assert cluster.written() == []


async def test_a_job_that_gave_up_is_stopped_until_its_user_lets_it_go_on(cluster: FakeCluster) -> None:
    world = World(cluster)
    waiting = {SCHEDULING_TIMEOUT: "10m", ON_SCHEDULING_TIMEOUT: "suspend"}
    for status in ("True", "False"):
        says(cluster, CONDITION_TIMED_OUT, status, **waiting)
        await world.settle()
        assert queued(cluster) == (False, "timed-out")
    assert writes_to_the_job(cluster) == []
    [(reason, note)] = world.events.told
    assert reason == "SchedulingTimeout"
    assert "set spec.active of Kueue's Workload job-train-1a2b3 to true" in note


async def test_a_kueue_that_knows_the_older_version_only_is_asked_in_that(cluster: FakeCluster) -> None:
    cluster.kueue_versions = {OLDER.version}
    says(cluster, CONDITION_DISRUPTION_TARGET, "True")
    await World(cluster).settle()
    assert queued(cluster) == (False, "preempted")


@pytest.mark.parametrize("why", ["no Kueue", "the namespace is not Kueue's", "a predecessor's Workload"])
async def test_a_job_that_only_carries_the_label_waits_at_our_gate(cluster: FakeCluster, why: str) -> None:
    if why == "no Kueue":
        cluster.kueue_versions = set()
    elif why == "a predecessor's Workload":
        cluster.put(NEWEST, kueue_workload(job_uid="another"))
    else:
        cluster.remove(NEWEST, "job-train-1a2b3")
    says(cluster, CONDITION_DISRUPTION_TARGET, "True")
    world = World(cluster)
    await world.settle()
    assert cluster.one(JOBS, "train")["spec"]["suspend"] is True
    says(cluster, CONDITION_DISRUPTION_TARGET, "False")
    await world.settle()
    assert cluster.one(JOBS, "train")["spec"]["suspend"] is False


async def test_kueue_is_not_asked_about_a_job_that_nobody_wants_to_stop(cluster: FakeCluster) -> None:
    await World(cluster).settle()
    assert [call for call in cluster.calls if call[0] == "list"] == []
