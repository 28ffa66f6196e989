"""Work counted in steps, so that nothing a user writes can keep the process busy for long.

A step is one look at one figure of one node: about a nanosecond of a current core, many of them done at once. What is done one
by one costs more steps (`ONE_BY_ONE`), and so does looking at the nodes at all, however few there are (`ONE_LOOK`). Steps are
counted rather than seconds, so the same decision on the same cluster always ends the same way.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from typing import Final

ONE_BY_ONE: Final = 500
"""Steps of one comparison outside arrays: a label with a value, a pod with a rule."""
ONE_LOOK: Final = 3_000
"""Steps of one operation on all nodes beside those for each node."""


class OverBudget(Exception):
    """The steps allowed for a computation did not suffice; nothing was changed."""


class Steps:
    """Counts down while a limit is set. Whoever works spends before working, so that an interrupted cache stays whole."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left: float = inf
        """Steps that may still be spent; infinite while there is no limit."""

    def spend(self, steps: int) -> None:
        """Counts work that is about to be done.

        Raises:
            OverBudget: there are not so many steps left.
        """
        self.left -= steps
        if self.left < 0:
            raise OverBudget

    @contextmanager
    def limited(self, most: int) -> Iterator[None]:
        """So many steps at most inside the block, and never more than the block around it has left."""
        before = self.left
        allowed = self.left = min(before, most)
        try:
            yield
        finally:
            self.left = before - (allowed - self.left)
