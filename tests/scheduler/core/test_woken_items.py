"""Items that waited for room and are woken when some appears: how many at a time, and what is known of them."""

import pytest

from scheduler.cache.pod_group_state import PodGroupState
from scheduler.queue import unschedulable
from scheduler.queue.active import Cause
from scheduler.queue.queueing_hints import QueueingHint
from tests.scheduler.core.build import group_key, pod_key
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


class _Looks:
    """Which items are looked at, and when; each look takes a while.

    Attributes:
        seen: their names and when, in order.
    """

    def __init__(self, world: World, patch: pytest.MonkeyPatch, *, seconds: float) -> None:
        self.seen: list[tuple[str, float]] = []
        seen = self.seen

        class SlowHint(QueueingHint):
            def fits(self, members: PodGroupState) -> bool:
                seen.append((members.key.name, world.now))
                world.now += seconds
                return super().fits(members)

        patch.setattr(unschedulable, "QueueingHint", SlowHint)

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.seen]


def test_looking_for_items_to_wake_takes_a_fifth_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    world.pod("p", cpu=2)
    world.run()
    looks = _Looks(world, monkeypatch, seconds=1.0)
    begin = world.now
    world.node("n0", cpu=1)
    world.run()
    for number, now in enumerate((1.0, 4.9, 5.0)):
        world.now = begin + now
        world.node(f"more-{number}", cpu=1)
        world.run()
    assert looks.seen == [("p", begin), ("p", begin + 5.0)]


IN_ORDER = [f"p-{number}" for number in range(5)]


@pytest.fixture
def five_wait() -> World:
    """Five lone pods of which only the last one, the least important, is content with a node of one CPU."""
    world = World()
    for number, name in enumerate(IN_ORDER):
        world.pod(name, cpu=5 - number, priority=5 - number)
    world.run()
    return world


def test_what_is_new_waits_for_a_tenth_of_a_second_of_looking_at_most(
    five_wait: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = _Looks(five_wait, monkeypatch, seconds=0.06)
    five_wait.node("n0", cpu="500m")
    five_wait.pod("new", cpu="100m")
    assert five_wait.queue.pop(five_wait.state) == pod_key("new")
    assert looks.names == IN_ORDER[:2]


def test_it_goes_on_where_it_was_at_once_while_nobody_has_another_use_for_the_time(
    five_wait: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = _Looks(five_wait, monkeypatch, seconds=0.1)
    five_wait.node("n0", cpu=1)
    while (popped := five_wait.queue.pop(five_wait.state)) is None:
        assert five_wait.queue.next_due_seconds() == 0.0
    assert popped == pod_key(IN_ORDER[-1])
    assert looks.names == IN_ORDER


def test_while_others_are_to_be_tried_it_goes_on_in_its_share_of_the_time(
    five_wait: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = _Looks(five_wait, monkeypatch, seconds=0.1)
    begin = five_wait.now
    five_wait.node("n0", cpu="500m")
    for number in range(10):
        five_wait.pod(f"new-{number}", cpu="10m")
    for _ in range(10):
        five_wait.step()
        five_wait.now += 0.06
    assert [round(when - begin, 3) for _, when in looks.seen] == [0.0, 0.52]
    assert looks.names == IN_ORDER[:2]


def test_room_that_appears_meanwhile_is_offered_to_all_once_more(
    five_wait: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = _Looks(five_wait, monkeypatch, seconds=0.1)
    five_wait.node("n0", cpu="500m")
    five_wait.step()
    five_wait.node("n1", cpu="500m")
    for _ in range(4):
        five_wait.step()
    assert looks.names == IN_ORDER
    five_wait.now += 10.0
    five_wait.step()
    assert looks.names == [*IN_ORDER, IN_ORDER[0]]


def test_who_is_being_tried_when_its_turn_comes_is_not_looked_at(
    five_wait: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = _Looks(five_wait, monkeypatch, seconds=0.1)
    five_wait.node("n0", cpu="500m")
    assert five_wait.queue.pop(five_wait.state) is None
    five_wait.pod(IN_ORDER[-1], cpu="900m", priority=1)
    assert five_wait.queue.pop(five_wait.state) == pod_key(IN_ORDER[-1])
    while five_wait.queue.next_due_seconds() == 0.0:
        assert five_wait.queue.pop(five_wait.state) is None
    assert looks.names == IN_ORDER[:-1]


def test_a_queue_that_is_taken_meanwhile_begins_anew(five_wait: World, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = _Looks(five_wait, monkeypatch, seconds=0.1)
    five_wait.node("n0", cpu=1)
    five_wait.step()
    assert looks.names == IN_ORDER[:1]
    taken = five_wait.queue.taken(five_wait.state)
    assert taken.state().wake.room_appeared
