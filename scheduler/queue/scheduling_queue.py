"""The queue: where each item is, and which is tried next (KEP-4671, with the wake-ups upstream lacks).

The order is that of `active`. A refused item waits, growing longer each time, but is tried at once when its own
content changes or when room appears that can be enough for it. Nothing that waits stands in anybody's way: what trying hopeless
items may cost is limited (`active`). Whatever happens to a popped item, `done` or `set_aside` puts it somewhere, so no item is
ever lost; and an exception about one item, wherever it is met here, is noted and leaves the others be.
"""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Final

from api.backoff import exponential_backoff
from scheduler.algorithm.decision import Decision
from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.records import EntityKey, StateChange
from scheduler.plugins.gang_scheduling import missing_count, pre_enqueue
from scheduler.plugins.status import Code, Status
from scheduler.queue.active import ActiveQueue, Cause, Place, QueuedEntity, Version
from scheduler.queue.item_errors import ItemErrors
from scheduler.queue.patience import Patience
from scheduler.queue.queue_state import QueueState, TakenQueue, copied, entity_of
from scheduler.queue.queueing_hints import QueueingHint, placeable, wakes_exactly
from scheduler.queue.settings import QueueSettings, backoff_seconds
from scheduler.queue.unschedulable import UnschedulableEntities

ROOM_APPEARED: Final = StateChange(freed=(0,))
"""Room is held for nobody any more; on which nodes makes no difference to the queue."""

NOT_TRIED_YET: Final = "NotTriedYet"
"""In metrics, where other items have the reason for which they wait."""

_LOOK_SECONDS: Final = 0.005
"""How long new items are looked at before one of them is tried."""
_STAGE: Final = "queue"


def _no_time_of_day() -> float:
    return 0.0


