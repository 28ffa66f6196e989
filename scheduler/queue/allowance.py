"""A share of the time for what must not take all of it."""

from collections.abc import Callable
from typing import Final

_NOTHING_SECONDS: Final = 1e-6
"""Less is rounding."""


class Allowance:
    """A share of all the time there is, with a little saved up for bursts: open until more has been spent than has come in.

    Args:
        clock: monotonic seconds.
        share: the part of all the time that may be spent, between 0 and 1.
        saved_seconds: as much as can be saved up; there at the beginning.
    """

    def __init__(self, clock: Callable[[], float], share: float, saved_seconds: float) -> None:
        self._clock = clock
        self._share = share
        self._saved_seconds = saved_seconds
        self._left_seconds = saved_seconds
        self._at_seconds = clock()

    @property
    def is_open(self) -> bool:
        """Whether something may be begun now, however long it takes."""
        return self.may_spend(0.0)

    def may_spend(self, seconds: float) -> bool:
        """Whether something may be begun after so much more has been spent."""
        return self._left() > seconds - _NOTHING_SECONDS

    @property
    def left_seconds(self) -> float:
        """What may still be spent at once; below zero when too much has been."""
        return self._left()

    def restore(self, left_seconds: float) -> None:
        """So much is left now."""
        self._left_seconds, self._at_seconds = left_seconds, self._clock()

    def opens_in_seconds(self) -> float:
        """How long until it is open, 0 when it is."""
        return max(-self._left() / self._share, 0.0)

    def spend(self, seconds: float) -> None:
        """So much time has been used."""
        self._left_seconds = self._left() - seconds

    def _left(self) -> float:
        now = self._clock()
        came_in = (now - self._at_seconds) * self._share
        self._at_seconds = now
        self._left_seconds = min(self._left_seconds + came_in, self._saved_seconds)
        return self._left_seconds
