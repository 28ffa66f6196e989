"""A started gang loses members: their room stays theirs until new ones are made, or the whole gang starts anew."""

import pytest

from tests.conformance.lost_pods import alive, bind, dies, fails, waits_anew
from verify.auditor.auditor import Auditor
from verify.clusters.client import Api
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually, throughout
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import Jobs, condition_entry, indexed_job
from verify.clusters.jobsets import JobSets, job_set, part
from verify.clusters.lws import WORKER, Sets, leader_worker_set
from verify.clusters.tutti_process import Tutti

WORKERS = 4
SETTLE_SECONDS = 60
REPLACED_SECONDS = 120
"""The Job controller pauses 10 s and more before it replaces pods."""

REPAIR_SECONDS = 15


def starts(jobs: Jobs, name: str, **annotations: str) -> dict[str, str]:
    """A gang with one pod on each node that it uses runs, and says so; node name by UID of the pod."""
    said = {f"tutti.scheduler/{key.replace('_', '-')}": value for key, value in annotations.items()}
    jobs.create(indexed_job(name, WORKERS, annotations=said, backoffLimit=20))
    eventually(lambda: jobs.whole(name), within_seconds=SETTLE_SECONDS)
    eventually(lambda: satisfied(jobs, name, "PodGroupInitiallyScheduled", "True"), within_seconds=SETTLE_SECONDS)
    return alive(jobs, name)


def satisfied(jobs: Jobs, name: str, kind: str, status: str, reason: str = "") -> bool:
    """Whether the condition of the Job's group has this status, and this reason where one is given."""
    entry = condition_entry(jobs.group(name), kind)
    assert entry is not None, f"the group of {name} says nothing about {kind}"
    return entry["status"] == status and reason in {"", entry["reason"]}


def test_two_nodes_die_and_the_replacements_come_before_a_younger_gang(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti
) -> None:
    nodes.add(WORKERS + 2, cpu="1")
    before = starts(jobs, "old")
    lost = sorted(before)[:2]
    for uid in lost:
        dies(jobs.api, before[uid], jobs.namespace)
    # Two nodes are free: as many as the gang has lost, and as many as the younger one needs.
    jobs.create(indexed_job("young", 2))
    eventually(lambda: jobs.waits("young"), within_seconds=SETTLE_SECONDS)

    def is_repaired_first() -> bool:
        assert jobs.bound("young") == 0, "the younger gang has taken the room of the lost"
        return len(alive(jobs, "old")) == WORKERS

    eventually(is_repaired_first, within_seconds=REPLACED_SECONDS)
    after = alive(jobs, "old")
    survivors = {uid: node for uid, node in before.items() if uid not in lost}
    assert {uid: after[uid] for uid in survivors} == survivors
    eventually(lambda: jobs.events("Job", "old", "GangDegraded"), within_seconds=SETTLE_SECONDS)
    assert "2 of at least 4 members are left; missing: old-" in jobs.events("Job", "old", "GangDegraded")[0]
    eventually(lambda: satisfied(jobs, "old", "PodGroupSatisfied", "True", "Recovered"), within_seconds=SETTLE_SECONDS)
    assert jobs.bound("young") == 0
    nodes.add(2, cpu="1")
    eventually(lambda: jobs.whole("young"), within_seconds=SETTLE_SECONDS)


def test_the_room_that_a_failed_member_leaves_is_not_for_a_younger_gang_that_waits(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti
) -> None:
    nodes.add(WORKERS + 1, cpu="1")
    before = starts(jobs, "old")
    jobs.create(indexed_job("young", 2))
    eventually(lambda: jobs.waits("young"), within_seconds=SETTLE_SECONDS)
    victim = jobs.pods("old")[0]
    fails(jobs.api, victim)

    def is_repaired_first() -> bool:
        assert jobs.bound("young") == 0, "the younger gang has taken the room of the lost"
        return len(alive(jobs, "old")) == WORKERS and victim["metadata"]["uid"] not in alive(jobs, "old")

    eventually(is_repaired_first, within_seconds=REPLACED_SECONDS)
    assert set(before) - {victim["metadata"]["uid"]} < set(alive(jobs, "old"))
    nodes.add(1, cpu="1")
    eventually(lambda: jobs.whole("young"), within_seconds=SETTLE_SECONDS)


