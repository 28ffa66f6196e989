"""The items that were refused, and which of them are to be tried again: because their time has come, or because room appeared.

Upstream has a backoff queue for the first and a map of unschedulable entities for the second; an item here waits for both.
"""

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from operator import attrgetter
from typing import Final

from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.records import EntityKey
from scheduler.plugins.status import Code
from scheduler.queue.active import ActiveQueue, Cause, Place, QueuedEntity
from scheduler.queue.item_errors import ItemErrors
from scheduler.queue.queue_state import WakeState
from scheduler.queue.queueing_hints import QueueingHint

_PARTS_OF_TIME: Final = 5
"""Looking for items to wake may take at most one part in so many of the time, while anybody else has a use for it."""
_LOOK_SECONDS: Final = 0.1
"""How long it is looked for items to wake before one is tried; with thousands that wait, it goes on after that."""
_WAKE_BATCH: Final = 16
"""Items woken at a time: each of them may use up what woke the next one, so the rest is looked at again after these."""
_STAGE: Final = "queue"


class UnschedulableEntities:
    """Entities in the place BACKOFF_OR_UNSCHEDULABLE.

    Args:
        clock: monotonic seconds.
        active: how many that were woken are still to be tried.
        errors: where exceptions about single items are noted.
        stamps: the next stamp for an entity that moves.
    """

    def __init__(
        self, clock: Callable[[], float], active: ActiveQueue, errors: ItemErrors, stamps: Iterator[int]
    ) -> None:
        self._clock: Final = clock
        self._active: Final = active
        self._errors: Final = errors
        self._stamps: Final = stamps
        self._entities: dict[EntityKey, QueuedEntity] = {}
        self._due: list[tuple[float, int, QueuedEntity]] = []
        self._room_appeared = False
        self._to_look_at: list[QueuedEntity] = []
        """Those that are not looked at yet since it was last asked who can have room, the first in queue order at the end."""
        self._are_to_hear = False
        """They are looked at because of an event, which those that sit out are not to miss."""
        self._is_rest_open = False
        """Some were passed over when room appeared last, so it is looked for others when those that were woken have been tried."""
        self._next_wake_seconds = 0.0

    def put(self, entity: QueuedEntity) -> None:
        """An entity waits, until `due_seconds` at the latest; its stamp is new."""
        self._entities[entity.key] = entity
        heappush(self._due, (entity.due_seconds, entity.stamp, entity))

    def discard(self, entity: QueuedEntity) -> None:
        """It waits no more."""
        self._entities.pop(entity.key, None)

    def bring_forward(self, entity: QueuedEntity, seconds: float) -> None:
        """An entity that waits is due at that time at the latest."""
        if entity.place is Place.BACKOFF_OR_UNSCHEDULABLE and entity.due_seconds > seconds:
            entity.due_seconds, entity.stamp = seconds, next(self._stamps)
            self.put(entity)

    def ready(self, state: ClusterState, now_seconds: float) -> Iterator[tuple[QueuedEntity, Cause]]:
        """Those to be tried now, and why: ROOM or DOUBT for one that was woken, NEWS for one that is not refused, else TIME.

        The caller moves each before it asks for the next one.
        """
        if self._room_appeared or self._to_look_at:
            yield from self._woken(state, now_seconds)
        while self._due and self._due[0][0] <= now_seconds:
            _, stamp, entity = heappop(self._due)
            if stamp == entity.stamp and entity.place is Place.BACKOFF_OR_UNSCHEDULABLE:
                is_new = not entity.errors and (entity.is_hoping or not entity.failures)
                yield entity, Cause.NEWS if is_new else Cause.TIME
        if self._is_rest_open and not self._to_look_at and self._active.is_drained:
            yield from self._woken(state, now_seconds)

    def next_due_seconds(self) -> float | None:
        """When there is something to do by the clock alone, in monotonic seconds; None when there is not."""
        while self._due and self._due[0][1] != self._due[0][2].stamp:
            heappop(self._due)
        dues = [self._due[0][0]] if self._due else []
        if self._to_look_at:
            dues.append(self._clock())
        elif (self._room_appeared or self._is_rest_open) and self._entities:
            dues.append(self._next_wake_seconds)
        return min(dues, default=None)

    def state(self) -> WakeState:
        """What it knows of room; where it is looked at just now, that begins anew."""
        return WakeState(self._room_appeared or bool(self._to_look_at), self._is_rest_open, self._next_wake_seconds)

    def restore(self, state: WakeState) -> None:
        """Knows this of room; the entities are `put`."""
        self._room_appeared, self._is_rest_open = state.room_appeared, state.is_rest_open
        self._next_wake_seconds = state.next_seconds

    # --- room --------------------------------------------------------------------------------------------------------

    def room_appeared(self) -> None:
        """There is more room somewhere, or may be."""
        self._room_appeared = True

    def leave_rest_open(self) -> None:
        """One that was woken was refused: others may get the room that it could not use."""
        self._is_rest_open = True

    def _woken(self, state: ClusterState, now_seconds: float) -> Iterator[tuple[QueuedEntity, Cause]]:
        """The first ones, in queue order, that fit by count, as long as the room lasts by count, and how sure that is.

        An item that was woken in vain just now sits out, so that others get the room it could not use; if there was an event
        meanwhile, it is tried again when its pause is over. Doubtful ones hold no room against others while too much time has been
        spent in vain. Where looking takes longer than others should wait, the rest is looked at the next time.
        """
        if self._active.woken[Cause.ROOM] or not self._may_look(now_seconds):
            return
        if not self._to_look_at:
            self._are_to_hear, self._room_appeared, self._is_rest_open = self._room_appeared, False, False
            self._to_look_at = sorted(self._entities.values(), key=attrgetter("order"), reverse=True)
        hint = QueueingHint(state)
        while self._to_look_at:
            entity = self._to_look_at.pop()
            cause = self._cause_to_wake(entity, hint, state, now_seconds)
            if cause is not None:
                yield entity, cause
            if self._clock() >= now_seconds + _LOOK_SECONDS:
                break
        took_seconds = self._clock() - now_seconds
        self._next_wake_seconds = max(self._next_wake_seconds, now_seconds) + _PARTS_OF_TIME * took_seconds

    def _may_look(self, now_seconds: float) -> bool:
        is_nobody_kept_waiting = bool(self._to_look_at) and self._active.is_drained
        return is_nobody_kept_waiting or now_seconds >= self._next_wake_seconds

    def _cause_to_wake(
        self, entity: QueuedEntity, hint: QueueingHint, state: ClusterState, now_seconds: float
    ) -> Cause | None:
        is_set_aside = entity.status is not None and entity.status.code is Code.ERROR
        is_waiting = entity.place is Place.BACKOFF_OR_UNSCHEDULABLE
        if not is_waiting or entity.not_before_seconds > now_seconds or is_set_aside:
            return None
        with self._errors.about(entity.key, _STAGE):
            members = state.item(entity.key)
            if members is None or not members.pending or not hint.fits(members):
                return None
            if entity.no_wake_before_seconds <= now_seconds:
                return self._cause_to_try(entity, members, hint, state)
            if self._are_to_hear:
                self.bring_forward(entity, entity.no_wake_before_seconds)
        return None

    def _cause_to_try(
        self, entity: QueuedEntity, members: PodGroupState, hint: QueueingHint, state: ClusterState
    ) -> Cause | None:
        is_promised = hint.is_certain(members) or state.nominator.of(entity.key) is not None
        cause = Cause.ROOM if is_promised and not entity.wasted_wakes else Cause.DOUBT
        if self._active.woken[cause] >= _WAKE_BATCH:
            self._is_rest_open = True
            return None
        is_free_to_try = cause is Cause.DOUBT and not self._active.trusts_doubtful
        return cause if is_free_to_try or hint.take(members) else None
