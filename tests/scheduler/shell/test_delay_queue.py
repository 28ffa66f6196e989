"""Due times: once per key, at the earliest time asked for."""

from scheduler.queue.delay_queue import DelayQueue
from tests.scheduler.shell.clocks import FakeClock


def test_nothing_is_due_in_an_empty_queue() -> None:
    queue: DelayQueue[str] = DelayQueue(FakeClock())
    assert queue.next_due_seconds() is None
    assert queue.take_due() == []


def test_keys_come_due_in_order_and_once() -> None:
    clock = FakeClock()
    queue: DelayQueue[str] = DelayQueue(clock)
    queue.add("late", 5.0)
    queue.add("early", 2.0)
    assert queue.next_due_seconds() == 2.0
    clock.pass_seconds(6.0)
    assert queue.next_due_seconds() == 0.0
    assert queue.take_due() == ["early", "late"]
    assert queue.take_due() == []


def test_a_key_keeps_its_earliest_time() -> None:
    clock = FakeClock()
    queue: DelayQueue[str] = DelayQueue(clock)
    queue.add("key", 5.0)
    queue.add("key", 9.0)
    queue.add("key", 3.0)
    clock.pass_seconds(3.0)
    assert queue.take_due() == ["key"]
    clock.pass_seconds(10.0)
    assert queue.take_due() == []


def test_a_discarded_key_is_not_due() -> None:
    clock = FakeClock()
    queue: DelayQueue[str] = DelayQueue(clock)
    queue.add("key", 1.0)
    queue.discard("key")
    assert queue.next_due_seconds() is None
    clock.pass_seconds(2.0)
    assert queue.take_due() == []
    assert len(queue) == 0
