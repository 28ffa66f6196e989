"""A group with a scheduling timeout: when it gives up, when it does not, and how it comes back."""

from typing import Any

import pytest

from api.constants import DESIRED_COUNT, REASON_SCHEDULING_TIMEOUT, SCHEDULING_TIMEOUT
from scheduler.queue.queue_state import PatienceState
from scheduler.queue.scheduling_queue import SchedulingQueue
from scheduler.queue.settings import QueueSettings
from tests.scheduler.core import build
from tests.scheduler.core.build import group_key
from tests.scheduler.core.world import World

TEN_MINUTES = {SCHEDULING_TIMEOUT: "10m"}


def _waiting_gang(world: World, size: int = 2, **more: Any) -> None:
    world.group("g", size, annotations=TEN_MINUTES)
    world.pods("g", size, **more)
    world.run()


def _later(world: World, seconds: float) -> None:
    """Time passes the way the loop lives through it: from alarm to alarm."""
    end = world.now + seconds
    while (due := world.queue.next_due_seconds()) is not None and world.now + due <= end:
        world.now += max(due, 0.001)
        world.run()
    world.now = end


def test_a_refused_gang_gives_up_and_says_what_was_missing() -> None:
    world = World()
    world.node("n1", cpu=1)
    _waiting_gang(world)
    _later(world, 599)
    assert world.held(group_key("g"))[0] == "Unschedulable"
    _later(world, 1)
    reason, message = world.held(group_key("g"))
    assert reason == REASON_SCHEDULING_TIMEOUT
    assert message == (
        "gave up after 10 min: minCount (2) cannot be satisfied: 1 of 2 pods can be placed; "
        "0/1 nodes are available for the rest: 1 Insufficient cpu."
    )
    assert world.queue.next_due_seconds() is None


def test_room_that_appears_later_starts_nobody_who_gave_up() -> None:
    world = World()
    _waiting_gang(world)
    _later(world, 601)
    world.node("n1", cpu=4)
    assert world.run() == []
    assert world.bound() == {}


def test_a_gang_that_never_is_complete_gives_up_too() -> None:
    world = World()
    world.node("n1")
    world.group("g", 3, annotations=TEN_MINUTES)
    world.pods("g", 2)
    world.run()
    _later(world, 601)
    assert world.held(group_key("g")) == (
        REASON_SCHEDULING_TIMEOUT,
        "gave up after 10 min: waiting for minCount (3) pods: 2 of them exist",
    )
    world.pods("g", 1, first=2)
    assert world.run() == []


def test_a_gang_that_runs_in_part_does_not_give_up() -> None:
    world = World()
    world.node("n1", cpu=2)
    world.group("g", 3, annotations=TEN_MINUTES)
    world.pods("g", 1, on="n1")
    world.pods("g", 2, first=1)
    world.run()
    _later(world, 1200)
    assert world.held(group_key("g"))[0] == "Unschedulable"
    world.node("n2")
    world.run()
    assert len(world.bound("g")) == 3


def test_new_pods_wait_anew() -> None:
    world = World()
    _waiting_gang(world)
    _later(world, 601)
    for name in ("g-0", "g-1"):
        world.pod_gone(name)
    assert world.held(group_key("g"))[0] == "WaitingForMembers"
    world.pods("g", 2, created="2026-01-01T00:10:02Z")
    world.run()
    assert world.held(group_key("g"))[0] == "Unschedulable"
    world.node("n1")
    world.run()
    assert len(world.bound("g")) == 2


@pytest.mark.parametrize("annotations", [{}, {SCHEDULING_TIMEOUT: "1h"}])
def test_a_limit_that_is_taken_back_or_raised_lets_it_try_again(annotations: dict[str, str]) -> None:
    world = World()
    world.node("n1", cpu=1)
    _waiting_gang(world)
    _later(world, 601)
    world.group("g", 2, annotations=annotations)
    world.run()
    assert world.held(group_key("g"))[0] == "Unschedulable"


def test_a_limit_that_is_lowered_counts_at_once() -> None:
    world = World()
    world.node("n1", cpu=1)
    _waiting_gang(world)
    _later(world, 61)
    world.group("g", 2, annotations={SCHEDULING_TIMEOUT: "1m"})
    world.run()
    assert world.held(group_key("g"))[0] == REASON_SCHEDULING_TIMEOUT


def test_a_restart_does_not_begin_anew() -> None:
    world = World()
    world.now += 3600
    _waiting_gang(world)
    assert world.held(group_key("g")) == (REASON_SCHEDULING_TIMEOUT, "gave up after 10 min")
    assert world.decisions == []


def test_a_group_for_which_others_leave_is_waited_for() -> None:
    world = World()
    world.node("n1", cpu=1)
    _waiting_gang(world, 1, cpu=2)
    world.state.nominator.nominate(group_key("g"), 0, {}, frozenset(), world.now + 5000)
    _later(world, 700)
    assert world.held(group_key("g"))[0] == "Unschedulable"
    world.state.nominator.withdraw(group_key("g"))
    _later(world, 2)
    assert world.held(group_key("g"))[0] == REASON_SCHEDULING_TIMEOUT


def test_without_a_time_of_day_nobody_gives_up() -> None:
    world = World()
    world.queue = SchedulingQueue(lambda: world.now, QueueSettings())
    world.now += 3600
    _waiting_gang(world)
    assert world.held(group_key("g"))[0] == "Unschedulable"


def test_the_pods_of_a_gang_are_all_looked_at_once_and_not_with_each_that_comes() -> None:
    world, looks = World(), 0

    def epoch() -> float:
        nonlocal looks
        looks += 1
        return world.now

    world.queue = SchedulingQueue(lambda: world.now, QueueSettings(), epoch)
    world.group("g", 20, annotations=TEN_MINUTES)
    world.pods("g", 1)
    after_one = looks
    world.pods("g", 19, first=1)
    assert (after_one, looks) == (1, 1)


def test_an_unusable_limit_is_no_limit() -> None:
    world = World()
    world.now += 3600
    world.group("g", 1, annotations={SCHEDULING_TIMEOUT: "soon"})
    world.pods("g", 1)
    world.run()
    assert world.held(group_key("g"))[0] == "Unschedulable"
    assert build.group("g", 1).metadata.annotations == {}


@pytest.mark.parametrize("more", [{"annotations": TEN_MINUTES, "need": 2}, {"annotations": {DESIRED_COUNT: "3"}}])
def test_nothing_is_remembered_of_a_group_that_is_gone(more: dict[str, Any]) -> None:
    world = World()
    world.group("g", **more)
    world.pods("g", 2)
    world.run()
    assert world.queue.taken(world.state).patience != PatienceState()
    for name in ("g-0", "g-1"):
        world.pod_gone(name)
    world.group_gone("g")
    assert world.queue.taken(world.state).patience == PatienceState()
    assert world.queue.next_due_seconds() is None
