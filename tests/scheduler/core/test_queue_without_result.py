"""The queue, told that there was nothing to do for an item that it holds ready."""

from scheduler.algorithm.decision import Decision
from scheduler.plugins.status import Code, Status
from tests.scheduler.core.build import group_key, pod_key
from tests.scheduler.core.world import World


def test_an_item_for_which_nothing_was_done_waits_before_it_is_tried_again() -> None:
    world = World()
    world.node("n1")
    world.group("g", 2)
    world.pods("g", 2)
    key = group_key("g")
    pauses = []
    for _attempt in range(3):
        assert world.queue.pop(world.state) == key
        world.queue.done(key, Decision(key, Status(Code.SKIP)), world.state)
        assert world.queue.pop(world.state) is None
        due = world.queue.next_due_seconds()
        assert due is not None
        pauses.append(due)
        world.now += due
    assert all(pause >= 1.0 for pause in pauses)


def test_one_that_changed_meanwhile_is_tried_at_once() -> None:
    world = World()
    world.node("n1")
    world.group("g", 2)
    world.pods("g", 2)
    key = group_key("g")
    assert world.queue.pop(world.state) == key
    world.pods("g", 1, first=2)
    world.queue.done(key, Decision(key, Status(Code.SKIP)), world.state)
    assert world.queue.pop(world.state) == key


def test_one_that_has_nothing_to_do_indeed_is_not_waited_for() -> None:
    world = World()
    world.node("n1")
    world.pod("p")
    key = pod_key("p")
    assert world.queue.pop(world.state) == key
    world.pod_gone("p")
    world.queue.done(key, Decision(key, Status(Code.SKIP)), world.state)
    assert world.queue.next_due_seconds() is None
