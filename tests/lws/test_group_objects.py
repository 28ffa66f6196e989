"""Replicas whose gang scheduler is not ours: their group objects, their minimum, and what happens when the kind is missing."""

from typing import Any

import pytest

from api.constants import (
    CONDITION_GROUP_KIND_MISSING,
    EVENT_GANG_OBJECT_CREATED,
    EVENT_GROUP_KIND_MISSING,
    EVENT_NOT_ADMITTED_AS_GANG,
    LEADER_FIRST,
    PROVIDER,
    SCHEDULING_TIMEOUT,
)
from controllers.provider_groups import MISSING_SECONDS, resource_of
from kube.client.resources import CONTROLLER_REVISIONS, LEADER_WORKER_SETS, PODS, STATEFUL_SETS
from kube.groups.group_api import OWN
from providers.coscheduling import KIND as COSCHEDULING
from providers.kai import KIND as KAI
from providers.koordinator import KIND as KOORDINATOR
from providers.volcano import KIND as VOLCANO
from tests.lws.builders import Object, leader, lws, pod_template, revision, stateful_set
from tests.lws.world import SelectingCluster, World, groups_of

FIRST = {LEADER_FIRST: "true"}


def cluster(provider: str, *leaders: Object, **more: Any) -> SelectingCluster:
    """A set of that provider with these leaders, or with two; workers ask for two cores, leaders for one."""
    made = SelectingCluster()
    made.put(LEADER_WORKER_SETS, lws(managed=provider, **more))
    made.put(STATEFUL_SETS, stateful_set())
    for pod in leaders or (leader(0, managed=provider), leader(1, managed=provider)):
        made.put(PODS, pod)
    made.put(CONTROLLER_REVISIONS, revision(leader=pod_template(cpu=1), worker=pod_template(cpu=2)))
    return made


def objects(world: World, kind: Any) -> dict[str, Object]:
    return {each["metadata"]["name"]: each for each in world.cluster.all(resource_of(kind))}


def condition(made: SelectingCluster) -> Object:
    """What the set says of the kind."""
    found = made.one(LEADER_WORKER_SETS, "serve")["status"]["conditions"]
    (ours,) = (each for each in found if each["type"] == CONDITION_GROUP_KIND_MISSING)
    return dict(ours)


async def test_each_replica_gets_its_group_object_owned_by_its_leader_and_says_so() -> None:
    world = World(cluster("volcano", annotations={"volcano.sh/sla-waiting-time": "5m", SCHEDULING_TIMEOUT: "1m"}))
    await world.settle()
    made = objects(world, VOLCANO)
    assert set(made) == {"group-0", "group-1"}
    groups = groups_of(world.cluster)
    assert {uid: group["metadata"]["annotations"][PROVIDER] for uid, group in groups.items()} == {
        "leader-0-uid": "volcano",
        "leader-1-uid": "volcano",
    }
    assert made["group-0"]["spec"] == {"minMember": 3, "minResources": {"cpu": "5"}}
    assert made["group-0"]["metadata"]["annotations"]["volcano.sh/sla-waiting-time"] == "5m"
    (owner,) = made["group-0"]["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"], owner["controller"]) == ("Pod", "leader-0-uid", True)
    told = [note for reason, note in world.events.told if reason == EVENT_GANG_OBJECT_CREATED]
    assert told[0] == "Created PodGroup group-0 of volcano for replica 0 of LeaderWorkerSet serve"
    calls = len(world.cluster.calls)
    assert await world.once() is None
    assert len(world.cluster.calls) == calls


async def test_an_object_that_is_deleted_or_changed_by_hand_is_made_right() -> None:
    world = World(cluster("coscheduling", annotations={SCHEDULING_TIMEOUT: "90s"}))
    await world.settle()
    assert objects(world, COSCHEDULING)["group-0"]["spec"]["scheduleTimeoutSeconds"] == 90
    world.cluster.remove(resource_of(COSCHEDULING), "group-0")
    changed = objects(world, COSCHEDULING)["group-1"]
    changed["spec"]["minMember"] = 1
    world.cluster.put(resource_of(COSCHEDULING), changed)
    await world.settle()
    assert {name: each["spec"]["minMember"] for name, each in objects(world, COSCHEDULING).items()} == {
        "group-0": 3,
        "group-1": 3,
    }


@pytest.mark.parametrize("kind", [VOLCANO, COSCHEDULING], ids=["volcano", "coscheduling"])
async def test_a_leader_that_starts_first_needs_the_room_of_all_and_a_minimum_of_one(kind: Any) -> None:
    name = "volcano" if kind is VOLCANO else "coscheduling"
    world = World(cluster(name, leader(0, managed=name, annotations=FIRST), startup="LeaderReady"))
    await world.settle()
    assert objects(world, kind)["group-0"]["spec"] == {"minMember": 1, "minResources": {"cpu": "5"}}


