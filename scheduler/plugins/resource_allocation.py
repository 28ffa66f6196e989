"""What nodes would look like with some more pods on them: one demand several times over, or several demands in turn.

The scores of NodeResourcesFit and NodeResourcesBalancedAllocation are computed from it, for all nodes and all loads at once.
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from scheduler.cache.demand import Demand
from scheduler.cache.node_columns import Slots
from scheduler.cache.nodes import CPU_ROW, MEMORY_ROW, Amounts
from scheduler.cache.scoring import DEFAULT, Scoring

Numbers = NDArray[np.float64]

Use = tuple[Numbers, Numbers, Numbers]
"""(amount in use, amount there is, whether it counts: 1 or 0) of one resource; `[node, load]`, the second may be `[node, 1]`."""

ROUNDING: Final = 1e-9
"""Keeps a whole number whole that comes out of floating point a hair too small."""

ROWS: Final = (CPU_ROW, MEMORY_ROW)
"""The resources that are scored, as in the default profile; the first rows of every table."""
NAMES: Final = ("cpu", "memory")
_ALWAYS: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
"""Resources that count for pods that do not ask for them, too."""


class PodLoads:
    """Alternatives of what is put on a node, in the amounts scoring looks at; tables are `[CPU and memory, load]`."""

    __slots__ = ("asked", "counted", "is_series", "others", "row_of", "scoring", "undemanding")

    def __init__(
        self, demands: Sequence[Demand], scoring: Scoring = DEFAULT, row_of: Mapping[str, int] | None = None
    ) -> None:
        """One pod of each demand; `row_of` is the node table's and needed for other resources than CPU and memory."""
        self.is_series = False
        """Each load has one pod more than the one before it; otherwise each has one pod."""
        self.scoring: Final = scoring
        self.row_of: Final = row_of or {}
        self.others: dict[str, Numbers] = {
            name: np.array([demand.amounts.get(name, 0) for demand in demands], dtype=np.float64)
            for name in scoring.names
            if name not in NAMES
        }
        """What pods ask for of those resources."""
        self.asked: Numbers = np.array(
            [[demand.amounts.get(name, 0) for demand in demands] for name in NAMES], dtype=np.float64
        )
        """What pods ask for, exactly."""
        self.counted: Numbers = np.array([demand.scored for demand in demands], dtype=np.float64).T
        """The same with a default for pods that ask for nothing."""
        undemanding: NDArray[np.bool_] = np.asarray(~self.asked.any(axis=0))
        self.undemanding = undemanding if undemanding.any() else None
        """The loads that ask for neither CPU nor memory; None when there are none."""

    @classmethod
    def of(
        cls, demand: Demand, depth: int, scoring: Scoring = DEFAULT, row_of: Mapping[str, int] | None = None
    ) -> Self:
        """1..`depth` pods of one demand."""
        made = cls([demand], scoring, row_of)
        made.is_series = True
        if depth > 1:
            pods = np.arange(1, depth + 1, dtype=np.float64)
            made.asked, made.counted = made.asked * pods, made.counted * pods
            made.others = {name: asked * pods for name, asked in made.others.items()}
            if made.undemanding is not None:
                made.undemanding = made.undemanding.repeat(depth)
        return made

    def some(self, which: NDArray[np.intp]) -> Self:
        """Some of these loads."""
        made = copy(self)
        made.is_series = False
        made.asked, made.counted = self.asked.take(which, axis=1), self.counted.take(which, axis=1)
        made.others = {name: asked[which] for name, asked in self.others.items()}
        made.undemanding = None if self.undemanding is None else self.undemanding[which]
        return made

    def extremes(self) -> tuple[Self, Self]:
        """The least and the most that any of these loads has of each amount, usual scores only."""
        least, most = copy(self), copy(self)
        least.asked, least.counted = self.asked.min(axis=1, keepdims=True), self.counted.min(axis=1, keepdims=True)
        most.asked, most.counted = self.asked.max(axis=1, keepdims=True), self.counted.max(axis=1, keepdims=True)
        for made in (least, most):
            made.is_series, made.undemanding = False, None
        return least, most

    def amounts_of(self, name: str) -> Numbers:
        """What the pods of each load ask for of one resource, `[load]`."""
        return self.asked[NAMES.index(name)] if name in NAMES else self.others[name]


