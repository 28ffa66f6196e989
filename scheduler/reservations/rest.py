"""What goes through all items before a cycle takes a fifth of the time at most, however many there are.

A tenth of a second is saved up: when much happens at once, as when a node comes, is ready and loses its taints, each of it is
looked at before anybody is tried.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from scheduler.queue.allowance import Allowance

_SHARE: Final = 0.2
_SAVED_SECONDS: Final = 0.1


class Rest:
    """When something that takes time may be done again.

    Args:
        clock: monotonic seconds.

    Attributes:
        is_behind: whether there may be something to do that has to wait.
    """

    __slots__ = ("_allowance", "_clock", "_since_seconds", "is_behind")

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock: Final = clock
        self._allowance: Final = Allowance(clock, _SHARE, _SAVED_SECONDS)
        self._since_seconds: float | None = None
        """When what is being done was begun."""
        self.is_behind = False

    def is_over(self) -> bool:
        """Whether it may be done now, or go on; otherwise it is behind, until somebody says that it is not."""
        so_far = 0.0 if self._since_seconds is None else self._clock() - self._since_seconds
        if self._allowance.may_spend(so_far):
            return True
        self.is_behind = True
        return False

    @contextmanager
    def counted(self) -> Iterator[None]:
        """What is done inside is what takes time."""
        begun = self._since_seconds = self._clock()
        try:
            yield
        finally:
            self._since_seconds = None
            self._allowance.spend(self._clock() - begun)

    def due_seconds(self, otherwise: float | None = None) -> float | None:
        """Seconds until it may be done, when it is behind."""
        return self._allowance.opens_in_seconds() if self.is_behind else otherwise