class SchedulingQueue:
    """Items that want a place. One caller; `clock` gives monotonic seconds, `epoch` those since 1970.

    Without `epoch` nobody ever gives up waiting. Whoever owns `errors` is to call `set_aside` for the items in it.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        settings: QueueSettings,
        epoch: Callable[[], float] = _no_time_of_day,
        errors: ItemErrors | None = None,
    ) -> None:
        self._clock = clock
        self._settings = settings
        self._errors = errors if errors is not None else ItemErrors()
        self._patience = Patience(clock, epoch, settings)
        self._arrivals = count(1)
        self._stamps = count(1)
        self._entities: dict[EntityKey, QueuedEntity] = {}
        self._active = ActiveQueue(clock, settings)
        self._unschedulable = UnschedulableEntities(clock, self._active, self._errors, self._stamps)
        self._notices = 0
        """Raised with everything that happens."""
        self._fresh: dict[EntityKey, None] = {}
        self._told: dict[EntityKey, Status] = {}

    # --- what happens ------------------------------------------------------------------------------------------------

    def move_all_to_active(self, change: StateChange, state: ClusterState) -> None:
        """Takes in what an event changed; room is looked at when the next item is asked for, once for many events."""
        self._notices += 1
        for key in change.gone:
            self.remove(key)
        for key in change.bound:
            if key in self._entities:
                self._entities[key].bind_failures = 0
        for key in change.items:
            self.activate(key, state)
        if change.freed:
            self._unschedulable.room_appeared()

    def activate(self, key: EntityKey, state: ClusterState, *, is_due: bool = False) -> None:
        """The item's content changed, or its patience `is_due`: it is held, or tried at once, or has nothing to do."""
        members = state.item(key)
        if members is None:
            self.remove(key)
            return
        if members.tree is not None:
            # Its tree is scheduled in its place.
            self.remove(key)
            self.activate(members.tree.key, state, is_due=is_due)
            return
        entity = self._entities.get(key)
        if entity is None:
            entity = self._entities[key] = QueuedEntity(key, next(self._arrivals))
        if entity.place is Place.IN_FLIGHT:
            entity.is_dirty = True
            return
        if entity.errors and entity.not_before_seconds > self._clock():
            self._unschedulable.bring_forward(entity, entity.not_before_seconds)
            return
        with self._errors.about(key, _STAGE):
            entity.priority, entity.waits_since_seconds = members.priority, members.waits_since_seconds
            gate = self._patience.judge(members, state, entity.status, is_due=is_due) or pre_enqueue(members)
            if gate is not None:
                self._set_status(entity, gate)
                self._move(entity, Place.GATED)
            elif not members.pending_count:
                self._set_status(entity, None)
                self._move(entity, Place.IDLE)
            elif entity.not_before_seconds > self._clock():
                entity.due_seconds = entity.not_before_seconds
                self._move(entity, Place.BACKOFF_OR_UNSCHEDULABLE)
            else:
                if entity.place is Place.GATED:
                    self._set_status(entity, None)
                self._activate(entity, Cause.DOUBT if entity.was_refused else Cause.NEWS)

    def noticed(self) -> None:
        """Something happened beside the cluster's state that decisions look at: what was refused may be tried again."""
        self._notices += 1

    def remove(self, key: EntityKey) -> None:
        """The key is no item any more."""
        entity = self._entities.pop(key, None)
        self._patience.forget(key)
        if entity is not None:
            self._move(entity, Place.IDLE)
            self._set_status(entity, None)

    def pop(self, state: ClusterState) -> EntityKey | None:
        """The item to be tried now, to be given back with `done`.

        Retries of which it is known how they would end are left out. While too much time has been spent in vain, new items are
        looked at before they are tried, and those for which there is no room wait with the other doubtful ones.
        """
        self._activate_due(state)
        hint: QueueingHint | None = None
        looks_until = 0.0
        while (entity := self._active.take()) is not None:
            if entity.cause is Cause.TIME and self._would_end_alike(entity, state):
                members = state.item(entity.key)
                if members is not None:
                    entity.failures += 1
                    self._wait(entity, members)
                continue
            if entity.cause is Cause.NEWS and not self._active.trusts_doubtful:
                if hint is None:
                    hint, looks_until = QueueingHint(state), self._clock() + _LOOK_SECONDS
                if self._clock() <= looks_until and not self._may_fit(entity, hint, state):
                    self._activate(entity, Cause.DOUBT)
                    continue
            # What happens while it is tried, also between two computations about it, may have come too late for it.
            entity.tried_version = self._version(state)
            self._move(entity, Place.IN_FLIGHT)
            return entity.key
        return None

    def done(self, key: EntityKey, decision: Decision, state: ClusterState) -> Cause | None:
        """The popped item has been tried and its bindings, if any, have been assumed.

        Returns why it had been tried if it was refused: to this `charge` books the time that the attempt took.
        """
        entity = self._entities.get(key)
        if entity is None or entity.place is not Place.IN_FLIGHT:
            return None
        members = state.item(key)
        if members is None:
            self.remove(key)
            return None
        cause = entity.cause
        entity.errors = 0
        entity.is_hoping = False
        is_refused = decision.result in {"unschedulable", "error"}
        if is_refused:
            self._refused(entity, decision, members, state)
        else:
            entity.failures = entity.wasted_wakes = 0
            entity.refused_since_seconds = None
            self._set_status(entity, None)
        if entity.is_dirty or decision.result == "nothing":
            self._move(entity, Place.IDLE)
            self.activate(key, state)
            held = self._entities.get(key)
            if held is not None and held.place is Place.ACTIVE and not held.is_dirty:
                # Whoever decides and whoever asks do not agree on what there is to do: not a reason to ask again and again.
                held.failures = 1
                self._wait(held, members)
        elif is_refused or members.pending_count:
            entity.failures = max(entity.failures, 1)
            self._wait(entity, members, is_over_budget=decision.is_over_budget)
        else:
            self._move(entity, Place.IDLE)
        entity.is_dirty = False
        return cause if is_refused else None

    def charge(self, cause: Cause | None, seconds: float) -> None:
        """An attempt that `done` says was in vain, all that was done about it included, took so long."""
        if cause is not None:
            self._active.spent(cause, seconds)

    def set_aside(self, key: EntityKey, message: str, state: ClusterState) -> bool:
        """An exception was raised about this item: it is tried again when it changes, or rarely; False if it wants no place.

        If it fails again and again, its own changes have to wait a while, too.
        """
        entity, members = self._entities.get(key), state.item(key)
        if entity is None or members is None or not members.pending_count:
            if entity is not None and entity.place is Place.IN_FLIGHT:
                self._move(entity, Place.IDLE)
            return False
        now = self._clock()
        entity.is_dirty = entity.is_hoping = False
        entity.errors += 1
        entity.not_before_seconds = now + backoff_seconds(entity.errors, 1, self._settings)
        entity.due_seconds = now + self._settings.set_aside_seconds
        self._set_status(entity, Status(Code.ERROR, message))
        self._move(entity, Place.BACKOFF_OR_UNSCHEDULABLE)
        return True

    def bind_failed(self, key: EntityKey | None) -> None:
        """A bind of this item failed for sure: it is tried again, but not at once and ever less often.

        Binds of one attempt that fail together count once; a bind that is seen to succeed ends the count.
        """
        entity = self._entities.get(key) if key else None
        now = self._clock()
        if entity is None or entity.not_before_seconds > now:
            return
        entity.bind_failures += 1
        entity.not_before_seconds = now + backoff_seconds(entity.bind_failures, 1, self._settings)

    # --- what others ask ---------------------------------------------------------------------------------------------

    def next_due_seconds(self) -> float | None:
        """Seconds until `pop` may have something, None when only an event can change that."""
        active = self._active.next_due_seconds()
        if active == 0.0:
            return 0.0
        waiting = self._unschedulable.next_due_seconds()
        now = self._clock()
        dues = (active, self._patience.next_due_seconds(), None if waiting is None else waiting - now)
        soonest = min((due for due in dues if due is not None), default=None)
        return None if soonest is None else max(soonest, 0.0)

    def aim(self, key: EntityKey, state: ClusterState) -> int:
        """Members that are to be placed together for the time being although fewer would do; 0: as few as must."""
        members = state.item(key)
        return self._patience.aim(members) if members is not None else 0

    def refused_seconds(self, key: EntityKey) -> float:
        """How long the item has been refused without a break."""
        entity = self._entities.get(key)
        since = entity.refused_since_seconds if entity else None
        return 0.0 if since is None else self._clock() - since

    def status(self, key: EntityKey) -> Status | None:
        """What an item waits for, or why it was refused last."""
        entity = self._entities.get(key)
        return entity.status if entity else None

    def changed_statuses(self) -> list[tuple[EntityKey, Status | None]]:
        """Items whose reason to wait changed since the last call (None: it waits no more); counts alone are no change."""
        found: list[tuple[EntityKey, Status | None]] = []
        for key in self._fresh:
            status, told = self.status(key), self._told.get(key)
            if (status.obstacles if status else None) == (told.obstacles if told else None):
                continue
            found.append((key, status))
            if status is None:
                del self._told[key]
            else:
                self._told[key] = status
        self._fresh.clear()
        return found

    def depths(self) -> dict[str, int]:
        """Items by place, for metrics."""
        depths = {place.value: 0 for place in Place}
        for entity in self._entities.values():
            depths[entity.place.value] += 1
        return depths

    def pending_groups(self) -> dict[str, int]:
        """Groups with pods that want a place by the reason of their condition, for metrics."""
        counts: dict[str, int] = {}
        for entity in self._entities.values():
            if entity.key.kind == "group" and entity.place is not Place.IDLE:
                reason = entity.status.reason if entity.status is not None else NOT_TRIED_YET
                counts[reason] = counts.get(reason, 0) + 1
        return counts

    def cause(self, key: EntityKey) -> Cause:
        """Why the popped item is tried."""
        entity = self._entities.get(key)
        return entity.cause if entity is not None else Cause.NEWS

    # --- as a value --------------------------------------------------------------------------------------------------

    def taken(self, cluster: ClusterState) -> TakenQueue:
        """All it remembers now, save for what has been told to whom."""
        return TakenQueue(
            copied(self._entities.values()),
            self._version(cluster),
            self._patience.state(),
            self._unschedulable.state(),
            self._active.allowances_seconds(),
        )

    def restore(self, state: QueueState, cluster: ClusterState) -> None:
        """Remembers this about a cluster; for a new queue, by a clock that goes on from the same time."""
        version = self._version(cluster)
        for one in state.entities:
            entity = self._entities[one.key] = entity_of(one)
            entity.tried_version = version if one.is_tried_on_this else ()
        for entity in sorted(self, key=lambda entity: entity.stamp):
            entity.stamp = next(self._stamps)
            if entity.place is Place.ACTIVE:
                self._active.put(entity)
            elif entity.place is Place.BACKOFF_OR_UNSCHEDULABLE:
                self._unschedulable.put(entity)
        self._arrivals = count(max((one.sequence for one in state.entities), default=0) + 1)
        self._patience.restore(state.patience)
        self._unschedulable.restore(state.wake)
        self._active.restore(state.allowances_seconds)

    def __iter__(self) -> Iterator[QueuedEntity]:
        return iter(self._entities.values())

    # --- which is next -----------------------------------------------------------------------------------------------

    def _activate_due(self, state: ClusterState) -> None:
        """Those whose time has come, or for which room appeared."""
        for key in self._patience.take_due():
            self.activate(key, state, is_due=True)
        for entity, cause in self._unschedulable.ready(state, self._clock()):
            if cause is not Cause.TIME:
                self._activate(entity, cause, was_woken=cause is not Cause.NEWS)
            elif entity.errors:
                self.activate(entity.key, state)
            else:
                self._active.put_overdue(entity)

    def _may_fit(self, entity: QueuedEntity, hint: QueueingHint, state: ClusterState) -> bool:
        with self._errors.about(entity.key, _STAGE):
            members = state.item(entity.key)
            return members is None or not members.pending or hint.fits(members)
        return True

    def _version(self, state: ClusterState) -> Version:
        nodes = state.nodes
        return (self._notices, nodes.room_changes.end, nodes.rule_changes.end, state.classes.version)

    def _would_end_alike(self, entity: QueuedEntity, state: ClusterState) -> bool:
        """Whether the last attempt at a refused item would have the same end now."""
        if (
            entity.depends_on_time
            or entity.tried_version != self._version(state)
            or state.nominator.of(entity.key) is not None
        ):
            return False
        now, settings = self._clock(), self._settings
        may_reserve = (entity.refused_since_seconds or now) + settings.reserve_after_seconds
        is_news = entity.tried_seconds < may_reserve <= now
        return not is_news and now - entity.tried_seconds < settings.unchanged_seconds

    # --- where an item goes ------------------------------------------------------------------------------------------

    def _refused(self, entity: QueuedEntity, decision: Decision, members: PodGroupState, state: ClusterState) -> None:
        now, settings = self._clock(), self._settings
        entity.failures += 1
        if entity.refused_since_seconds is None:
            entity.refused_since_seconds = now
        self._set_status(entity, decision.status)
        entity.depends_on_time = decision.depends_on_time
        entity.tried_seconds = now
        if decision.is_over_budget:
            entity.not_before_seconds = now + settings.over_budget_pause_seconds
        if not entity.was_woken:
            return
        self._unschedulable.leave_rest_open()
        if decision.is_over_budget:
            return
        is_exact = not decision.room_is_held and wakes_exactly(state, members)
        # What looks as if it fitted still was not woken because of room that others have taken since.
        if not is_exact or placeable(state, members) >= missing_count(members):
            entity.wasted_wakes += 1
            base = settings.wake_pause_seconds
            pause = exponential_backoff(entity.wasted_wakes, base_seconds=base, max_seconds=base * 1024)
            entity.no_wake_before_seconds = self._clock() + pause

    def _wait(self, entity: QueuedEntity, members: PodGroupState, *, is_over_budget: bool = False) -> None:
        if is_over_budget:
            entity.due_seconds = self._clock() + self._settings.over_budget_seconds
        else:
            hopes_until = self._patience.hopes_until(members)
            due = self._clock() + backoff_seconds(entity.failures, members.pending_count, self._settings)
            entity.is_hoping = hopes_until is not None and hopes_until <= due
            entity.due_seconds = max(due if hopes_until is None else min(due, hopes_until), entity.not_before_seconds)
        self._move(entity, Place.BACKOFF_OR_UNSCHEDULABLE)

    def _activate(self, entity: QueuedEntity, cause: Cause, *, was_woken: bool = False) -> None:
        self._move(entity, Place.ACTIVE)
        entity.cause, entity.was_woken = cause, was_woken
        self._active.put(entity)

    def _move(self, entity: QueuedEntity, place: Place) -> None:
        if entity.place is Place.ACTIVE:
            self._active.left(entity)
        entity.place, entity.stamp = place, next(self._stamps)
        if place is Place.BACKOFF_OR_UNSCHEDULABLE:
            self._unschedulable.put(entity)
        else:
            self._unschedulable.discard(entity)

    def _set_status(self, entity: QueuedEntity, status: Status | None) -> None:
        entity.status = status
        self._fresh[entity.key] = None
