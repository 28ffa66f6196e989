"""LeaderWorkerSets as gangs: the scenarios of the source documents (KEP-407 with its Volcano provider, KEP-666), by their names."""

import json
from typing import Any

from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually, throughout
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import CONDITION, POD_GROUP, condition, condition_entry
from verify.clusters.lws import MANAGED, REVISION, SETTLE_SECONDS, WORKER, Sets, leader_worker_set

ROOM = "32"


def uids(values: list[dict[str, Any]]) -> set[str]:
    return {value["metadata"]["uid"] for value in values}


def test_leader_created_two_replicas_of_four_get_two_groups_and_start_whole(sets: Sets, nodes: HollowNodes) -> None:
    nodes.add(1, cpu="8")
    made = sets.create(leader_worker_set("serve", replicas=2, size=4))
    template = made["spec"]["leaderWorkerTemplate"]["workerTemplate"]
    assert template["metadata"]["labels"][MANAGED] == "embedded"
    assert template["spec"]["schedulerName"] == "tutti"
    eventually(lambda: sets.whole("serve"), within_seconds=SETTLE_SECONDS)
    assert sets.sound("serve")
    assert len(sets.groups("serve")) == 2
    (workload,) = sets.workloads("serve")
    assert [each["name"] for each in workload["spec"]["podGroupTemplates"]] == ["replica"]
    assert {g["spec"]["workloadRef"]["workloadName"] for g in sets.groups("serve")} == {workload["metadata"]["name"]}
    eventually(lambda: sets.available("serve"), within_seconds=SETTLE_SECONDS)
    eventually(lambda: {condition(g, CONDITION) for g in sets.groups("serve")} == {"True"}, within_seconds=10)
    assert sets.events("serve", "WorkloadCreated")
    assert len(sets.events("serve", "PodGroupCreated")) == 2


def test_leader_created_a_replica_waits_whole_and_says_why(sets: Sets, nodes: HollowNodes) -> None:
    nodes.add(1, cpu="3")
    sets.create(leader_worker_set("serve", size=4))
    eventually(lambda: sets.waits("serve"), within_seconds=SETTLE_SECONDS)

    def says_why() -> bool:
        entry = condition_entry(sets.group("serve"), CONDITION)
        return entry is not None and "minCount (4) cannot be satisfied" in entry["message"]

    eventually(says_why, within_seconds=15)
    eventually(lambda: sets.events("serve", "FailedScheduling"), within_seconds=15)
    throughout(lambda: sets.bound("serve") == 0, seconds=1, poll_seconds=0.2)
    nodes.add(1, cpu="1")
    eventually(lambda: sets.whole("serve"), within_seconds=15)


def test_leader_ready_two_replicas_of_four_have_a_minimum_of_one_and_start_leader_first(
    sets: Sets, nodes: HollowNodes
) -> None:
    nodes.add(1, cpu="8")
    sets.create(leader_worker_set("serve", replicas=2, size=4, startupPolicy="LeaderReady"))
    eventually(lambda: sets.whole("serve"), within_seconds=SETTLE_SECONDS)
    assert sets.sound("serve", min_count=1)
    for group in sets.groups("serve"):
        said = group["metadata"]["annotations"]["tutti.scheduler/min-resources"]
        assert '"count":3' in said
        assert '"requests":{"cpu":"1","memory":"64Mi"}' in said
    eventually(lambda: sets.available("serve"), within_seconds=SETTLE_SECONDS)


def test_leader_ready_a_leader_waits_until_its_workers_have_room_too(sets: Sets, nodes: HollowNodes) -> None:
    nodes.add(1, cpu="3")
    sets.create(leader_worker_set("serve", size=4, startupPolicy="LeaderReady"))
    eventually(lambda: sets.waits("serve", pods=1), within_seconds=SETTLE_SECONDS)

    def says_why() -> bool:
        entry = condition_entry(sets.group("serve"), CONDITION)
        return entry is not None and "room for the 3 pods that come later" in entry["message"]

    eventually(says_why, within_seconds=15)
    throughout(lambda: sets.bound("serve") == 0, seconds=1, poll_seconds=0.2)
    nodes.add(1, cpu="1")
    eventually(lambda: sets.whole("serve"), within_seconds=SETTLE_SECONDS)


