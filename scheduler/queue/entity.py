"""One item in the queue (upstream: QueuedEntityInfo)."""

from enum import Enum

from scheduler.cache.records import EntityKey
from scheduler.plugins.status import Status


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
        "created_seconds",
        "depends_on_time",
        "due_seconds",
        "errors",
        "failures",
        "held",
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
        "tried_seconds",
        "tried_version",
        "was_woken",
        "wasted_wakes",
    )

    def __init__(self, key: EntityKey, sequence: int) -> None:
        self.key = key
        self.sequence = sequence
        """Order of arrival; decides between items created within the same second."""
        self.created_seconds = 0.0
        self.priority = 0
        self.place = Place.IDLE
        self.stamp = 0
        """Raised with every move, so that older heap elements can be told from the current one."""
        self.cause = Cause.NEWS
        self.held: Status | None = None
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
        """Highest priority first, then the oldest, then by arrival, then by UID."""
        return (-self.priority, self.created_seconds, self.sequence, self.key.uid)