def test_a_gang_that_cannot_be_repaired_in_time_leaves_whole_once_and_starts_when_there_is_room_for_all(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti
) -> None:
    nodes.add(WORKERS, cpu="1")
    before = starts(jobs, "anew", degraded="restart", repair_timeout=f"{REPAIR_SECONDS}s")
    dies(jobs.api, before[min(before)], jobs.namespace)
    eventually(lambda: not set(before) & set(alive(jobs, "anew")), within_seconds=REPLACED_SECONDS)
    eventually(lambda: waits_anew(jobs, "anew", WORKERS), within_seconds=REPLACED_SECONDS)
    throughout(lambda: jobs.bound("anew") == 0, seconds=2)
    nodes.add(1, cpu="1")
    eventually(lambda: len(alive(jobs, "anew")) == WORKERS, within_seconds=REPLACED_SECONDS)
    whole = alive(jobs, "anew")
    throughout(lambda: alive(jobs, "anew") == whole, seconds=REPAIR_SECONDS + 5)
    assert len(jobs.events("Job", "anew", "GangRestarted")) == 1


@pytest.mark.one_api
def test_pods_that_their_job_left_behind_run_on_when_one_of_them_is_lost(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti
) -> None:
    """`kubectl delete job --cascade=orphan`: nobody makes new pods, so nothing would start anew."""
    nodes.add(WORKERS, cpu="1")
    before = starts(jobs, "left", degraded="restart", repair_timeout="5s")
    pods = jobs.pods("left")
    jobs.api.delete("jobs", "left", jobs.namespace, propagation="Orphan")
    eventually(lambda: jobs.api.find("jobs", "left", jobs.namespace) is None, within_seconds=SETTLE_SECONDS)
    fails(jobs.api, pods[0])
    survivors = set(before) - {pods[0]["metadata"]["uid"]}

    def run_on() -> bool:
        found = jobs.api.list("pods", jobs.namespace)
        return survivors <= {pod["metadata"]["uid"] for pod in found if "deletionTimestamp" not in pod["metadata"]}

    throughout(run_on, seconds=10)


@pytest.mark.slow
def test_a_gang_that_was_begun_and_cannot_be_completed_leaves_after_a_minute_and_starts_whole(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, auditor: Auditor, control_plane: ControlPlane
) -> None:
    """Three of its members are bound in the scheduler's name, as if it had been killed between two binds."""
    auditor.windows.widen(REPLACED_SECONDS)
    places = nodes.add(WORKERS - 1, cpu="1")
    jobs.create(indexed_job("begun", WORKERS))
    eventually(lambda: len(jobs.pods("begun")) == WORKERS, within_seconds=SETTLE_SECONDS)
    token = control_plane.token_of_account("tutti-scheduler")
    api = Api(control_plane.url, token=token, ca=control_plane.ca, group_api=control_plane.group_api)
    for pod, node in zip(jobs.pods("begun"), places, strict=False):
        bind(api, pod, node)
    before = alive(jobs, "begun")
    assert len(before) == WORKERS - 1
    throughout(lambda: alive(jobs, "begun") == before, seconds=50)
    eventually(lambda: not set(before) & set(alive(jobs, "begun")), within_seconds=REPLACED_SECONDS)
    eventually(lambda: waits_anew(jobs, "begun", WORKERS), within_seconds=REPLACED_SECONDS)
    nodes.add(1, cpu="1")
    eventually(lambda: len(alive(jobs, "begun")) == WORKERS, within_seconds=REPLACED_SECONDS)
    assert len(jobs.events("Job", "begun", "GangRestarted")) == 1
    assert not jobs.get("begun")["status"].get("failed")


@pytest.mark.one_api
@pytest.mark.parametrize("child", ["scheduler", "controllers", "webhooks"])
def test_a_process_that_is_killed_while_a_gang_starts_anew_changes_nothing_in_the_end(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, auditor: Auditor, child: str
) -> None:
    auditor.windows.widen(REPLACED_SECONDS)
    nodes.add(WORKERS, cpu="1")
    before = starts(jobs, "anew", degraded="restart", repair_timeout=f"{REPAIR_SECONDS}s")
    dies(jobs.api, before[min(before)], jobs.namespace)
    eventually(lambda: condition_entry(jobs.group("anew"), "DisruptionTarget"), within_seconds=REPLACED_SECONDS)
    tutti.kill_child(child)
    eventually(lambda: not set(before) & set(alive(jobs, "anew")), within_seconds=REPLACED_SECONDS)
    eventually(lambda: waits_anew(jobs, "anew", WORKERS), within_seconds=REPLACED_SECONDS)
    nodes.add(1, cpu="1")
    eventually(lambda: len(alive(jobs, "anew")) == WORKERS, within_seconds=REPLACED_SECONDS)
    whole = alive(jobs, "anew")
    throughout(lambda: alive(jobs, "anew") == whole, seconds=2)
    # An event that was not sent when its writer died is lost.
    assert len(jobs.events("Job", "anew", "GangRestarted")) <= 1
    eventually(tutti.ready, within_seconds=REPLACED_SECONDS)


