"""The outcome of one try to place the members of an item."""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from scheduler.placement.trial import Placed, Trial
from scheduler.state.shapes import Shape

Pending = Mapping[Shape, int]
"""How many members of each shape are to be placed."""


class Attempt:
    """The outcome of one try: what was placed, on which trial; `proven` when no other try can place enough."""

    __slots__ = ("_counts", "domain", "doubt", "placed", "proven", "total", "trial")

    def __init__(self, trial: Trial, placed: list[Placed]) -> None:
        self.trial: Final = trial
        self.placed: Final = placed
        self.total: Final = sum(part.total for part in placed)
        self._counts: Counter[Shape] | None = None
        self.proven = True
        self.doubt = "the pods differ in what they need."
        """Why another try might do better, when `proven` is false."""
        self.domain = ""

    def count(self, shape: Shape) -> int:
        """How many members of a shape got a place."""
        if self._counts is None:
            self._counts = Counter()
            for part in self.placed:
                self._counts[part.shape] += part.total
        return self._counts[shape]
