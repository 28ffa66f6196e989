"""Items about which an exception was raised, and a queue that is made from another one's memory."""

from scheduler.plugins.status import Code
from scheduler.queue.active import Cause
from scheduler.queue.scheduling_queue import SchedulingQueue
from scheduler.queue.settings import QueueSettings
from tests.scheduler.core.build import group_key, pod_key
from tests.scheduler.core.world import World


def test_an_item_that_is_set_aside_says_why_and_so_does_a_copy_of_the_queue() -> None:
    world = World()
    world.pod("p")
    key = world.queue.pop(world.state)
    assert key == pod_key("p")
    assert world.queue.set_aside(key, "it cannot be decided", world.state)
    assert world.held(key) == ("SchedulerError", "it cannot be decided")
    (copy,) = world.queue.taken(world.state).state().entities
    assert copy.status is not None
    assert (copy.status.code, copy.status.message) == (Code.ERROR, "it cannot be decided")


def test_an_item_that_is_set_aside_and_changes_is_tried_after_the_first_backoff_and_not_before() -> None:
    world = World()
    world.pod("p")
    key = world.queue.pop(world.state)
    assert key is not None
    world.queue.set_aside(key, "it cannot be decided", world.state)
    world.pod("p", cpu="200m")
    assert world.queue.pop(world.state) is None
    world.now += QueueSettings().initial_backoff_seconds
    assert world.queue.pop(world.state) == key


def test_the_time_of_an_attempt_is_charged_to_its_cause_only_if_it_was_in_vain() -> None:
    world = World()
    world.pod("p")
    world.step()
    assert world.charged is Cause.NEWS
    world.node("n0", cpu=1)
    assert world.step() is not None
    assert world.charged is None


def test_a_group_whose_pods_somebody_else_bound_during_its_attempt_is_tried_again_with_the_next_one() -> None:
    world = World()
    world.group("g", 1)
    world.pods("g", 1)
    key = world.queue.pop(world.state)
    assert key == group_key("g")
    world.pod("g-0", group="g", on="n0")
    assert not world.queue.set_aside(key, "it cannot be decided", world.state)
    world.pods("g", 1, first=1)
    assert world.queue.pop(world.state) == key


def test_what_was_about_to_be_tried_is_tried_by_a_queue_that_takes_over() -> None:
    world = World()
    world.pod("first", priority=2)
    world.pod("waits", priority=1, gates=("example.com/later",))
    world.pod("second")
    taken = world.queue.taken(world.state).state()
    world.queue = SchedulingQueue(lambda: world.now, QueueSettings(), lambda: 0.0)
    world.queue.restore(taken, world.state)
    assert world.queue.pop(world.state) == pod_key("first")
    assert world.queue.pop(world.state) == pod_key("second")
    assert world.queue.pop(world.state) is None
