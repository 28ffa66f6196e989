"""Jobs whose gang scheduler is not ours: its group objects, their minimum, and what happens when its kind is not installed."""

from typing import Any

import msgspec
import pytest

from api.constants import (
    CONDITION_GROUP_KIND_MISSING,
    EVENT_FAILED_GANG_OBJECT_CREATE,
    EVENT_GANG_OBJECT_CREATED,
    EVENT_GROUP_KIND_MISSING,
    GATE,
    PROVIDER,
    REASON_GROUP_KIND_FOUND,
)
from api.job import Job
from controllers.jobs.group_objects import minimum_now
from controllers.provider_groups import MISSING_SECONDS, resource_of
from kube.client.errors import Forbidden, KubeError
from kube.client.resources import JOBS, PODS
from kube.groups.group_api import OWN
from providers.base import GroupKind
from providers.coscheduling import Coscheduling
from providers.embedded import Embedded
from providers.kai import Kai
from providers.kube_scheduler import KubeScheduler
from providers.volcano import KIND as VOLCANO
from tests.controllers.builders import (
    GROUP_NAME,
    JOB_UID,
    TEMPLATE_NAME,
    WORKLOAD_NAME,
    group_manifest,
    job_manifest,
    pod_manifest,
    workload_manifest,
)
from tests.controllers.fake_cluster import FakeCluster
from tests.controllers.world import World

CRD = VOLCANO.crd
VOLCANO_GROUPS = resource_of(VOLCANO)
CONTAINER = {"name": "c", "resources": {"requests": {"cpu": "2", "memory": "1Gi"}}}


def volcano_job(managed: str = "volcano", **settings: Any) -> dict[str, Any]:
    """A gated Job of Volcano's with what its pods ask for."""
    manifest = job_manifest(managed=managed, **settings)
    manifest["spec"]["template"]["spec"]["containers"] = [CONTAINER]
    return manifest


def started(cluster: FakeCluster, *, succeeded: int, active: int, ready: int, **settings: Any) -> None:
    """The same Job while it runs, its group and its Volcano group as they were made."""
    running = volcano_job(gated=False, group=GROUP_NAME, started=True, **settings)
    running["status"].update({"succeeded": succeeded, "active": active, "ready": ready})
    cluster.put(OWN.workloads, workload_manifest())
    cluster.put(OWN.pod_groups, group_manifest())
    cluster.put(JOBS, running)


def volcano_group(minimum: int = 4, *, job_uid: str = JOB_UID) -> dict[str, Any]:
    made = group_manifest(job_uid=job_uid, uid="uid-of-volcano-group")
    return {**made, "apiVersion": VOLCANO.api_version, "spec": {"minMember": minimum}}


def condition(cluster: FakeCluster) -> dict[str, Any]:
    """What the Job says of the kind."""
    found = cluster.one(JOBS, "train")["status"]["conditions"]
    (ours,) = (each for each in found if each["type"] == CONDITION_GROUP_KIND_MISSING)
    return dict(ours)


def template_of(cluster: FakeCluster) -> dict[str, Any]:
    found: dict[str, Any] = cluster.one(JOBS, "train")["spec"]["template"]["metadata"]
    return found


async def test_the_group_object_is_there_before_the_gate_opens(cluster: FakeCluster) -> None:
    cluster.put(JOBS, volcano_job())
    world = World(cluster)
    await world.once()
    assert cluster.calls == [
        ("create", "workloads", WORKLOAD_NAME),
        ("create", "podgroups", GROUP_NAME),
        ("get", "jobs", "train"),
        ("create", CRD, GROUP_NAME),
        ("patch", "jobs", "train"),
    ]
    assert cluster.one(OWN.pod_groups, GROUP_NAME)["metadata"]["annotations"][PROVIDER] == "volcano"
    made = cluster.one(VOLCANO_GROUPS, GROUP_NAME)
    assert made["spec"] == {"minMember": 4, "minResources": {"cpu": "8", "memory": "4Gi"}}
    (owner,) = made["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"], owner["controller"]) == ("Job", JOB_UID, True)
    assert template_of(cluster)["annotations"]["scheduling.k8s.io/group-name"] == GROUP_NAME
    assert template_of(cluster)["annotations"]["tutti.scheduler/pod-group"] == GROUP_NAME
    assert cluster.one(JOBS, "train")["spec"]["suspend"] is False
    assert EVENT_GANG_OBJECT_CREATED in world.events.reasons


