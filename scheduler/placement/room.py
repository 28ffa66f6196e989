"""A trial on nodes that have other room than they have now: less, because room is held for others, or more, because pods left.

`Room` is the altered snapshot, made once; any number of trials start from it.
"""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from scheduler.placement.fits import FitCache, fits_of
from scheduler.placement.free_after_nominations import fits_beside_others
from scheduler.placement.relations import Relations
from scheduler.placement.trial import Trial
from scheduler.state.changes import Slots
from scheduler.state.cluster import ClusterState
from scheduler.state.demand import PortTable
from scheduler.state.members import Members
from scheduler.state.nodes import CPU_ROW, MEMORY_ROW, Amounts, NodeTable


class Room:
    """Free amounts that differ from the node table's at the `touched` slots."""

    __slots__ = ("free", "ports", "scored", "touched")

    def __init__(self, nodes: NodeTable, ports: PortTable) -> None:
        self.free: Amounts = nodes.free.copy()
        self.scored: Amounts = nodes.scored.copy()
        self.ports = ports
        self.touched: NDArray[np.bool_] = np.zeros(nodes.slots, dtype=np.bool_)

    def copy(self) -> "Room":
        """The same room, to be altered further."""
        made = Room.__new__(Room)
        made.free, made.scored, made.touched = self.free.copy(), self.scored.copy(), self.touched.copy()
        made.ports = self.ports
        return made

    def add(self, slots: Slots, amounts: NDArray[np.int64]) -> None:
        """More room: `amounts` has one row per resource of the table and one column per entry of `slots`."""
        for row, given in enumerate(amounts):
            if given.any():
                np.add.at(self.free[row], slots, given)
        for index, row in enumerate((CPU_ROW, MEMORY_ROW)):
            np.subtract.at(self.scored[index], slots, amounts[row])
        self.touched[slots] = True


class RoomTrial(Trial):
    """A trial that starts from a `Room`."""

    def __init__(
        self,
        nodes: NodeTable,
        fits: FitCache,
        room: Room,
        allowed: NDArray[np.bool_] | None = None,
        outside: str = "",
        relations: Relations | None = None,
    ) -> None:
        super().__init__(nodes, room.ports, fits, allowed, outside, relations)
        self.spend(2 * len(room.free))
        self._free = room.free.copy()
        self._scored = room.scored.copy()
        self._touched = np.flatnonzero(room.touched)


def new_trial(
    state: ClusterState,
    members: Members,
    allowed: NDArray[np.bool_] | None = None,
    outside: str = "",
    relations: Relations | None = None,
) -> Trial:
    """A trial for this item: without the room that is held for others."""
    if not any(kept.of(members.key) for kept in (state.claims, state.reservations, state.remainders)):
        fits = fits_beside_others(state, members.priority) if is_room_held(state, members) else fits_of(state)
        return Trial(state.nodes, state.ports, fits, allowed, outside, relations)
    room = room_for(state, members)
    if room is None:
        return Trial(state.nodes, state.ports, fits_of(state), allowed, outside, relations)
    return RoomTrial(state.nodes, fits_of(state), room, allowed, outside, relations)


def nominated_slots(state: ClusterState, members: Members) -> NDArray[np.bool_] | None:
    """The nodes on which room is held for this item, None when it has none."""
    claim, kept = state.claims.of(members.key), state.remainders.of(members.key)
    nodes = {node for node, _ in claim.places.values()} if claim is not None else set()
    nodes.update(kept.held if kept is not None else ())
    if not nodes:
        return None
    allowed = np.zeros(state.nodes.slots, dtype=np.bool_)
    slots = (state.nodes.slot_of.get(node) for node in nodes)
    allowed[[slot for slot in slots if slot is not None]] = True
    return allowed


def is_room_held(state: ClusterState, members: Members) -> bool:
    """Whether room is held against this item."""
    key, priority = members.key, members.priority
    return state.claims.are_against(key, priority) or any(state.reservations.against(key, priority))


def room_for(state: ClusterState, members: Members) -> Room | None:
    """What others leave to this item; None when nothing is held against it."""
    if not (len(state.claims) or len(state.reservations) or len(state.remainders)):
        return None
    held = dict(state.claims.against(members.key, members.priority))
    for node, kept in state.reservations.against(members.key, members.priority):
        held[node] = held.get(node, Counter()) + kept
    if not held:
        return None
    room = Room(state.nodes, state.ports)
    for node, demands in held.items():
        slot = state.nodes.slot_of.get(node)
        if slot is None:
            continue
        for demand, count in demands.items():
            resolved = state.nodes.resolve(demand)
            room.free[resolved.rows, slot] -= resolved.amounts * count
        room.touched[slot] = True
    return room
