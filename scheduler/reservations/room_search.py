"""Where room is kept for a group that has waited too long, so that it starts as soon as enough pods there have ended.

Looked at is the room there would be if every pod that we placed had ended: other schedulers would not heed what we keep. Of all
nodes as few as possible are taken, those first on which the least has to end. Nothing is kept for a group that would not fit
even then.
"""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from scheduler.algorithm.attempts import Attempt
from scheduler.algorithm.free_after_nominations import SnapshotOnResources, resources_left_to, snapshot_for
from scheduler.algorithm.node_fits import fits_of
from scheduler.algorithm.overlay import ResourceOverlay
from scheduler.algorithm.partition import MemberPartition, partition_by_signature
from scheduler.algorithm.schedule_pod_group import attempt_to_place
from scheduler.algorithm.snapshot import SnapshotOverlay
from scheduler.algorithm.upper_bound import most_pods_by_node
from scheduler.cache.cluster import ClusterState
from scheduler.cache.demand import Demand
from scheduler.cache.node_columns import Slots
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.reservations import HeldDemands
from scheduler.cache.steps import OverBudgetError
from scheduler.plugins.gang_scheduling import missing_count


def room_to_keep(state: ClusterState, members: PodGroupState) -> HeldDemands | None:
    """What to keep on which nodes for the members that must start together.

    None when they would not fit at all, or when finding out would take longer than one decision may.
    """
    try:
        with state.nodes.steps.limited("reservation"):
            return _Search(state, members).result()
    except OverBudgetError:
        return None


class _Search:
    def __init__(self, state: ClusterState, members: PodGroupState) -> None:
        self._state = state
        self._members = members
        self._found: MemberPartition = partition_by_signature(state, members)
        self._need = missing_count(members)
        self._room = self._room_without_ours()

    def result(self) -> HeldDemands | None:
        order = self._easiest_first()
        best = self._attempt(order)
        if best is None:
            return None
        low, high = 1, len(order)
        steps, cost = self._state.nodes.steps, 0
        while low < high and steps.left > cost:
            middle, begun = (low + high) // 2, steps.spent
            try:
                attempt = self._attempt(order[:middle])
            except OverBudgetError:
                # More nodes than are needed will do.
                break
            cost = steps.spent - begun
            if attempt is None:
                low = middle + 1
            else:
                best, high = attempt, middle
        return self._amounts(best)

    def _attempt(self, nodes: Slots) -> Attempt | None:
        easy = np.zeros(self._state.nodes.slots, dtype=np.bool_)
        easy[nodes] = True
        attempt = attempt_to_place(
            self._state,
            self._members,
            self._found,
            self._need,
            lambda allowed, outside: self._snapshot(easy if allowed is None else allowed & easy, outside),
        )
        return attempt if isinstance(attempt, Attempt) and attempt.total >= self._need else None

    def _snapshot(self, allowed: NDArray[np.bool_] | None = None, outside: str = "") -> SnapshotOverlay:
        state = self._state
        return SnapshotOnResources(state.nodes, fits_of(state), self._room, allowed, outside, self._found.topology)

    def _easiest_first(self) -> Slots:
        now, then = snapshot_for(self._state, self._members, relations=self._found.topology), self._snapshot()
        free = np.zeros(self._state.nodes.slots, dtype=np.int64)
        possible = free.copy()
        for signature in self._found.pending:
            free += most_pods_by_node(now, signature)
            possible += most_pods_by_node(then, signature)
        slots = np.flatnonzero(possible)
        to_end = 1.0 - np.minimum(free[slots], possible[slots]) / possible[slots]
        return slots[np.lexsort((slots, -possible[slots], to_end))]

    def _room_without_ours(self) -> ResourceOverlay:
        state, assigned_pods = self._state, self._state.assigned_pods
        assigned_pods.catch_up()
        room = resources_left_to(state, self._members)
        if room is None:
            room = ResourceOverlay(state.nodes, state.ports)
        slots = assigned_pods.slots
        rows = [
            row
            for row, pod in enumerate(assigned_pods.pods)
            if pod is not None
            and slots[row] >= 0
            and pod.profile.scheduler_name in state.scheduler_names
            and (pod.namespace, pod.group) != (self._members.key.namespace, self._members.key.name)
        ]
        room.add(slots[rows], assigned_pods.amounts[:, rows])
        if any(signature.demand.ports for signature in self._found.pending):
            room.ports = room.ports.copy()
            for pod in assigned_pods.records(assigned_pods.with_ports.intersection(rows)):
                room.ports.give_back(pod.node_name, pod.demand.ports)
        return room

    def _amounts(self, attempt: Attempt) -> HeldDemands:
        kept: dict[str, Counter[Demand]] = {}
        missing = self._need
        for part in attempt.placed:
            for slot, count in zip(part.slots.tolist(), part.counts.tolist(), strict=True):
                taken = min(count, missing)
                if taken:
                    kept.setdefault(self._state.nodes.names[slot], Counter())[part.signature.demand] += taken
                missing -= taken
        return kept
