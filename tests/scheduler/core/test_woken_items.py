"""Items that waited for room and are woken when some appears: how many at a time, and what is known of them."""

import pytest

from scheduler.cache.pod_group_state import PodGroupState
from scheduler.queue import unschedulable
from scheduler.queue.active import Cause
from scheduler.queue.queueing_hints import QueueingHint
from tests.scheduler.core.build import group_key
from tests.scheduler.core.world import World


@pytest.mark.parametrize(("sizes", "cause"), [((1, 1), Cause.ROOM), ((1, "900m"), Cause.DOUBT)])
def test_room_that_is_enough_for_sure_counts_as_such(sizes: tuple[int | str, ...], cause: Cause) -> None:
    world = World()
    world.group("g", 2)
    for number, cpu in enumerate(sizes):
        world.pod(f"g-{number}", group="g", cpu=cpu)
    world.run()
    world.node("n0", cpu=2)
    assert world.queue.pop(world.state) == group_key("g")
    assert world.queue.cause(group_key("g")) is cause


def _waiting_for_room(world: World, *, doubtful: int, sure: int) -> None:
    """Gangs of two that would have to share a rack, more important than lone pods like their members; all refused."""
    for number in range(doubtful):
        world.group(f"racked-{number}", 2, topology="rack", priority=5)
        world.pods(f"racked-{number}", 2, priority=5)
    for number in range(sure):
        world.pod(f"p-{number}")
    world.run()


@pytest.mark.parametrize(("spent_seconds", "woken"), [(0.0, 1), (1000.0, 3)])
def test_doubtful_items_hold_no_room_against_others_once_too_much_time_was_spent_on_them(
    spent_seconds: float, woken: int
) -> None:
    world = World()
    _waiting_for_room(world, doubtful=1, sure=3)
    world.queue.charge(Cause.DOUBT, spent_seconds)
    world.node("n0", cpu=2, labels={"rack": "r0"})
    world.queue.pop(world.state)
    depths = world.queue.depths()
    assert depths["active"] + depths["running"] == woken


def test_items_that_fit_for_sure_are_woken_as_many_as_there_is_room_for_whatever_doubtful_ones_have_cost() -> None:
    world = World()
    _waiting_for_room(world, doubtful=0, sure=5)
    world.queue.charge(Cause.DOUBT, 1000.0)
    world.node("n0", cpu=2)
    world.queue.pop(world.state)
    assert world.queue.depths() == {"idle": 0, "gated": 0, "waiting": 3, "active": 1, "running": 1}


@pytest.mark.parametrize(("doubtful", "sure"), [(20, 0), (0, 20)])
def test_sixteen_at_most_are_woken_at_a_time_however_much_room_there_is(doubtful: int, sure: int) -> None:
    world = World()
    _waiting_for_room(world, doubtful=doubtful, sure=sure)
    world.node("n0", cpu=64, labels={"rack": "r0"})
    world.queue.pop(world.state)
    depths = world.queue.depths()
    assert depths["active"] + depths["running"] == 16


def test_looking_for_items_to_wake_takes_a_fifth_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    looks: list[float] = []

    class SlowHint(QueueingHint):
        def fits(self, members: PodGroupState) -> bool:
            looks.append(world.now)
            world.now += 1.0
            return super().fits(members)

    world.pod("p", cpu=2)
    world.run()
    monkeypatch.setattr(unschedulable, "QueueingHint", SlowHint)
    begin = world.now
    world.node("n0", cpu=1)
    world.run()
    for number, now in enumerate((1.0, 3.9, 4.0)):
        world.now = begin + now
        world.node(f"more-{number}", cpu=1)
        world.run()
    assert looks == [begin, begin + 4.0]
