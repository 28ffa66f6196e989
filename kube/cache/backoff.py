"""Growing, jittered pauses between attempts, without sleeping: tenacity's strategy, our random source."""

import random
from typing import Any, cast

from tenacity import RetryCallState, wait_exponential

_NO_RETRYING = cast("Any", None)


class Backoff:
    """Pauses that double from `base_seconds` to `max_seconds`, each cut by up to half at random."""

    def __init__(self, base_seconds: float, max_seconds: float, jitter: random.Random) -> None:
        self._growth = wait_exponential(multiplier=base_seconds, max=max_seconds)
        self._jitter = jitter
        self.attempts = 0

    def next_seconds(self) -> float:
        """The pause after one more failure."""
        self.attempts += 1
        state = RetryCallState(_NO_RETRYING, None, (), {})
        state.attempt_number = self.attempts
        return self._growth(state) * self._jitter.uniform(0.5, 1.0)

    def reset(self) -> None:
        """Start from the smallest pause again."""
        self.attempts = 0
