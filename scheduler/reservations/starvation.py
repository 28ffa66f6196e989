"""Who gets room reserved, and for how long: so that neither a stream of small pods starves a large group, nor the other way round.

A group that has been refused for longer than a limit gets room reserved, a few groups at a time. It is given back when the group
has started or is gone, and after a time in any case; then the group must wait, each time longer, until room may be reserved for it
again. Reserved room is wasted meanwhile, so a group that waits for pods which never end must not have it for ever.

`after_refusal` and `review` decide and change nothing; `StarvationReservations` holds what they decided.
"""

from collections.abc import Callable
from typing import Final

import msgspec

from api.backoff import exponential_backoff
from api.constants import REASON_UNSCHEDULABLE
from scheduler.algorithm.decision import Decision
from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.records import EntityKey, StateChange
from scheduler.cache.reservations import Reservation
from scheduler.queue.item_errors import ItemErrors
from scheduler.queue.scheduling_queue import ROOM_APPEARED, SchedulingQueue
from scheduler.queue.settings import QueueSettings
from scheduler.reservations.room_search import room_to_keep

MOST_HOLDERS: Final = 8
_MOST_DOUBLINGS: Final = 6
_HOPELESS_SECONDS: Final = 10.0
"""How soon a group that would not fit at all is looked at again."""


class Past(msgspec.Struct, frozen=True):
    """What is remembered of a group: how often its reservation ran out, and until when it gets none (monotonic seconds)."""

    times: int = 0
    not_before_seconds: float = 0.0


_NO_PAST: Final = Past()


class Step(msgspec.Struct, frozen=True):
    """What is to be done about one group's reservation."""

    reserve: Reservation | None = None
    """Takes the place of what is reserved for it."""
    is_released: bool = False
    """Nothing is reserved for it any more."""
    past: Past | None = _NO_PAST
    """What is to be remembered of the group; None: nothing."""


def after_refusal(
    key: EntityKey, past: Past, state: ClusterState, queue: SchedulingQueue, settings: QueueSettings, now_seconds: float
) -> Step:
    """The group has just been refused: room is reserved for it if it has waited too long, and if it would fit at all."""
    unchanged = Step(past=past)
    members = state.item(key)
    if members is None or not _wants_room(members, queue):
        return unchanged
    held = state.reservations.of(key)
    if held is None and not _may_begin(key, past, state, queue, settings, now_seconds):
        return unchanged
    if held is not None and _still_fits(held, members, state):
        return unchanged
    room = room_to_keep(state, members)
    if room is None:
        return Step(is_released=True, past=Past(past.times, now_seconds + _HOPELESS_SECONDS))
    deadline = held.deadline_seconds if held is not None else now_seconds + settings.reserve_seconds
    return Step(reserve=Reservation(key, members.priority, room, deadline), past=past)


def review(
    held: Reservation,
    past: Past,
    state: ClusterState,
    queue: SchedulingQueue,
    settings: QueueSettings,
    now_seconds: float,
) -> Step:
    """Whether what is reserved for a group stays so."""
    members = state.item(held.key)
    if members is None or not _wants_room(members, queue):
        return Step(is_released=True, past=None)
    if now_seconds < held.deadline_seconds and queue.refused_seconds(held.key):
        return Step(past=past)
    times = past.times + 1
    base = settings.reserve_seconds
    pause = exponential_backoff(times + 1, base_seconds=base, max_seconds=base * 2**_MOST_DOUBLINGS)
    return Step(is_released=True, past=Past(times, now_seconds + pause))


def _may_begin(
    key: EntityKey, past: Past, state: ClusterState, queue: SchedulingQueue, settings: QueueSettings, now_seconds: float
) -> bool:
    """Whether room may be reserved for a group that has none."""
    if state.nominator.of(key) is not None or len(state.reservations) >= MOST_HOLDERS:
        return False
    return now_seconds >= past.not_before_seconds and queue.refused_seconds(key) >= settings.reserve_after_seconds


def _still_fits(held: Reservation, members: PodGroupState, state: ClusterState) -> bool:
    """Whether what is reserved is still what the group needs, on nodes that are still there."""
    if any(node not in state.nodes.slot_of for node in held.held):
        return False
    pods = sum(sum(demands.values()) for demands in held.held.values())
    demands = {signature.demand for signature in members.pending}
    known = {demand for kept in held.held.values() for demand in kept}
    return pods == members.min_count - members.scheduled_count and known <= demands


def _wants_room(members: PodGroupState, queue: SchedulingQueue) -> bool:
    """Whether the group waits for room and for nothing else."""
    held = queue.held(members.key)
    is_tried = held is None or held.reason == REASON_UNSCHEDULABLE
    return is_tried and members.pending_count > 0 and members.scheduled_count < members.min_count


class StarvationReservations:
    """Keeps `state.reservations`; belongs to the scheduling loop, which calls it after its decisions.

    Args:
        state: the cluster to decide on, pods to come included.
        queue: asked since when and why a group waits.
        clock: monotonic seconds.
        settings: when room is reserved, and for how long.
        apply: takes what giving room back changes.
        errors: where exceptions about single groups are noted.
    """

    def __init__(
        self,
        state: ClusterState,
        queue: SchedulingQueue,
        clock: Callable[[], float],
        settings: QueueSettings,
        *,
        apply: Callable[[StateChange], None],
        errors: ItemErrors | None = None,
    ) -> None:
        self._state: Final = state
        self._queue: Final = queue
        self._clock: Final = clock
        self._settings: Final = settings
        self._apply: Final = apply
        self._errors: Final = errors if errors is not None else ItemErrors()
        self._past: dict[EntityKey, Past] = {}
        self._most_past = MOST_HOLDERS
        """Beyond that those that are gone are looked for."""

    def decided(self, decision: Decision) -> None:
        """An item was tried and `queue.done` called."""
        key = decision.key
        if decision.bindings:
            self._past.pop(key, None)
            if self._state.reservations.drop(key) is not None:
                self._apply(ROOM_APPEARED)
        elif decision.verdict == "unschedulable" and key.kind == "group" and not decision.is_hope:
            past = self._past.get(key, _NO_PAST)
            self._carry_out(key, after_refusal(key, past, self._state, self._queue, self._settings, self._clock()))

    def tick(self) -> None:
        """Gives back what is reserved too long, or for somebody who does not want it any more."""
        now = self._clock()
        for held in self._state.reservations:
            past = self._past.get(held.key, _NO_PAST)
            try:
                step = review(held, past, self._state, self._queue, self._settings, now)
            except Exception as error:  # noqa: BLE001 (noted; the other reservations are looked at all the same)
                self._errors.note(held.key, "reserve", error)
                step = Step(is_released=True, past=past)
            self._carry_out(held.key, step)
        if len(self._past) > self._most_past:
            self._past = {key: past for key, past in self._past.items() if self._state.item(key) is not None}
            self._most_past = 2 * len(self._past) + MOST_HOLDERS

    def next_due_seconds(self) -> float | None:
        """Seconds until `tick` has something to do by the clock alone."""
        deadlines = [held.deadline_seconds for held in self._state.reservations]
        return max(min(deadlines) - self._clock(), 0.0) if deadlines else None

    def _carry_out(self, key: EntityKey, step: Step) -> None:
        if step.past is None or step.past == _NO_PAST:
            self._past.pop(key, None)
        else:
            self._past[key] = step.past
        if step.reserve is not None:
            self._state.reservations.put(step.reserve)
        elif step.is_released and self._state.reservations.drop(key) is not None:
            self._apply(ROOM_APPEARED)
