"""A gang Job from suspension to its last pod, with the real Job controller.

Numbers in the docstrings are those of the upstream scenarios (Job controller and Workload API) that a test restates.
"""

import json
import time

import pytest

from verify.clusters.client import Object
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually, throughout
from verify.clusters.groups import pod_group, workload
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import GATE, POD_GROUP, Jobs, condition, indexed_job, is_gang
from verify.clusters.tutti_process import Tutti

WORKERS = 3
SETTLE_SECONDS = 30
REPLACED_SECONDS = 60
"""The Job controller pauses 10 s before it replaces a pod, and doubles the pause each time."""

LARGEST = 400
RESIZED_SECONDS = 120
FLIPS = 100
FLIP_SECONDS = 0.2


def runs_as(jobs: Jobs, name: str, group: str) -> bool:
    """Whether the Job runs whole and every pod of it is in this group."""
    assert jobs.whole(name), f"{name}: {jobs.bound(name)} pods bound"
    assert {pod["metadata"].get("annotations", {}).get(POD_GROUP) for pod in jobs.pods(name)} == {group}
    return True


def runs_plain(jobs: Jobs, name: str) -> bool:
    """Whether the Job runs whole, without any group."""
    assert jobs.whole(name), f"{name}: {jobs.bound(name)} pods bound"
    assert not any(POD_GROUP in pod["metadata"].get("annotations", {}) for pod in jobs.pods(name))
    return True


@pytest.mark.parametrize("end", [pytest.param("running", marks=pytest.mark.one_api), "suspended"])
def test_86_a_job_suspended_and_resumed_five_times_a_second_ends_right(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, end: str
) -> None:
    """Whatever the last word of its user is, that is the state; Workload and PodGroup are the same as before."""
    nodes.add(1, cpu="16")
    jobs.create(indexed_job("flips", WORKERS))
    eventually(lambda: jobs.whole("flips"), within_seconds=SETTLE_SECONDS)
    before = {kept["metadata"]["uid"] for kept in (*jobs.workloads("flips"), jobs.group("flips"))}
    for number in range(FLIPS):
        jobs.api.patch("jobs", "flips", {"spec": {"suspend": number % 2 == 0}}, jobs.namespace)
        time.sleep(FLIP_SECONDS)
    jobs.api.patch("jobs", "flips", {"spec": {"suspend": end == "suspended"}}, jobs.namespace)
    group = jobs.group("flips")["metadata"]["name"]
    if end == "running":
        eventually(lambda: runs_as(jobs, "flips", group), within_seconds=SETTLE_SECONDS)
    else:
        eventually(lambda: not jobs.pods("flips"), within_seconds=SETTLE_SECONDS)
        throughout(lambda: jobs.get("flips")["spec"]["suspend"] and not jobs.pods("flips"), seconds=2)
    assert {kept["metadata"]["uid"] for kept in (*jobs.workloads("flips"), jobs.group("flips"))} == before
    assert GATE not in jobs.get("flips")["metadata"].get("annotations", {})


