"""How often somebody may ask. Pure, but for the clock."""

from collections.abc import Callable
from typing import Final

BURST: Final = 5
"""Questions that somebody may ask one after the other,"""
PAUSE_SECONDS: Final = 10.0
"""and the time after which he may ask one more."""
MOST_USERS: Final = 1000
"""Of whom is remembered when they asked; who asked longest ago is forgotten first."""


class RateLimits:
    """Counts the questions of each user.

    Args:
        clock: monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock: Final = clock
        self._paid_until: Final[dict[str, float]] = {}
        """User -> when he will have as many questions as he may ask at once."""

    def wait_seconds(self, user: str) -> float:
        """How long he has to wait before he may ask; 0: not at all, and the question is counted."""
        now = self._clock()
        paid = max(self._paid_until.pop(user, now), now)
        wait = paid - now - (BURST - 1) * PAUSE_SECONDS
        self._paid_until[user] = paid if wait > 0 else paid + PAUSE_SECONDS
        while len(self._paid_until) > MOST_USERS:
            del self._paid_until[next(iter(self._paid_until))]
        return max(wait, 0.0)
