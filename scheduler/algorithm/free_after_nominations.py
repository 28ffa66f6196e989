"""What others leave to an item: free amounts less the room that nominations and reservations hold, and snapshots of it.

Most items hold nothing themselves, so to all of one priority the same is left. It is kept per priority and follows the logs of
what changes, so that two thousand nominations cost the pods beside them next to nothing.
"""

from collections import Counter, OrderedDict
from collections.abc import Set
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.algorithm.node_fits import FEW, FitCache, fits_of
from scheduler.algorithm.overlay import ResourceOverlay
from scheduler.algorithm.snapshot import SnapshotOverlay
from scheduler.algorithm.topology import Topology
from scheduler.cache.cluster import ClusterState
from scheduler.cache.demand import Demand, PortTable
from scheduler.cache.node_columns import ChangeLog
from scheduler.cache.nodes import Amounts, NodeTable
from scheduler.cache.nominator import Nominator
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.records import EntityKey
from scheduler.cache.reservations import Reservations

MOST_PRIORITIES: Final = 4
"""Priorities for which this is kept at the same time; the least recently asked for goes first."""

_NOBODY: Final = EntityKey("pod", "", "", "")
_NOTHING: Final[Counter[Demand]] = Counter()


class FreeAfterNominations:
    """What others leave to items of one priority that hold nothing.

    Args:
        nodes: the node table.
        nominator: the nominations.
        reservations: the room that is kept for groups.
        priority: that of the items.

    Attributes:
        free: what is left, `[resource, node]`; not to be written to.
        room_changes: the slots where that changed.
        followed: names of the nodes where the held room changed since the last `catch_up`.
    """

    def __init__(self, nodes: NodeTable, nominator: Nominator, reservations: Reservations, priority: int) -> None:
        self.free: Amounts = np.zeros((0, 0), dtype=np.int64)
        self.room_changes: Final = ChangeLog()
        self.followed: Final = nominator.follow()
        self._nodes: Final = nodes
        self._nominator: Final = nominator
        self._reservations: Final = reservations
        self._priority: Final = priority
        self._reserved: dict[str, Counter[Demand]] = {}
        self._held: Amounts = self.free
        """The sums of what is held on each slot."""
        self._names: list[str] = []
        """The node for which, as another one may have got its slot."""
        self._version = -1
        self._position = 0

    def catch_up(self) -> None:
        """Takes in what changed since the last call."""
        nodes = self._nodes
        if self._version != self._reservations.version:
            self._read_reservations()
        end = nodes.room_changes.end
        is_like_table = self.free.shape == nodes.free.shape
        if self._position == end and not self.followed and is_like_table:
            return
        changed = nodes.room_changes.set_since(self._position, limit=nodes.slots // 4)
        self._position = end
        if changed is None or not is_like_table:
            self._start_afresh()
            return
        if self.followed:
            changed = changed | self._sum_up_changed()
        names, known = nodes.names, self._names
        for slot in changed:
            if names[slot] != known[slot]:
                self._sum_up(slot)
            self.room_changes.add(slot, keep=2 * nodes.slots)
        self._subtract(changed)

    def _start_afresh(self) -> None:
        nodes = self._nodes
        self._held = np.zeros_like(nodes.free)
        self._names = nodes.names.copy()
        self.followed.clear()
        self.followed.update(self._nominator.nodes, self._reserved)
        self._sum_up_changed()
        self.free = nodes.free - self._held
        # Longer than any view may lag behind: all of them start afresh.
        for slot in range(nodes.slots):
            self.room_changes.add(slot, keep=2 * nodes.slots)

    def _sum_up_changed(self) -> set[int]:
        """Sums up anew what is held on the nodes where that changed; their slots."""
        slots = {self._nodes.slot_of[name] for name in self.followed if name in self._nodes.slot_of}
        self.followed.clear()
        for slot in slots:
            self._sum_up(slot)
        return slots

    def _subtract(self, slots: Set[int]) -> None:
        free = self._nodes.free
        if len(slots) > FEW:
            columns = np.fromiter(slots, dtype=np.intp, count=len(slots))
            self.free[:, columns] = free[:, columns] - self._held[:, columns]
            return
        for slot in slots:
            np.subtract(free[:, slot], self._held[:, slot], out=self.free[:, slot])

    def _sum_up(self, slot: int) -> None:
        nodes = self._nodes
        name = self._names[slot] = nodes.names[slot]
        held = self._held[:, slot]
        held[:] = 0
        for demand in self._nominator.held_on(name, self._priority):
            held += nodes.resolve(demand).column
        for demand, count in self._reserved.get(name, _NOTHING).items():
            held += nodes.resolve(demand).column * count

    def _read_reservations(self) -> None:
        self.followed.update(self._reserved)
        self._reserved = {}
        for node, kept in self._reservations.against(_NOBODY, self._priority):
            self._reserved[node] = self._reserved.get(node, Counter()) + kept
        self.followed.update(self._reserved)
        self._version = self._reservations.version


class FreeByPriority:
    """What is left, by priority, with the fits on it; the arguments are those of `FreeAfterNominations`."""

    def __init__(self, nodes: NodeTable, ports: PortTable, nominator: Nominator, reservations: Reservations) -> None:
        self._nodes: Final = nodes
        self._ports: Final = ports
        self._nominator: Final = nominator
        self._reservations: Final = reservations
        self._views: OrderedDict[int, tuple[FreeAfterNominations, FitCache]] = OrderedDict()

    def fits_for(self, priority: int) -> FitCache:
        """The fits of signatures for items of this priority that hold nothing themselves."""
        view = self._views.get(priority)
        if view is None:
            left = FreeAfterNominations(self._nodes, self._nominator, self._reservations, priority)
            view = self._views[priority] = (left, FitCache(self._nodes, self._ports, left))
            if len(self._views) > MOST_PRIORITIES:
                self._nominator.unfollow(self._views.popitem(last=False)[1][0].followed)
        elif len(self._views) > 1:
            self._views.move_to_end(priority)
        view[0].catch_up()
        return view[1]


def fits_after_nominations(state: ClusterState, priority: int) -> FitCache:
    """The fits for items of this priority that hold nothing themselves, on what others leave to them."""
    return state.derived(free_by_priority).fits_for(priority)


def free_by_priority(state: ClusterState) -> FreeByPriority:
    """What others leave to items of each priority; to be asked for by `state.derived`."""
    return FreeByPriority(state.nodes, state.ports, state.nominator, state.reservations)


class SnapshotOnResources(SnapshotOverlay):
    """A snapshot that starts from a `ResourceOverlay`; the other arguments are those of `SnapshotOverlay`."""

    def __init__(
        self,
        nodes: NodeTable,
        fits: FitCache,
        room: ResourceOverlay,
        allowed: NDArray[np.bool_] | None = None,
        outside: str = "",
        topology: Topology | None = None,
    ) -> None:
        super().__init__(nodes, room.ports, fits, allowed, outside, topology)
        self.spend(2 * len(room.free))
        self._resources.start_from(room.free.copy(), room.scored.copy(), np.flatnonzero(room.touched))


def snapshot_for(
    state: ClusterState,
    members: PodGroupState,
    allowed: NDArray[np.bool_] | None = None,
    outside: str = "",
    topology: Topology | None = None,
) -> SnapshotOverlay:
    """A snapshot for this item: without the room that is held for others.

    Args:
        state: the cluster.
        members: the item.
        allowed: the nodes to use, `[node]`; None for all.
        outside: the reason to give for all other nodes.
        topology: rules about other pods, and volumes; None when only nodes matter.
    """
    key = members.key
    if not (state.nominator.of(key) or state.reservations.of(key) or state.future_reservations.of(key)):
        fits = (
            fits_after_nominations(state, members.priority) if is_room_held_against(state, members) else fits_of(state)
        )
        return SnapshotOverlay(state.nodes, state.ports, fits, allowed, outside, topology)
    room = resources_left_to(state, members)
    if room is None:
        return SnapshotOverlay(state.nodes, state.ports, fits_of(state), allowed, outside, topology)
    return SnapshotOnResources(state.nodes, fits_of(state), room, allowed, outside, topology)


def nominated_slots(state: ClusterState, members: PodGroupState) -> NDArray[np.bool_] | None:
    """Whether room is held for this item on a node, `[node]`; None when it has none."""
    nomination, kept = state.nominator.of(members.key), state.future_reservations.of(members.key)
    if nomination is None and kept is None:
        return None
    nodes = {node for node, _ in nomination.places.values()} if nomination is not None else set()
    nodes.update(kept.demands if kept is not None else ())
    if not nodes:
        return None
    allowed = np.zeros(state.nodes.slots, dtype=np.bool_)
    slots = (state.nodes.slot_of.get(node) for node in nodes)
    allowed[[slot for slot in slots if slot is not None]] = True
    return allowed


def is_room_held_against(state: ClusterState, members: PodGroupState) -> bool:
    """Whether room is held against this item."""
    key, priority = members.key, members.priority
    return state.nominator.is_held_against(key, priority) or state.reservations.is_held_against(key, priority)


def resources_left_to(state: ClusterState, members: PodGroupState) -> ResourceOverlay | None:
    """What others leave to this item; None when nothing is held against it."""
    if not (len(state.nominator) or len(state.reservations) or len(state.future_reservations)):
        return None
    held = dict(state.nominator.held_against(members.key, members.priority))
    for node, kept in state.reservations.against(members.key, members.priority):
        held[node] = held.get(node, Counter()) + kept
    if not held:
        return None
    room = ResourceOverlay(state.nodes, state.ports)
    for node, demands in held.items():
        slot = state.nodes.slot_of.get(node)
        if slot is None:
            continue
        for demand, count in demands.items():
            resolved = state.nodes.resolve(demand)
            room.free[resolved.rows, slot] -= resolved.amounts * count
        room.touched[slot] = True
    return room
