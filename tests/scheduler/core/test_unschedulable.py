"""Items that were refused and wait: who is due when, in which order, and what is known of it beforehand."""

from itertools import count

import pytest

from scheduler.cache.cluster import ClusterState
from scheduler.queue.active import ActiveQueue, Cause, Place, QueuedEntity
from scheduler.queue.item_errors import ItemErrors
from scheduler.queue.settings import QueueSettings
from scheduler.queue.unschedulable import UnschedulableEntities
from tests.scheduler.core.build import pod_key

STATE = ClusterState(frozenset({"tutti"}), {}, {})


class Waiting:
    """Entities that wait, by name."""

    def __init__(self) -> None:
        self._stamps = count(1)
        active = ActiveQueue(lambda: 0.0, QueueSettings())
        self.entities = UnschedulableEntities(lambda: 0.0, active, ItemErrors(), self._stamps)

    def wait(
        self, name: str, due: float, *, failures: int = 1, errors: int = 0, is_hoping: bool = False
    ) -> QueuedEntity:
        made = QueuedEntity(pod_key(name), 0)
        made.place, made.due_seconds, made.stamp = Place.BACKOFF_OR_UNSCHEDULABLE, due, next(self._stamps)
        made.failures, made.errors, made.is_hoping = failures, errors, is_hoping
        self.entities.put(made)
        return made

    def due(self, now: float) -> list[tuple[str, Cause]]:
        return [(entity.key.name, cause) for entity, cause in self.entities.ready(STATE, now)]


@pytest.fixture
def waiting() -> Waiting:
    return Waiting()


def test_each_is_due_at_its_time_and_once(waiting: Waiting) -> None:
    waiting.wait("late", 20.0)
    waiting.wait("early", 10.0)
    assert waiting.entities.next_due_seconds() == 10.0
    assert waiting.due(9.9) == []
    assert waiting.due(10.0) == [("early", Cause.TIME)]
    assert waiting.due(20.0) == [("late", Cause.TIME)]
    assert waiting.due(99.0) == []
    assert waiting.entities.next_due_seconds() is None


def test_who_was_refused_is_tried_for_its_time_and_who_only_hoped_is_news(waiting: Waiting) -> None:
    waiting.wait("refused", 1.0)
    waiting.wait("hoping", 2.0, is_hoping=True)
    waiting.wait("new", 3.0, failures=0)
    waiting.wait("failed", 4.0, failures=0, errors=1)
    assert waiting.due(9.0) == [
        ("refused", Cause.TIME),
        ("hoping", Cause.NEWS),
        ("new", Cause.NEWS),
        ("failed", Cause.TIME),
    ]


def test_who_is_brought_forward_is_due_then_and_not_later(waiting: Waiting) -> None:
    entity = waiting.wait("one", 20.0)
    waiting.entities.bring_forward(entity, 5.0)
    assert waiting.entities.next_due_seconds() == 5.0
    assert waiting.due(5.0) == [("one", Cause.TIME)]
    assert waiting.due(20.0) == []


@pytest.mark.parametrize("seconds", [10.0, 15.0])
def test_who_is_due_by_then_keeps_its_turn(waiting: Waiting, seconds: float) -> None:
    first = waiting.wait("first", 10.0)
    waiting.wait("second", 10.0)
    waiting.entities.bring_forward(first, seconds)
    assert waiting.due(10.0) == [("first", Cause.TIME), ("second", Cause.TIME)]


def test_who_waits_no_more_is_not_brought_forward(waiting: Waiting) -> None:
    entity = waiting.wait("one", 20.0)
    entity.place, entity.stamp = Place.ACTIVE, 99
    waiting.entities.bring_forward(entity, 5.0)
    assert waiting.entities.next_due_seconds() is None
    assert waiting.due(99.0) == []


def test_room_is_an_alarm_only_for_somebody_who_waits(waiting: Waiting) -> None:
    waiting.entities.room_appeared()
    assert waiting.entities.next_due_seconds() is None
    entity = waiting.wait("one", 20.0)
    assert waiting.entities.next_due_seconds() == 0.0
    waiting.entities.discard(entity)
    entity.stamp = 99
    assert waiting.entities.next_due_seconds() is None