async def test_at_rest_nothing_is_written_and_nothing_asked(cluster: FakeCluster) -> None:
    cluster.put(JOBS, volcano_job())
    world = World(cluster)
    await world.settle()
    cluster.calls.clear()
    await world.settle()
    assert cluster.calls == []


async def test_a_scheduler_without_a_kind_of_its_own_gets_the_metadata_only(cluster: FakeCluster) -> None:
    cluster.put(JOBS, volcano_job(managed="yunikorn"))
    await World(cluster).once()
    assert [call[1] for call in cluster.written()] == ["workloads", "podgroups", "jobs"]
    template = template_of(cluster)
    assert template["labels"]["yunikorn.apache.org/app-id"] == f"default-{GROUP_NAME}"[:63]
    assert '"minResource": {"cpu": "2", "memory": "1Gi"}' in template["annotations"]["yunikorn.apache.org/task-groups"]


async def test_a_group_object_that_somebody_deleted_is_made_again(cluster: FakeCluster) -> None:
    started(cluster, succeeded=0, active=4, ready=4)
    world = World(cluster)
    await world.settle()
    assert cluster.one(VOLCANO_GROUPS, GROUP_NAME)["spec"]["minMember"] == 4


async def test_a_missing_crd_holds_the_job_names_the_crd_and_is_looked_for_again(cluster: FakeCluster) -> None:
    cluster.unknown_kinds.add(CRD)
    cluster.put(JOBS, volcano_job())
    world = World(cluster)
    assert await world.once() == MISSING_SECONDS
    assert cluster.one(JOBS, "train")["spec"]["suspend"] is True
    ((reason, note),) = [told for told in world.events.told if told[0] == EVENT_GROUP_KIND_MISSING]
    assert reason == EVENT_GROUP_KIND_MISSING
    assert "podgroups.scheduling.volcano.sh" in note
    said = condition(cluster)
    assert (said["status"], said["reason"], said["message"]) == ("True", EVENT_GROUP_KIND_MISSING, note)
    world.look()
    assert await world.once() == MISSING_SECONDS
    assert world.events.reasons.count(EVENT_GROUP_KIND_MISSING) == 1
    await world.settle()
    assert cluster.calls.count(("patch", "jobs/status", "train")) == 1
    cluster.unknown_kinds.clear()
    await world.settle()
    assert cluster.one(JOBS, "train")["spec"]["suspend"] is False
    assert cluster.one(VOLCANO_GROUPS, GROUP_NAME)["spec"]["minMember"] == 4
    assert (condition(cluster)["status"], condition(cluster)["reason"]) == ("False", REASON_GROUP_KIND_FOUND)


async def test_a_condition_that_is_refused_holds_nobody_up(cluster: FakeCluster) -> None:
    cluster.unknown_kinds.add(CRD)
    cluster.put(JOBS, volcano_job())
    world = World(cluster)
    original = cluster.patch

    async def refusing(resource: Any, body: Any, name: str, namespace: str | None = None, **more: Any) -> Any:
        if more.get("subresource"):
            raise Forbidden(403, "Forbidden", "no right to jobs/status")
        return await original(resource, body, name, namespace, **more)

    cluster.patch = refusing  # type: ignore[method-assign]
    assert await world.once() == MISSING_SECONDS
    cluster.unknown_kinds.clear()
    await world.settle()
    assert cluster.one(JOBS, "train")["spec"]["suspend"] is False


async def test_a_job_that_runs_says_nothing_of_a_kind_that_goes(cluster: FakeCluster) -> None:
    started(cluster, succeeded=0, active=4, ready=4)
    cluster.unknown_kinds.add(CRD)
    await World(cluster).settle()
    assert cluster.one(JOBS, "train")["status"].get("conditions") is None