def test_foreground_delete_leaves_no_group(sets: Sets, nodes: HollowNodes) -> None:
    nodes.add(1, cpu=ROOM)
    sets.create(leader_worker_set("serve", replicas=2, size=2))
    eventually(lambda: sets.whole("serve"), within_seconds=SETTLE_SECONDS)
    sets.remove("serve")
    eventually(lambda: not sets.workloads("serve"), within_seconds=SETTLE_SECONDS)
    eventually(lambda: not sets.pods("serve"), within_seconds=SETTLE_SECONDS)


def test_resize_from_two_to_four_recreates_pods_and_groups_with_the_new_minimum(sets: Sets, nodes: HollowNodes) -> None:
    nodes.add(1, cpu=ROOM)
    sets.create(leader_worker_set("serve", replicas=2, size=2))
    eventually(lambda: sets.available("serve"), within_seconds=SETTLE_SECONDS)
    before = uids(sets.groups("serve"))
    sets.change("serve", leaderWorkerTemplate={"size": 4})
    eventually(lambda: not uids(sets.groups("serve")) & before, within_seconds=2 * SETTLE_SECONDS)
    eventually(lambda: sets.whole("serve") and sets.sound("serve"), within_seconds=2 * SETTLE_SECONDS)
    (workload,) = sets.workloads("serve")
    assert workload["spec"]["podGroupTemplates"][0]["schedulingPolicy"] == {"gang": {"minCount": 4}}


def test_template_change_ends_with_groups_of_the_new_revision_only(sets: Sets, nodes: HollowNodes) -> None:
    nodes.add(1, cpu=ROOM)
    sets.create(leader_worker_set("serve", replicas=3, size=2))
    eventually(lambda: sets.available("serve"), within_seconds=SETTLE_SECONDS)
    before = uids(sets.groups("serve"))
    sets.new_revision("serve")
    eventually(lambda: not uids(sets.groups("serve")) & before, within_seconds=2 * SETTLE_SECONDS)
    eventually(lambda: sets.available("serve") and sets.sound("serve"), within_seconds=2 * SETTLE_SECONDS)
    assert len({group["metadata"]["labels"][REVISION] for group in sets.groups("serve")}) == 1
    assert len(sets.groups("serve")) == 3


def test_a_group_deleted_by_hand_is_made_again(sets: Sets, nodes: HollowNodes, group_api: str) -> None:
    nodes.add(1, cpu=ROOM)
    sets.create(leader_worker_set("serve", size=3))
    eventually(lambda: sets.whole("serve"), within_seconds=SETTLE_SECONDS)
    group = sets.group("serve")
    waiting = sets.create(leader_worker_set("waits", size=3, cpu=ROOM))["metadata"]["name"]
    eventually(lambda: sets.waits(waiting), within_seconds=SETTLE_SECONDS)
    other = sets.group(waiting)
    for each in (group, other):
        sets.api.delete("podgroups", each["metadata"]["name"], sets.namespace)

    def is_there_again() -> bool:
        if group_api == "built-in":
            # Its finalizer keeps the old group for as long as pods name it: there is no name for a new one to have.
            return "deletionTimestamp" in sets.group(waiting)["metadata"]
        again = sets.group(waiting)
        return again["metadata"]["name"] == other["metadata"]["name"] and "deletionTimestamp" not in again["metadata"]

    eventually(is_there_again, within_seconds=SETTLE_SECONDS)
    nodes.add(3, cpu=ROOM)
    eventually(lambda: sets.whole(waiting), within_seconds=SETTLE_SECONDS)
    assert sets.whole("serve")


