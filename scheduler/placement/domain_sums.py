"""What the nodes of each topology domain have in sum: kept per label key, and computed anew only for nodes that changed."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.state.changes import Column, Slots
from scheduler.state.nodes import Amounts, NodeTable

Sums = NDArray[np.float64]
"""Whole numbers; the sum of many nodes' memory may be more than fits an int64."""

MOST_KEYS: Final = 16
"""Label keys that groups name as their topology at the same time; the longest known goes first."""


class DomainSums:
    """One label key; columns are codes of its values."""

    def __init__(self, nodes: NodeTable, key: str) -> None:
        self._nodes: Final = nodes
        self._key: Final = key
        self.offered: Sums = np.zeros((0, 0))
        self.free: Sums = np.zeros((0, 0))
        self.nodes_in: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        """Nodes per value."""
        self.order: NDArray[np.intp] = np.zeros(0, dtype=np.intp)
        """Where each value stands in alphabetical order."""
        self._column: Column[str | None] | None = None
        self._counted: Amounts = np.zeros((0, 0), dtype=np.int64)
        self._room_position = 0
        self._rule_position = -1

    def catch_up(self) -> None:
        """Takes in what changed since the last call."""
        nodes = self._nodes
        rules, room = nodes.rule_changes, nodes.room_changes
        column = nodes.label_column(self._key)
        if self._column is not column or self._rule_position != rules.end or self._counted.shape != nodes.free.shape:
            self._column = column
            self._count_all()
        elif self._room_position != room.end:
            changed = room.since(self._room_position, limit=nodes.slots // 4)
            if changed is None:
                self._count_all()
            else:
                self._count(changed)
        self._room_position, self._rule_position = room.end, rules.end

    def _count_all(self) -> None:
        nodes = self._nodes
        column = nodes.label_column(self._key)
        size = len(column.values)
        self.offered = _sums(nodes.allocatable, column.codes, size)
        self.free = _sums(nodes.free, column.codes, size)
        self.nodes_in = np.bincount(column.codes[nodes.alive], minlength=size)
        self.order = np.argsort(np.argsort(np.array([value or "" for value in column.values])))
        self._counted = nodes.free.copy()

    def _count(self, slots: Slots) -> None:
        nodes = self._nodes
        codes = nodes.label_column(self._key).codes
        for slot in slots.tolist():
            now, code = nodes.free[:, slot], codes[slot]
            self.free[:, code] += now - self._counted[:, slot]
            self._counted[:, slot] = now


def _sums(amounts: Amounts, codes: NDArray[np.int32], size: int) -> Sums:
    return np.array([np.bincount(codes, weights=by_node, minlength=size) for by_node in amounts])


class DomainTable:
    """The sums of the label keys in use."""

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes: Final = nodes
        self._sums: dict[str, DomainSums] = {}

    def of(self, key: str) -> DomainSums:
        """The current sums by a label."""
        sums = self._sums.get(key)
        if sums is None:
            if len(self._sums) >= MOST_KEYS:
                del self._sums[next(iter(self._sums))]
            sums = self._sums[key] = DomainSums(self._nodes, key)
        sums.catch_up()
        return sums
