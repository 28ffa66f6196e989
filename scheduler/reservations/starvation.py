"""Who gets room reserved, and for how long: so that neither a stream of small pods starves a large group, nor the other way round.

A group that has been refused for longer than a limit gets room reserved, a few groups at a time. It is given back when the group
has started or is gone, and after a time in any case; then the group must wait, each time longer, until room may be reserved for it
again. Reserved room is wasted meanwhile, so a group that waits for pods which never end must not have it for ever.

What is reserved is found on the resources there would be if every pod that we placed had ended: other schedulers would not heed
a reservation. Of all nodes as few as possible are taken, those first on which the least has to end. Nothing is reserved for a
group that would not fit even then.

`after_refusal` and `review` decide and change nothing; `StarvationReservations` holds what they decided.
"""

from collections import Counter
from collections.abc import Callable
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from api.backoff import exponential_backoff
from api.constants import REASON_UNSCHEDULABLE
from scheduler.algorithm.attempt import Attempt
from scheduler.algorithm.decision import Decision
from scheduler.algorithm.free_after_nominations import SnapshotOnResources, resources_left_to, snapshot_for
from scheduler.algorithm.node_fits import fits_of
from scheduler.algorithm.overlay import ResourceOverlay
from scheduler.algorithm.partition import MemberPartition, partition_by_signature
from scheduler.algorithm.schedule_pod_group import attempt_to_place
from scheduler.algorithm.snapshot import SnapshotOverlay
from scheduler.algorithm.tree_selections import required_pods
from scheduler.algorithm.upper_bound import most_pods_by_node
from scheduler.cache.cluster import ClusterState
from scheduler.cache.demand import Demand
from scheduler.cache.node_columns import Slots
from scheduler.cache.pod_group_state import MemberState, PodGroupState
from scheduler.cache.pod_group_tree import TreeState
from scheduler.cache.records import EntityKey, StateChange
from scheduler.cache.reservations import HeldDemands, Reservation
from scheduler.cache.steps import OverBudgetError
from scheduler.plugins.gang_scheduling import missing_count
from scheduler.queue.item_errors import ItemErrors
from scheduler.queue.scheduling_queue import ROOM_APPEARED, SchedulingQueue
from scheduler.queue.settings import QueueSettings

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
    """What is reserved for a group that has just been refused: something if it has waited too long, and if it would fit at all.

    Args:
        key: the group.
        past: what is remembered of it.
        state: the cluster.
        queue: says since when the group waits.
        settings: when something is reserved, and for how long.
        now_seconds: monotonic.
    """
    unchanged = Step(past=past)
    members = state.item(key)
    if members is None or not _wants_room(members, queue):
        return unchanged
    current = state.reservations.of(key)
    if current is None and not _may_begin(key, past, state, queue, settings, now_seconds):
        return unchanged
    if current is not None and _still_fits(current, members, state):
        return unchanged
    demands = demands_to_reserve(state, members)
    if demands is None:
        return Step(is_released=True, past=Past(past.times, now_seconds + _HOPELESS_SECONDS))
    deadline = current.deadline_seconds if current is not None else now_seconds + settings.reserve_seconds
    return Step(reserve=Reservation(key, members.priority, demands, deadline), past=past)


def review(
    reservation: Reservation,
    past: Past,
    state: ClusterState,
    queue: SchedulingQueue,
    settings: QueueSettings,
    now_seconds: float,
) -> Step:
    """Whether what is reserved for a group stays so; arguments as of `after_refusal`."""
    members = state.item(reservation.key)
    if members is None or not _wants_room(members, queue):
        return Step(is_released=True, past=None)
    if now_seconds < reservation.deadline_seconds and queue.refused_seconds(reservation.key):
        return Step(past=past)
    times = past.times + 1
    base = settings.reserve_seconds
    pause = exponential_backoff(times + 1, base_seconds=base, max_seconds=base * 2**_MOST_DOUBLINGS)
    return Step(is_released=True, past=Past(times, now_seconds + pause))


def _may_begin(
    key: EntityKey, past: Past, state: ClusterState, queue: SchedulingQueue, settings: QueueSettings, now_seconds: float
) -> bool:
    """Whether room may be reserved for a group that has none."""
    has_room = state.nominator.of(key) is not None or state.future_reservations.of(key) is not None
    if has_room or len(state.reservations) >= MOST_HOLDERS:
        return False
    return now_seconds >= past.not_before_seconds and queue.refused_seconds(key) >= settings.reserve_after_seconds


def _still_fits(reservation: Reservation, members: PodGroupState, state: ClusterState) -> bool:
    """Whether what is reserved is still what the group needs, on nodes that are still there."""
    if any(node not in state.nodes.slot_of for node in reservation.demands):
        return False
    pods = sum(sum(demands.values()) for demands in reservation.demands.values())
    demands = {signature.demand for signature in members.pending}
    known = {demand for reserved in reservation.demands.values() for demand in reserved}
    return pods == members.min_count - members.scheduled_count and known <= demands


