"""What the controllers do about LeaderWorkerSets: creations, repairs, waiting, and nothing at rest."""

import copy
from typing import Any

import pytest

from api.constants import (
    DESIRED_COUNT,
    LWS_NAME,
    MANAGED_BY,
    MIN_RESOURCES,
    POD_GROUP,
    POLICY,
    SCHEDULING_TIMEOUT,
    TOPOLOGY,
)
from kube.client.errors import Forbidden
from kube.client.resources import CONTROLLER_REVISIONS, KUEUE_TOPOLOGIES, LEADER_WORKER_SETS, PODS, STATEFUL_SETS
from kube.groups.group_api import OWN
from tests.controllers.fake_cluster import Crash, refuse
from tests.lws.builders import leader, lws, owner, pod_template, revision, stateful_set, worker_set
from tests.lws.world import SelectingCluster, World, groups_of


def cluster(*leaders: dict[str, Any], workers: bool = True, **more: Any) -> SelectingCluster:
    """A set with these leaders, or with two."""
    made = SelectingCluster()
    made.put(LEADER_WORKER_SETS, lws(**more))
    made.put(STATEFUL_SETS, stateful_set())
    for pod in leaders or (leader(0), leader(1)):
        made.put(PODS, pod)
        if workers:
            made.put(STATEFUL_SETS, worker_set(int(pod["metadata"]["name"][-1])))
    made.put(CONTROLLER_REVISIONS, revision(worker=pod_template(cpu=2)))
    return made


def minimum(group: dict[str, Any]) -> int:
    return int(group["spec"]["schedulingPolicy"]["gang"]["minCount"])


async def test_a_managed_set_gets_a_workload_then_a_group_per_leader_and_says_so() -> None:
    world = World(cluster())
    await world.settle()
    groups = groups_of(world.cluster)
    assert {uid: group["metadata"]["name"] for uid, group in groups.items()} == {
        "leader-0-uid": "group-0",
        "leader-1-uid": "group-1",
    }
    assert [call[:2] for call in world.cluster.written()] == [("create", "workloads")] + [("create", "podgroups")] * 2
    assert world.events.reasons == ["WorkloadCreated", "PodGroupCreated", "PodGroupCreated"]
    assert "for replica 0 of LeaderWorkerSet serve" in world.events.told[1][1]


async def test_at_rest_nothing_is_written_and_nothing_read() -> None:
    world = World(cluster())
    await world.settle()
    calls = len(world.cluster.calls)
    assert await world.once() is None
    assert len(world.cluster.calls) == calls


@pytest.mark.parametrize(("listed", "written"), [(True, "preferred:block, preferred:rack"), (False, "preferred:rack")])
async def test_a_set_that_asks_as_kueue_has_it_gets_the_levels_around(listed: bool, written: str) -> None:
    made = cluster()
    asking = lws()
    template = asking["spec"]["leaderWorkerTemplate"]["workerTemplate"]
    template.setdefault("metadata", {})["annotations"] = {"kueue.x-k8s.io/podset-preferred-topology": "rack"}
    made.put(LEADER_WORKER_SETS, asking)
    if listed:
        made.kueue_versions = {KUEUE_TOPOLOGIES[0].version}
        levels = [{"nodeLabel": key} for key in ("block", "rack")]
        made.put(KUEUE_TOPOLOGIES[0], {"metadata": {"name": "default", "uid": "t"}, "spec": {"levels": levels}})
    world = World(made)
    await world.settle()
    said = {group["metadata"]["annotations"].get(TOPOLOGY) for group in groups_of(made).values()}
    assert said == {written}


async def test_zero_replicas_have_a_workload_and_no_group() -> None:
    made = SelectingCluster()
    made.put(LEADER_WORKER_SETS, lws(replicas=0))
    world = World(made)
    await world.settle()
    assert len(made.all(OWN.workloads)) == 1
    assert made.all(OWN.pod_groups) == []


async def test_a_group_deleted_by_hand_is_made_again_under_its_name() -> None:
    world = World(cluster())
    await world.settle()
    world.cluster.remove(OWN.pod_groups, "group-0")
    await world.settle()
    assert set(groups_of(world.cluster)) == {"leader-0-uid", "leader-1-uid"}


async def test_a_group_of_an_old_leader_holds_the_name_until_it_is_collected() -> None:
    world = World(cluster(leader(0)))
    await world.settle()
    world.cluster.remove(PODS, "serve-0")
    world.cluster.put(PODS, leader(0, uid="new-uid"))
    world.look()
    assert await world.once() == 2.0
    assert "NameTaken" in world.events.reasons
    world.cluster.collect_garbage()
    await world.settle()
    assert set(groups_of(world.cluster)) == {"new-uid"}


