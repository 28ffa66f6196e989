"""Who is who: objects belong to one Job by its UID, whatever else has its name."""

from typing import Any

import pytest

from api.constants import EVENT_NAME_TAKEN
from api.names import pod_group_name
from controllers.gangs.common_steps import NAME_TAKEN_SECONDS
from controllers.owner_cache import JUST_NOW_SECONDS
from kube.client.resources import JOBS
from kube.groups.group_api import OWN
from tests.controllers.builders import JOB_UID, WORKLOAD_NAME, group_manifest, job_manifest, workload_manifest
from tests.controllers.fake_cluster import FakeCluster
from tests.controllers.world import World


async def test_a_job_that_is_gone_is_forgotten_before_anything_is_created(gang: World) -> None:
    gang.cluster.remove(JOBS, "train")
    gang.now += JUST_NOW_SECONDS
    assert await gang.once() is None
    assert gang.cluster.written() == []
    assert len(gang.jobs) == 0


async def test_a_job_recreated_under_its_name_gets_objects_of_its_own(gang: World) -> None:
    await gang.settle()
    gang.cluster.put(JOBS, job_manifest(uid="another-uid"))
    await gang.settle()
    owners = {
        found["metadata"]["ownerReferences"][0]["uid"]
        for found in gang.cluster.all(OWN.workloads) + gang.cluster.all(OWN.pod_groups)
    }
    assert owners == {JOB_UID, "another-uid"}
    assert len(gang.cluster.all(OWN.pod_groups)) == 2
    job = gang.cluster.one(JOBS, "train")
    named = job["spec"]["template"]["metadata"]["annotations"]["tutti.scheduler/pod-group"]
    group = gang.cluster.one(OWN.pod_groups, named)
    assert group["metadata"]["ownerReferences"][0]["uid"] == "another-uid"
    assert job["spec"]["suspend"] is False


async def test_a_job_recreated_unnoticed_is_not_given_the_objects_of_its_predecessor(gang: World) -> None:
    gang.cluster.put(JOBS, job_manifest(uid="another-uid"))
    gang.now += JUST_NOW_SECONDS
    await gang.once()
    (workload,) = gang.cluster.all(OWN.workloads)
    assert workload["metadata"]["ownerReferences"][0]["uid"] == "another-uid"


async def test_objects_of_a_same_named_predecessor_are_neither_used_nor_touched(cluster: FakeCluster) -> None:
    cluster.put(JOBS, job_manifest())
    old_workload = cluster.put(OWN.workloads, workload_manifest("old", uid="w", job_uid="predecessor"))
    old_group = cluster.put(
        OWN.pod_groups, group_manifest("old-g", workload_name="old", uid="g", job_uid="predecessor")
    )
    await World(cluster).settle()
    assert cluster.one(OWN.workloads, "old") == old_workload
    assert cluster.one(OWN.pod_groups, "old-g") == old_group
    assert ("create", "workloads", WORKLOAD_NAME) in cluster.calls


@pytest.mark.parametrize(
    "holder",
    [
        {"job_uid": "somebody", "job_name": "other"},
        {"job_uid": "a-predecessor"},
        {"job_uid": None, "job_name": "other", "ours": False},
        {"job_name": "other", "deleting": True},
    ],
    ids=["of another owner", "of a predecessor of the same name", "hand-made", "being deleted"],
)
async def test_a_taken_name_is_told_and_waited_for(cluster: FakeCluster, holder: dict[str, Any]) -> None:
    # The informer has not seen the holder yet: the server tells.
    cluster.put(JOBS, job_manifest())
    world = World(cluster)
    kept = cluster.put(OWN.workloads, workload_manifest(**holder))
    assert await world.once() == NAME_TAKEN_SECONDS
    assert world.events.reasons == [EVENT_NAME_TAKEN]
    assert world.counted("Workload", "taken") == 1
    assert cluster.one(OWN.workloads, WORKLOAD_NAME) == kept

    # Once it is seen, waiting costs no request at all.
    world.look()
    before = list(cluster.calls)
    assert await world.once() == NAME_TAKEN_SECONDS
    assert cluster.calls == before
    assert world.events.reasons[1:] in ([], [EVENT_NAME_TAKEN])

    cluster.remove(OWN.workloads, WORKLOAD_NAME)
    await world.settle()
    assert cluster.one(JOBS, "train")["spec"]["suspend"] is False


async def test_an_object_of_an_earlier_attempt_is_found_and_used(cluster: FakeCluster) -> None:
    cluster.put(JOBS, job_manifest())
    world = World(cluster)
    cluster.put(OWN.workloads, workload_manifest())
    cluster.put(OWN.pod_groups, group_manifest())
    await world.once()
    assert world.counted("Workload", "found") == world.counted("PodGroup", "found") == 1
    assert world.events.told == []
    assert cluster.one(JOBS, "train")["spec"]["suspend"] is False


async def test_a_users_own_workload_is_used_and_never_changed(cluster: FakeCluster) -> None:
    cluster.put(JOBS, job_manifest(annotations={"tutti.scheduler/elastic": "true"}))
    theirs = cluster.put(
        OWN.workloads, workload_manifest("byo", job_uid=None, ours=False, templates=("t",), min_count=2)
    )
    await World(cluster).settle()
    assert cluster.all(OWN.workloads) == [theirs]
    (group,) = cluster.all(OWN.pod_groups)
    assert group["metadata"]["name"] == pod_group_name("byo", "t")
    assert group["spec"]["schedulingPolicy"] == {"gang": {"minCount": 2}}
