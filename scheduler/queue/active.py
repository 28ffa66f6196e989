"""An item in the queue, and those that are to be tried: which of them is next (upstream: QueuedEntityInfo, activeQ)."""

from collections.abc import Callable, Mapping
from enum import Enum
from heapq import heappop, heappush
from typing import Final

from scheduler.cache.records import EntityKey
from scheduler.plugins.status import Status
from scheduler.queue.allowance import Allowance
from scheduler.queue.settings import QueueSettings


class Place(Enum):
    """Where an item is."""

    IDLE = "idle"
    """It has nothing to place."""
    GATED = "gated"
    """It lacks something it must have first."""
    BACKOFF_OR_UNSCHEDULABLE = "waiting"
    """It was refused and waits for its time, or for room."""
    ACTIVE = "active"
    """It is to be tried."""
    IN_FLIGHT = "running"
    """It has been popped and `done` has not been called yet."""


class Cause(Enum):
    """Why an active item is to be tried."""

    NEWS = "news"
    """It has not been refused since it came, or since it last got what it wanted."""
    ROOM = "room"
    """It was refused, and there is room for it now."""
    DOUBT = "doubt"
    """It was refused, and it or the room has changed: that may be enough or not."""
    TIME = "time"
    """It was refused and has waited for its time; nothing has been heard."""


Version = tuple[int, ...]
"""Equal ones mean that nothing has changed which decisions look at."""


class QueuedEntity:
    """An item with all the queue remembers of it."""

    __slots__ = (
        "bind_failures",
        "cause",
        "depends_on_time",
        "due_seconds",
        "errors",
        "failures",
        "is_dirty",
        "is_hoping",
        "key",
        "no_wake_before_seconds",
        "not_before_seconds",
        "place",
        "priority",
        "refused_since_seconds",
        "sequence",
        "stamp",
        "status",
        "tried_seconds",
        "tried_version",
        "waits_since_seconds",
        "was_woken",
        "wasted_wakes",
    )

    def __init__(self, key: EntityKey, sequence: int) -> None:
        self.key = key
        self.sequence = sequence
        """Order of arrival; decides between items created within the same second."""
        self.waits_since_seconds = 0.0
        self.priority = 0
        self.place = Place.IDLE
        self.stamp = 0
        """Raised with every move, so that older heap elements can be told from the current one."""
        self.cause = Cause.NEWS
        self.status: Status | None = None
        """What it waits for, or why it was refused last."""
        self.errors = 0
        """Exceptions in a row."""
        self.failures = 0
        """Refusals in a row."""
        self.bind_failures = 0
        self.refused_since_seconds: float | None = None
        """Since when every attempt has been in vain."""
        self.due_seconds = 0.0
        self.not_before_seconds = 0.0
        """Holds against everything, its own changes included: set when binds fail."""
        self.is_hoping = False
        """It waits only for more than it must have, and when it is due it is content with less."""
        self.tried_version: Version = ()
        self.tried_seconds = 0.0
        self.depends_on_time = False
        """Its last attempt might have another outcome now although nothing has changed."""
        self.is_dirty = False
        """Something about it changed while it was in flight."""
        self.was_woken = False
        """Its current attempt was caused by room appearing, not by its own change or by time."""
        self.wasted_wakes = 0
        self.no_wake_before_seconds = 0.0

    @property
    def was_refused(self) -> bool:
        """Whether there is a reason to doubt that it can be placed."""
        return self.refused_since_seconds is not None or self.errors > 0

    @property
    def order(self) -> tuple[int, float, int, str]:
        """Highest priority first, then who waits longest (both as `PodGroupState` says), then by arrival, then by UID."""
        return (-self.priority, self.waits_since_seconds, self.sequence, self.key.uid)


Heap = list[tuple[tuple[int, float, int, str], int, QueuedEntity]]


