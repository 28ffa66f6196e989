"""Where room is kept for a group that has waited too long, so that it starts as soon as enough pods there have ended.

Looked at is the room there would be if every pod that we placed had ended: other schedulers would not heed what we keep. Of all
nodes as few as possible are taken, those first on which the least has to end. Nothing is kept for a group that would not fit
even then.
"""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from scheduler.cycle.decide import attempt_to_place
from scheduler.cycle.gang_scheduling import wanted
from scheduler.placement.attempts import Attempt
from scheduler.placement.fits import fits_of
from scheduler.placement.muster import Muster, muster
from scheduler.placement.overlay import Room
from scheduler.placement.room import RoomTrial, new_trial, room_for
from scheduler.placement.trial import Trial
from scheduler.placement.upper_bound import ceiling_by_node
from scheduler.state.changes import Slots
from scheduler.state.cluster import ClusterState
from scheduler.state.demand import Demand
from scheduler.state.members import Members
from scheduler.state.reservations import Amounts
from scheduler.state.steps import OverBudgetError


def room_to_keep(state: ClusterState, members: Members) -> Amounts | None:
    """What to keep on which nodes for the members that must start together.

    None when they would not fit at all, or when finding out would take longer than one decision may.
    """
    try:
        with state.nodes.steps.limited("reservation"):
            return _Search(state, members).result()
    except OverBudgetError:
        return None


class _Search:
    def __init__(self, state: ClusterState, members: Members) -> None:
        self._state = state
        self._members = members
        self._found: Muster = muster(state, members)
        self._need = wanted(members)
        self._room = self._room_without_ours()

    def result(self) -> Amounts | None:
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
            lambda allowed, outside: self._trial(easy if allowed is None else allowed & easy, outside),
        )
        return attempt if isinstance(attempt, Attempt) and attempt.total >= self._need else None

    def _trial(self, allowed: NDArray[np.bool_] | None = None, outside: str = "") -> Trial:
        state = self._state
        return RoomTrial(state.nodes, fits_of(state), self._room, allowed, outside, self._found.relations)

    def _easiest_first(self) -> Slots:
        now, then = new_trial(self._state, self._members, relations=self._found.relations), self._trial()
        free = np.zeros(self._state.nodes.slots, dtype=np.int64)
        possible = free.copy()
        for shape in self._found.pending:
            free += ceiling_by_node(now, shape)
            possible += ceiling_by_node(then, shape)
        slots = np.flatnonzero(possible)
        to_end = 1.0 - np.minimum(free[slots], possible[slots]) / possible[slots]
        return slots[np.lexsort((slots, -possible[slots], to_end))]

    def _room_without_ours(self) -> Room:
        state, residents = self._state, self._state.residents
        residents.catch_up()
        room = room_for(state, self._members)
        if room is None:
            room = Room(state.nodes, state.ports)
        slots = residents.slots
        rows = [
            row
            for row, pod in enumerate(residents.pods)
            if pod is not None
            and slots[row] >= 0
            and pod.profile.scheduler_name in state.scheduler_names
            and (pod.namespace, pod.group) != (self._members.key.namespace, self._members.key.name)
        ]
        room.add(slots[rows], residents.amounts[:, rows])
        if any(shape.demand.ports for shape in self._found.pending):
            room.ports = room.ports.copy()
            for pod in residents.records(residents.with_ports.intersection(rows)):
                room.ports.give_back(pod.node_name, pod.demand.ports)
        return room

    def _amounts(self, attempt: Attempt) -> Amounts:
        kept: dict[str, Counter[Demand]] = {}
        missing = self._need
        for part in attempt.placed:
            for slot, count in zip(part.slots.tolist(), part.counts.tolist(), strict=True):
                taken = min(count, missing)
                if taken:
                    kept.setdefault(self._state.nodes.names[slot], Counter())[part.shape.demand] += taken
                missing -= taken
        return kept