async def test_a_resized_gang_gets_its_new_minimum_and_the_resources_of_it(cluster: FakeCluster) -> None:
    started(cluster, succeeded=0, active=6, ready=6, pods=6, annotations={"tutti.scheduler/elastic": "true"})
    cluster.put(VOLCANO_GROUPS, volcano_group())
    await World(cluster).settle()
    assert cluster.one(VOLCANO_GROUPS, GROUP_NAME)["spec"] == {
        "minMember": 6,
        "minResources": {"cpu": "12", "memory": "6Gi"},
    }


async def test_a_crd_that_vanishes_while_the_object_is_created_is_no_failure(cluster: FakeCluster) -> None:
    cluster.put(JOBS, volcano_job())
    world = World(cluster)
    world.group_objects.knows_all = True
    cluster.unknown_kinds.add(CRD)
    assert await world.once() is not None
    world.group_objects.knows_all = False
    world.look()
    assert await world.once() == MISSING_SECONDS
    assert EVENT_GROUP_KIND_MISSING in world.events.reasons


async def test_a_refused_group_object_is_told_with_the_servers_words(cluster: FakeCluster) -> None:
    cluster.put(JOBS, volcano_job())
    world = World(cluster)
    original = cluster.create

    async def refusing(resource: Any, body: Any, namespace: str | None = None) -> Any:
        if resource == VOLCANO_GROUPS:
            raise Forbidden(403, "Forbidden", "the queue is closed")
        return await original(resource, body, namespace)

    cluster.create = refusing  # type: ignore[method-assign]
    with pytest.raises(KubeError):
        await world.once()
    assert cluster.one(JOBS, "train")["spec"]["suspend"] is True
    assert [note for reason, note in world.events.told if reason == EVENT_FAILED_GANG_OBJECT_CREATE] == [
        "Failed to create PodGroup of volcano for Job train: the queue is closed"
    ]


async def test_a_group_object_of_a_namesake_is_not_taken_for_ours(cluster: FakeCluster) -> None:
    cluster.put(VOLCANO_GROUPS, volcano_group(job_uid="uid-of-predecessor"))
    cluster.put(JOBS, volcano_job())
    world = World(cluster)
    assert await world.once() is not None
    assert cluster.one(JOBS, "train")["spec"]["suspend"] is True
    assert "NameTaken" in world.events.reasons
    cluster.remove(VOLCANO_GROUPS, GROUP_NAME)
    await world.settle()
    assert cluster.one(JOBS, "train")["spec"]["suspend"] is False


async def test_the_minimum_follows_what_is_left_when_a_pod_waits(cluster: FakeCluster) -> None:
    started(cluster, succeeded=3, active=1, ready=0)
    cluster.put(VOLCANO_GROUPS, volcano_group())
    await World(cluster).settle()
    assert cluster.one(VOLCANO_GROUPS, GROUP_NAME)["spec"] == {
        "minMember": 1,
        "minResources": {"cpu": "2", "memory": "1Gi"},
    }
    assert [call for call in cluster.written() if call[1] != CRD] == []


async def test_the_minimum_stays_while_all_members_run(cluster: FakeCluster) -> None:
    started(cluster, succeeded=3, active=1, ready=1)
    cluster.put(VOLCANO_GROUPS, volcano_group())
    await World(cluster).settle()
    assert cluster.written() == []


async def test_the_minimum_of_the_stock_scheduler_is_that_of_the_pod_group(cluster: FakeCluster) -> None:
    started(cluster, succeeded=2, active=2, ready=1, managed="kube-scheduler")
    await World(cluster).settle()
    assert cluster.one(OWN.pod_groups, GROUP_NAME)["spec"]["schedulingPolicy"]["gang"]["minCount"] == 2
    assert cluster.one(OWN.workloads, WORKLOAD_NAME)["spec"]["podGroupTemplates"][0]["name"] == TEMPLATE_NAME
    assert [call[1] for call in cluster.written()] == ["podgroups"]


async def test_the_embedded_schedulers_minimum_stays_at_the_tail(cluster: FakeCluster) -> None:
    started(cluster, succeeded=3, active=1, ready=0, managed="embedded")
    await World(cluster).settle()
    assert cluster.written() == []