async def test_a_terminating_group_holds_the_name_until_it_is_gone() -> None:
    world = World(cluster(leader(0)))
    await world.settle()
    group = copy.deepcopy(world.cluster.one(OWN.pod_groups, "group-0"))
    group["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    world.cluster.put(OWN.pod_groups, group)
    world.look()
    assert await world.once() == 2.0
    world.cluster.remove(OWN.pod_groups, "group-0")
    await world.settle()
    assert "deletionTimestamp" not in world.cluster.one(OWN.pod_groups, "group-0")["metadata"]


async def test_a_leader_that_goes_gets_no_group() -> None:
    leaving = leader(0, deletionTimestamp="2026-01-01T00:00:00Z")
    world = World(cluster(leaving))
    await world.settle()
    assert groups_of(world.cluster) == {}


async def test_a_leader_of_a_predecessor_of_the_set_is_none_of_ours() -> None:
    world = World(cluster(leader(0, set_uid="old-leaders-uid"), leader(1)))
    await world.settle()
    assert set(groups_of(world.cluster)) == {"leader-1-uid"}


async def test_a_leader_set_of_another_owner_leads_to_nobody() -> None:
    made = cluster()
    made.put(STATEFUL_SETS, stateful_set(controller=owner("LeaderWorkerSet", "serve", "another-uid")))
    world = World(made)
    await world.settle()
    assert groups_of(made) == {}


async def test_a_leader_that_admission_did_not_see_is_told_a_name_of_its_own_and_its_workers_too() -> None:
    made = cluster(leader(0, group=None), workers=False)
    made.put(STATEFUL_SETS, worker_set(0, group=None))
    for number in (1, 2):
        pod = leader(0, group=None, uid=f"w{number}", name=f"serve-0-{number}")
        pod["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/worker-index"] = str(number)
        pod["metadata"]["ownerReferences"] = [owner("StatefulSet", "serve-0", "workers-0-uid")]
        made.put(PODS, pod)
    stranger = copy.deepcopy(made.one(PODS, "serve-0-1"))
    stranger["metadata"] |= {"name": "stranger", "uid": "s", "ownerReferences": []}
    made.put(PODS, stranger)
    world = World(made)
    await world.settle()
    names = {pod["metadata"]["name"]: pod["metadata"]["annotations"].get(POD_GROUP) for pod in made.all(PODS)}
    (group,) = made.all(OWN.pod_groups)
    assert names == {
        "serve-0": group["metadata"]["name"],
        "serve-0-1": group["metadata"]["name"],
        "serve-0-2": group["metadata"]["name"],
        "stranger": None,
    }
    assert await world.once() == 5.0


async def test_a_bound_leader_without_a_group_is_left_alone() -> None:
    made = cluster(leader(0, group=None, node="n"))
    await World(made).settle()
    assert [call for call in made.written() if call[1] == "pods"] == []
    assert groups_of(made) == {}


async def test_leader_ready_waits_for_the_revision_and_says_what_the_workers_ask_for() -> None:
    made = cluster(startup="LeaderReady", workers=False)
    made.remove(CONTROLLER_REVISIONS, "serve-rev1-1")
    world = World(made)
    await world.settle()
    assert groups_of(made) == {}
    assert await world.once() == 1.0
    # A StatefulSet's own revision has the same labels.
    other = revision(worker=pod_template(cpu=7), name="rev1")
    other["metadata"] |= {"name": "other", "ownerReferences": [owner("StatefulSet", "serve-0", "x")]}
    made.put(CONTROLLER_REVISIONS, other)
    made.put(CONTROLLER_REVISIONS, revision(worker=pod_template(cpu=2)))
    await world.settle()
    for group in groups_of(made).values():
        assert minimum(group) == 1
        assert '"requests":{"cpu":"2"}' in group["metadata"]["annotations"][MIN_RESOURCES]
        assert f'"{LWS_NAME}":"serve"' in group["metadata"]["annotations"][MIN_RESOURCES]


async def test_leader_ready_of_size_one_needs_no_revision() -> None:
    made = cluster(leader(0, size=1), startup="LeaderReady", workers=False, size=1, annotations={})
    made.remove(CONTROLLER_REVISIONS, "serve-rev1-1")
    await World(made).settle()
    assert len(groups_of(made)) == 1


async def test_a_replica_of_an_old_revision_gets_the_size_and_class_of_that_revision() -> None:
    old = leader(0, size=2, revision="old")
    old["spec"]["priorityClassName"] = "high"
    world = World(cluster(old, leader(1, size=5), size=5))
    await world.settle()
    groups = groups_of(world.cluster)
    assert {uid: minimum(group) for uid, group in groups.items()} == {"leader-0-uid": 2, "leader-1-uid": 5}
    assert groups["leader-0-uid"]["spec"]["priorityClassName"] == "high"


async def test_a_surge_replica_is_a_replica_like_any_other() -> None:
    world = World(cluster(leader(0), leader(1), leader(2), replicas=2))
    await world.settle()
    assert len(groups_of(world.cluster)) == 3


async def test_resizing_changes_the_minimum_of_the_workload() -> None:
    world = World(cluster())
    await world.settle()
    world.cluster.put(LEADER_WORKER_SETS, lws(size=7))
    await world.settle()
    (workload,) = world.cluster.all(OWN.workloads)
    assert minimum({"spec": workload["spec"]["podGroupTemplates"][0]}) == 7
    assert {minimum(group) for group in groups_of(world.cluster).values()} == {3}


async def test_a_startup_policy_that_changes_before_the_workers_exist_lets_the_leader_go_first() -> None:
    world = World(cluster(workers=False))
    await world.settle()
    world.cluster.put(LEADER_WORKER_SETS, lws(startup="LeaderReady"))
    await world.settle()
    for group in groups_of(world.cluster).values():
        assert minimum(group) == 1
        assert MIN_RESOURCES in group["metadata"]["annotations"]


async def test_a_users_own_workload_is_used_and_two_of_them_hold_everything_up() -> None:
    reference = {"apiGroup": "leaderworkerset.x-k8s.io", "kind": "LeaderWorkerSet", "name": "serve"}
    templates = [{"name": "mine", "schedulingPolicy": {"gang": {"minCount": 9}}}]
    made = cluster()
    own: dict[str, Any] = {
        "metadata": {"name": "mine", "namespace": "default", "uid": "w"},
        "spec": {"controllerRef": reference, "podGroupTemplates": templates},
    }
    made.put(OWN.workloads, own)
    await World(made).settle()
    groups = groups_of(made)
    assert {group["spec"]["workloadRef"]["templateName"] for group in groups.values()} == {"mine"}
    second = copy.deepcopy(own)
    second["metadata"] |= {"name": "second", "uid": "w2"}
    made.put(OWN.workloads, second)
    made.remove(OWN.pod_groups, "group-0")
    world = World(made)
    await world.settle()
    assert world.events.reasons == ["UnsupportedWorkloadStructure"]
    assert len(groups_of(made)) == 1


async def test_groups_take_over_what_the_set_says_of_waiting() -> None:
    world = World(cluster(annotations={POLICY: "basic", SCHEDULING_TIMEOUT: "5m", DESIRED_COUNT: "9"}))
    await world.settle()
    said = groups_of(world.cluster)["leader-0-uid"]["metadata"]["annotations"]
    assert said[SCHEDULING_TIMEOUT] == "5m"
    assert DESIRED_COUNT not in said


async def test_a_set_that_admission_missed_says_so_once_and_stays_plain() -> None:
    made = cluster(leader(0, managed=None, group=None), managed=None)
    world = World(made)
    for _ in range(3):
        await world.settle()
    assert world.events.reasons == ["NotAdmittedAsGang"]
    assert made.written() == []
    off = World(made, gang_sets=False)
    await off.settle()
    assert off.events.reasons == []


async def test_switched_off_gangs_that_exist_are_looked_after() -> None:
    world = World(cluster(), gang_sets=False)
    await world.settle()
    assert len(groups_of(world.cluster)) == 2


async def test_a_set_that_is_being_deleted_gets_nothing() -> None:
    made = SelectingCluster()
    made.put(LEADER_WORKER_SETS, lws(deletionTimestamp="2026-01-01T00:00:00Z"))
    await World(made).settle()
    assert made.written() == []


async def test_a_set_that_is_gone_from_the_server_is_forgotten() -> None:
    world = World(cluster())
    world.cluster.remove(LEADER_WORKER_SETS, "serve")
    await world.once()
    assert world.cluster.written() == []
    assert world.sets.get(("default", "serve")) is None


async def test_a_refusal_of_the_server_is_told_and_tried_again() -> None:
    world = World(cluster())
    refuse(Forbidden(403, "Forbidden", "quota"), verb="create", plural="podgroups")(world.cluster)
    with pytest.raises(Forbidden):
        await world.once()
    assert "FailedPodGroupCreate" in world.events.reasons


@pytest.mark.parametrize("fault", ["crash before", "crash after", "lost before", "lost after", "conflict"])
@pytest.mark.parametrize("write", range(4))
async def test_whatever_happens_at_a_write_the_end_is_the_same(fault: str, write: int) -> None:
    def faulty(number: int) -> Any:
        return fault if number == write else None

    made = cluster(leader(0, group=None), leader(1))
    made.fault = faulty
    world = World(made)
    try:
        await world.settle()
    except Crash:
        world = World(made)
    await world.settle()
    groups = groups_of(made)
    assert set(groups) == {"leader-0-uid", "leader-1-uid"}
    assert len(made.all(OWN.workloads)) == 1
    assert {group["metadata"]["annotations"][MANAGED_BY] for group in groups.values()} == {"tutti"}