async def test_the_minimum_rises_once_the_leader_has_a_node_where_somebody_must_raise_it() -> None:
    world = World(cluster("kai", leader(0, managed="kai", annotations=FIRST), startup="LeaderReady"))
    await world.settle()
    assert objects(world, KAI)["group-0"]["spec"] == {"minMember": 1, "queue": "default-queue"}
    world.cluster.put(PODS, leader(0, managed="kai", annotations=FIRST, node="n1"))
    await world.settle()
    assert objects(world, KAI)["group-0"]["spec"]["minMember"] == 3


async def test_leader_and_workers_are_two_gangs_where_the_scheduler_wants_them_apart() -> None:
    world = World(cluster("koordinator", leader(0, managed="koordinator", annotations=FIRST), startup="LeaderReady"))
    await world.settle()
    made = {name: each["spec"]["minMember"] for name, each in objects(world, KOORDINATOR).items()}
    assert made == {"group-0-leader": 1, "group-0-workers": 2}
    (group,) = world.cluster.all(OWN.pod_groups)
    assert group["spec"]["schedulingPolicy"]["gang"]["minCount"] == 2


@pytest.mark.parametrize("provider", ["pfnet", "yunikorn"])
async def test_a_scheduler_that_reads_pods_only_needs_no_object(provider: str) -> None:
    world = World(cluster(provider))
    await world.settle()
    assert {call[1] for call in world.cluster.written()} == {"workloads", "podgroups"}


async def test_a_missing_definition_is_named_and_looked_for_again() -> None:
    made = cluster("volcano", leader(0, managed="volcano"))
    made.unknown_kinds.add(VOLCANO.crd)
    known = {"type": "Progressing", "status": "True", "reason": "GroupsProgressing", "message": ""}
    made.put(LEADER_WORKER_SETS, {**lws(managed="volcano"), "status": {"conditions": [known]}})
    world = World(made)
    await world.settle()
    assert await world.once() == MISSING_SECONDS
    notes = [note for reason, note in world.events.told if reason == EVENT_GROUP_KIND_MISSING]
    assert len(notes) == 1
    assert VOLCANO.crd in notes[0]
    said = condition(made)
    assert (said["status"], said["reason"], said["message"]) == ("True", "GroupKindMissing", notes[0])
    made.unknown_kinds.clear()
    await world.settle()
    assert set(objects(world, VOLCANO)) == {"group-0"}
    assert (condition(made)["status"], condition(made)["reason"]) == ("False", "GroupKindFound")
    assert [each["type"] for each in made.one(LEADER_WORKER_SETS, "serve")["status"]["conditions"]] == [
        "Progressing",
        CONDITION_GROUP_KIND_MISSING,
    ]


async def test_a_definition_that_goes_between_the_look_and_the_write_ends_the_pass_only() -> None:
    made = cluster("volcano", leader(0, managed="volcano"))
    made.unknown_kinds.add(VOLCANO.crd)
    world = World(made)
    world.group_objects.knows_all = True
    assert await world.once() == 1.0


async def test_an_object_waits_for_the_revision_that_says_what_its_pods_ask_for() -> None:
    made = cluster("volcano", leader(0, managed="volcano"))
    made.remove(CONTROLLER_REVISIONS, "serve-rev1-1")
    world = World(made)
    await world.settle()
    assert await world.once() == 1.0
    assert objects(world, VOLCANO) == {}


async def test_the_object_of_an_old_leader_holds_the_name_until_it_is_collected() -> None:
    made = cluster("volcano", leader(0, managed="volcano"))
    world = World(made)
    await world.settle()
    made.remove(PODS, "serve-0")
    made.remove(OWN.pod_groups, "group-0")
    made.put(PODS, leader(0, managed="volcano", uid="new-uid"))
    world.look()
    assert await world.once() == 2.0
    assert "NameTaken" in world.events.reasons
    made.remove(resource_of(VOLCANO), "group-0")
    await world.settle()
    (owner,) = objects(world, VOLCANO)["group-0"]["metadata"]["ownerReferences"]
    assert owner["uid"] == "new-uid"


async def test_a_leader_that_admission_did_not_see_is_not_told_a_group_too_late() -> None:
    world = World(cluster("volcano", leader(0, managed="volcano", group=None)))
    await world.settle()
    assert world.cluster.all(OWN.pod_groups) == []
    assert ("patch", "pods", "serve-0") not in world.cluster.calls
    (note,) = (note for reason, note in world.events.told if reason == EVENT_NOT_ADMITTED_AS_GANG)
    assert "delete that pod" in note


async def test_a_set_its_scheduler_cannot_take_says_why() -> None:
    made = SelectingCluster()
    made.put(LEADER_WORKER_SETS, lws(managed=None, annotations={PROVIDER: "kueue"}))
    world = World(made)
    await world.settle()
    (note,) = (note for reason, note in world.events.told if reason == EVENT_NOT_ADMITTED_AS_GANG)
    assert "kueue takes LeaderWorkerSets in by itself" in note
