"""A basic group that would like to start with more pods than one: it waits a little, then takes what it can get."""

from typing import Any

from api.constants import DESIRED_COUNT, TOPOLOGY
from tests.scheduler.core.build import group_key
from tests.scheduler.core.world import World


def _group(world: World, desired: int, **more: Any) -> None:
    world.group("g", annotations={DESIRED_COUNT: str(desired)}, **more)


def test_it_waits_a_little_for_the_pods_it_would_like_to_have() -> None:
    world = World()
    world.node("n1")
    _group(world, 4)
    world.pods("g", 2)
    assert world.run() == []
    assert world.held(group_key("g")) == (
        "WaitingForMembers",
        "waiting up to 5 s for the 4 pods it would like to start with: 2 of them exist",
    )
    world.pods("g", 2, first=2)
    (decision,) = world.run()
    assert len(decision.bindings) == 4


def test_after_that_it_starts_with_those_there_are() -> None:
    world = World()
    world.node("n1")
    _group(world, 4)
    world.pods("g", 2)
    world.run()
    assert world.queue.next_due_seconds() == 5
    world.wait(5)
    assert len(world.bound("g")) == 2
    world.pods("g", 1, first=2)
    world.run()
    assert len(world.bound("g")) == 3


def test_it_waits_a_little_for_room_for_all() -> None:
    world = World()
    world.node("n1", cpu=2)
    _group(world, 3)
    world.pods("g", 3)
    (decision,) = world.run()
    assert decision.is_hope
    assert decision.condition_message == (
        "waiting a little for room for all 3 pods it would like to start with: 2 can be placed"
    )
    assert world.bound() == {}
    world.node("n2", cpu=1)
    world.run()
    assert len(world.bound("g")) == 3


def test_and_takes_what_room_there_is_then() -> None:
    world = World()
    world.node("n1", cpu=2)
    _group(world, 3)
    world.pods("g", 3)
    world.run()
    for _ in range(20):
        world.wait(0.25)
    assert len(world.bound("g")) == 2


def test_without_any_room_it_is_refused_like_others() -> None:
    world = World()
    _group(world, 3)
    world.pods("g", 3)
    (decision,) = world.run()
    assert (decision.result, decision.is_hope) == ("unschedulable", False)


def test_it_goes_where_all_of_them_would_fit() -> None:
    world = World()
    for rack, cpu in (("r1", 3), ("r2", 6)):
        world.node(rack, cpu=cpu, labels={"rack": rack})
    world.pod("filler", on="r1", scheduler="other")
    _group(world, 5, topology="rack")
    world.pods("g", 2)
    world.wait(5)
    assert set(world.bound("g").values()) == {"r2"}
    world.pods("g", 3, first=2)
    world.run()
    assert len(world.bound("g")) == 5


def test_who_has_ended_his_work_needs_no_room_there() -> None:
    world = World()
    for rack, cpu in (("r1", 3), ("r2", 5), ("r3", 1)):
        world.node(rack, cpu=cpu, labels={"rack": rack})
    _group(world, 4, topology="rack")
    world.pod("g-0", group="g", on="r3", phase="Succeeded")
    world.pods("g", 2, first=1)
    world.wait(5)
    # Room for the three others is in the smaller rack, too, which is fuller then.
    assert {world.bound("g")[f"g-{number}"] for number in (1, 2)} == {"r1"}


def test_a_node_without_the_label_of_a_wider_level_is_not_where_all_of_them_would_fit() -> None:
    world = World()
    world.node("labelled", cpu=2, labels={"block": "b1", "rack": "r1"})
    world.node("without", cpu=3, labels={"rack": "r1"})
    world.group("g", annotations={TOPOLOGY: "block, rack", DESIRED_COUNT: "4"})
    world.pods("g", 3)
    world.wait(5)
    for _ in range(20):
        world.wait(0.25)
    assert set(world.bound("g").values()) == {"labelled"}


def test_a_gang_has_a_minimum_and_no_wishes() -> None:
    world = World()
    world.node("n1")
    world.group("g", 2, annotations={DESIRED_COUNT: "4"})
    world.pods("g", 2)
    (decision,) = world.run()
    assert len(decision.bindings) == 2


def test_a_wish_for_one_is_none() -> None:
    world = World()
    _group(world, 1)
    world.pods("g", 1)
    assert world.queue.aim(group_key("g"), world.state) == 0
    _group(world, 2)
    assert world.queue.aim(group_key("g"), world.state) == 2
