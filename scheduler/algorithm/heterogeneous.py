"""Members that nearly all differ, and the nodes in classes of equal state: what there is to decide, as tables.

Most clusters have far fewer states than nodes, so nodes in the same state are judged once, until a pod is put on one of them.
`heterogeneous_in_order` goes through the pods.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler.algorithm.snapshot import SnapshotOverlay
from scheduler.cache.node_columns import Slots
from scheduler.cache.pod_signature import PodSignature
from scheduler.plugins.resource_allocation import ROWS, PodLoads

_ODD: Final = 0x9E3779B97F4A7C15


class NodeClasses(NamedTuple):
    """Columns that are equal, put together; classes are numbered by their first member."""

    first: NDArray[np.intp]
    """A column of each class."""
    members: list[list[int]]
    """All columns of each class, ascending."""


def node_classes(columns: NDArray[np.int64]) -> NodeClasses:
    """The distinct columns of a table."""
    if not columns.shape[1]:
        return NodeClasses(np.empty(0, dtype=np.intp), [])
    inverse = _numbers(columns)
    order = np.argsort(inverse, kind="stable")
    cuts = np.flatnonzero(np.diff(inverse[order])) + 1
    columns_of = order.tolist()
    members = [columns_of[start:end] for start, end in pairwise([0, *cuts.tolist(), len(columns_of)])]
    return NodeClasses(np.array([part[0] for part in members], dtype=np.intp), members)


def _numbers(columns: NDArray[np.int64]) -> NDArray[np.intp]:
    """The number of each column's class, by a sum that is almost surely different for different columns; checked."""
    weights = np.array([(_ODD * (2 * row + 1) ** 3) % 2**64 for row in range(len(columns))], dtype=np.uint64)
    sums = (columns.astype(np.uint64) * weights[:, None]).sum(axis=0, dtype=np.uint64)
    _, first, inverse = np.unique(sums, return_index=True, return_inverse=True)
    if (columns[:, first[inverse]] == columns).all():
        return np.asarray(inverse, dtype=np.intp)
    return np.asarray(np.unique(columns, axis=1, return_inverse=True)[1].ravel(), dtype=np.intp)


Table = NDArray[np.int64]

INFEASIBLE: Final = -(2**62)
"""Less than anything; as a rank it stands for a node that cannot take the pod."""
_TOO_MUCH: Final = 2**62
_CELLS: Final = 2**15
"""Of a table that is small enough to be worked on fast."""
_A_CELL: Final = 4
_A_CELL_OF_A_ROW: Final = 5
"""Steps of saying how many pods of a signature a node class can take, and of each resource that they ask for differently."""
_SCANS_OF_A_RULE_SET: Final = 70
"""Operations on all nodes that each distinct set of rules takes."""
_FEWEST: Final = 8
_MOST_ALIKE: Final = 8
"""From so many pods of each signature on it is cheaper to look at signature after signature."""


def are_heterogeneous(snapshot: SnapshotOverlay, pending: Mapping[PodSignature, int]) -> bool:
    """Whether the members are many of which few are alike, and nothing but amounts, masks and images decides."""
    if (
        len(pending) < _FEWEST
        or sum(pending.values()) > _MOST_ALIKE * len(pending)
        or snapshot.topology_state is not None
    ):
        return False
    if not all(
        scoring.is_usual for scoring in {id(signature.scoring): signature.scoring for signature in pending}.values()
    ):
        return False
    if any(signature.demand.ports for signature in pending):
        return False
    return not any(map(snapshot.fits.has_preferences, {signature.rules for signature in pending}))


