"""Jobs of a parent that describes their group: only a PodGroup is made, from the parent's template.

The parent is a ConfigMap, which nobody looks after: any controller owner is a parent.
"""

import pytest

from verify.clusters.client import Object
from verify.clusters.eventually import eventually
from verify.clusters.groups import workload
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import POD_GROUP, Jobs, indexed_job
from verify.clusters.tutti_process import Tutti

WORKERS = 3
SETTLE_SECONDS = 30
TEMPLATE = "scheduling.k8s.io/group-template-name"


@pytest.fixture
def parent(jobs: Jobs) -> Object:
    made = jobs.api.create("configmaps", {"metadata": {"name": "set"}}, jobs.namespace)
    return {"apiVersion": "v1", "kind": "ConfigMap", "name": "set", "uid": made["metadata"]["uid"], "controller": True}


def parents_workload(jobs: Jobs, parent: Object, *templates: str, min_count: int = 2) -> Object:
    controller = {"apiGroup": "", "kind": "ConfigMap", "name": "set"}
    body = workload(jobs.api, "of-set", controller, *templates, need=min_count, owners=[parent])
    return jobs.api.create("workloads", body, jobs.namespace)


def child(jobs: Jobs, parent: Object, name: str) -> Object:
    job = indexed_job(name, WORKERS, annotations={TEMPLATE: "workers"})
    job["metadata"]["ownerReferences"] = [parent]
    return jobs.create(job)


def groups_of(jobs: Jobs, job: Object) -> list[Object]:
    uid = job["metadata"]["uid"]
    groups = jobs.api.list("podgroups", jobs.namespace)
    return [group for group in groups if [owner["uid"] for owner in group["metadata"]["ownerReferences"]] == [uid]]


def test_84_each_delegated_job_runs_in_a_group_of_its_own_from_its_parents_template(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, parent: Object
) -> None:
    nodes.add(1, cpu="16")
    made = parents_workload(jobs, parent, "driver", "workers")
    for name in ("one", "two"):
        job = child(jobs, parent, name)
        eventually(lambda each=name: jobs.whole(each), within_seconds=SETTLE_SECONDS)  # type: ignore[misc]
        (group,) = groups_of(jobs, job)
        assert group["spec"]["schedulingPolicy"] == {"gang": {"minCount": 2}}
        assert group["spec"]["workloadRef"] == {"workloadName": "of-set", "templateName": "workers"}
        assert {p["metadata"]["annotations"][POD_GROUP] for p in jobs.pods(name)} == {group["metadata"]["name"]}
        assert jobs.workloads(name) == []
    change = [{"op": "replace", "path": "/spec/podGroupTemplates/1/schedulingPolicy/gang/minCount", "value": 3}]
    jobs.api.patch("workloads", made["metadata"]["name"], change, jobs.namespace, kind="json")
    eventually(lambda: minimums(jobs) == [3, 3], within_seconds=SETTLE_SECONDS)
    jobs.api.delete("configmaps", "set", jobs.namespace)
    for kind in ("jobs", "pods", "podgroups", "workloads"):
        eventually(lambda each=kind: not jobs.api.list(each, jobs.namespace), within_seconds=SETTLE_SECONDS)  # type: ignore[misc]


def minimums(jobs: Jobs) -> list[int]:
    groups = jobs.api.list("podgroups", jobs.namespace)
    return [int(group["spec"]["schedulingPolicy"]["gang"]["minCount"]) for group in groups]


@pytest.mark.parametrize("missing", ["workload", "template"])
def test_84_a_parent_that_describes_nothing_leaves_its_job_plain_and_says_why(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, parent: Object, missing: str
) -> None:
    nodes.add(1, cpu="16")
    if missing == "template":
        parents_workload(jobs, parent, "driver")
    child(jobs, parent, "lonely")
    eventually(lambda: jobs.whole("lonely"), within_seconds=SETTLE_SECONDS)
    assert not any(POD_GROUP in pod["metadata"]["annotations"] for pod in jobs.pods("lonely"))
    eventually(lambda: jobs.events("Job", "lonely", "SchedulingDependencyNotFound"), within_seconds=SETTLE_SECONDS)