def test_leader_recreated_in_the_same_revision_gets_a_group_of_its_own(sets: Sets, nodes: HollowNodes) -> None:
    nodes.add(1, cpu=ROOM)
    sets.create(leader_worker_set("serve", replicas=2, size=3))
    eventually(lambda: sets.available("serve"), within_seconds=SETTLE_SECONDS)
    old, other = sets.groups("serve")
    sets.api.delete("pods", "serve-0", sets.namespace)

    def is_new_and_whole() -> bool:
        assert sets.whole("serve")
        found = sets.groups("serve")
        return sets.sound("serve") and old["metadata"]["uid"] not in uids(found)

    eventually(is_new_and_whole, within_seconds=SETTLE_SECONDS)
    new, same = sets.groups("serve")
    assert new["metadata"]["name"] != old["metadata"]["name"]
    assert new["metadata"]["labels"] == old["metadata"]["labels"]
    assert same["metadata"]["uid"] == other["metadata"]["uid"]


def test_zero_replicas_keep_the_workload_and_scaling_up_again_makes_groups(sets: Sets, nodes: HollowNodes) -> None:
    nodes.add(1, cpu=ROOM)
    sets.create(leader_worker_set("serve", replicas=0, size=2))
    (workload,) = eventually(lambda: sets.workloads("serve"), within_seconds=SETTLE_SECONDS)
    assert sets.groups("serve") == []
    for replicas in (2, 0, 1):
        sets.api.request(
            "PATCH",
            f"{sets.api.path('leaderworkersets', sets.namespace, 'serve')}/scale",
            {"spec": {"replicas": replicas}},
            kind="merge",
        )
        eventually(lambda: len(sets.groups("serve")) == replicas, within_seconds=SETTLE_SECONDS)  # noqa: B023
        eventually(lambda: sets.whole("serve") and sets.sound("serve"), within_seconds=SETTLE_SECONDS)
    assert uids(sets.workloads("serve")) == {workload["metadata"]["uid"]}


def test_a_set_of_the_same_name_but_another_uid_gets_objects_of_its_own(sets: Sets, nodes: HollowNodes) -> None:
    nodes.add(1, cpu=ROOM)
    for _ in range(2):
        lws = sets.create(leader_worker_set("serve", size=2))
        eventually(lambda: sets.whole("serve") and sets.sound("serve"), within_seconds=SETTLE_SECONDS)
        owners = {w["metadata"]["ownerReferences"][0]["uid"] for w in sets.workloads("serve")}
        assert lws["metadata"]["uid"] in owners
        sets.remove("serve")
        eventually(lambda: sets.api.find("leaderworkersets", "serve", sets.namespace) is None, within_seconds=30)


def test_two_competing_replicas_do_not_deadlock(sets: Sets, nodes: HollowNodes) -> None:
    nodes.add(1, cpu="5")
    for policy in ("LeaderCreated", "LeaderReady"):
        name = policy.lower()
        sets.create(leader_worker_set(name, replicas=2, size=4, startupPolicy=policy))
        eventually(lambda: sorted(sets.bound(name, index) for index in (0, 1)) == [0, 4], within_seconds=SETTLE_SECONDS)  # noqa: B023
        throughout(lambda: sorted(sets.bound(name, i) for i in (0, 1)) == [0, 4], seconds=1, poll_seconds=0.2)  # noqa: B023
        sets.remove(name)
        eventually(lambda: not sets.api.list("pods", sets.namespace), within_seconds=SETTLE_SECONDS)