def _wants_room(members: PodGroupState, queue: SchedulingQueue) -> bool:
    """Whether the group waits for room and for nothing else."""
    status = queue.status(members.key)
    is_tried = status is None or status.reason == REASON_UNSCHEDULABLE
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

    @property
    def past(self) -> dict[EntityKey, Past]:
        """What is remembered of groups that had room reserved."""
        return self._past

    def decided(self, decision: Decision) -> None:
        """An item was tried and `queue.done` called."""
        key = decision.key
        if decision.bindings:
            self._past.pop(key, None)
            if self._state.reservations.drop(key) is not None:
                self._apply(ROOM_APPEARED)
        elif decision.result == "unschedulable" and key.kind != "pod" and not decision.is_hope:
            past = self._past.get(key, _NO_PAST)
            self._carry_out(key, after_refusal(key, past, self._state, self._queue, self._settings, self._clock()))

    def tick(self) -> None:
        """Gives back what is reserved too long, or for somebody who does not want it any more."""
        now = self._clock()
        for reservation in self._state.reservations:
            past = self._past.get(reservation.key, _NO_PAST)
            try:
                step = review(reservation, past, self._state, self._queue, self._settings, now)
            except Exception as error:  # noqa: BLE001 (noted; the other reservations are looked at all the same)
                self._errors.note(reservation.key, "reserve", error)
                step = Step(is_released=True, past=past)
            self._carry_out(reservation.key, step)
        if len(self._past) > self._most_past:
            self._past = {key: past for key, past in self._past.items() if self._state.item(key) is not None}
            self._most_past = 2 * len(self._past) + MOST_HOLDERS

    def next_due_seconds(self) -> float | None:
        """Seconds until `tick` has something to do by the clock alone."""
        deadlines = [reservation.deadline_seconds for reservation in self._state.reservations]
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


# --- what is reserved ------------------------------------------------------------------------------------------------


def demands_to_reserve(state: ClusterState, members: PodGroupState) -> HeldDemands | None:
    """What to reserve on which nodes for the members that must start together: node name -> so many pods of each demand.

    None when they would not fit at all, or when finding out would take more steps than one search may.
    """
    if isinstance(members, TreeState):
        found = (_demands_of(state, required) for required in required_pods(members))
        return next((demands for demands in found if demands is not None), None)
    return _demands_of(state, members)


def _demands_of(state: ClusterState, members: PodGroupState) -> HeldDemands | None:
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
        self._resources = self._resources_without_ours()

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
        return self._demands(best)

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
        return SnapshotOnResources(state.nodes, fits_of(state), self._resources, allowed, outside, self._found.topology)

    def _easiest_first(self) -> Slots:
        now, then = snapshot_for(self._state, self._members, topology=self._found.topology), self._snapshot()
        free = np.zeros(self._state.nodes.slots, dtype=np.int64)
        possible = free.copy()
        for signature in self._found.pending:
            free += most_pods_by_node(now, signature)
            possible += most_pods_by_node(then, signature)
        slots = np.flatnonzero(possible)
        to_end = 1.0 - np.minimum(free[slots], possible[slots]) / possible[slots]
        return slots[np.lexsort((slots, -possible[slots], to_end))]

    def _resources_without_ours(self) -> ResourceOverlay:
        state, assigned_pods = self._state, self._state.assigned_pods
        assigned_pods.catch_up()
        resources = resources_left_to(state, self._members)
        if resources is None:
            resources = ResourceOverlay(state.nodes, state.ports)
        slots = assigned_pods.slots
        own = {pod.uid for pod in self._members.pods(MemberState.BOUND, MemberState.ASSUMED)}
        rows = [
            row
            for row, pod in enumerate(assigned_pods.pods)
            if pod is not None
            and slots[row] >= 0
            and pod.profile.scheduler_name in state.scheduler_names
            and pod.uid not in own
        ]
        resources.add(slots[rows], assigned_pods.amounts[:, rows])
        if any(signature.demand.ports for signature in self._found.pending):
            resources.ports = resources.ports.copy()
            for pod in assigned_pods.records(assigned_pods.with_ports.intersection(rows)):
                resources.ports.give_back(pod.node_name, pod.demand.ports)
        return resources

    def _demands(self, attempt: Attempt) -> HeldDemands:
        reserved: dict[str, Counter[Demand]] = {}
        missing = self._need
        for part in attempt.placed:
            for slot, count in zip(part.slots.tolist(), part.counts.tolist(), strict=True):
                taken = min(count, missing)
                if taken:
                    reserved.setdefault(self._state.nodes.names[slot], Counter())[part.signature.demand] += taken
                missing -= taken
        return reserved
