"""Due times: once per key, at the earliest time asked for."""

import pytest

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


def test_a_key_that_moves_again_and_again_does_not_pile_up() -> None:
    clock = FakeClock()
    queue: DelayQueue[str] = DelayQueue(clock)
    for earlier in range(1000):
        queue.add("key", 2000.0 - earlier)
    assert len(queue._heap) < 100
    assert queue.next_due_seconds() == 1001.0


def test_keys_come_due_in_order_after_many_have_moved() -> None:
    clock = FakeClock()
    queue: DelayQueue[int] = DelayQueue(clock)
    for key in range(50):
        queue.add(key, 1000.0 + key)
    for key in range(0, 50, 2):
        for earlier in range(10):
            queue.add(key, 500.0 + (key * 7) % 50 - earlier)
    clock.pass_seconds(2000.0)
    taken = queue.take_due()
    assert taken == [*sorted(range(0, 50, 2), key=lambda key: (key * 7) % 50), *range(1, 50, 2)]


def test_what_is_due_is_known_by_key_and_with_its_time() -> None:
    clock = FakeClock()
    queue: DelayQueue[str] = DelayQueue(clock)
    queue.add("key", 3.0)
    assert ("key" in queue, "other" in queue, len(queue)) == (True, False, 1)
    assert dict(queue.dues()) == {"key": clock.now + 3.0}


def test_keys_that_are_due_at_the_same_moment_come_in_the_order_in_which_they_were_added() -> None:
    clock = FakeClock()
    queue: DelayQueue[str] = DelayQueue(clock)
    for key in ("c", "a", "b"):
        queue.add(key, 1.0)
    clock.pass_seconds(1.0)
    assert queue.take_due() == ["c", "a", "b"]


def test_times_that_no_longer_count_are_thrown_away_once_they_are_many_and_not_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sorted_anew: list[int] = []
    monkeypatch.setattr("scheduler.queue.delay_queue.heapq.heapify", lambda heap: sorted_anew.append(len(heap)))
    queue: DelayQueue[int] = DelayQueue(FakeClock())
    for key in range(1000):
        queue.add(key, 5.0)
    assert sorted_anew == []
    for key in range(1000):
        queue.discard(key)
    for _ in range(1000):
        queue.add(0, 5.0)
        queue.discard(0)
    assert sorted_anew
