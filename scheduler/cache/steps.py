"""Work counted in steps, so that nothing a user writes can keep the process busy for long.

A step is one look at one figure of one node: about a nanosecond of a current core, many of them done at once. What is done one
by one costs more steps (`ONE_BY_ONE`), and so does looking at the nodes at all, however few there are (`ONE_SCAN`). Steps are
counted rather than seconds, so the same decision on the same cluster always ends the same way.
"""

from collections.abc import Callable
from math import inf
from types import TracebackType
from typing import Final, Literal

ONE_BY_ONE: Final = 500
"""Steps of one comparison outside arrays: a label with a value, a pod with a rule."""
ONE_SCAN: Final = 3_000
"""Steps of one operation on all nodes beside those for each node."""
MOST_STEPS: Final = 150_000_000
"""Of one computation, by default: on 5,000 nodes some 18,000 looks at all of them."""

Computation = Literal["decision", "preemption", "reservation"]


class OverBudgetError(Exception):
    """The steps allowed for a computation did not suffice; nothing was changed."""


def _nobody(_: Computation) -> None:
    pass


class Steps:
    """Counts while a limit is set. Whoever works spends before working, so that an interrupted cache stays whole.

    Args:
        most: steps of one computation.
    """

    __slots__ = ("exceeded", "limit", "most", "spent")

    def __init__(self, most: int = MOST_STEPS) -> None:
        self.most = most
        self.spent = 0
        self.exceeded: Callable[[Computation], None] = _nobody
        """Called when a computation ends because its steps did not suffice."""
        self.limit: float = inf
        """How many may have been spent in all before whoever works is stopped; infinite while there is no limit."""

    @property
    def left(self) -> float:
        """Steps that may still be spent; infinite while there is no limit."""
        return self.limit - self.spent

    def spend(self, steps: int) -> None:
        """Counts work that is about to be done.

        Raises:
            OverBudgetError: there are not so many steps left.
        """
        self.spent += steps
        if self.spent > self.limit:
            raise OverBudgetError

    def limited(self, computation: Computation) -> "_Limit":
        """A context whose block may take as many steps as one computation may.

        Raises:
            OverBudgetError: they did not suffice.
        """
        return _Limit(self, computation)


class _Limit:
    """A class, since every decision enters one, and a generator takes twice as long."""

    __slots__ = ("_around", "_computation", "_steps")

    def __init__(self, steps: Steps, computation: Computation) -> None:
        self._steps: Final = steps
        self._computation: Final = computation
        self._around: Final = steps.limit

    def __enter__(self) -> None:
        self._steps.limit = self._steps.spent + self._steps.most

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, OverBudgetError):
            self._steps.exceeded(self._computation)
        self._steps.limit = self._around
