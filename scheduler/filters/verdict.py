"""What a static filter answers: one code per node, and the reason each code stands for."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from scheduler.state.changes import Slots
from scheduler.state.nodes import NodeTable
from scheduler.state.rules import NodeRules

Codes = NDArray[np.int32]


class Verdict:
    """`codes[i]` is 0 when the i-th asked node is fine, else 1 + the index of the reason in `reasons`."""

    __slots__ = ("codes", "reasons")

    def __init__(self, codes: Codes, reasons: tuple[str, ...]) -> None:
        self.codes = codes
        self.reasons = reasons

    @classmethod
    def refuse(cls, refused: NDArray[np.bool_], reason: str) -> "Verdict":
        """The verdict of a filter that has one reason only."""
        return cls(refused.astype(np.int32), (reason,))


class StaticFilter(Protocol):
    """A filter that looks at rules and at what nodes say about themselves."""

    def __call__(self, rules: NodeRules, nodes: NodeTable, slots: Slots) -> Verdict | None:
        """The verdict on the nodes in these slots, None when the filter does not concern these rules."""
