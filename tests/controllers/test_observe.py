"""Which objects count as a Job's, and which Jobs an object concerns."""

from typing import Any

import pytest

from controllers.jobs.observe import JobObserver, job_of_workload, owner_job
from controllers.jobs.observed import needs_pods
from kube.client.resources import JOBS, PODS
from kube.groups.group_api import OWN
from tests.controllers.builders import (
    GROUP_NAME,
    NAMESPACE,
    WORKLOAD_NAME,
    group,
    group_manifest,
    job,
    job_manifest,
    pod_manifest,
    workload,
    workload_manifest,
)
from tests.controllers.fake_cluster import FakeCluster
from tests.controllers.world import World

KEY = (NAMESPACE, "train")


def observer(world: World) -> JobObserver:
    return world.observer


@pytest.mark.parametrize(
    ("settings", "counts"),
    [
        ({}, True),
        ({"ours": False}, True),
        ({"ours": False, "job_uid": None}, True),
        ({"job_uid": "a-predecessor"}, False),
        ({"deleting": True}, False),
        ({"job_name": "another"}, False),
    ],
    ids=["ours", "of this Job", "hand-made", "of a predecessor", "being deleted", "of another Job"],
)
async def test_a_workload_counts_by_reference_and_owner(
    cluster: FakeCluster, settings: dict[str, Any], counts: bool
) -> None:
    cluster.put(OWN.workloads, workload_manifest("any-name", **settings))
    seen = await observer(World(cluster)).observe(job())
    assert len(seen.workloads) == counts


async def test_a_workload_for_something_else_than_a_job_does_not_count(cluster: FakeCluster) -> None:
    manifest = workload_manifest()
    manifest["spec"]["controllerRef"] |= {"apiGroup": "jobset.x-k8s.io"}
    cluster.put(OWN.workloads, manifest)
    assert (await observer(World(cluster)).observe(job())).workloads == ()


@pytest.mark.parametrize(
    ("settings", "counts"),
    [
        ({}, True),
        ({"ours": False, "job_uid": None}, True),
        ({"job_uid": "a-predecessor"}, False),
        ({"deleting": True}, False),
        ({"workload_name": "another"}, False),
    ],
    ids=["ours", "hand-made", "of a predecessor", "being deleted", "of another Workload"],
)
async def test_a_group_counts_by_reference_and_owner(
    cluster: FakeCluster, settings: dict[str, Any], counts: bool
) -> None:
    cluster.put(OWN.workloads, workload_manifest())
    cluster.put(OWN.pod_groups, group_manifest("any-name", **settings))
    seen = await observer(World(cluster)).observe(job())
    assert len(seen.pod_groups) == counts


@pytest.mark.parametrize(
    ("settings", "there"),
    [({}, True), ({"deleting": True}, False), ({"job_uid": "a-predecessor"}, False), ({"workload_name": "x"}, True)],
)
async def test_the_group_a_template_names_must_count_too(
    cluster: FakeCluster, settings: dict[str, Any], there: bool
) -> None:
    cluster.put(OWN.pod_groups, group_manifest(**settings))
    seen = await observer(World(cluster)).observe(job(group=GROUP_NAME))
    assert (seen.named_group is not None) == there


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"deleting": True}, f"Workload {WORKLOAD_NAME} is being deleted"),
        ({"job_uid": "somebody"}, f"Workload {WORKLOAD_NAME} belongs to Job train (UID somebody)"),
        ({"job_name": "x", "job_uid": None}, f"Workload {WORKLOAD_NAME} was made by somebody else"),
    ],
)
async def test_who_holds_the_name_of_a_missing_workload_is_said(
    cluster: FakeCluster, settings: dict[str, Any], words: str
) -> None:
    cluster.put(OWN.workloads, workload_manifest(**settings))
    assert (await observer(World(cluster)).observe(job())).name_taken == words


async def test_who_holds_the_name_of_a_missing_group_is_said(cluster: FakeCluster) -> None:
    cluster.put(OWN.workloads, workload_manifest())
    cluster.put(OWN.pod_groups, group_manifest(deleting=True))
    seen = await observer(World(cluster)).observe(job())
    assert seen.name_taken == f"PodGroup {GROUP_NAME} is being deleted"
    assert (await observer(World(cluster)).observe(job(group=GROUP_NAME))).name_taken == seen.name_taken


@pytest.mark.parametrize(
    ("settings", "needed"),
    [
        ({"gated": False}, True),
        ({}, False),
        ({"gated": False, "managed": None}, False),
        ({"gated": False, "group": "g"}, False),
        ({"gated": False, "finished": "Complete"}, False),
        ({"gated": False, "deleting": True}, False),
    ],
    ids=["runs without a group", "suspended", "not managed", "names its group", "finished", "being deleted"],
)
async def test_pods_are_listed_only_where_they_matter(
    cluster: FakeCluster, settings: dict[str, Any], needed: bool
) -> None:
    cluster.put(JOBS, job_manifest(**settings))
    cluster.put(PODS, pod_manifest())
    assert needs_pods(job(**settings)) == needed
    seen = await observer(World(cluster)).observe(job(**settings))
    assert len(seen.pods) == needed
    assert (("list", "pods", "") in cluster.calls) == needed


async def test_a_pod_with_the_label_of_the_job_that_the_job_does_not_own_is_none_of_its_pods(
    cluster: FakeCluster,
) -> None:
    cluster.put(PODS, pod_manifest("train-0"))
    forged = pod_manifest("of-nobody")
    del forged["metadata"]["ownerReferences"]
    cluster.put(PODS, forged)
    of_a_predecessor = pod_manifest("of-a-predecessor")
    of_a_predecessor["metadata"]["ownerReferences"][0]["uid"] = "a-predecessor"
    cluster.put(PODS, of_a_predecessor)

    seen = await observer(World(cluster)).observe(job(gated=False))

    assert [pod.metadata.name for pod in seen.pods] == ["train-0"]


def test_a_change_of_a_workload_concerns_the_job_it_names() -> None:
    assert job_of_workload(workload()) == KEY
    assert owner_job(workload().metadata) == KEY
    assert owner_job(workload(job_uid=None).metadata) is None


async def test_a_change_of_a_group_concerns_its_owner_and_the_job_of_its_workload(cluster: FakeCluster) -> None:
    cluster.put(OWN.workloads, workload_manifest("byo", job_name="other", job_uid=None))
    found = observer(World(cluster)).jobs_of_group(group(workload_name="byo"))
    assert found == {KEY, (NAMESPACE, "other")}
    assert observer(World(cluster)).jobs_of_group(group(workload_name="unknown", job_uid=None)) == set()