class HeterogeneousMembers:
    """Many signatures, and the nodes of a snapshot without tentative pods, told apart by class."""

    def __init__(self, snapshot: SnapshotOverlay, signatures: Sequence[PodSignature]) -> None:
        self.signatures: Final = signatures
        self.steps: Final = snapshot.steps
        resolved = [snapshot.nodes.resolve(signature.demand) for signature in signatures]
        amounts = np.array([each.column for each in resolved], dtype=np.int64).T
        self.amounts: Final[Table] = amounts
        self.least: Final[Table] = np.where(amounts > 0, amounts, INFEASIBLE)
        """What must be free; what is not asked for need not be."""
        self.least[0, [bool(each.missing) for each in resolved]] = _TOO_MUCH
        self.asked: Final = np.flatnonzero((self.least != INFEASIBLE).any(axis=1))
        """The rows that matter to somebody."""
        self.loads: Final = PodLoads([signature.demand for signature in signatures])
        rule_sets = {
            (signature.rules, signature.images): index for index, signature in reversed(list(enumerate(signatures)))
        }
        number = {rule_set: at for at, rule_set in enumerate(rule_sets)}
        self.rule_set_of: Final = np.array(
            [number[signature.rules, signature.images] for signature in signatures], dtype=np.intp
        )
        snapshot.spend(_SCANS_OF_A_RULE_SET * len(rule_sets) + len(self.asked))
        masks = [snapshot.accepting_nodes(signatures[index]) for index in rule_sets.values()]
        static_scores_of = [
            snapshot.fits.static_scores(signatures[index], mask.astype(np.int64))
            for index, mask in zip(rule_sets.values(), masks, strict=True)
        ]
        self.slots: Final[Slots] = np.flatnonzero(np.any(masks, axis=0))
        self.free: Final[Table] = snapshot.free[:, self.slots]
        self.scored: Final[Table] = snapshot.scored[:, self.slots]
        self.offered: Final[Table] = snapshot.nodes.allocatable[: len(ROWS), self.slots]
        self.is_open: Final[NDArray[np.bool_]] = np.array(masks)[:, self.slots]
        nothing = np.zeros(snapshot.nodes.slots, dtype=np.int64)
        self.static_score: Final[Table] = np.array(
            [nothing if static_score is None else static_score for static_score in static_scores_of]
        )[:, self.slots]
        self.node_classes: Final[NodeClasses] = node_classes(
            np.concatenate(
                [
                    self.free[self.asked],
                    self.free[: len(ROWS)],
                    self.scored,
                    self.offered,
                    self.is_open,
                    self.static_score,
                ]
            )
        )

    def room(self) -> tuple[list[int], list[int]]:
        """By signature: how many pods of it alone the nodes could take, and how many nodes could take one."""
        first = self.node_classes.first
        sizes = np.array([len(part) for part in self.node_classes.members], dtype=np.float64)
        is_alike = (self.amounts == self.amounts[:, :1]).all(axis=1)
        by_all, by_each = self.asked[is_alike[self.asked]].tolist(), self.asked[~is_alike[self.asked]].tolist()
        least = np.full((1, len(first)), np.inf)
        for row in by_all:
            np.minimum(least, self._fitting(row, slice(1)), out=least)
        self.steps.spend(len(self.signatures) * len(first) * (_A_CELL + _A_CELL_OF_A_ROW * len(by_each)))
        found = np.empty((2, len(self.signatures)))
        for some in _slices(len(self.signatures), max(1, _CELLS // max(1, len(first)))):
            room = np.where(self.is_open[self.rule_set_of[some]][:, first], least, 0)
            for row in by_each:
                np.minimum(room, self._fitting(row, some), out=room)
            room[self.least[0, some] == _TOO_MUCH] = 0
            np.maximum(room, 0, out=room)
            found[0, some] = room @ sizes
            found[1, some] = np.minimum(room, 1, out=room) @ sizes
        pods, hosts = found.astype(np.int64).tolist()
        return pods, hosts

    def _fitting(self, row: int, some: slice) -> NDArray[np.float64]:
        """How many pods of some signatures there is enough of a resource for, by class."""
        amounts = self.amounts[row, some]
        # Exact: amounts have at most 51 bits, so that no quotient is rounded up to the next whole number.
        found: NDArray[np.float64] = self.free[row, self.node_classes.first] / np.maximum(amounts, 1)[:, None]
        np.floor(found, out=found)
        found[amounts == 0] = np.inf
        return found


def _slices(total: int, size: int) -> Iterator[slice]:
    for start in range(0, total, size):
        yield slice(start, min(start + size, total))