@pytest.mark.one_api
@pytest.mark.parametrize("child", ["scheduler", "controllers", "webhooks"])
def test_a_process_that_is_killed_in_the_middle_of_it_changes_nothing_in_the_end(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, auditor: Auditor, child: str
) -> None:
    # The old lease has to run out before anybody goes on.
    auditor.windows.widen(REPLACED_SECONDS)
    nodes.add(WORKERS + 2, cpu="1")
    before = starts(jobs, "old")
    victim = min(before)
    tutti.kill_child(child)
    dies(jobs.api, before[victim], jobs.namespace)
    if child == "webhooks":
        # While they are away a Job is no gang.
        eventually(tutti.admits, within_seconds=REPLACED_SECONDS)
    # Two nodes are free, enough for the younger gang; it is made when the controllers are back.
    jobs.create(indexed_job("young", 2))

    def is_repaired_first() -> bool:
        is_whole = len(alive(jobs, "old")) == WORKERS
        assert is_whole or jobs.bound("young") == 0, "somebody younger has taken the room of the lost"
        return is_whole

    eventually(is_repaired_first, within_seconds=REPLACED_SECONDS)
    survivors = {uid: node for uid, node in before.items() if uid != victim}
    after = alive(jobs, "old")
    assert {uid: after[uid] for uid in survivors} == survivors
    eventually(tutti.ready, within_seconds=REPLACED_SECONDS)


def test_a_replica_that_cannot_be_repaired_in_time_is_made_anew_by_its_leader(
    sets: Sets, nodes: HollowNodes, tutti: Tutti
) -> None:
    nodes.add(3, cpu="1")
    said = {"tutti.scheduler/degraded": "restart", "tutti.scheduler/repair-timeout": f"{REPAIR_SECONDS}s"}
    sets.create(leader_worker_set("serve", size=3, annotations=said, template={"restartPolicy": "None"}))
    eventually(lambda: sets.available("serve"), within_seconds=SETTLE_SECONDS)
    before = sets.group("serve")["metadata"]["uid"]
    workers = [pod for pod in sets.pods("serve") if pod["metadata"]["labels"][WORKER] != "0"]
    dies(sets.api, workers[0]["spec"]["nodeName"], sets.namespace)

    def is_anew() -> bool:
        groups = sets.groups("serve")
        return len(groups) == 1 and groups[0]["metadata"]["uid"] != before

    eventually(is_anew, within_seconds=REPLACED_SECONDS)
    nodes.add(1, cpu="1")
    eventually(lambda: sets.whole("serve") and sets.sound("serve"), within_seconds=REPLACED_SECONDS)


def test_a_job_set_that_cannot_be_repaired_in_time_starts_anew_without_a_restart(
    jobsets: JobSets, nodes: HollowNodes
) -> None:
    nodes.add(4, cpu="1")
    parts = part("one", pods=2), part("two", pods=2)
    for each in parts:
        each["template"]["spec"]["backoffLimit"] = 20
    made = job_set("pair", *parts, scope="set")
    made["metadata"]["annotations"] |= {
        "tutti.scheduler/degraded": "restart",
        "tutti.scheduler/repair-timeout": f"{REPAIR_SECONDS}s",
    }
    jobsets.create(made)
    eventually(lambda: jobsets.bound("pair") == 4, within_seconds=SETTLE_SECONDS)
    before = {pod["metadata"]["uid"]: pod["spec"]["nodeName"] for pod in jobsets.pods("pair")}
    dies(jobsets.api, before[min(before)], jobsets.namespace)

    def is_anew() -> bool:
        there = [pod for pod in jobsets.pods("pair") if pod["status"].get("phase") not in {"Failed", "Succeeded"}]
        assert not before.keys() & {pod["metadata"]["uid"] for pod in there}
        return len(there) == 4 and not any(pod["spec"].get("nodeName") for pod in there)

    eventually(is_anew, within_seconds=REPLACED_SECONDS)
    nodes.add(1, cpu="1")
    eventually(lambda: jobsets.bound("pair") >= 4, within_seconds=REPLACED_SECONDS)
    assert not jobsets.get("pair")["status"].get("restarts")

    def is_taken_back() -> bool:
        entry = condition_entry(jobsets.groups("pair")[0], "DisruptionTarget")
        return entry is not None and entry["status"] == "False"

    eventually(is_taken_back, within_seconds=SETTLE_SECONDS)


