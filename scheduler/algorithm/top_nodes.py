"""The nodes that are best for one more pod of a signature, without looking at all nodes for each gang.

Kept are the best few (`_KEPT`) of all nodes with room, in a heap, and a floor: every node that is not kept is worse than it.
A node whose figures change is kept or let go by that floor, so the best of those kept are the best of all. When too few are
left that is no longer known, and all nodes are looked at once more. Entries of the heap that are overtaken stay in it until
they come up.
"""

from heapq import heapify, heappop, heappush
from typing import Final

import numpy as np
from numpy.typing import NDArray

_KEPT: Final = 256
_STEP: Final = 2**32
"""Weight of a score against a slot; no cluster has as many nodes."""


class TopNodes:
    """Order is by score, then by slot: what a scheduler prefers that takes the first of equals. Ranks sort best first."""

    __slots__ = ("_floor", "_heap", "_is_known", "_rank_of")

    def __init__(self) -> None:
        self._heap: list[int] = []
        self._rank_of: dict[int, int] = {}
        self._floor: int | None = None
        """The rank of the worst node kept when all nodes were looked at; None when every node with room is kept."""
        self._is_known = False

    def forget(self) -> None:
        """Figures of many nodes changed."""
        self._is_known = False

    def update(self, slot: int, capacity: int, score: int) -> None:
        """The figures of a node are these now."""
        if not self._is_known:
            return
        rank = slot - score * _STEP
        if capacity and (self._floor is None or rank <= self._floor):
            self._rank_of[slot] = rank
            heappush(self._heap, rank)
        else:
            self._rank_of.pop(slot, None)

    def best(self, count: int, capacity: NDArray[np.int64], score: NDArray[np.int64]) -> list[int]:
        """The slots of the best so many nodes with room, best first; fewer when there are no more."""
        if not self._is_known or len(self._heap) > 4 * _KEPT:
            self._select(count, capacity, score)
        found = self._take(count)
        if len(found) < count and self._floor is not None:
            self._select(count, capacity, score)
            found = self._take(count)
        return [rank % _STEP for rank in found]

    def _select(self, count: int, capacity: NDArray[np.int64], score: NDArray[np.int64]) -> None:
        slots = np.flatnonzero(capacity)
        ranks = slots - score[slots] * _STEP
        keep = max(_KEPT, 2 * count)
        self._floor = None
        if len(ranks) > keep:
            ranks = np.partition(ranks, keep - 1)[:keep]
            self._floor = int(ranks[-1])
        self._heap = ranks.tolist()
        self._rank_of = {rank % _STEP: rank for rank in self._heap}
        heapify(self._heap)
        self._is_known = True

    def _take(self, count: int) -> list[int]:
        heap, rank_of = self._heap, self._rank_of
        found: list[int] = []
        while heap and len(found) < count:
            rank = heappop(heap)
            if rank_of.get(rank % _STEP) == rank and (not found or found[-1] != rank):
                found.append(rank)
        for rank in found:
            heappush(heap, rank)
        return found
