"""The items that were refused, and which of them are to be tried again: because their time has come, or because room appeared.

Upstream has a backoff queue for the first and a map of unschedulable entities for the second; an item here waits for both.
"""

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from typing import Final

from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.records import EntityKey
from scheduler.plugins.status import Code
from scheduler.queue.active import ActiveQueue, Cause, Place, QueuedEntity
from scheduler.queue.item_errors import ItemErrors
from scheduler.queue.queue_state import WakeState
from scheduler.queue.queueing_hints import QueueingHint

_WAKE_SHARE: Final = 4
"""Looking for items to wake may take at most one part in 1 + this many of the time."""
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
        if self._room_appeared:
            yield from self._woken(state, now_seconds)
        while self._due and self._due[0][0] <= now_seconds:
            _, stamp, entity = heappop(self._due)
            if stamp == entity.stamp and entity.place is Place.BACKOFF_OR_UNSCHEDULABLE:
                is_new = not entity.errors and (entity.is_hoping or not entity.failures)
                yield entity, Cause.NEWS if is_new else Cause.TIME
        if self._is_rest_open and self._active.is_drained:
            yield from self._woken(state, now_seconds)

    def next_due_seconds(self) -> float | None:
        """When there is something to do by the clock alone, in monotonic seconds; None when there is not."""
        while self._due and self._due[0][1] != self._due[0][2].stamp:
            heappop(self._due)
        dues = [self._due[0][0]] if self._due else []
        if (self._room_appeared or self._is_rest_open) and self._entities:
            dues.append(self._next_wake_seconds)
        return min(dues, default=None)

    def state(self) -> WakeState:
        """What it knows of room."""
        return WakeState(self._room_appeared, self._is_rest_open, self._next_wake_seconds)

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
        spent in vain.
        """
        if now_seconds < self._next_wake_seconds or self._active.woken[Cause.ROOM]:
            return
        is_event, self._room_appeared, self._is_rest_open = self._room_appeared, False, False
        hint = QueueingHint(state)
        for entity, members in sorted(self._fitting(hint, state, now_seconds), key=lambda found: found[0].order):
            if entity.no_wake_before_seconds > now_seconds:
                if is_event:
                    self.bring_forward(entity, entity.no_wake_before_seconds)
                continue
            cause = None
            with self._errors.about(entity.key, _STAGE):
                cause = self._cause_to_try(entity, members, hint, state)
            if cause is not None:
                yield entity, cause
        self._next_wake_seconds = now_seconds + _WAKE_SHARE * (self._clock() - now_seconds)

    def _fitting(
        self, hint: QueueingHint, state: ClusterState, now_seconds: float
    ) -> Iterator[tuple[QueuedEntity, PodGroupState]]:
        for key, entity in self._entities.items():
            is_set_aside = entity.status is not None and entity.status.code is Code.ERROR
            if entity.not_before_seconds > now_seconds or is_set_aside:
                continue
            with self._errors.about(key, _STAGE):
                members = state.item(key)
                if members is not None and members.pending and hint.fits(members):
                    yield entity, members

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
