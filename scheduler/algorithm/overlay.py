"""Other amounts than the node table has: with tentative pods counted, or with room that is held for others or about to be free."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.algorithm.identical import PodsByNode
from scheduler.cache.demand import Demand, HostPort, PortTable, ports_conflict
from scheduler.cache.node_columns import NO_SLOTS, Slots
from scheduler.cache.nodes import CPU_ROW, MEMORY_ROW, Amounts, NodeTable
from scheduler.cache.pod_signature import PodSignature
from scheduler.plugins.node_ports import nodes_in_conflict


class Placed:
    """Pods of one signature on nodes.

    Args:
        signature: their signature.
        slots: node slots, each once.
        counts: how many pods each of these nodes gets, in the order of `slots`.
        total: their sum, where it is known.
    """

    __slots__ = ("counts", "signature", "slots", "total")

    def __init__(self, signature: PodSignature, slots: Slots, counts: PodsByNode, total: int | None = None) -> None:
        self.signature = signature
        self.slots = slots
        self.counts = counts
        self.total = int(counts.sum()) if total is None else total


class AssumedResources:
    """The node table's arrays until the first pod is counted, copies of them from then on.

    Attributes:
        free: what is free, `[resource, node]`; may be negative. Not to be written to.
        scored: CPU and memory taken as scoring sees it, `[2, node]`. Not to be written to.
        changed: the slots of the nodes that are not as in the node table, ascending.
    """

    __slots__ = ("_nodes", "_own_ports", "_ports", "changed", "free", "scored")

    def __init__(self, nodes: NodeTable, ports: PortTable, free: Amounts) -> None:
        """`free` is what there is before the first pod; it is not written to."""
        self._nodes: Final = nodes
        self._ports: Final = ports
        self._own_ports: Final[dict[int, list[HostPort]]] = {}
        self.free = free
        self.scored = nodes.scored
        self.changed: Slots = NO_SLOTS

    def start_from(self, free: Amounts, scored: Amounts, changed: Slots) -> None:
        """Other amounts than the node table's, to be written to from now on."""
        self.free, self.scored, self.changed = free, scored, changed

    def count(self, demand: Demand, slot: int) -> None:
        """One pod more on this node; `note_changed` is to be called after the last one."""
        self._own_arrays()
        resolved = self._nodes.resolve(demand)
        self.free[resolved.rows, slot] -= resolved.amounts
        self.scored[:, slot] += demand.scored
        if demand.ports:
            self._own_ports.setdefault(slot, []).extend(demand.ports)

    def count_each(self, demand: Demand, slots: Slots) -> None:
        """One pod more on each of these different nodes; `note_changed` is to be called after the last one."""
        self._own_arrays()
        resolved = self._nodes.resolve(demand)
        self.free[np.ix_(resolved.rows, slots)] -= resolved.amounts[:, None]
        self.scored[:, slots] += resolved.scored[:, None]
        for slot in slots.tolist() if demand.ports else ():
            self._own_ports.setdefault(slot, []).extend(demand.ports)

    def count_all(self, parts: Sequence[Placed]) -> None:
        """All these pods, at least one part."""
        self._own_arrays()
        for placed in parts:
            demand = placed.signature.demand
            resolved = self._nodes.resolve(demand)
            self.free[:, placed.slots] -= resolved.column[:, None] * placed.counts
            self.scored[:, placed.slots] += resolved.scored[:, None] * placed.counts
            for slot in placed.slots.tolist() if demand.ports else ():
                self._own_ports.setdefault(slot, []).extend(demand.ports)
        self.note_changed(np.concatenate([placed.slots for placed in parts]))

    def note_changed(self, slots: Slots) -> None:
        """Pods have been counted on these nodes."""
        self.changed = np.union1d(self.changed, slots)

    def port_conflicts(self, ports: tuple[HostPort, ...], slots: Slots) -> NDArray[np.bool_]:
        """By entry of `slots`: whether one of these ports is taken there, by a pod that runs or by a tentative one."""
        own = [
            slot
            for slot, taken in self._own_ports.items()
            if any(ports_conflict(port, other) for port in ports for other in taken)
        ]
        return nodes_in_conflict(ports, self._nodes, self._ports, slots) | np.isin(slots, own)

    def _own_arrays(self) -> None:
        if self.scored is self._nodes.scored:
            self.free, self.scored = self.free.copy(), self.scored.copy()


class ResourceOverlay:
    """Amounts that differ from the node table's, made once; any number of snapshots start from it.

    Attributes:
        free: what is free, `[resource, node]`; may be negative.
        scored: CPU and memory taken as scoring sees it, `[2, node]`.
        ports: the host ports that are taken.
        touched: whether a node differs from the node table, `[node]`.
    """

    __slots__ = ("free", "ports", "scored", "touched")

    def __init__(self, nodes: NodeTable, ports: PortTable) -> None:
        self.free: Amounts = nodes.free.copy()
        self.scored: Amounts = nodes.scored.copy()
        self.ports = ports
        self.touched: NDArray[np.bool_] = np.zeros(nodes.slots, dtype=np.bool_)

    def copy(self) -> "ResourceOverlay":
        """The same room, to be altered further."""
        made = ResourceOverlay.__new__(ResourceOverlay)
        made.free, made.scored, made.touched = self.free.copy(), self.scored.copy(), self.touched.copy()
        made.ports = self.ports
        return made

    def add(self, slots: Slots, amounts: NDArray[np.int64]) -> None:
        """More room: `amounts` is `[resource, entry of slots]`."""
        for row, given in enumerate(amounts):
            if given.any():
                np.add.at(self.free[row], slots, given)
        for index, row in enumerate((CPU_ROW, MEMORY_ROW)):
            np.subtract.at(self.scored[index], slots, amounts[row])
        self.touched[slots] = True