@pytest.mark.parametrize(
    ("provider", "counts", "current", "expected"),
    [
        (Embedded(), (3, 1, 0), 4, 4),
        (KubeScheduler(), (0, 1, 0), 4, 4),
        (KubeScheduler(), (3, 1, 0), 4, 1),
        (KubeScheduler(), (3, 1, 1), 4, 4),
        (KubeScheduler(), (3, 1, 1), 2, 2),
        (KubeScheduler(), (3, 1, 1), None, 1),
        (KubeScheduler(), (4, 0, 0), 4, 4),
        (Coscheduling(), (2, 2, 1), 4, 2),
        (Kai(), (3, 1, 1), 4, 1),
        (Kai(), (0, 4, 4), 4, 4),
    ],
)
def test_the_minimum_at_the_tail(
    provider: Any, counts: tuple[int, int, int], current: int | None, expected: int
) -> None:
    succeeded, active, ready = counts
    manifest = volcano_job()
    manifest["status"] = {"succeeded": succeeded, "active": active, "ready": ready}
    assert minimum_now(_record(manifest), provider, need=4, current=current) == expected


def test_a_job_without_a_number_of_completions_needs_no_more_than_its_living_pods() -> None:
    manifest = volcano_job()
    del manifest["spec"]["completions"]
    manifest["status"] = {"active": 2, "ready": 1}
    assert minimum_now(_record(manifest), Coscheduling(), need=4, current=4) == 4
    manifest["status"]["succeeded"] = 1
    assert minimum_now(_record(manifest), Coscheduling(), need=4, current=4) == 2


def test_a_resized_gang_gets_its_new_minimum_both_ways() -> None:
    manifest = volcano_job()
    manifest["status"] = {"active": 4, "ready": 4}
    assert minimum_now(_record(manifest), Coscheduling(), need=2, current=4) == 2
    manifest["spec"].update({"parallelism": 8, "completions": 8})
    assert minimum_now(_record(manifest), Coscheduling(), need=8, current=4) == 8


async def test_pods_that_came_too_early_are_made_anew_behind_the_gate(cluster: FakeCluster) -> None:
    """Volcano would have put them into groups of its own; they have no node yet, so nothing is lost."""
    cluster.put(JOBS, volcano_job(gated=False, started=True))
    cluster.put(PODS, pod_manifest())
    world = World(cluster)
    await world.once()
    held = cluster.one(JOBS, "train")
    assert held["spec"]["suspend"] is True
    assert held["metadata"]["annotations"][GATE] == "pod-group"
    held["status"] = {}
    cluster.put(JOBS, held)
    await world.settle()
    assert cluster.one(JOBS, "train")["spec"]["suspend"] is False
    assert template_of(cluster)["annotations"]["scheduling.k8s.io/group-name"] == GROUP_NAME


async def test_a_job_that_kueue_has_resumed_is_left_alone(cluster: FakeCluster) -> None:
    cluster.put(JOBS, volcano_job(managed="kueue", gated=False, started=True))
    cluster.put(PODS, pod_manifest(node="n"))
    world = World(cluster)
    await world.settle()
    assert not [call for call in cluster.written() if call[1] in {"jobs", "pods"}]
    assert world.events.reasons == ["WorkloadCreated", "PodGroupCreated"]


async def test_a_quantity_out_of_bounds_is_told_and_nothing_else_happens(cluster: FakeCluster) -> None:
    manifest = volcano_job()
    manifest["spec"]["template"]["spec"]["containers"] = [{"name": "c", "resources": {"requests": {"cpu": "1e99"}}}]
    cluster.put(JOBS, manifest)
    world = World(cluster)
    assert await world.once() is None
    assert cluster.one(JOBS, "train")["spec"]["suspend"] is True
    assert "InvalidGangSettings" in world.events.reasons


def test_the_kind_a_message_names_is_that_of_the_definition() -> None:
    assert GroupKind("g.example", "v1", "things", "Thing").crd == "things.g.example"


def _record(manifest: dict[str, Any]) -> Job:
    return msgspec.convert(manifest, Job)
