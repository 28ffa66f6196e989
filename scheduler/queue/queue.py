"""The queue: which item is tried next (KEP-4671, with the wake-ups upstream lacks).

Order is priority, then age, then UID. A refused item waits, growing longer each time, but is tried at once when its own
content changes or when room appears that can be enough for it. Nothing that waits stands in anybody's way. Whatever happens to a
popped item, `done` puts it somewhere, so no item is ever lost.
"""

from collections.abc import Callable
from heapq import heappop, heappush

from api.constants import REASON_SCHEDULER_ERROR, REASON_UNSCHEDULABLE
from scheduler.cycle.decision import Decision
from scheduler.placement.mixed import by_base
from scheduler.queue.backoff import backoff_seconds
from scheduler.queue.entry import Entry, Place
from scheduler.queue.gate import gate
from scheduler.queue.held import Held
from scheduler.queue.patience import Patience
from scheduler.queue.settings import QueueSettings
from scheduler.queue.wake import placeable, wakes_exactly, wanted
from scheduler.state.cluster import ClusterState
from scheduler.state.members import Members
from scheduler.state.records import ItemKey, StateChange
from scheduler.state.shapes import Shape

_WAKE_SHARE = 4
"""Looking for items to wake may take at most one part in 1 + this many of the time."""
_WAKE_BATCH = 16
"""Items woken at a time: each of them may use up what woke the next one, so the rest is looked at again after these."""


def _no_time_of_day() -> float:
    return 0.0


