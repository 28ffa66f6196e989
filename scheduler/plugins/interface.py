"""What plugins share: the answer of a static filter, and how raw figures become scores of 0..100."""

from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from scheduler.cache.node_columns import Slots
from scheduler.cache.node_rules import NodeRules
from scheduler.cache.nodes import NodeTable
from scheduler.plugins.status import Status

Codes = NDArray[np.int32]
Mask = NDArray[np.bool_]
IntArray = NDArray[np.int64]

MAX_SCORE: Final = 100


class NodeStatuses:
    """What a static filter answers.

    Attributes:
        codes: `[asked node]`; 0 where the node is fine, else 1 + an index into `refusals`.
        refusals: with which statuses nodes are refused.
    """

    __slots__ = ("codes", "refusals")

    def __init__(self, codes: Codes, refusals: tuple[Status, ...]) -> None:
        self.codes = codes
        self.refusals = refusals

    @classmethod
    def refuse(cls, refused: Mask, refusal: Status) -> "NodeStatuses":
        """The answer of a filter that refuses all nodes with the same status; `refused` is `[asked node]`."""
        return cls(refused.astype(np.int32), (refusal,))


class StaticFilter(Protocol):
    """A filter that looks at a pod's rules and at what nodes say about themselves."""

    def __call__(self, rules: NodeRules, nodes: NodeTable, slots: Slots) -> NodeStatuses | None:
        """The statuses of the nodes in these slots, in their order; None when the filter does not concern these rules."""


def default_normalize_score(raw: IntArray, feasible: Mask, *, is_bad: bool = False) -> IntArray:
    """Upstream's DefaultNormalizeScore: raw figures as a share of the most that a feasible node has.

    Args:
        raw: `[node]`, not below 0.
        feasible: `[node]`, the nodes that can take the pod.
        is_bad: the less the better: what is missing to the most counts.

    Returns:
        `[node]` of 0..100 on feasible nodes.
    """
    most = int(raw.max(where=feasible, initial=0))
    if most <= 0:
        return np.full(len(raw), MAX_SCORE if is_bad else 0, dtype=np.int64)
    share = MAX_SCORE * raw // most
    return MAX_SCORE - share if is_bad else share
