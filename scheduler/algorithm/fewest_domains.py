"""The domains of a tree of levels that take so many units (pods, slices) with as few domains as possible, level after level.

Fewest at the widest level comes first, then fewest at the next one, and so on; domains that are in use already cost nothing.
Two steps. A quick one takes the roomiest domains of each level inside those chosen above it. No choice can do with fewer than
the roomiest domains of a level taken anywhere: where the quick step does as well at every level, it is right. Where it does
not, a table over (domains looked at, units found room for) holds the least cost of each, as for a knapsack, with the levels as
digits of the cost: the widest counts most. Its size is limited; beyond it the quick answer is kept.

Of choices that are alike the one with least room left over is preferred, so that whole domains stay free for others: always by
the table, as far as the last domain of each level goes by the quick step.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler.cache.steps import Steps

Whole = NDArray[np.int64]
Mask = NDArray[np.bool_]

MOST_CELLS: Final = 2_000_000
"""Cells of the table, leaves x units: about 20 ms."""
_STEPS_OF_A_CELL: Final = 10
_NEVER: Final = 2**62


class Leaves(NamedTuple):
    """The domains of the narrowest level, in the order of the tree.

    Attributes:
        parents: by level, widest first, the narrowest last: `[leaf]` the domain of that level; ascending.
        room: `[leaf]` units it has room for.
        used: by level: `[leaf]` whether its domain of that level is in use already.
        counts: by level: whether fewer domains of it are better.
    """

    parents: Sequence[Whole]
    room: Whole
    used: Sequence[Mask]
    counts: Sequence[bool]


class Choice(NamedTuple):
    """Leaves to use, and by level that counts, widest first, how many domains that adds; `is_exact` when no choice adds fewer."""

    chosen: Mask
    added: tuple[int, ...]
    is_exact: bool


def fewest_domains(leaves: Leaves, wanted: int, steps: Steps) -> Choice:
    """The leaves to use for so many units; all of them when they are not enough.

    Raises:
        OverBudgetError: the table would take more steps than the computation under way may cost.
    """
    if wanted <= 0:
        none = np.zeros(len(leaves.room), dtype=np.bool_)
        return Choice(none, added_by(leaves, none), is_exact=True)
    if int(leaves.room.sum()) <= wanted:
        every = leaves.room > 0
        return Choice(every, added_by(leaves, every), is_exact=True)
    quick = _roomiest(leaves, wanted)
    added = added_by(leaves, quick)
    if added == least_added(leaves, wanted):
        return Choice(quick, added, is_exact=True)
    if len(leaves.room) * (wanted + 1) > MOST_CELLS:
        return Choice(quick, added, is_exact=False)
    steps.spend(_STEPS_OF_A_CELL * len(leaves.room) * (wanted + 1))
    found = _by_table(leaves, wanted)
    return (
        Choice(quick, added, is_exact=False) if found is None else Choice(found, added_by(leaves, found), is_exact=True)
    )


def added_by(leaves: Leaves, chosen: Mask) -> tuple[int, ...]:
    """By level that counts, widest first: domains that are not in use and have chosen leaves."""
    return tuple(
        len(np.unique(parent[chosen & ~used]))
        for parent, used, counts in zip(leaves.parents, leaves.used, leaves.counts, strict=True)
        if counts
    )


def least_added(leaves: Leaves, wanted: int) -> tuple[int, ...]:
    """By level that counts, widest first: no choice adds fewer."""
    found = []
    for parent, used, counts in zip(leaves.parents, leaves.used, leaves.counts, strict=True):
        if counts:
            missing = wanted - int(leaves.room[used].sum())
            room = np.sort(np.bincount(parent[~used], weights=leaves.room[~used]))[::-1]
            found.append(int(np.searchsorted(np.cumsum(room), missing)) + 1 if missing > 0 else 0)
    return tuple(found)


def _roomiest(leaves: Leaves, wanted: int) -> Mask:
    inside: Mask = leaves.room > 0
    for parent, used in zip(leaves.parents, leaves.used, strict=True):
        domains, index = np.unique(parent[inside], return_inverse=True)
        room = np.bincount(index, weights=leaves.room[inside]).astype(np.int64)
        is_used = np.zeros(len(domains), dtype=np.bool_)
        is_used[index] = used[inside]
        order = np.lexsort((-room, ~is_used))
        last = int(np.searchsorted(np.cumsum(room[order]), wanted))
        taken = order[: last + 1]
        missing = wanted - int(room[taken[:-1]].sum())
        others = order[last:]
        # The last one need not be the roomiest: the tightest that suffices, among those that cost the same.
        others = others[(room[others] >= missing) & (is_used[others] == is_used[taken[-1]])]
        taken[-1] = others[room[others].argmin()]
        kept = np.zeros(len(domains), dtype=np.bool_)
        kept[taken] = True
        inside[inside] = kept[index]
    return inside


# --- the table ---------------------------------------------------------------------------------------------------------


def _by_table(leaves: Leaves, wanted: int) -> Mask | None:
    """None when the costs of so many levels do not fit into numbers."""
    costs = _costs(leaves, wanted)
    return _Table(leaves, costs, wanted).chosen() if costs is not None else None


def _costs(leaves: Leaves, wanted: int) -> tuple[list[int], int] | None:
    """By level: what one more domain costs; and what one unit of room does, 0 where that has no room in the number."""
    room = int(np.minimum(leaves.room, wanted).sum()) + 1
    radix = [len(np.unique(parent)) + 1 for parent in leaves.parents]
    for least, unit in ((room, 1), (1, 0)):
        costs: list[int] = []
        weight = least
        for size, counts in zip(reversed(radix), reversed(leaves.counts), strict=True):
            costs.append(weight if counts else 0)
            weight *= size if counts else 1
        if weight < _NEVER // 2:
            return costs[::-1], unit
    return None


class _Table:
    """Least cost by units found room for, leaf after leaf; and which leaves that took, to be read backwards."""

    def __init__(self, leaves: Leaves, costs: tuple[list[int], int], wanted: int) -> None:
        self._leaves: Final = leaves
        self._costs, self._unit = costs
        self._wanted: Final = wanted
        self._is_taken: Final[dict[int, Mask]] = {}
        self._is_entered: Final[dict[tuple[int, int], Mask]] = {}
        """By level and first leaf: whether a domain is used for so many units."""

    def chosen(self) -> Mask:
        """The leaves of a choice with the least cost."""
        start = np.full(self._wanted + 1, _NEVER, dtype=np.int64)
        start[0] = 0
        size = len(self._leaves.room)
        self._children(start, 0, 0, size)
        found = np.zeros(size, dtype=np.bool_)
        self._read(self._wanted, 0, 0, size, found)
        return found

    def _domains(self, level: int, first: int, end: int) -> list[tuple[int, int]]:
        """(first leaf, end) of the domains of a level among these leaves."""
        parent = self._leaves.parents[level][first:end]
        cuts = (np.flatnonzero(np.diff(parent)) + 1 + first).tolist()
        return list(zip([first, *cuts], [*cuts, end], strict=True))

    def _children(self, least: Whole, level: int, first: int, end: int) -> Whole:
        for begin, stop in self._domains(level, first, end):
            price = 0 if self._leaves.used[level][begin] else self._costs[level]
            if level == len(self._leaves.parents) - 1:
                room = min(int(self._leaves.room[begin]), self._wanted)
                entered = self._with(least, room) + (price + self._unit * room)
                self._is_taken[begin] = entered < least
            else:
                entered = self._children(least + price, level + 1, begin, stop)
                self._is_entered[level, begin] = entered < least
            least = np.minimum(least, entered)
        return np.minimum(least, _NEVER)

    def _with(self, least: Whole, room: int) -> Whole:
        """The cost of so many units when a leaf takes some of them."""
        if not room:
            return least
        found = np.empty_like(least)
        found[:room] = least[0]
        found[room:] = least[:-room]
        return found

    def _read(self, units: int, level: int, first: int, end: int, found: Mask) -> int:
        """Marks the leaves that so many units take; returns the units that are left for leaves before `first`."""
        for begin, stop in reversed(self._domains(level, first, end)):
            if level == len(self._leaves.parents) - 1:
                if self._is_taken[begin][units]:
                    found[begin] = True
                    units = max(units - int(self._leaves.room[begin]), 0)
            elif self._is_entered[level, begin][units]:
                units = self._read(units, level + 1, begin, stop, found)
        return units
