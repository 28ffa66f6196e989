"""Workload, then PodGroup, then pods; upstream's names; owners that leave nothing behind. Judged from the audit log."""

import pytest

from tests.conformance.names import LONGEST_LABEL, pod_group_name, template_name, workload_name
from verify.auditor.audit_log import AuditLog
from verify.clusters.client import Object
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import GATE, POD_GROUP, Jobs, indexed_job
from verify.clusters.tutti_process import Tutti

GONE_SECONDS = 20
JOB_NAMES = ["a", "trainer", "x" * 57]
LONG_JOB_NAMES = ["y" * 58, "z" * 61]


def started(jobs: Jobs, nodes: HollowNodes, name: str, workers: int = 3) -> Object:
    """A gang that has started: its Job."""
    nodes.add(1, cpu="32")
    jobs.create(indexed_job(name, workers))
    eventually(lambda: jobs.whole(name), within_seconds=20)
    return jobs.get(name)


@pytest.mark.parametrize("name", [*JOB_NAMES, *LONG_JOB_NAMES])
def test_workload_pod_group_and_pods_are_created_in_this_order(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, audit_log: AuditLog, name: str
) -> None:
    begin = audit_log.position()
    job = started(jobs, nodes, name)
    made = [r for r in audit_log.since(begin) if r.verb == "create" and r.succeeded and r.namespace == jobs.namespace]
    (workload,) = [record for record in made if record.resource == "workloads"]
    (group,) = [record for record in made if record.resource == "podgroups"]
    pods = [record for record in made if record.resource == "pods"]
    assert len(pods) == job["spec"]["parallelism"]
    assert workload.completed <= group.received, f"{group} was sent before {workload} was answered"
    assert group.completed <= min(pod.received for pod in pods), f"a pod was created before {group} was answered"
    assert workload.name == workload_name(name, job["metadata"]["uid"])
    template = workload.response["spec"]["podGroupTemplates"][0]["name"]
    assert template == template_name(name) if name in JOB_NAMES else len(template) <= LONGEST_LABEL
    assert group.name == pod_group_name(workload.name, template)


def test_objects_belong_to_the_job_and_refer_to_each_other(jobs: Jobs, nodes: HollowNodes, tutti: Tutti) -> None:
    job = started(jobs, nodes, "owner")
    (workload,) = jobs.workloads("owner")
    group = jobs.group("owner")
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "owner", "uid": job["metadata"]["uid"]}
    controller = {**owner, "controller": True, "blockOwnerDeletion": True}
    assert workload["metadata"]["ownerReferences"] == [controller]
    assert controller in group["metadata"]["ownerReferences"]
    second = [each for each in group["metadata"]["ownerReferences"] if each["kind"] == "Workload"]
    assert [each["uid"] for each in second] == [workload["metadata"]["uid"]]
    assert not second[0].get("controller")
    assert len(group["metadata"]["ownerReferences"]) == 2
    assert workload["spec"]["controllerRef"] == {"apiGroup": "batch", "kind": "Job", "name": "owner"}
    assert group["spec"]["workloadRef"]["workloadName"] == workload["metadata"]["name"]
    assert group["spec"]["schedulingPolicy"] == {"gang": {"minCount": 3}}


def test_every_pod_names_its_group_in_the_way_of_the_group_api(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, group_api: str
) -> None:
    started(jobs, nodes, "member")
    group = jobs.group("member")["metadata"]
    for pod in jobs.pods("member"):
        assert pod["metadata"]["annotations"][POD_GROUP] == group["name"]
        field = (pod["spec"].get("schedulingGroup") or {}).get("podGroupName")
        assert field == (group["name"] if group_api == "built-in" else None)
        uids = [owner["uid"] for owner in pod["metadata"]["ownerReferences"] if owner["kind"] == "PodGroup"]
        assert uids == ([] if group_api == "built-in" else [group["uid"]])


def test_the_job_is_resumed_by_one_patch_that_also_names_the_group(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, audit_log: AuditLog
) -> None:
    begin = audit_log.position()
    job = started(jobs, nodes, "gated")
    by_us = [r for r in audit_log.since(begin) if r.resource == "jobs" and r.user.endswith(":tutti-controllers")]
    assert [record.verb for record in by_us if record.succeeded] == ["patch"], list(map(str, by_us))
    assert job["spec"]["suspend"] is False
    assert GATE not in job["metadata"].get("annotations", {})
    group = jobs.group("gated")["metadata"]
    assert job["spec"]["template"]["metadata"]["annotations"][POD_GROUP] == group["name"]


def test_the_events_on_the_job_tell_of_both_objects(jobs: Jobs, nodes: HollowNodes, tutti: Tutti) -> None:
    started(jobs, nodes, "told")
    for reason in ("WorkloadCreated", "PodGroupCreated"):
        notes = eventually(lambda wanted=reason: jobs.events("Job", "told", wanted), within_seconds=10)  # type: ignore[misc]
        assert len(notes) == 1, notes


@pytest.mark.parametrize("propagation", ["Background", "Foreground"])
@pytest.mark.parametrize("state", ["running", "waiting", "finished"])
def test_deleting_a_job_leaves_nothing(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, propagation: str, state: str
) -> None:
    nodes.add(1, cpu="2" if state == "waiting" else "8")
    jobs.create(indexed_job("ends", 4, run_seconds=0.2 if state == "finished" else None))
    reached = {"running": jobs.whole, "waiting": jobs.waits, "finished": jobs.succeeded}[state]
    eventually(lambda: reached("ends"), within_seconds=20)
    jobs.api.delete("jobs", "ends", jobs.namespace, propagation=propagation)
    kinds = ("jobs", "pods", "podgroups", "workloads")

    def nothing_left() -> bool:
        left = {kind: [o["metadata"]["name"] for o in jobs.api.list(kind, jobs.namespace)] for kind in kinds}
        assert not any(left.values()), str(left)
        return True

    eventually(nothing_left, within_seconds=GONE_SECONDS)


def test_a_cron_jobs_children_get_one_pair_each(jobs: Jobs, nodes: HollowNodes, tutti: Tutti) -> None:
    nodes.add()
    template = indexed_job("child", 2)
    cron = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "nightly"},
        "spec": {"schedule": "0 0 1 1 *", "suspend": True, "jobTemplate": {"spec": template["spec"]}},
    }
    made = jobs.api.create("cronjobs", cron, jobs.namespace)
    owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "nightly", "uid": made["metadata"]["uid"]}
    for name in ("nightly-1", "nightly-2"):
        job = indexed_job(name, 2)
        job["metadata"]["ownerReferences"] = [{**owner, "controller": True}]
        jobs.create(job)
    for name in ("nightly-1", "nightly-2"):
        eventually(lambda each=name: jobs.whole(each), within_seconds=20)  # type: ignore[misc]
        assert len(jobs.workloads(name)) == len(jobs.groups(name)) == 1
