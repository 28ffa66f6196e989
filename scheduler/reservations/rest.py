"""What goes through all items before a cycle takes a fifth of the time at most, however many there are."""

from collections.abc import Callable
from typing import Final

_REST: Final = 4.0
"""So many times as long as it took nothing is repeated."""


class Rest:
    """When something that was just done may be done again.

    Args:
        clock: monotonic seconds.

    Attributes:
        is_behind: whether there may be something to do that has to wait.
    """

    __slots__ = ("_clock", "_until_seconds", "is_behind")

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock: Final = clock
        self._until_seconds = 0.0
        self.is_behind = False

    def is_over(self) -> bool:
        """Whether it may be done now; otherwise it is behind, until somebody says that it is not."""
        if self._clock() >= self._until_seconds:
            return True
        self.is_behind = True
        return False

    def begin(self, since_seconds: float) -> None:
        """It was done, from this moment until now."""
        now = self._clock()
        self._until_seconds = max(self._until_seconds, now + _REST * (now - since_seconds))

    def due_seconds(self, otherwise: float | None = None) -> float | None:
        """Seconds until it may be done, when it is behind."""
        return max(self._until_seconds - self._clock(), 0.0) if self.is_behind else otherwise