@pytest.mark.one_api
def test_a_replica_that_is_made_anew_when_a_worker_is_lost_leaves_no_room_kept_behind(
    sets: Sets, jobs: Jobs, nodes: HollowNodes, tutti: Tutti
) -> None:
    nodes.add(3, cpu="1")
    sets.create(leader_worker_set("serve", size=3, template={"restartPolicy": "RecreateGroupOnPodRestart"}))
    eventually(lambda: sets.available("serve"), within_seconds=SETTLE_SECONDS)
    before = {pod["metadata"]["uid"] for pod in sets.pods("serve")}
    group = sets.group("serve")["metadata"]["uid"]
    workers = [pod for pod in sets.pods("serve") if pod["metadata"]["labels"][WORKER] != "0"]
    node = workers[0]["spec"]["nodeName"]
    sets.api.delete("nodes", node)
    # As the pod garbage collector has it: the pods of a node that is gone are deleted, and LeaderWorkerSet ends the replica.
    sets.api.delete("pods", workers[0]["metadata"]["name"], sets.namespace)

    def is_anew() -> bool:
        groups, pods = sets.groups("serve"), {pod["metadata"]["uid"] for pod in sets.pods("serve")}
        return len(groups) == 1 and groups[0]["metadata"]["uid"] != group and not pods & before

    eventually(is_anew, within_seconds=REPLACED_SECONDS)
    # Two nodes are left for three pods, and nobody else's room is kept on them.
    jobs.create(indexed_job("young", 2))
    eventually(lambda: jobs.whole("young"), within_seconds=SETTLE_SECONDS)
    nodes.add(3, cpu="1")
    eventually(lambda: sets.whole("serve") and sets.sound("serve"), within_seconds=REPLACED_SECONDS)


def test_a_node_dies_and_the_replacement_has_the_room_that_was_kept_for_it_all_along(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti
) -> None:
    nodes.add(WORKERS + 2, cpu="1")
    before = starts(jobs, "old", spare_nodes="1")
    # Two nodes are free, as many as it needs; one of them is kept.
    jobs.create(indexed_job("young", 2))
    eventually(lambda: jobs.waits("young"), within_seconds=SETTLE_SECONDS)
    throughout(lambda: jobs.bound("young") == 0, seconds=2)
    victim = min(before)
    dies(jobs.api, before[victim], jobs.namespace)

    def is_repaired() -> bool:
        assert jobs.bound("young") == 0, "the younger gang has taken the room that was kept"
        return len(alive(jobs, "old")) == WORKERS

    eventually(is_repaired, within_seconds=REPLACED_SECONDS)
    after = alive(jobs, "old")
    survivors = {uid: node for uid, node in before.items() if uid != victim}
    assert {uid: after[uid] for uid in survivors} == survivors
    assert not {node for uid, node in after.items() if uid not in before} & set(before.values())
    # The one node that is left is kept for the next time; two more make room for the younger gang.
    nodes.add(2, cpu="1")
    eventually(lambda: jobs.whole("young"), within_seconds=SETTLE_SECONDS)


@pytest.mark.one_api
@pytest.mark.parametrize("child", ["scheduler", "controllers"])
def test_spare_room_is_kept_again_by_who_takes_over(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, auditor: Auditor, child: str
) -> None:
    auditor.windows.widen(REPLACED_SECONDS)
    nodes.add(WORKERS + 1, cpu="1")
    starts(jobs, "old", spare_nodes="1")
    tutti.kill_child(child)
    jobs.create(indexed_job("young", 1, annotations={"tutti.scheduler/policy": "gang"}))
    eventually(lambda: jobs.waits("young"), within_seconds=REPLACED_SECONDS)
    throughout(lambda: jobs.bound("young") == 0, seconds=2)
    nodes.add(1, cpu="1")
    eventually(lambda: jobs.whole("young"), within_seconds=SETTLE_SECONDS)
    eventually(tutti.ready, within_seconds=REPLACED_SECONDS)
