"""One item in the queue."""

from enum import Enum

from scheduler.queue.held import Held
from scheduler.state.records import ItemKey


class Place(Enum):
    """Where an item is."""

    IDLE = "idle"
    """It has nothing to place."""
    GATED = "gated"
    """It lacks something it must have first."""
    WAITING = "waiting"
    """It was refused and waits for its time, or for room."""
    ACTIVE = "active"
    """It is to be tried."""
    RUNNING = "running"
    """It has been popped and `done` has not been called yet."""


class Entry:
    """An item with all the queue remembers of it."""

    __slots__ = (
        "bind_failures",
        "created_seconds",
        "due_seconds",
        "failures",
        "held",
        "is_dirty",
        "key",
        "no_wake_before_seconds",
        "not_before_seconds",
        "place",
        "priority",
        "refused_since_seconds",
        "sequence",
        "stamp",
        "was_woken",
        "wasted_wakes",
    )

    def __init__(self, key: ItemKey, sequence: int) -> None:
        self.key = key
        self.sequence = sequence
        """Order of arrival; decides between items created within the same second."""
        self.created_seconds = 0.0
        self.priority = 0
        self.place = Place.IDLE
        self.stamp = 0
        """Raised with every move, so that older heap entries can be told from the current one."""
        self.held: Held | None = None
        self.failures = 0
        """Refusals in a row."""
        self.bind_failures = 0
        self.refused_since_seconds: float | None = None
        """Since when every attempt has been in vain."""
        self.due_seconds = 0.0
        self.not_before_seconds = 0.0
        """Holds against everything, its own changes included: set when binds fail."""
        self.is_dirty = False
        """Something about it changed while it was running."""
        self.was_woken = False
        """Its current attempt was caused by room appearing, not by its own change or by time."""
        self.wasted_wakes = 0
        self.no_wake_before_seconds = 0.0

    @property
    def order(self) -> tuple[int, float, int, str]:
        """Highest priority first, then the oldest, then by arrival, then by UID."""
        return (-self.priority, self.created_seconds, self.sequence, self.key.uid)
