"""Figures about every node that follow from what nodes say about themselves, computed anew only for nodes that changed."""

from collections.abc import Callable
from typing import Final

import numpy as np

from scheduler.plugins.framework import Whole
from scheduler.state.changes import Slots
from scheduler.state.nodes import NodeTable


class Followed:
    """One whole number per node slot."""

    def __init__(self, nodes: NodeTable, compute: Callable[[Slots], Whole]) -> None:
        self._nodes: Final = nodes
        self._compute: Final = compute
        self._values: Whole = np.empty(0, dtype=np.int64)
        self._position = 0

    def values(self) -> Whole:
        """The current figures; not to be written to."""
        nodes, log = self._nodes, self._nodes.rule_changes
        if self._position == log.end and len(self._values) == nodes.slots:
            return self._values
        slots = log.since(self._position, limit=nodes.slots // 4)
        if slots is None or len(self._values) != nodes.slots:
            self._values = self._compute(np.arange(nodes.slots))
        else:
            self._values[slots] = self._compute(slots)
        self._position = log.end
        return self._values
