"""Refused items whose time has come: who of them is tried first, and before whom else."""

import pytest

from scheduler.queue.active import ActiveQueue, Cause, QueuedEntity
from scheduler.queue.settings import QueueSettings
from tests.scheduler.core.build import pod_key

SETTINGS = QueueSettings()


@pytest.fixture
def queue() -> ActiveQueue:
    return ActiveQueue(lambda: 1000.0, SETTINGS)


def entity(name: str, priority: int = 0, *, due: float = 0.0, cause: Cause = Cause.NEWS) -> QueuedEntity:
    made = QueuedEntity(pod_key(name), 0)
    made.priority, made.due_seconds, made.cause = priority, due, cause
    return made


def taken(queue: ActiveQueue) -> list[str]:
    """All that is there, in the order in which it is tried."""
    found = []
    while (one := queue.take()) is not None:
        found.append(one.key.name)
    return found


def test_who_was_due_first_is_first_whatever_its_priority(queue: ActiveQueue) -> None:
    for one in (entity("second", 1, due=5.0), entity("first", 9, due=3.0), entity("third", 5, due=7.0)):
        queue.put_overdue(one)
    assert taken(queue) == ["first", "second", "third"]


def test_only_those_are_tried_before_news_that_are_no_less_important(queue: ActiveQueue) -> None:
    queue.put(entity("news", 5))
    for one in (entity("less", 4, due=1.0), entity("equal", 5, due=2.0), entity("more", 9, due=3.0)):
        queue.put_overdue(one)
    assert taken(queue) == ["equal", "more", "news", "less"]


def test_who_has_moved_since_is_not_tried(queue: ActiveQueue) -> None:
    moved, stays = entity("moved", due=1.0), entity("stays", due=2.0)
    for one in (moved, stays):
        queue.put_overdue(one)
    moved.stamp += 1
    assert taken(queue) == ["stays"]


def test_without_time_for_retries_they_wait_for_their_share(queue: ActiveQueue) -> None:
    assert queue.next_due_seconds() is None
    queue.put_overdue(entity("late", due=1.0))
    assert queue.next_due_seconds() == 0.0
    queue.spent(Cause.TIME, SETTINGS.saved_seconds + 1.0)
    assert queue.take() is None
    assert queue.next_due_seconds() == pytest.approx(1.0 / SETTINGS.retry_share)
    queue.put(entity("news"))
    assert queue.next_due_seconds() == 0.0
    assert taken(queue) == ["news"]


def test_doubtful_items_take_their_turn_while_their_share_of_the_time_lasts(queue: ActiveQueue) -> None:
    for one in (entity("news", 1), entity("doubtful", 5, cause=Cause.DOUBT)):
        queue.put(one)
    assert taken(queue) == ["doubtful", "news"]
    queue.spent(Cause.DOUBT, SETTINGS.saved_seconds + 1.0)
    for one in (entity("news", 1), entity("doubtful", 5, cause=Cause.DOUBT)):
        queue.put(one)
    assert taken(queue) == ["news", "doubtful"]


def test_doubt_begins_with_a_refusal_or_a_defect() -> None:
    fresh, failed, refused = entity("fresh"), entity("failed"), entity("refused")
    failed.errors = 1
    refused.refused_since_seconds = 0.0
    assert [one.was_refused for one in (fresh, failed, refused)] == [False, True, True]
