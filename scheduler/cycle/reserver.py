"""Who gets room reserved, and for how long: so that neither a stream of small pods starves a large group, nor the other way round.

A group that has been refused for longer than a limit gets room kept, a few groups at a time. What is kept is given back when the
group has started or is gone, and after a time in any case; then it must wait, each time longer, until room may be kept for it
again. Room that is kept is wasted meanwhile, so a group that waits for pods which never end must not have it for ever.
"""

from collections.abc import Callable
from typing import Final

import msgspec

from api.constants import REASON_UNSCHEDULABLE
from scheduler.cycle.decision import Decision
from scheduler.cycle.reserve import room_to_keep
from scheduler.item_errors import ItemErrors
from scheduler.queue.queue import Queue
from scheduler.queue.settings import QueueSettings
from scheduler.state.cluster import ClusterState
from scheduler.state.members import Members
from scheduler.state.records import ItemKey, StateChange
from scheduler.state.reservations import Reservation

MOST_HOLDERS: Final = 8
_ROOM_GIVEN_BACK: Final = StateChange(freed=(0,))
_MOST_DOUBLINGS: Final = 6
_HOPELESS_SECONDS: Final = 10.0
"""How soon a group that would not fit at all is looked at again."""


class _Past(msgspec.Struct):
    times: int = 0
    not_before_seconds: float = 0.0


class Reserver:
    """Belongs to the scheduling loop, which calls it after its decisions. `clock` gives monotonic seconds."""

    def __init__(
        self,
        state: ClusterState,
        queue: Queue,
        clock: Callable[[], float],
        settings: QueueSettings,
        errors: ItemErrors | None = None,
    ) -> None:
        self._state = state
        self._queue = queue
        self._clock = clock
        self._settings = settings
        self._errors = errors if errors is not None else ItemErrors()
        self._past: dict[ItemKey, _Past] = {}
        self._most_past = MOST_HOLDERS
        """Beyond that those that are gone are looked for."""

    def decided(self, decision: Decision) -> None:
        """An item was tried, `queue.done` called: room is kept for it if it has waited too long, and given back if it starts."""
        key = decision.key
        if decision.bindings:
            self._past.pop(key, None)
            self._give_back(key)
        elif decision.verdict == "unschedulable" and key.kind == "group" and not decision.is_hope:
            self._refused(key)

    def tick(self) -> None:
        """Gives back what is kept too long, or for somebody who does not want it any more."""
        now = self._clock()
        for held in self._state.reservations:
            try:
                self._look_at(held, now)
            except Exception as error:  # noqa: BLE001 (noted; the other reservations are looked at all the same)
                self._errors.note(held.key, "reserve", error)
                self._give_back(held.key)
        if len(self._past) > self._most_past:
            self._past = {key: past for key, past in self._past.items() if self._state.item(key) is not None}
            self._most_past = 2 * len(self._past) + MOST_HOLDERS

    def next_due_seconds(self) -> float | None:
        """Seconds until `tick` has something to do by the clock alone."""
        deadlines = [held.deadline_seconds for held in self._state.reservations]
        return max(min(deadlines) - self._clock(), 0.0) if deadlines else None

    # --- inside ------------------------------------------------------------------------------------------------------

    def _look_at(self, held: Reservation, now: float) -> None:
        members = self._state.item(held.key)
        if members is None or not self._wants(members):
            self._past.pop(held.key, None)
            self._give_back(held.key)
        elif now >= held.deadline_seconds or not self._queue.refused_seconds(held.key):
            past = self._past.setdefault(held.key, _Past())
            past.times += 1
            past.not_before_seconds = now + self._settings.reserve_seconds * 2 ** min(past.times, _MOST_DOUBLINGS)
            self._give_back(held.key)

    def _refused(self, key: ItemKey) -> None:
        members = self._state.item(key)
        if members is None or not self._wants(members) or not self._may_hold(key):
            return
        held = self._state.reservations.of(key)
        if held is not None and self._still_fits(held, members):
            return
        deadline = held.deadline_seconds if held is not None else self._clock() + self._settings.reserve_seconds
        room = room_to_keep(self._state, members)
        if room is None:
            self._past.setdefault(key, _Past()).not_before_seconds = self._clock() + _HOPELESS_SECONDS
            self._give_back(key)
        else:
            self._state.reservations.put(Reservation(key, members.priority, room, deadline))

    def _may_hold(self, key: ItemKey) -> bool:
        if self._state.reservations.of(key) is not None:
            return True
        if self._state.claims.of(key) is not None or len(self._state.reservations) >= MOST_HOLDERS:
            return False
        past = self._past.get(key)
        if past is not None and self._clock() < past.not_before_seconds:
            return False
        return self._queue.refused_seconds(key) >= self._settings.reserve_after_seconds

    def _still_fits(self, held: Reservation, members: Members) -> bool:
        """Whether what is kept is still what the group needs, on nodes that are still there."""
        if any(node not in self._state.nodes.slot_of for node in held.held):
            return False
        pods = sum(sum(demands.values()) for demands in held.held.values())
        demands = {shape.demand for shape in members.pending}
        known = {demand for kept in held.held.values() for demand in kept}
        return pods == members.need - members.satisfied and known <= demands

    def _wants(self, members: Members) -> bool:
        """Whether the group waits for room and for nothing else."""
        held = self._queue.held(members.key)
        is_tried = held is None or held.reason == REASON_UNSCHEDULABLE
        return is_tried and members.pending_count > 0 and members.satisfied < members.need

    def _give_back(self, key: ItemKey) -> None:
        if self._state.reservations.drop(key) is not None:
            self._queue.woken(_ROOM_GIVEN_BACK, self._state)