class Queue:
    """Items that want a place. One caller; `clock` gives monotonic seconds, `epoch` those since 1970.

    Without `epoch` nobody ever gives up waiting.
    """

    def __init__(
        self, clock: Callable[[], float], settings: QueueSettings, epoch: Callable[[], float] = _no_time_of_day
    ) -> None:
        self._clock = clock
        self._settings = settings
        self._patience = Patience(clock, epoch, settings)
        self._entries: dict[ItemKey, Entry] = {}
        self._waiting: dict[ItemKey, Entry] = {}
        self._active: list[tuple[tuple[int, float, int, str], int, Entry]] = []
        self._due: list[tuple[float, int, Entry]] = []
        self._arrivals = 0
        self._stamps = 0
        self._room_appeared = False
        self._look_again = False
        self._next_wake_seconds = 0.0
        self._woken_active = 0
        self._fresh: dict[ItemKey, None] = {}
        self._told: dict[ItemKey, Held] = {}

    # --- what happens ------------------------------------------------------------------------------------------------

    def woken(self, change: StateChange, state: ClusterState) -> None:
        """Takes in what an event changed; room is looked at when the next item is asked for, once for many events."""
        for key in change.gone:
            self.remove(key)
        for key in change.bound:
            if key in self._entries:
                self._entries[key].bind_failures = 0
        for key in change.items:
            self.touch(key, state)
        if change.freed:
            self._room_appeared = True

    def touch(self, key: ItemKey, state: ClusterState) -> None:
        """The item's content changed: it is held, or tried at once, or has nothing to do."""
        members = state.item(key)
        if members is None:
            self.remove(key)
            return
        entry = self._entries.get(key)
        if entry is None:
            self._arrivals += 1
            entry = self._entries[key] = Entry(key, self._arrivals)
        if entry.place is Place.RUNNING:
            entry.is_dirty = True
            return
        self._settle(entry, members, state)

    def remove(self, key: ItemKey) -> None:
        """The key is no item any more."""
        entry = self._entries.pop(key, None)
        self._patience.forget(key)
        if entry is not None:
            self._move(entry, Place.IDLE)
            self._set_held(entry, None)

    def pop(self, state: ClusterState) -> ItemKey | None:
        """The item to be tried now, to be given back with `done`."""
        now = self._clock()
        for key in self._patience.take_due():
            self.touch(key, state)
        if self._room_appeared:
            self._wake(state, now)
        while self._due and self._due[0][0] <= now:
            _, stamp, entry = heappop(self._due)
            if stamp == entry.stamp and entry.place is Place.WAITING:
                self._activate(entry, was_woken=False)
        if self._look_again and self._is_drained():
            self._wake(state, now)
        if self._is_drained():
            return None
        entry = heappop(self._active)[2]
        self._move(entry, Place.RUNNING)
        return entry.key

    def done(self, key: ItemKey, decision: Decision, state: ClusterState) -> None:
        """The popped item has been tried and its bindings, if any, have been assumed."""
        entry = self._entries.get(key)
        if entry is None or entry.place is not Place.RUNNING:
            return
        members = state.item(key)
        if members is None:
            self.remove(key)
            return
        refused = decision.verdict in {"unschedulable", "error"}
        if refused:
            self._refused(entry, decision, members, state)
        else:
            entry.failures = entry.wasted_wakes = 0
            entry.refused_since_seconds = None
            self._set_held(entry, None)
        if entry.is_dirty or decision.verdict == "nothing":
            self._settle(entry, members, state)
        elif refused or members.pending_count:
            entry.failures = max(entry.failures, 1)
            self._wait(entry, members)
        else:
            self._move(entry, Place.IDLE)
        entry.is_dirty = False

    def bind_failed(self, key: ItemKey | None) -> None:
        """A bind of this item failed for sure: it is tried again, but not at once and ever less often.

        Binds of one attempt that fail together count once; a bind that is seen to succeed ends the count.
        """
        entry = self._entries.get(key) if key else None
        now = self._clock()
        if entry is None or entry.not_before_seconds > now:
            return
        entry.bind_failures += 1
        entry.not_before_seconds = now + backoff_seconds(entry.bind_failures, 1, self._settings)

    # --- what others ask ---------------------------------------------------------------------------------------------

    def next_due_seconds(self) -> float | None:
        """Seconds until `pop` may have something, None when only an event can change that."""
        if not self._is_drained():
            return 0.0
        while self._due and self._due[0][1] != self._due[0][2].stamp:
            heappop(self._due)
        dues = [self._due[0][0]] if self._due else []
        patience = self._patience.next_due_seconds()
        if patience is not None:
            dues.append(self._clock() + patience)
        if (self._room_appeared or self._look_again) and self._waiting:
            dues.append(self._next_wake_seconds)
        return max(min(dues) - self._clock(), 0.0) if dues else None

    def aim(self, key: ItemKey, state: ClusterState) -> int:
        """Members that are to be placed together for the time being although fewer would do; 0: as few as must."""
        members = state.item(key)
        return self._patience.aim(members) if members is not None else 0

    def refused_seconds(self, key: ItemKey) -> float:
        """How long the item has been refused without a break."""
        entry = self._entries.get(key)
        since = entry.refused_since_seconds if entry else None
        return 0.0 if since is None else self._clock() - since

    def held(self, key: ItemKey) -> Held | None:
        """What an item waits for, or why it was refused last."""
        entry = self._entries.get(key)
        return entry.held if entry else None

    def news(self) -> list[tuple[ItemKey, Held | None]]:
        """Items whose reason to wait changed since the last call (None: it waits no more); counts alone are no change."""
        found: list[tuple[ItemKey, Held | None]] = []
        for key in self._fresh:
            held, told = self.held(key), self._told.get(key)
            if (held.gist if held else None) == (told.gist if told else None):
                continue
            found.append((key, held))
            if held is None:
                del self._told[key]
            else:
                self._told[key] = held
        self._fresh.clear()
        return found

    def depths(self) -> dict[str, int]:
        """Items by place, for metrics."""
        depths = {place.value: 0 for place in Place}
        for entry in self._entries.values():
            depths[entry.place.value] += 1
        return depths

    # --- inside ------------------------------------------------------------------------------------------------------

    def _is_drained(self) -> bool:
        while self._active and self._active[0][1] != self._active[0][2].stamp:
            heappop(self._active)
        return not self._active

    def _settle(self, entry: Entry, members: Members, state: ClusterState) -> None:
        entry.priority, entry.created_seconds = members.priority, members.created_seconds
        held = self._patience.judge(members, state, entry.held) or gate(members)
        if held is not None:
            self._set_held(entry, held)
            self._move(entry, Place.GATED)
        elif not members.pending_count:
            self._set_held(entry, None)
            self._move(entry, Place.IDLE)
        elif entry.not_before_seconds > self._clock():
            entry.due_seconds = entry.not_before_seconds
            self._move(entry, Place.WAITING)
        else:
            if entry.place is Place.GATED:
                self._set_held(entry, None)
            self._activate(entry, was_woken=False)

    def _refused(self, entry: Entry, decision: Decision, members: Members, state: ClusterState) -> None:
        entry.failures += 1
        if entry.refused_since_seconds is None:
            entry.refused_since_seconds = self._clock()
        reason = REASON_SCHEDULER_ERROR if decision.verdict == "error" else REASON_UNSCHEDULABLE
        self._set_held(entry, Held(reason, decision.condition_message))
        if not entry.was_woken:
            return
        self._look_again = True
        if decision.room_is_held or not wakes_exactly(state, members):
            entry.wasted_wakes += 1
            pause = self._settings.wake_pause_seconds * 2 ** min(entry.wasted_wakes - 1, 10)
            entry.no_wake_before_seconds = self._clock() + pause

    def _wait(self, entry: Entry, members: Members) -> None:
        wait = backoff_seconds(entry.failures, members.pending_count, self._settings)
        hopes_until = self._patience.hopes_until(members)
        due = self._clock() + wait
        entry.due_seconds = max(due if hopes_until is None else min(due, hopes_until), entry.not_before_seconds)
        self._move(entry, Place.WAITING)

    def _activate(self, entry: Entry, *, was_woken: bool) -> None:
        self._move(entry, Place.ACTIVE)
        entry.was_woken = was_woken
        self._woken_active += was_woken

    def _move(self, entry: Entry, place: Place) -> None:
        self._stamps += 1
        if entry.place is Place.ACTIVE and entry.was_woken:
            self._woken_active -= 1
        entry.place, entry.stamp = place, self._stamps
        if place is Place.WAITING:
            self._waiting[entry.key] = entry
            heappush(self._due, (entry.due_seconds, entry.stamp, entry))
        else:
            self._waiting.pop(entry.key, None)
        if place is Place.ACTIVE:
            heappush(self._active, (entry.order, entry.stamp, entry))

    def _set_held(self, entry: Entry, held: Held | None) -> None:
        entry.held = held
        self._fresh[entry.key] = None

    def _wake(self, state: ClusterState, now: float) -> None:
        """Activates the first waiting items, in queue order, that fit by count, as long as the room lasts by count.

        An item that was woken in vain just now sits out, so that others get the room it could not use; if there was an event
        meanwhile, it is tried again when its pause is over.
        """
        if now < self._next_wake_seconds or self._woken_active:
            return
        is_event, self._room_appeared, self._look_again = self._room_appeared, False, False
        left: dict[Shape, int] = {}
        for entry in sorted(self._fitting(state, now), key=lambda entry: entry.order):
            members = state.item(entry.key)
            if members is None:
                continue
            if entry.no_wake_before_seconds > now:
                if is_event and entry.due_seconds > entry.no_wake_before_seconds:
                    entry.due_seconds = entry.no_wake_before_seconds
                    self._move(entry, Place.WAITING)
            elif self._woken_active == _WAKE_BATCH:
                self._look_again = True
            elif self._claim(members, left, state):
                self._activate(entry, was_woken=True)
        self._next_wake_seconds = now + _WAKE_SHARE * (self._clock() - now)

    def _fitting(self, state: ClusterState, now: float) -> list[Entry]:
        found: list[Entry] = []
        for key, entry in self._waiting.items():
            if entry.not_before_seconds > now or (entry.held and entry.held.reason == REASON_SCHEDULER_ERROR):
                continue
            members = state.item(key)
            if members is not None and members.pending and placeable(state, members) >= wanted(members):
                found.append(entry)
        return found

    def _claim(self, members: Members, left: dict[Shape, int], state: ClusterState) -> bool:
        pending = by_base({shape: len(waiting) for shape, waiting in members.pending.items()})
        for shape in pending:
            left.setdefault(shape, state.fits.of(shape).total)
        if sum(min(count, left[shape]) for shape, count in pending.items()) < wanted(members):
            return False
        for shape, count in pending.items():
            left[shape] -= min(count, left[shape])
        return True
