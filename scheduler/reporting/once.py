"""Remembers what was said about whom, so that it is said once and not with every retry.

Two sayings are the same when they differ in numbers only: how many nodes lack what changes all the time, what they lack is
the news. A saying that stays true for very long is said again, because the API server forgets events.
"""

from collections.abc import Callable, Hashable

from scheduler.writes.condition_rules import blockers


class SaidOnce:
    """The last saying per subject."""

    def __init__(self, clock: Callable[[], float], *, repeat_seconds: float) -> None:
        """`clock` gives monotonic seconds."""
        self._clock = clock
        self._repeat_seconds = repeat_seconds
        self._said: dict[Hashable, tuple[str, str, float]] = {}

    def is_news(self, subject: Hashable, reason: str, message: str) -> bool:
        """Whether this is worth saying about the subject; if so it counts as said."""
        now = self._clock()
        essence = blockers(message)
        last = self._said.get(subject)
        if last is not None and last[:2] == (reason, essence) and now - last[2] < self._repeat_seconds:
            return False
        self._said[subject] = (reason, essence, now)
        return True

    def forget(self, subject: Hashable) -> None:
        """The subject is gone, or its situation is a new one."""
        self._said.pop(subject, None)