def test_a_job_that_kueue_holds_is_never_resumed_or_suspended_by_us(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti
) -> None:
    """Its `suspend` belongs to Kueue: the group is made meanwhile, and what Kueue says last stands."""
    nodes.add(1, cpu="16")
    held = indexed_job("queued", WORKERS, suspend=True)
    held["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "team"}
    jobs.create(held)
    eventually(lambda: jobs.groups("queued"), within_seconds=SETTLE_SECONDS)
    throughout(lambda: jobs.get("queued")["spec"]["suspend"], seconds=2)
    jobs.api.patch("jobs", "queued", {"spec": {"suspend": False}}, jobs.namespace)
    eventually(lambda: jobs.whole("queued"), within_seconds=SETTLE_SECONDS)
    jobs.api.patch("jobs", "queued", {"spec": {"suspend": True}}, jobs.namespace)
    eventually(lambda: not jobs.pods("queued"), within_seconds=SETTLE_SECONDS)
    throughout(lambda: jobs.get("queued")["spec"]["suspend"], seconds=2)


def own_workload(jobs: Jobs, job: str, name: str, *templates: str, min_count: int = 2) -> Object:
    """A Workload that a user makes for a Job."""
    controller = {"apiGroup": "batch", "kind": "Job", "name": job}
    body = workload(jobs.api, name, controller, *templates, need=min_count)
    return jobs.api.create("workloads", body, jobs.namespace)


def own_group(jobs: Jobs, name: str, workload_name: str, template: str) -> Object:
    """A PodGroup that a user makes from their Workload."""
    reference = {"workloadName": workload_name, "templateName": template}
    return jobs.api.create("podgroups", pod_group(jobs.api, name, workloadRef=reference), jobs.namespace)


def untouched(jobs: Jobs, kind: str, made: Object) -> None:
    """The object of a user is as they made it; the scheduler may have told its status."""
    found = jobs.api.get(kind, made["metadata"]["name"], jobs.namespace)
    ignored = {"resourceVersion", "managedFields", "generation"}
    for part in ("metadata", "spec"):
        kept = {key: value for key, value in found[part].items() if key not in ignored}
        assert kept == {key: value for key, value in made[part].items() if key not in ignored}


def test_80_a_users_own_workload_is_used_never_touched_and_not_collected(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti
) -> None:
    nodes.add(1, cpu="16")
    made = own_workload(jobs, "byo", "mine", "workers")
    jobs.create(indexed_job("byo", WORKERS))
    eventually(lambda: jobs.whole("byo"), within_seconds=SETTLE_SECONDS)
    group = jobs.group("byo")
    assert group["spec"]["schedulingPolicy"] == {"gang": {"minCount": 2}}
    assert group["spec"]["workloadRef"] == {"workloadName": "mine", "templateName": "workers"}
    assert len(jobs.workloads("byo")) == 1
    jobs.api.delete("jobs", "byo", jobs.namespace)
    eventually(lambda: not jobs.groups("byo"), within_seconds=SETTLE_SECONDS)
    untouched(jobs, "workloads", made)


def test_79_a_users_own_pod_group_is_used_and_not_collected(jobs: Jobs, nodes: HollowNodes, tutti: Tutti) -> None:
    nodes.add(1, cpu="16")
    workload = own_workload(jobs, "byo", "mine", "workers")
    group = own_group(jobs, "my-group", "mine", "workers")
    eventually(lambda: jobs.groups("byo"), within_seconds=SETTLE_SECONDS)
    jobs.create(indexed_job("byo", WORKERS, suspend=True))
    eventually(lambda: named(jobs, "byo") == "my-group", within_seconds=SETTLE_SECONDS)
    jobs.api.patch("jobs", "byo", {"spec": {"suspend": False}}, jobs.namespace)
    eventually(lambda: runs_as(jobs, "byo", "my-group"), within_seconds=SETTLE_SECONDS)
    assert len(jobs.groups("byo")) == 1
    jobs.api.delete("jobs", "byo", jobs.namespace)
    eventually(lambda: not jobs.api.list("pods", jobs.namespace), within_seconds=SETTLE_SECONDS)
    untouched(jobs, "workloads", workload)
    if "finalizers" not in group["metadata"]:
        untouched(jobs, "podgroups", group)


def named(jobs: Jobs, name: str) -> str | None:
    """The group that the template of a Job names."""
    annotations = jobs.get(name)["spec"]["template"]["metadata"].get("annotations", {})
    return str(annotations[POD_GROUP]) if POD_GROUP in annotations else None


@pytest.mark.parametrize("structure", ["two workloads", "two templates", "two groups"])
def test_81_82_a_structure_nobody_can_decide_on_runs_pod_by_pod_and_says_so(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, structure: str
) -> None:
    nodes.add(1, cpu="16")
    made = [own_workload(jobs, "odd", "first", "a", *(["b"] if structure == "two templates" else []))]
    if structure == "two workloads":
        made.append(own_workload(jobs, "odd", "second", "a"))
    if structure == "two groups":
        own_group(jobs, "one", "first", "a")
        own_group(jobs, "other", "first", "a")
    jobs.create(indexed_job("odd", WORKERS))
    eventually(lambda: runs_plain(jobs, "odd"), within_seconds=SETTLE_SECONDS)
    told = eventually(lambda: jobs.events("Job", "odd", "UnsupportedWorkloadStructure"), within_seconds=10)
    assert len(told) == 1
    for each in made:
        untouched(jobs, "workloads", each)


def test_86_the_children_of_a_real_cron_job_have_one_pair_each_and_leave_with_it(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, control_plane: ControlPlane
) -> None:
    nodes.add(1, cpu="16")
    job = indexed_job("child", WORKERS)
    settings = {"metadata": {"annotations": {"tutti.scheduler/min-count": "2"}}, "spec": job["spec"]}
    cron = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "nightly"},
        "spec": {"schedule": "0 0 1 1 *", "jobTemplate": settings},
    }
    jobs.api.create("cronjobs", cron, jobs.namespace)
    names = ("night-1", "night-2")
    for name in names:
        control_plane.kubectl("create", "job", name, "--from=cronjob/nightly", "-n", jobs.namespace)
    for name in names:
        eventually(lambda each=name: jobs.whole(each), within_seconds=SETTLE_SECONDS)  # type: ignore[misc]
        assert jobs.group(name)["spec"]["schedulingPolicy"] == {"gang": {"minCount": 2}}
    jobs.api.delete("cronjobs", "nightly", jobs.namespace)
    for kind in ("jobs", "pods", "podgroups", "workloads"):
        eventually(lambda each=kind: not jobs.api.list(each, jobs.namespace), within_seconds=SETTLE_SECONDS)  # type: ignore[misc]


