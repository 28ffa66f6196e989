"""Can it have become possible to place a waiting item (upstream: queueing hints)?

A necessary condition, cheap enough to ask on every event. For members of one signature outside topology constraints it is exact, so
such an item is never woken in vain.
"""

from collections.abc import Hashable
from typing import Final

from scheduler.algorithm.free_after_nominations import is_room_held_against, snapshot_for
from scheduler.algorithm.node_fits import fits_of
from scheduler.algorithm.partition import depends_on_other_pods, is_concerned_with_others
from scheduler.algorithm.topology_domains import domains_in_use
from scheduler.algorithm.upper_bound import by_base, most, most_in_domain
from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.pod_group_tree import TreeState
from scheduler.cache.pod_signature import PodSignature
from scheduler.plugins.gang_scheduling import missing_count


def wakes_exactly(state: ClusterState, members: PodGroupState) -> bool:
    """True when `placeable` is not only necessary but sufficient."""
    if isinstance(members, TreeState):
        return False
    if members.group and (members.group.topology_key or members.group.topology.slice_size):
        return False
    return len({signature.base for signature in members.pending}) == 1 and not depends_on_other_pods(state, members)


def placeable(state: ClusterState, members: PodGroupState) -> int:
    """No placement now puts more of the item's pending members on nodes than this."""
    pending = {signature: len(waiting) for signature, waiting in members.pending.items()}
    key = members.group.topology_key if members.group else None
    snapshot = snapshot_for(state, members)
    if key is None:
        return most(pending, snapshot)
    pins = domains_in_use(key, state.nodes_in_use(members), state.nodes)
    if len(pins) > 1:
        return 0
    return int(most_in_domain(key, next(iter(pins), None), pending, state.nodes, snapshot).max())


class QueueingHint:
    """What there is room for at one moment, to be asked for many items: those that want the same are looked at once."""

    def __init__(self, state: ClusterState) -> None:
        self._state: Final = state
        self._known: dict[Hashable, bool] = {}
        self._totals: Final[dict[PodSignature, int]] = {}
        self._left: Final[dict[PodSignature, int]] = {}
        self._is_concerned: Final[dict[PodSignature, bool]] = {}
        kept = (state.nominator, state.reservations, state.future_reservations)
        self._is_kept_for: Final = [each.of for each in kept if len(each)]

    def fits(self, members: PodGroupState) -> bool:
        """Whether there can be room for the item."""
        key = self._depends_on(members)
        if key is None:
            return self._look(members)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._look(members)
        return known

    def is_certain(self, members: PodGroupState) -> bool:
        """Whether an item that `fits` will be placed, as far as that can be said."""
        return wakes_exactly(self._state, members) and not is_room_held_against(self._state, members)

    def take(self, members: PodGroupState) -> bool:
        """Takes the item's share of the room, by count; False when those before it have left too little."""
        pending = by_base({signature: len(waiting) for signature, waiting in members.pending.items()})
        for signature in pending:
            if signature not in self._left:
                self._left[signature] = self._total(signature)
        if sum(min(count, self._left[signature]) for signature, count in pending.items()) < missing_count(members):
            return False
        for signature, count in pending.items():
            self._left[signature] -= min(count, self._left[signature])
        return True

    def _look(self, members: PodGroupState) -> bool:
        missing = missing_count(members)
        return self._is_room_by_count(members, missing) and placeable(self._state, members) >= missing

    def _is_room_by_count(self, members: PodGroupState, missing: int) -> bool:
        """Whether it suffices were nothing held for others: most have no room even so, which costs a fraction to see."""
        pending = by_base({signature: len(waiting) for signature, waiting in members.pending.items()})
        return sum(min(count, self._total(signature)) for signature, count in pending.items()) >= missing

    def _total(self, signature: PodSignature) -> int:
        total = self._totals.get(signature)
        if total is None:
            total = self._totals[signature] = fits_of(self._state).total(signature)
        return total

    def _depends_on(self, members: PodGroupState) -> Hashable | None:
        """What the answer depends on, None when that is not the same for anybody else."""
        for is_kept_for in self._is_kept_for:
            if is_kept_for(members.key):
                return None
        topology = members.group.topology_key if members.group else None
        if (topology and members.scheduled_count) or self._depends_on_other_pods(members):
            return None
        signatures = frozenset([(signature, len(waiting)) for signature, waiting in members.pending.items()])
        return (signatures, missing_count(members), topology, members.priority)

    def _depends_on_other_pods(self, members: PodGroupState) -> bool:
        if self._state.topology_index.has_existing_terms(members.key.namespace):
            return True
        for signature in members.pending:
            is_concerned = self._is_concerned.get(signature)
            if is_concerned is None:
                is_concerned = self._is_concerned[signature] = is_concerned_with_others(self._state, signature)
            if is_concerned:
                return True
        return False
