"""When a write that failed for a passing reason is queued again: growing, jittered pauses per key, without holding a connection."""

import random
from collections.abc import Callable, Hashable

from kube.backoff import Backoff
from kube.client.errors import AnsweredError, KubeError

Later = Callable[[float, Callable[[], None]], object]
"""Calls something back after so many seconds; `loop.call_later` in the process, a list in tests."""


class Retries:
    """Pauses that double from `base_seconds` to `max_seconds` for each key that keeps failing.

    A key is remembered until `succeeded`: whoever calls `again` calls that as well, however the write ends, or it is kept for ever.
    """

    def __init__(
        self, later: Later, jitter: random.Random, *, base_seconds: float = 0.2, max_seconds: float = 10.0
    ) -> None:
        self._later = later
        self._jitter = jitter
        self._base_seconds = base_seconds
        self._max_seconds = max_seconds
        self._backoffs: dict[Hashable, Backoff] = {}

    def again(self, key: Hashable, action: Callable[[], None], error: KubeError | None = None) -> float:
        """Call `action` after this key's next pause, which is never shorter than what the server asked for."""
        if key not in self._backoffs:
            self._backoffs[key] = Backoff(self._base_seconds, self._max_seconds, self._jitter)
        pause = self._backoffs[key].next_seconds()
        if isinstance(error, AnsweredError) and error.retry_after_seconds is not None:
            pause = max(pause, error.retry_after_seconds)
        self._later(pause, action)
        return pause

    def succeeded(self, key: Hashable) -> None:
        """The write is over, done or not: start from the smallest pause the next time."""
        self._backoffs.pop(key, None)