def test_a_lost_member_is_replaced_in_the_same_group_and_nobody_else_is_disturbed(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti
) -> None:
    nodes.add(1, cpu="16")
    jobs.create(indexed_job("heals", WORKERS))
    eventually(lambda: jobs.whole("heals"), within_seconds=SETTLE_SECONDS)
    group = jobs.group("heals")["metadata"]
    first, *others = [pod["metadata"] for pod in jobs.pods("heals")]
    jobs.api.delete("pods", first["name"], jobs.namespace)
    eventually(lambda: first["uid"] not in uids(jobs, "heals"), within_seconds=SETTLE_SECONDS)
    eventually(lambda: runs_as(jobs, "heals", group["name"]), within_seconds=REPLACED_SECONDS)
    assert {pod["uid"] for pod in others} < uids(jobs, "heals")
    assert jobs.group("heals")["metadata"]["uid"] == group["uid"]


def uids(jobs: Jobs, name: str) -> set[str]:
    """The UIDs of the pods of a Job that have not ended."""
    return {p["metadata"]["uid"] for p in jobs.pods(name) if p["status"]["phase"] not in {"Failed", "Succeeded"}}


def test_a_member_that_is_deleted_while_it_waits_is_replaced(jobs: Jobs, nodes: HollowNodes, tutti: Tutti) -> None:
    jobs.create(indexed_job("waits", WORKERS, cpu="64"))
    eventually(lambda: len(jobs.pods("waits")) == WORKERS, within_seconds=SETTLE_SECONDS)
    deleted = jobs.pods("waits")[0]["metadata"]
    jobs.api.delete("pods", deleted["name"], jobs.namespace)

    def is_replaced() -> bool:
        there = {pod["metadata"]["uid"] for pod in jobs.pods("waits")}
        return len(there) == WORKERS and deleted["uid"] not in there

    # The pod garbage collector ends what is deleted and has no node, every 20 s, and the Job waits for that.
    eventually(is_replaced, within_seconds=2 * SETTLE_SECONDS)


def test_a_failed_member_is_replaced_in_the_same_group(jobs: Jobs, nodes: HollowNodes, tutti: Tutti) -> None:
    nodes.add(1, cpu="16")
    jobs.create(indexed_job("fails", WORKERS, backoffLimit=6))
    eventually(lambda: jobs.whole("fails"), within_seconds=SETTLE_SECONDS)
    group = jobs.group("fails")["metadata"]["name"]
    victim = jobs.pods("fails")[0]["metadata"]
    path = jobs.api.path("pods", jobs.namespace, victim["name"]) + "/status"
    jobs.api.request("PATCH", path, {"status": {"phase": "Failed"}}, kind="merge")
    eventually(lambda: victim["uid"] not in uids(jobs, "fails"), within_seconds=SETTLE_SECONDS)
    eventually(
        lambda: len(uids(jobs, "fails")) == WORKERS and jobs.bound("fails") == WORKERS, within_seconds=REPLACED_SECONDS
    )
    assert {pod["metadata"]["annotations"][POD_GROUP] for pod in jobs.pods("fails")} == {group}


