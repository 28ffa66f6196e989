"""A snapshot with tentative pods on it: what one cycle looks at and changes, leaving the state as it is.

Nothing is copied until a second shape, or an explanation, must see where earlier pods went; then only the nodes that got
some are computed anew.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.filters.node_ports import REASON as PORTS_REASON
from scheduler.filters.node_ports import ports_taken
from scheduler.filters.resources_fit import shortages, slots_for_pods
from scheduler.placement.company import Company
from scheduler.placement.fits import FitCache
from scheduler.placement.identical import Counts, spread
from scheduler.placement.relations import Relations
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
        relations: Relations | None = None,
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
        self.company: Final = Company(relations, self._slots()) if relations else None
        """Set when rules about other pods matter to the members."""

    def capacity(self, shape: Shape) -> Counts:
        """How many more pods of this shape each node can take; not to be written to.

        Relations are heeded as they are now: where they are not fixed, only the first pod is sure to be allowed.
        """
        capacity = self.room(shape)
        if self.company is None:
            return capacity
        allowed = self.company.allowed(shape)
        if allowed is not None:
            capacity = capacity.copy()
            capacity[self.company.slots[~allowed]] = 0
        return capacity

    def room(self, shape: Shape) -> Counts:
        """How many more pods of this shape each node can take if they mind nobody; not to be written to."""
        self._apply()
        fit = self._fits.of(shape)
        if self._allowed is None and not len(self._touched):
            return fit.capacity
        capacity = fit.capacity.copy()
        if len(self._touched):
            capacity[self._touched] = self.room_on(shape, self._touched)
        if self._allowed is not None:
            capacity[~self._allowed] = 0
        return capacity

    def place(self, shape: Shape, count: int, *, pack: bool = False) -> Placed:
        """Puts up to `count` pods of this shape on nodes: spread as the scores say, or packed to leave whole nodes free."""
        capacity = self.capacity(shape)
        score = self.score(shape)
        merits = self._merits(shape, capacity)
        if merits is not None:
            score = score + merits
        if pack:
            slots, counts = _pack(count, capacity, score)
        else:
            slots, counts = spread(
                count, capacity, score, lambda where, depth: self._table(shape, where, depth, merits)
            )
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
        if self.company is not None:
            with_room = np.isin(self.company.slots, fine[self.room_on(shape, fine) > 0])
            for reason, count in self.company.reasons(shape, with_room):
                found[reason] = found.get(reason, 0) + count
        return found

    # --- pod by pod --------------------------------------------------------------------------------------------------

    def settle(self, shape: Shape, slot: int) -> None:
        """One pod of this shape is on this node from now on; `touch` is to be called after the last one."""
        self._own_arrays()
        resolved = self._nodes.resolve(shape.demand)
        self._free[resolved.rows, slot] -= resolved.amounts
        self._scored[:, slot] += shape.demand.scored
        if shape.demand.ports:
            self._own_ports.setdefault(slot, []).extend(shape.demand.ports)
        if self.company is not None:
            self.company.settle(shape, slot)

    def touch(self, slots: Slots) -> None:
        """Pods have been settled on these nodes."""
        self._touched = np.union1d(self._touched, slots)

    def room_on(self, shape: Shape, slots: Slots) -> Counts:
        """How many more pods of this shape these nodes can take now, if they mind nobody."""
        capacity = slots_for_pods(self._free, self._nodes.resolve(shape.demand), slots)
        capacity[self._fits.of(shape).mask.codes[slots] != 0] = 0
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

    def score(self, shape: Shape) -> NDArray[np.int64]:
        """How good each node is for one more pod, as far as amounts decide; not to be written to."""
        score = self._fits.of(shape).score
        if not len(self._touched):
            return score
        score = score.copy()
        score[self._touched] = self.scores_on(shape, self._touched, 1)[:, 0]
        return score

    def wishes(self, shape: Shape, capacity: Counts) -> NDArray[np.int64] | None:
        """What wishes about nodes add to that, by node slot."""
        return self._fits.wishes(shape, capacity)

    def scores_on(self, shape: Shape, slots: Slots, depth: int) -> NDArray[np.int64]:
        """The same as `score` for some nodes, for the 1st..depth-th pod on each of them."""
        return total_score(After(self._nodes.allocatable, self._free, self._scored, shape.demand, slots, depth))

    def _table(self, shape: Shape, slots: Slots, depth: int, merits: NDArray[np.int64] | None) -> NDArray[np.int64]:
        table = self.scores_on(shape, slots, depth)
        return table if merits is None else table + merits[slots][:, None]

    def _merits(self, shape: Shape, capacity: Counts) -> NDArray[np.int64] | None:
        wishes = self.wishes(shape, capacity)
        if self.company is None:
            return wishes
        slots = self.company.slots
        liked = self.company.merits(shape, capacity[slots] > 0)
        if liked is None:
            return wishes
        merits = np.zeros(self._nodes.slots, dtype=np.int64) if wishes is None else wishes.copy()
        merits[slots] += liked
        return merits

    @property
    def slots_total(self) -> int:
        """Length of arrays by node slot."""
        return self._nodes.slots

    def _slots(self) -> Slots:
        alive = self._nodes.alive if self._allowed is None else self._nodes.alive & self._allowed
        return np.flatnonzero(alive)

    def _own_arrays(self) -> None:
        if self._free is self._nodes.free:
            self._free, self._scored = self._free.copy(), self._scored.copy()

    def _apply(self) -> None:
        if not self._unapplied:
            return
        self._own_arrays()
        for placed in self._unapplied:
            demand = placed.shape.demand
            resolved = self._nodes.resolve(demand)
            self._free[np.ix_(resolved.rows, placed.slots)] -= np.outer(resolved.amounts, placed.counts)
            self._scored[:, placed.slots] += np.outer(demand.scored, placed.counts)
            if demand.ports:
                for slot in placed.slots.tolist():
                    self._own_ports.setdefault(slot, []).extend(demand.ports)
            if self.company is not None:
                for slot, pods in zip(placed.slots.tolist(), placed.counts.tolist(), strict=True):
                    self.company.settle(placed.shape, slot, pods)
            self._touched = np.union1d(self._touched, placed.slots)
        self._unapplied.clear()


def _pack(count: int, capacity: Counts, score: NDArray[np.int64]) -> tuple[Slots, Counts]:
    nodes = np.flatnonzero(capacity)
    nodes = nodes[np.argsort(score[nodes], kind="stable")]
    given = np.diff(np.minimum(np.cumsum(capacity[nodes]), count), prepend=0)
    return nodes[given > 0], given[given > 0]
