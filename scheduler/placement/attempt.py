"""The outcome of one try to place the members of an item."""

from collections.abc import Mapping
from typing import Final

from scheduler.placement.trial import Placed, Trial
from scheduler.state.shapes import Shape

Pending = Mapping[Shape, int]
"""How many members of each shape are to be placed."""


class Attempt:
    """The outcome of one try: what was placed, on which trial; `proven` when no other try can place enough."""

    __slots__ = ("domain", "doubt", "placed", "proven", "total", "trial")

    def __init__(self, trial: Trial, placed: list[Placed]) -> None:
        self.trial: Final = trial
        self.placed: Final = placed
        self.total: Final = sum(part.total for part in placed)
        self.proven = True
        self.doubt = "the pods differ in what they need."
        """Why another try might do better, when `proven` is false."""
        self.domain = ""

    def count(self, shape: Shape) -> int:
        """How many members of a shape got a place."""
        return sum(part.total for part in self.placed if part.shape is shape)