def test_the_last_pods_of_a_job_start_although_fewer_than_its_minimum_are_left(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti
) -> None:
    """6 completions by 4 at a time: the two of the tail count together with the four that have succeeded."""
    nodes.add(1, cpu="4")
    gang = {"tutti.scheduler/policy": "gang"}
    job = indexed_job("tail", 6, run_seconds=1, annotations=gang)
    job["spec"]["parallelism"] = 4
    jobs.create(job)
    assert is_gang(jobs.get("tail"))
    eventually(lambda: jobs.succeeded("tail"), within_seconds=60)
    assert jobs.group("tail")["spec"]["schedulingPolicy"] == {"gang": {"minCount": 4}}
    assert jobs.get("tail")["status"]["succeeded"] == 6


@pytest.mark.since(31, "spec.successPolicy of a Job is alpha before")
def test_a_success_policy_ends_the_gang_early(jobs: Jobs, nodes: HollowNodes, tutti: Tutti) -> None:
    nodes.add(1, cpu="16")
    rules = {"rules": [{"succeededIndexes": "0"}]}
    jobs.create(indexed_job("leader-wins", WORKERS, successPolicy=rules))
    eventually(lambda: jobs.whole("leader-wins"), within_seconds=SETTLE_SECONDS)
    index = "batch.kubernetes.io/job-completion-index"
    (leader,) = [p["metadata"] for p in jobs.pods("leader-wins") if p["metadata"]["annotations"][index] == "0"]
    path = jobs.api.path("pods", jobs.namespace, leader["name"]) + "/status"
    jobs.api.request("PATCH", path, {"status": {"phase": "Succeeded"}}, kind="merge")
    eventually(lambda: jobs.succeeded("leader-wins"), within_seconds=SETTLE_SECONDS)
    assert condition(jobs.get("leader-wins"), "SuccessCriteriaMet") == "True"


def test_a_finished_job_leaves_with_all_of_its_objects_after_its_time_to_live(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti
) -> None:
    nodes.add(1, cpu="16")
    jobs.create(indexed_job("brief", WORKERS, run_seconds=0.3, ttlSecondsAfterFinished=2))
    eventually(lambda: jobs.succeeded("brief"), within_seconds=SETTLE_SECONDS)
    for kind in ("jobs", "pods", "podgroups", "workloads"):
        eventually(lambda each=kind: not jobs.api.list(each, jobs.namespace), within_seconds=SETTLE_SECONDS)  # type: ignore[misc]


def test_73_a_child_of_another_controller_stays_plain(jobs: Jobs, nodes: HollowNodes, tutti: Tutti) -> None:
    nodes.add(1, cpu="16")
    parent = jobs.api.create("configmaps", {"metadata": {"name": "set"}}, jobs.namespace)["metadata"]
    job = indexed_job("child", WORKERS)
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "set", "uid": parent["uid"], "controller": True}
    job["metadata"]["ownerReferences"] = [owner]
    jobs.create(job)
    eventually(lambda: runs_plain(jobs, "child"), within_seconds=SETTLE_SECONDS)
    assert not is_gang(jobs.get("child"))
    assert jobs.workloads("child") == jobs.groups("child") == []


@pytest.mark.slow
def test_85_an_elastic_gang_is_resized_many_times_while_it_is_bound(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, control_plane: ControlPlane
) -> None:
    nodes.add(4, cpu="32", resources={"pods": "200"})
    jobs.create(indexed_job("elastic", 4, cpu="100m", annotations={"tutti.scheduler/elastic": "true"}))
    sizes = [40 if number % 2 == 0 else 4 for number in range(48)]
    for count in [*sizes, LARGEST, 4]:
        change = json.dumps({"spec": {"parallelism": count, "completions": count}})
        control_plane.kubectl("patch", "job", "elastic", "-n", jobs.namespace, "--type=merge", "-p", change)
        if count == LARGEST:
            eventually(lambda: jobs.bound("elastic") == LARGEST, within_seconds=RESIZED_SECONDS, poll_seconds=1)
            assert jobs.group("elastic")["spec"]["schedulingPolicy"]["gang"]["minCount"] == LARGEST

    def settled() -> bool:
        assert jobs.group("elastic")["spec"]["schedulingPolicy"]["gang"]["minCount"] == 4
        assert jobs.workloads("elastic")[0]["spec"]["podGroupTemplates"][0]["schedulingPolicy"]["gang"]["minCount"] == 4
        return len(jobs.pods("elastic")) == jobs.bound("elastic") == 4

    eventually(settled, within_seconds=RESIZED_SECONDS)
