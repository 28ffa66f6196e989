"""Small numbers for the names of the nodes on which somebody is bound, known to us or not, for as long as somebody is."""

from typing import Final

import numpy as np

from scheduler.state.changes import Slots
from scheduler.state.nodes import NodeTable

_NOWHERE: Final = -1


class NodeNumbers:
    """Numbers are given again when the last pod of a node went, so there are never more than nodes in use at the same time."""

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes: Final = nodes
        self._number_of: dict[str, int] = {}
        self._names: list[str] = []
        self._pods: list[int] = []
        self._spare: list[int] = []
        self._slots: Slots = np.empty(0, dtype=np.intp)
        self._position = -1

    def enter(self, name: str) -> int:
        """One pod more on this node; the node's number."""
        number = self._number_of.get(name)
        if number is None:
            number = self._number_of[name] = self._spare.pop() if self._spare else self._new()
            self._names[number] = name
            self._position = -1
        self._pods[number] += 1
        return number

    def leave(self, number: int) -> None:
        """One pod less on the node of this number."""
        self._pods[number] -= 1
        if not self._pods[number]:
            del self._number_of[self._names[number]]
            self._names[number] = ""
            self._spare.append(number)

    @property
    def slots(self) -> Slots:
        """The node slot by number, -1 where the node is not known; at least one entry."""
        end = self._nodes.rule_changes.end
        if self._position != end:
            known = self._nodes.slot_of
            self._slots = np.fromiter(
                (known.get(name, _NOWHERE) for name in self._names or ("",)),
                dtype=np.intp,
                count=max(len(self._names), 1),
            )
            self._position = end
        return self._slots

    def _new(self) -> int:
        self._names.append("")
        self._pods.append(0)
        return len(self._names) - 1
