"""What would help a group that has been refused for a while: looked for while there is nothing to schedule, said in its condition.

What is looked for and how is not known here (`HintSearch`): it decides on what the group would be if it asked for less, one
decision at a time. A hint belongs to the refusal with which it was found, counts included: with other counts it is not said until
it has been looked for again, and a refusal for other reasons waits for its hint as the first one did.
"""

from collections.abc import Callable
from typing import Final, Protocol

from scheduler.apicalls.conditions import blockers
from scheduler.cache.cluster import ClusterState
from scheduler.cache.records import EntityKey
from scheduler.queue.delay_queue import DelayQueue


class HintSearch(Protocol):
    """A search that is under way."""

    def step(self) -> str | None:
        """One decision more; the hint once it is found, empty when there is none, None while nobody knows."""


StartSearch = Callable[[ClusterState, EntityKey], HintSearch]

AGAIN_SECONDS: Final = 1.0
"""When somebody who was busy is idle again, for all that is known."""


class Hints:
    """The hints of all groups that wait.

    Args:
        start: begins a search; None: nobody looks for hints.
        state: the cluster; nothing of it is changed.
        is_idle: whether there is nothing to schedule now.
        clock: monotonic seconds.
        after_seconds: how long a group must have been refused for the same reasons; 0: never.
    """

    def __init__(
        self,
        start: StartSearch | None,
        state: ClusterState,
        is_idle: Callable[[], bool],
        clock: Callable[[], float],
        after_seconds: float,
    ) -> None:
        self._start: Final = start if after_seconds > 0 else None
        self._state: Final = state
        self._is_idle: Final = is_idle
        self._after_seconds: Final = after_seconds
        self._due: Final[DelayQueue[EntityKey]] = DelayQueue(clock)
        self._refusals: Final[dict[EntityKey, str]] = {}
        self._found: Final[dict[EntityKey, str]] = {}
        self._waiting: Final[dict[EntityKey, None]] = {}
        """Due, and not looked at yet."""
        self._search: tuple[EntityKey, HintSearch] | None = None
        self.tell: Callable[[EntityKey], None] = lambda _: None
        """Called when a hint was found."""

    def refused(self, key: EntityKey, text: str) -> str:
        """The group was refused with these words; what else its condition says, empty without a hint."""
        if self._start is None or key.kind != "group":
            return ""
        known = self._refusals.get(key)
        if known is None or blockers(known) != blockers(text):
            self.forget(key)
            self._due.add(key, self._after_seconds)
        elif known != text and key not in self._due:
            self._found.pop(key, None)
            self._waiting[key] = None
        self._refusals[key] = text
        hint = self._found.get(key)
        return "" if hint is None else f"{'' if text.endswith('.') else '.'} Hint: {hint}."

    def forget(self, key: EntityKey) -> None:
        """The group is gone, has started, or waits for something else."""
        self._refusals.pop(key, None)
        self._found.pop(key, None)
        self._waiting.pop(key, None)
        self._due.discard(key)
        if self._search is not None and self._search[0] == key:
            self._search = None

    def tick(self) -> None:
        """At most one decision, if there is nothing else to decide."""
        self._waiting.update(dict.fromkeys(self._due.take_due()))
        if self._start is None or not self._is_idle():
            return
        if self._search is None:
            key = next(iter(self._waiting), None)
            if key is None:
                return
            del self._waiting[key]
            self._search = (key, self._start(self._state, key))
        key, search = self._search
        try:
            hint = search.step()
        except BaseException:
            self._search = None
            raise
        if hint is None:
            return
        self._search = None
        if hint:
            self._found[key] = hint
            self.tell(key)

    def next_due_seconds(self) -> float | None:
        """When `tick` has something to do."""
        if self._search is not None or self._waiting:
            return 0.0 if self._is_idle() else AGAIN_SECONDS
        return self._due.next_due_seconds()
