"""What is free for an item when room is held for others: the node table's free amounts less all that is held against it.

Most items hold nothing themselves, so to all of one priority the same is left. It is kept per priority and follows the logs of
what changes, so that two thousand nominations cost the pods beside them next to nothing.
"""

from collections import Counter, OrderedDict
from typing import Final

import numpy as np

from scheduler.placement.fits import FitCache
from scheduler.state.changes import ChangeLog
from scheduler.state.claims import Claims
from scheduler.state.demand import Demand
from scheduler.state.nodes import Amounts, NodeTable
from scheduler.state.ports import PortTable
from scheduler.state.records import ItemKey
from scheduler.state.reservations import Reservations

MOST_PRIORITIES: Final = 4
"""Priorities for which this is kept at the same time; the least recently asked for goes first."""

_NOBODY: Final = ItemKey("pod", "", "", "")


class RoomLeft:
    """What others leave to items of one priority that hold nothing."""

    def __init__(self, nodes: NodeTable, claims: Claims, reservations: Reservations, priority: int) -> None:
        self.free: Amounts = np.zeros((0, 0), dtype=np.int64)
        self.room_changes: Final = ChangeLog()
        self.followed: Final = claims.follow()
        self._nodes: Final = nodes
        self._claims: Final = claims
        self._reservations: Final = reservations
        self._priority: Final = priority
        self._kept: dict[str, Counter[Demand]] = {}
        self._version = -1
        self._position = 0

    def catch_up(self) -> None:
        """Takes in what changed since the last call."""
        nodes = self._nodes
        if self._version != self._reservations.version:
            self._look_at_reservations()
        if self._position == nodes.room_changes.end and not self.followed and self.free.shape == nodes.free.shape:
            return
        changed = nodes.room_changes.since(self._position, limit=nodes.slots // 4)
        self._position = nodes.room_changes.end
        if changed is None or self.free.shape != nodes.free.shape:
            self.free = nodes.free.copy()
            stale = [nodes.slot_of[name] for name in {*self._claims.nodes, *self._kept} if name in nodes.slot_of]
            # Longer than any view may lag behind: all of them start afresh.
            news = range(nodes.slots)
        else:
            stale = changed.tolist()
            stale += [nodes.slot_of[name] for name in self.followed if name in nodes.slot_of]
            news = stale
        for slot in stale:
            self._look_at(slot)
        for slot in news:
            self.room_changes.add(slot, keep=2 * nodes.slots)
        self.followed.clear()

    def _look_at(self, slot: int) -> None:
        nodes, name = self._nodes, self._nodes.names[slot]
        self.free[:, slot] = nodes.free[:, slot]
        if name in self._claims.nodes:
            for demand in self._claims.on(name, self._priority):
                self.free[:, slot] -= nodes.resolve(demand).column
        if name in self._kept:
            for demand, count in self._kept[name].items():
                self.free[:, slot] -= nodes.resolve(demand).column * count

    def _look_at_reservations(self) -> None:
        self.followed.update(self._kept)
        self._kept = {}
        for node, kept in self._reservations.against(_NOBODY, self._priority):
            self._kept[node] = self._kept.get(node, Counter()) + kept
        self.followed.update(self._kept)
        self._version = self._reservations.version


class Withheld:
    """The views of what is left, by priority."""

    def __init__(self, nodes: NodeTable, ports: PortTable, claims: Claims, reservations: Reservations) -> None:
        self._nodes: Final = nodes
        self._ports: Final = ports
        self._claims: Final = claims
        self._reservations: Final = reservations
        self._views: OrderedDict[int, tuple[RoomLeft, FitCache]] = OrderedDict()

    def fits_for(self, priority: int) -> FitCache:
        """The fits of shapes for items of this priority that hold nothing themselves."""
        view = self._views.get(priority)
        if view is None:
            left = RoomLeft(self._nodes, self._claims, self._reservations, priority)
            view = self._views[priority] = (left, FitCache(self._nodes, self._ports, left))
            if len(self._views) > MOST_PRIORITIES:
                self._claims.unfollow(self._views.popitem(last=False)[1][0].followed)
        else:
            self._views.move_to_end(priority)
        view[0].catch_up()
        return view[1]
