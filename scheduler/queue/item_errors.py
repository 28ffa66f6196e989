"""Exceptions about single items: noted where they are met, so that whoever meets one goes on with the next item.

Nothing that one item says, and no defect that it brings to light, may end what is done for all the others. The scheduling loop
collects what was noted and sets those items aside (`scheduler.schedule_one`).
"""

from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Final, Literal, TypeVar, get_args

import msgspec

from scheduler.cache.records import EntityKey

T = TypeVar("T")

Stage = Literal[
    "take in",
    "decide",
    "keep",
    "preempt",
    "queue",
    "reserve",
    "report",
    "bind",
    "give back",
    "restore",
    "recheck",
    "recover",
    "news",
    "hint",
    "record",
    "release",
    "repair",
]
"""What was being done: a label of a metric, so there are few, and all are served from the start."""

STAGES: Final[tuple[Stage, ...]] = get_args(Stage)

TAKE_IN: Final = "take in"
"""The stage of whoever hears of changes in the cluster."""

MOST_NOTED: Final = 1024
"""Notes that wait to be collected; a standby collects none until it schedules."""


class ItemError(msgspec.Struct, frozen=True):
    """One exception; `key` is None when it cannot be said which item it is about."""

    key: EntityKey | None
    stage: Stage
    error: Exception


class ItemErrors:
    """What has been noted since somebody collected it."""

    def __init__(self) -> None:
        self._noted: deque[ItemError] = deque(maxlen=MOST_NOTED)

    def about(self, key: EntityKey | None, stage: Stage) -> "Contained":
        """A context in which an exception is noted and goes no further."""
        return Contained(self, key, stage)

    def guarded(self, handler: Callable[[T], None], stage: Stage) -> Callable[[T], None]:
        """The handler of something that is no item's: its exceptions are noted."""

        def handle(subject: T) -> None:
            with self.about(None, stage):
                handler(subject)

        return handle

    def note(self, key: EntityKey | None, stage: Stage, error: Exception) -> None:
        """An exception about this item was caught."""
        self._noted.append(ItemError(key, stage, error))

    def take(self) -> list[ItemError]:
        """What was noted; it is forgotten here."""
        noted = list(self._noted)
        self._noted.clear()
        return noted

    def __len__(self) -> int:
        return len(self._noted)


class Contained:
    """Ends early and quietly when its body raises; cancellation and the like pass through."""

    __slots__ = ("_errors", "_key", "_stage")

    def __init__(self, errors: ItemErrors, key: EntityKey | None, stage: Stage) -> None:
        self._errors = errors
        self._key = key
        self._stage = stage

    def __enter__(self) -> None:
        """Nothing is prepared."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        self._errors.note(self._key, self._stage, error)
        return True