class NodesWithPods:
    """Nodes under several loads; tables are `[CPU and memory, node, load]`, scores computed from them `[node, load]`.

    Args:
        allocatable: `[resource, node slot]`, what nodes have.
        free: `[resource, node slot]`, what nobody asked for.
        scored: `[CPU and memory, node slot]`, what is taken as scoring sees it.
        loads: what is put on each node.
        slots: which nodes.
    """

    __slots__ = (
        "_amounts",
        "is_offered",
        "is_offered_by_all",
        "loads",
        "percent",
        "requested",
        "scored",
        "undemanding",
        "used",
    )

    def __init__(
        self, allocatable: Amounts, free: Amounts, scored: Amounts, loads: PodLoads, slots: Slots | slice
    ) -> None:
        self.loads: Final = loads
        self._amounts: Final = (allocatable, free, slots)
        offered, unused, scored = (_columns(table[: len(ROWS)], slots) for table in (allocatable, free, scored))
        self.is_offered: NDArray[np.bool_] = (offered > 0)[:, :, None]
        self.is_offered_by_all: bool = bool(self.is_offered.all())
        self.percent: Numbers = (100.0 / np.maximum(offered, 1))[:, :, None]
        """Percent of the node that one unit is."""
        self.used: Numbers = (offered - unused).astype(np.float64)[:, :, None]
        """What those ask for who are there already, exactly."""
        self.requested: Numbers = self.used + loads.asked[:, None, :]
        """What pods ask for, exactly."""
        self.scored: Numbers = scored.astype(np.float64)[:, :, None] + loads.counted[:, None, :]
        """The same with a default for pods that ask for nothing."""
        self.undemanding = loads.undemanding

    def use_of(self, name: str, *, counted: bool) -> tuple[Numbers, Numbers]:
        """(what is in use then, what there is) of one resource, `[node, load]` and `[node, 1]`.

        `counted` with a default for pods that ask for nothing.
        """
        allocatable, free, slots = self._amounts
        asked = self.loads.amounts_of(name)
        row = ROWS[NAMES.index(name)] if name in NAMES else self.loads.row_of.get(name)
        if row is None:
            return np.zeros((self.scored.shape[1], len(asked))), np.zeros((self.scored.shape[1], 1))
        offered = allocatable[row, slots].astype(np.float64)[:, None]
        if name in NAMES:
            return (self.scored if counted else self.requested)[NAMES.index(name)], offered
        return offered - free[row, slots][:, None] + asked[None, :], offered

    def uses(self, names: Iterable[str], *, counted: bool) -> list[Use]:
        """`use_of` several resources, each with whether it counts.

        A resource that the node does not have does not count, nor does one beside CPU, memory and ephemeral storage that the pod
        does not ask for.
        """
        found = []
        for name in names:
            used, offered = self.use_of(name, counted=counted)
            counts = np.broadcast_to(offered > 0, used.shape).astype(np.float64)
            if name not in _ALWAYS:
                counts = counts * (self.loads.amounts_of(name) > 0)[None, :]
            found.append((used, offered, counts))
        return found

    def before(self, with_pod: Numbers, used: Numbers) -> Numbers:
        """Figures for the moment before the last pod of each load came, from those with it and those without any load."""
        if not self.loads.is_series or with_pod.shape[1] == 1:
            return used
        return np.concatenate([used[:, :1], with_pod[:, :-1]], axis=1)


def _columns(table: Amounts, slots: Slots | slice) -> Amounts:
    """Some columns, each row in one piece of memory: what is computed from them is several times faster then."""
    return table[:, slots] if isinstance(slots, slice) else table.take(slots, axis=1)
