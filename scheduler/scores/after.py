"""What nodes would look like with some more pods on them: one demand several times over, or several demands in turn."""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from scheduler.state.changes import Slots
from scheduler.state.demand import Demand
from scheduler.state.nodes import CPU_ROW, MEMORY_ROW, Amounts
from scheduler.state.scoring import DEFAULT, Scoring

Numbers = NDArray[np.float64]

ROWS: Final = (CPU_ROW, MEMORY_ROW)
"""The resources that are scored, as in the default profile; the first rows of every table."""
NAMES: Final = ("cpu", "memory")


class Loads:
    """Alternatives of what is put on a node, in the amounts scoring looks at: CPU and memory (first axis) by load (second)."""

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
        """What the pods of each load ask for of one resource."""
        return self.asked[NAMES.index(name)] if name in NAMES else self.others[name]


class After:
    """Nodes (second axis) under several loads (third axis), CPU and memory (first axis).

    `total_score` and its parts answer per node (first axis) and load (second axis).
    """

    __slots__ = (
        "_amounts",
        "is_offered",
        "is_offered_by_all",
        "loads",
        "percent",
        "requested",
        "scored",
        "standing",
        "undemanding",
    )

    def __init__(
        self, allocatable: Amounts, free: Amounts, scored: Amounts, loads: Loads, slots: Slots | slice
    ) -> None:
        self.loads: Final = loads
        self._amounts: Final = (allocatable, free, slots)
        offered, unused, scored = (_columns(table[: len(ROWS)], slots) for table in (allocatable, free, scored))
        self.is_offered: NDArray[np.bool_] = (offered > 0)[:, :, None]
        self.is_offered_by_all: bool = bool(self.is_offered.all())
        self.percent: Numbers = (100.0 / np.maximum(offered, 1))[:, :, None]
        """Percent of the node that one unit is."""
        self.standing: Numbers = (offered - unused).astype(np.float64)[:, :, None]
        """What those ask for who are there already, exactly."""
        self.requested: Numbers = self.standing + loads.asked[:, None, :]
        """What pods ask for, exactly."""
        self.scored: Numbers = scored.astype(np.float64)[:, :, None] + loads.counted[:, None, :]
        """The same with a default for pods that ask for nothing."""
        self.undemanding = loads.undemanding

    def use_of(self, name: str, *, counted: bool) -> tuple[Numbers, Numbers]:
        """(what is in use then, what there is) of one resource; `counted` with a default for pods that ask for nothing."""
        allocatable, free, slots = self._amounts
        asked = self.loads.amounts_of(name)
        row = ROWS[NAMES.index(name)] if name in NAMES else self.loads.row_of.get(name)
        if row is None:
            return np.zeros((self.scored.shape[1], len(asked))), np.zeros((self.scored.shape[1], 1))
        offered = allocatable[row, slots].astype(np.float64)[:, None]
        if name in NAMES:
            return (self.scored if counted else self.requested)[NAMES.index(name)], offered
        return offered - free[row, slots][:, None] + asked[None, :], offered

    def before(self, with_pod: Numbers, standing: Numbers) -> Numbers:
        """Figures for the moment before the last pod of each load came, from those with it and those without any load."""
        if not self.loads.is_series or with_pod.shape[1] == 1:
            return standing
        return np.concatenate([standing[:, :1], with_pod[:, :-1]], axis=1)


def _columns(table: Amounts, slots: Slots | slice) -> Amounts:
    """Some columns, each row in one piece of memory: what is computed from them is several times faster then."""
    return table[:, slots] if isinstance(slots, slice) else table.take(slots, axis=1)
