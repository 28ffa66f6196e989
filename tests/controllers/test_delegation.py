"""Jobs whose parent describes their group: a PodGroup from the parent's template, nothing else (scenarios 73, 84)."""

from typing import Any

import pytest

from api.constants import (
    DELEGATED_TEMPLATE,
    EVENT_SCHEDULING_DEPENDENCY_NOT_FOUND,
    EVENT_UNSUPPORTED_WORKLOAD_STRUCTURE,
    MANAGED,
    POD_GROUP,
)
from kube.client.resources import JOBS
from kube.groups.group_api import OWN
from tests.controllers.builders import JOB_UID, job_manifest, workload_manifest
from tests.controllers.fake_cluster import FakeCluster
from tests.controllers.world import World

PARENT = {"apiVersion": "jobset.x-k8s.io/v1", "kind": "JobSet", "name": "set", "uid": "uid-of-set", "controller": True}


def child(name: str = "train", **settings: Any) -> dict[str, Any]:
    return job_manifest(name, owner=PARENT, annotations={DELEGATED_TEMPLATE: "workers"}, **settings)


def parents_workload(name: str = "of-set", *, owner_uid: str = "uid-of-set", **settings: Any) -> dict[str, Any]:
    made = workload_manifest(name, ours=False, job_uid=None, **{"templates": ("workers", "driver"), **settings})
    made["spec"]["controllerRef"] = {"apiGroup": "jobset.x-k8s.io", "kind": "JobSet", "name": "set"}
    made["metadata"]["ownerReferences"] = [{**PARENT, "uid": owner_uid}]
    return made


async def test_84_a_delegated_job_gets_a_pod_group_from_its_parents_template(cluster: FakeCluster) -> None:
    cluster.put(JOBS, child())
    workload = cluster.put(OWN.workloads, parents_workload(min_count=7))
    await World(cluster).settle()
    (group,) = cluster.all(OWN.pod_groups)
    assert group["spec"]["schedulingPolicy"] == {"gang": {"minCount": 7}}
    assert group["spec"]["workloadRef"] == {"workloadName": "of-set", "templateName": "workers"}
    assert [owner["uid"] for owner in group["metadata"]["ownerReferences"]] == [JOB_UID]
    job = cluster.one(JOBS, "train")
    assert job["spec"]["suspend"] is False
    assert job["spec"]["template"]["metadata"]["annotations"][POD_GROUP] == group["metadata"]["name"]
    assert cluster.all(OWN.workloads) == [workload]


async def test_two_jobs_of_one_template_get_a_group_each(cluster: FakeCluster) -> None:
    cluster.put(OWN.workloads, parents_workload())
    cluster.put(JOBS, child())
    cluster.put(JOBS, child("other", uid="uid-of-other"))
    world = World(cluster)
    await world.settle()
    await world.settle("other")
    owners = sorted(group["metadata"]["ownerReferences"][0]["name"] for group in cluster.all(OWN.pod_groups))
    assert owners == ["other", "train"]
    assert not cluster.one(JOBS, "other")["spec"]["suspend"]


@pytest.mark.parametrize(
    ("workloads", "words"),
    [
        ([], "JobSet set has no Workload"),
        ([parents_workload(owner_uid="a-predecessor")], "JobSet set has no Workload"),
        ([parents_workload(deleting=True)], "JobSet set has no Workload"),
        ([parents_workload(templates=("driver",))], "has no template 'workers'"),
    ],
    ids=["no workload", "of a predecessor", "being deleted", "other templates"],
)
async def test_84_a_parent_that_describes_nothing_leaves_its_job_plain(
    cluster: FakeCluster, workloads: list[dict[str, Any]], words: str
) -> None:
    for each in workloads:
        cluster.put(OWN.workloads, each)
    cluster.put(JOBS, child())
    world = World(cluster)
    await world.settle()
    job = cluster.one(JOBS, "train")
    assert job["spec"]["suspend"] is False
    assert MANAGED not in job["spec"]["template"]["metadata"]["labels"]
    assert cluster.all(OWN.pod_groups) == []
    ((reason, note),) = world.events.told
    assert reason == EVENT_SCHEDULING_DEPENDENCY_NOT_FOUND
    assert words in note


async def test_a_workload_that_our_watch_has_not_shown_yet_is_found(cluster: FakeCluster) -> None:
    cluster.put(JOBS, child())
    world = World(cluster)
    cluster.put(OWN.workloads, parents_workload())
    await world.once()
    assert len(cluster.all(OWN.pod_groups)) == 1
    assert ("list", "workloads", "") in cluster.calls


async def test_two_workloads_of_the_parent_are_ambiguous(cluster: FakeCluster) -> None:
    cluster.put(OWN.workloads, parents_workload())
    cluster.put(OWN.workloads, parents_workload("another", uid="another"))
    cluster.put(JOBS, child())
    world = World(cluster)
    await world.settle()
    assert world.events.reasons == [EVENT_UNSUPPORTED_WORKLOAD_STRUCTURE]
    assert cluster.all(OWN.pod_groups) == []


async def test_84_the_minimum_of_the_parents_template_is_followed(cluster: FakeCluster) -> None:
    cluster.put(OWN.workloads, parents_workload(min_count=2))
    cluster.put(JOBS, child())
    world = World(cluster)
    await world.settle()
    written = cluster.writes
    await world.settle()
    assert cluster.writes == written
    cluster.put(OWN.workloads, parents_workload(min_count=3))
    await world.settle()
    (group,) = cluster.all(OWN.pod_groups)
    assert group["spec"]["schedulingPolicy"] == {"gang": {"minCount": 3}}
    assert len(cluster.written()) == 3


async def test_the_delegated_group_is_made_again_when_it_was_deleted(cluster: FakeCluster) -> None:
    cluster.put(OWN.workloads, parents_workload())
    cluster.put(JOBS, child())
    world = World(cluster)
    await world.settle()
    (group,) = cluster.all(OWN.pod_groups)
    cluster.remove(OWN.pod_groups, group["metadata"]["name"])
    await world.settle()
    (again,) = cluster.all(OWN.pod_groups)
    assert again["metadata"]["name"] == group["metadata"]["name"]


def test_73_a_change_of_the_parents_workload_concerns_the_jobs_made_from_it(cluster: FakeCluster) -> None:
    cluster.put(OWN.workloads, parents_workload())
    group = {
        "apiVersion": "tutti.scheduler/v1beta1",
        "kind": "PodGroup",
        "metadata": {
            "name": "g",
            "namespace": "default",
            "uid": "g",
            "resourceVersion": "1",
            "ownerReferences": [
                {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": JOB_UID, "controller": True}
            ],
        },
        "spec": {
            "schedulingPolicy": {"basic": {}},
            "workloadRef": {"workloadName": "of-set", "templateName": "workers"},
        },
    }
    cluster.put(OWN.pod_groups, group)
    world = World(cluster)
    observer = world.observer
    workload = world.workloads.get("default", "of-set")
    assert workload is not None
    assert observer.jobs_of_workload(workload) == {("default", "train")}