def test_size_one_and_policy_none_stay_plain(sets: Sets, nodes: HollowNodes, control_plane: ControlPlane) -> None:
    nodes.add(1, cpu=ROOM)
    sets.create(leader_worker_set("single", size=1))
    sets.create(leader_worker_set("plain", size=2, annotations={"tutti.scheduler/policy": "none"}))
    for name in ("single", "plain"):
        template = sets.get(name)["spec"]["leaderWorkerTemplate"]["workerTemplate"]
        assert MANAGED not in template.get("metadata", {}).get("labels", {})
        eventually(lambda: sets.pods(name), within_seconds=SETTLE_SECONDS)  # noqa: B023
        assert all(POD_GROUP not in pod["metadata"].get("annotations", {}) for pod in sets.pods(name))
        assert sets.groups(name) == sets.workloads(name) == []


def test_settings_that_cannot_work_are_refused_or_warned_about(sets: Sets, control_plane: ControlPlane) -> None:
    lws = leader_worker_set("serve", size=2, leader_cpu="1")
    lws["metadata"]["annotations"] = {"tutti.scheduler/policy": "gangs"}
    refused = control_plane.kubectl("create", "-n", sets.namespace, "-f", "-", stdin=json.dumps(lws), code=1)
    assert "is not one of gang, basic, none" in refused.err
    lws["metadata"]["annotations"] = {}
    lws["spec"]["leaderWorkerTemplate"]["leaderTemplate"]["spec"]["priorityClassName"] = "system-node-critical"
    warned = control_plane.kubectl("create", "-n", sets.namespace, "-f", "-", stdin=json.dumps(lws))
    assert "Warning" in warned.err
    assert "differ in priorityClassName" in warned.err
    eventually(lambda: sets.events("serve", "NotAdmittedAsGang"), within_seconds=SETTLE_SECONDS)


def test_kubectl_shows_sets_and_groups_so_that_they_read_well(
    sets: Sets, nodes: HollowNodes, control_plane: ControlPlane
) -> None:
    nodes.add(1, cpu="3")
    sets.create(leader_worker_set("serve", replicas=2, size=3))
    eventually(lambda: any(sets.whole("serve", index) for index in (0, 1)), within_seconds=SETTLE_SECONDS)
    wanted = {"True", "False"}
    eventually(lambda: {condition(g, CONDITION) for g in sets.groups("serve")} == wanted, within_seconds=15)
    kind = "podgroups.tutti.scheduler" if control_plane.group_api == "own" else "podgroups.scheduling.k8s.io"
    shown = control_plane.kubectl("get", "-n", sets.namespace, f"lws,{kind}").out
    assert "leaderworkerset.leaderworkerset.x-k8s.io/serve" in shown
    assert any(line.split()[:2] == ["NAME", "READY"] for line in shown.splitlines()), shown
    assert any(line.startswith("NAME") and "STATUS" in line for line in shown.splitlines()), shown
    rows = [line for line in shown.splitlines() if "/serve-" in line]
    assert len(rows) == 2
    assert sum("Scheduled" in row for row in rows) == sum("Unschedulable" in row for row in rows) == 1


def test_worker_pods_belong_by_their_chain_of_controllers(sets: Sets, nodes: HollowNodes) -> None:
    nodes.add(1, cpu="2")
    sets.create(leader_worker_set("serve", size=3))
    eventually(lambda: sets.waits("serve"), within_seconds=SETTLE_SECONDS)
    group = sets.group("serve")
    intruder = {
        "metadata": {"name": "intruder", "annotations": {POD_GROUP: group["metadata"]["name"]}},
        "spec": {
            "schedulerName": "tutti",
            "containers": [{"name": "main", "image": "x", "resources": {"requests": {"cpu": "10m"}}}],
        },
    }
    sets.api.create("pods", intruder, sets.namespace)
    throughout(lambda: sets.bound("serve") == 0, seconds=1, poll_seconds=0.2)
    nodes.add(1, cpu="1")
    eventually(lambda: sets.whole("serve"), within_seconds=SETTLE_SECONDS)
    assert not sets.api.get("pods", "intruder", sets.namespace)["spec"].get("nodeName")
    assert {pod["metadata"]["labels"].get(WORKER) for pod in sets.pods("serve")} == {"0", "1", "2"}
