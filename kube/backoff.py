"""Pauses between attempts at the same thing, without sleeping: exponential and jittered (client-go's `wait.Backoff`)."""

import random

from api.backoff import exponential_backoff


class Backoff:
    """Pauses that double from `base_seconds` to `max_seconds`, each cut by up to half at random.

    Attributes:
        attempts: pauses given out since the start or the last `reset`.
    """

    def __init__(self, base_seconds: float, max_seconds: float, jitter: random.Random) -> None:
        self._base_seconds = base_seconds
        self._max_seconds = max_seconds
        self._jitter = jitter
        self.attempts = 0

    def next_seconds(self) -> float:
        """The pause after one more failure."""
        self.attempts += 1
        pause = exponential_backoff(self.attempts, base_seconds=self._base_seconds, max_seconds=self._max_seconds)
        return pause * self._jitter.uniform(0.5, 1.0)

    def reset(self) -> None:
        """Start from the smallest pause again."""
        self.attempts = 0
