"""Can it have become possible to place a waiting item (upstream: queueing hints)?

A necessary condition, cheap enough to ask on every event. For members of one shape outside topology constraints it is exact, so
such an item is never woken in vain.
"""

from collections.abc import Hashable
from typing import Final

from scheduler.cycle.gang_scheduling import wanted
from scheduler.placement.domains import domains_in_use
from scheduler.placement.fits import fits_of
from scheduler.placement.muster import minds_others
from scheduler.placement.room import is_room_held, new_trial
from scheduler.placement.upper_bound import by_base, most, most_in_domain
from scheduler.state.cluster import ClusterState
from scheduler.state.members import Members
from scheduler.state.shapes import Shape


def wakes_exactly(state: ClusterState, members: Members) -> bool:
    """True when `placeable` is not only necessary but sufficient."""
    if members.group and members.group.topology_key:
        return False
    return len({shape.base for shape in members.pending}) == 1 and not minds_others(state, members)


def placeable(state: ClusterState, members: Members) -> int:
    """No placement now puts more of the item's pending members on nodes than this."""
    pending = {shape: len(waiting) for shape, waiting in members.pending.items()}
    key = members.group.topology_key if members.group else None
    trial = new_trial(state, members)
    if key is None:
        return most(pending, trial)
    pins = domains_in_use(key, state.nodes_in_use(members), state.nodes)
    if len(pins) > 1:
        return 0
    return int(most_in_domain(key, next(iter(pins), None), pending, state.nodes, trial).max())


class Outlook:
    """What there is room for at one moment, to be asked for many items: those that want the same are looked at once."""

    def __init__(self, state: ClusterState) -> None:
        self._state: Final = state
        self._known: dict[Hashable, bool] = {}
        self._left: dict[Shape, int] = {}

    def fits(self, members: Members) -> bool:
        """Whether there can be room for the item."""
        key = self._wish(members)
        if key is None:
            return self._look(members)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._look(members)
        return known

    def is_certain(self, members: Members) -> bool:
        """Whether an item that `fits` will be placed, as far as that can be said."""
        return wakes_exactly(self._state, members) and not is_room_held(self._state, members)

    def claim(self, members: Members) -> bool:
        """Takes the item's share of the room, by count; False when those before it have left too little."""
        pending = by_base({shape: len(waiting) for shape, waiting in members.pending.items()})
        for shape in pending:
            if shape not in self._left:
                self._left[shape] = fits_of(self._state).of(shape).total
        if sum(min(count, self._left[shape]) for shape, count in pending.items()) < wanted(members):
            return False
        for shape, count in pending.items():
            self._left[shape] -= min(count, self._left[shape])
        return True

    def _look(self, members: Members) -> bool:
        return placeable(self._state, members) >= wanted(members)

    def _wish(self, members: Members) -> Hashable | None:
        """What the answer depends on, None when that is not the same for anybody else."""
        state, key = self._state, members.key
        if any(kept.of(key) for kept in (state.claims, state.reservations, state.remainders)):
            return None
        topology = members.group.topology_key if members.group else None
        if (topology and members.satisfied) or minds_others(state, members):
            return None
        shapes = frozenset((shape, len(waiting)) for shape, waiting in members.pending.items())
        return (shapes, wanted(members), topology, members.priority)