class ActiveQueue:
    """Entities by their order (upstream: activeQ); one that has moved since (another stamp) is forgotten when it comes up."""

    def __init__(self, clock: Callable[[], float], settings: QueueSettings) -> None:
        self._promising: Heap = []
        self._doubtful: Heap = []
        self._overdue: dict[int, list[tuple[float, int, QueuedEntity]]] = {}
        """Refused items whose time has come, by priority, each with the time it was due."""
        self._allowances: Final = {
            Cause.DOUBT: Allowance(clock, settings.doubt_share, settings.saved_seconds),
            Cause.TIME: Allowance(clock, settings.retry_share, settings.saved_seconds),
        }
        self.woken: Final[dict[Cause, int]] = {Cause.ROOM: 0, Cause.DOUBT: 0}
        """How many active entities were woken because room appeared, by what is known of them."""

    @property
    def trusts_doubtful(self) -> bool:
        """Whether doubtful items count as much as the others now."""
        return self._allowances[Cause.DOUBT].is_open

    @property
    def is_drained(self) -> bool:
        """Whether nothing is there but retries by time."""
        return _head(self._promising) is None and _head(self._doubtful) is None

    def put(self, entity: QueuedEntity) -> None:
        """An entity has become active, for its `cause`."""
        heap = self._doubtful if entity.cause is Cause.DOUBT else self._promising
        heappush(heap, (entity.order, entity.stamp, entity))
        if entity.was_woken:
            self.woken[entity.cause] += 1

    def left(self, entity: QueuedEntity) -> None:
        """An active entity moves elsewhere, or becomes active for another cause."""
        if entity.was_woken:
            self.woken[entity.cause] -= 1

    def put_overdue(self, entity: QueuedEntity) -> None:
        """The time of a waiting entity has come."""
        heappush(self._overdue.setdefault(entity.priority, []), (entity.due_seconds, entity.stamp, entity))

    def take(self) -> QueuedEntity | None:
        """The entity to be tried now, with its cause."""
        promising = _head(self._promising)
        overdue = self._longest_due(promising) if self._allowances[Cause.TIME].is_open else None
        if overdue is not None:
            overdue.cause, overdue.was_woken = Cause.TIME, False
            return overdue
        doubtful = _head(self._doubtful)
        is_doubtful_first = doubtful is not None and (
            promising is None or (self.trusts_doubtful and doubtful.order < promising.order)
        )
        if is_doubtful_first:
            return heappop(self._doubtful)[2]
        return heappop(self._promising)[2] if promising is not None else None

    def spent(self, cause: Cause, seconds: float) -> None:
        """Trying an item for this cause was in vain and took so long."""
        self._allowances[Cause.TIME if cause is Cause.TIME else Cause.DOUBT].spend(seconds)

    def allowances_seconds(self) -> dict[Cause, float]:
        """What is left of each share of the time."""
        return {cause: allowance.left_seconds for cause, allowance in self._allowances.items()}

    def restore(self, allowances_seconds: Mapping[Cause, float]) -> None:
        """So much is left of each share; the entities are `put`."""
        for cause, left in allowances_seconds.items():
            self._allowances[cause].restore(left)

    def next_due_seconds(self) -> float | None:
        """Seconds until `take` has something, None when it has nothing at all."""
        if not self.is_drained:
            return 0.0
        if self._longest_due(None, is_taken=False) is None:
            return None
        return self._allowances[Cause.TIME].opens_in_seconds()

    def _longest_due(self, rival: QueuedEntity | None, *, is_taken: bool = True) -> QueuedEntity | None:
        """Of the overdue entities that are no less important than the rival the one that was due first."""
        best: list[tuple[float, int, QueuedEntity]] | None = None
        for priority, heap in list(self._overdue.items()):
            while heap and heap[0][1] != heap[0][2].stamp:
                heappop(heap)
            if not heap:
                del self._overdue[priority]
            elif (rival is None or priority >= rival.priority) and (best is None or heap[0] < best[0]):
                best = heap
        if best is None:
            return None
        return heappop(best)[2] if is_taken else best[0][2]


def _head(heap: Heap) -> QueuedEntity | None:
    while heap and heap[0][1] != heap[0][2].stamp:
        heappop(heap)
    return heap[0][2] if heap else None
