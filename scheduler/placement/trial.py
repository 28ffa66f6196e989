"""A snapshot with tentative pods on it: what one cycle looks at and changes, leaving the state as it is.

Nothing is copied until a second shape, or an explanation, must see where earlier pods went; then only the nodes that got
some are computed anew.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from scheduler.filters.node_ports import REASON as PORTS_REASON
from scheduler.filters.node_ports import ports_taken
from scheduler.filters.resources_fit import shortages, slots_for_pods
from scheduler.placement.fits import FitCache
from scheduler.placement.identical import Counts, spread
from scheduler.scores.after import After
from scheduler.scores.total import total_score
from scheduler.state.changes import Slots
from scheduler.state.demand import HostPort, ports_conflict
from scheduler.state.nodes import NodeTable
from scheduler.state.ports import PortTable
from scheduler.state.shapes import Shape


class Placed:
    """Pods of one shape on nodes: `counts[i]` of them on node slot `slots[i]`."""

    __slots__ = ("counts", "shape", "slots", "total")

    def __init__(self, shape: Shape, slots: Slots, counts: Counts) -> None:
        self.shape = shape
        self.slots = slots
        self.counts = counts
        self.total = int(counts.sum())


class Trial:
    """One attempt; `allowed` limits it to some nodes, and `outside` is the reason given for the others."""

    def __init__(
        self,
        nodes: NodeTable,
        ports: PortTable,
        fits: FitCache,
        allowed: NDArray[np.bool_] | None = None,
        outside: str = "",
    ) -> None:
        self._nodes = nodes
        self._ports = ports
        self._fits = fits
        self._allowed = allowed
        self._outside = outside
        self._free = nodes.free
        self._scored = nodes.scored
        self._unapplied: list[Placed] = []
        self._touched: Slots = np.empty(0, dtype=np.intp)
        self._own_ports: dict[int, list[HostPort]] = {}

    def capacity(self, shape: Shape) -> Counts:
        """How many more pods of this shape each node can take; not to be written to."""
        self._apply()
        fit = self._fits.of(shape)
        if self._allowed is None and not len(self._touched):
            return fit.capacity
        capacity = fit.capacity.copy()
        if len(self._touched):
            capacity[self._touched] = self._capacity_now(shape, fit.mask.codes)
        if self._allowed is not None:
            capacity[~self._allowed] = 0
        return capacity

    def place(self, shape: Shape, count: int, *, pack: bool = False) -> Placed:
        """Puts up to `count` pods of this shape on nodes: spread as the scores say, or packed to leave whole nodes free."""
        capacity = self.capacity(shape)
        score = self._score(shape)
        if pack:
            slots, counts = _pack(count, capacity, score)
        else:
            slots, counts = spread(count, capacity, score, lambda where, depth: self._scores(shape, where, depth))
        placed = Placed(shape, slots, counts)
        if placed.total:
            self._unapplied.append(placed)
        return placed

    def reasons(self, shape: Shape) -> Mapping[str, int]:
        """Why no further pod of this shape fits: number of nodes by reason."""
        self._apply()
        mask = self._fits.of(shape).mask
        found: dict[str, int] = {}
        fine = np.flatnonzero(mask.codes == 0)
        counts = np.bincount(mask.codes[mask.codes > 0], minlength=1).tolist()
        found.update((mask.reasons[code - 1], count) for code, count in enumerate(counts) if count)
        if self._allowed is not None:
            inside = self._allowed[fine]
            if not inside.all():
                found[self._outside] = int((~inside).sum())
            fine = fine[inside]
        if shape.demand.ports:
            busy = self._port_conflicts(shape.demand.ports, fine)
            if busy.any():
                found[PORTS_REASON] = int(busy.sum())
            fine = fine[~busy]
        found.update(shortages(self._free, self._nodes.resolve(shape.demand), self._nodes.resources, fine))
        return found

    def _capacity_now(self, shape: Shape, codes: NDArray[np.int32]) -> Counts:
        slots = self._touched
        capacity = slots_for_pods(self._free, self._nodes.resolve(shape.demand), slots)
        capacity[codes[slots] != 0] = 0
        if shape.demand.ports:
            capacity = np.minimum(capacity, 1)
            capacity[self._port_conflicts(shape.demand.ports, slots)] = 0
        return capacity

    def _port_conflicts(self, ports: tuple[HostPort, ...], slots: Slots) -> NDArray[np.bool_]:
        own = [
            slot
            for slot, taken in self._own_ports.items()
            if any(ports_conflict(port, other) for port in ports for other in taken)
        ]
        return ports_taken(ports, self._nodes, self._ports, slots) | np.isin(slots, own)

    def _score(self, shape: Shape) -> NDArray[np.int64]:
        score = self._fits.of(shape).score
        if not len(self._touched):
            return score
        score = score.copy()
        score[self._touched] = self._scores(shape, self._touched, 1)[:, 0]
        return score

    def _scores(self, shape: Shape, slots: Slots, depth: int) -> NDArray[np.int64]:
        return total_score(After(self._nodes.allocatable, self._free, self._scored, shape.demand, slots, depth))

    def _apply(self) -> None:
        if not self._unapplied:
            return
        if self._free is self._nodes.free:
            self._free, self._scored = self._free.copy(), self._scored.copy()
        for placed in self._unapplied:
            demand = placed.shape.demand
            resolved = self._nodes.resolve(demand)
            self._free[np.ix_(resolved.rows, placed.slots)] -= np.outer(resolved.amounts, placed.counts)
            self._scored[:, placed.slots] += np.outer(demand.scored, placed.counts)
            if demand.ports:
                for slot in placed.slots.tolist():
                    self._own_ports.setdefault(slot, []).extend(demand.ports)
            self._touched = np.union1d(self._touched, placed.slots)
        self._unapplied.clear()


def _pack(count: int, capacity: Counts, score: NDArray[np.int64]) -> tuple[Slots, Counts]:
    nodes = np.flatnonzero(capacity)
    nodes = nodes[np.argsort(score[nodes], kind="stable")]
    given = np.diff(np.minimum(np.cumsum(capacity[nodes]), count), prepend=0)
    return nodes[given > 0], given[given > 0]
