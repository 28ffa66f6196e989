"""A token bucket: how fast one process may do something of little importance."""

from collections.abc import Callable


class TokenBucket:
    """Up to `burst` at once, `per_second` in the long run."""

    def __init__(self, *, per_second: float, burst: int, clock: Callable[[], float]) -> None:
        self._per_second = per_second
        self._burst = float(burst)
        self._clock = clock
        self._tokens = float(burst)
        self._at = clock()

    def take(self) -> float:
        """Take one token; gives the seconds to wait before acting on it (0 when one was left)."""
        self._refill()
        self._tokens -= 1.0
        return max(0.0, -self._tokens / self._per_second)

    def try_take(self) -> bool:
        """Take one token if there is one; gives whether there was."""
        self._refill()
        if self._tokens < 1.0:
            return False
        self._tokens -= 1.0
        return True

    def _refill(self) -> None:
        now = self._clock()
        self._tokens = min(self._burst, self._tokens + (now - self._at) * self._per_second)
        self._at = now
