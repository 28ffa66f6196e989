"""The queue: which item is tried next (KEP-4671, with the wake-ups upstream lacks).

Order is priority, then age, then UID. A refused item waits, growing longer each time, but is tried at once when its own
content changes or when room appears that can be enough for it. Nothing that waits stands in anybody's way: what trying hopeless
items may cost is limited (`active`). Whatever happens to a popped item, `done` or `set_aside` puts it somewhere, so no item is
ever lost; and an exception about one item, wherever it is met here, is noted and leaves the others be.
"""

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from typing import Final

from scheduler.cycle.decision import Decision
from scheduler.item_errors import ItemErrors
from scheduler.plugins.status import Code, Status
from scheduler.queue.active import ActiveItems
from scheduler.queue.backoff import backoff_seconds
from scheduler.queue.entry import Cause, Entry, Place, Version
from scheduler.queue.gate import gate
from scheduler.queue.patience import Patience
from scheduler.queue.settings import QueueSettings
from scheduler.queue.wake import Outlook, placeable, wakes_exactly, wanted
from scheduler.state.cluster import ClusterState
from scheduler.state.members import Members
from scheduler.state.records import ItemKey, StateChange

_WAKE_SHARE: Final = 4
"""Looking for items to wake may take at most one part in 1 + this many of the time."""
_WAKE_BATCH: Final = 16
"""Items woken at a time: each of them may use up what woke the next one, so the rest is looked at again after these."""
_LOOK_SECONDS: Final = 0.005
"""How long new items are looked at before one of them is tried."""
_STAGE: Final = "queue"


def _no_time_of_day() -> float:
    return 0.0


class Queue:
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
        self._entries: dict[ItemKey, Entry] = {}
        self._waiting: dict[ItemKey, Entry] = {}
        self._active = ActiveItems(clock, settings)
        self._due: list[tuple[float, int, Entry]] = []
        self._arrivals = 0
        self._stamps = 0
        self._room_appeared = False
        self._look_again = False
        self._next_wake_seconds = 0.0
        self._woken: dict[Cause, int] = {Cause.ROOM: 0, Cause.DOUBT: 0}
        """Active items that were woken by room, by what is known of them."""
        self._notices = 0
        """Raised with everything that happens."""
        self._vain: tuple[ItemKey, Cause] | None = None
        """The item that was tried last, when it was refused, and why it had been tried."""
        self._fresh: dict[ItemKey, None] = {}
        self._told: dict[ItemKey, Status] = {}

    # --- what happens ------------------------------------------------------------------------------------------------

    def woken(self, change: StateChange, state: ClusterState) -> None:
        """Takes in what an event changed; room is looked at when the next item is asked for, once for many events."""
        self._notices += 1
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
        if entry.errors and entry.not_before_seconds > self._clock():
            self._due_by(entry, entry.not_before_seconds)
            return
        with self._errors.about(key, _STAGE):
            self._settle(entry, members, state)

    def noticed(self) -> None:
        """Something happened beside the cluster's state that decisions look at: what was refused may be tried again."""
        self._notices += 1

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
        self._collect_due(now, state)
        if self._look_again and self._active.is_drained:
            self._wake(state, now)
        entry = self._next(state)
        if entry is None:
            return None
        # What happens while it is tried, also between two computations about it, may have come too late for it.
        entry.tried_version = self._version(state)
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
        entry.errors = 0
        entry.is_hoping = False
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
            self._wait(entry, members, is_over_budget=decision.is_over_budget)
        else:
            self._move(entry, Place.IDLE)
        entry.is_dirty = False

    def spent(self, key: ItemKey, seconds: float) -> None:
        """The attempt at the item, all that was done about it included, took so long."""
        if self._vain is not None and self._vain[0] == key:
            self._active.spent(self._vain[1], seconds)
        self._vain = None

    def set_aside(self, key: ItemKey, message: str, state: ClusterState) -> bool:
        """An exception was raised about this item: it is tried again when it changes, or rarely; False if it wants no place.

        If it fails again and again, its own changes have to wait a while, too.
        """
        entry, members = self._entries.get(key), state.item(key)
        if entry is None or members is None or not members.pending_count:
            if entry is not None and entry.place is Place.RUNNING:
                self._move(entry, Place.IDLE)
            return False
        now = self._clock()
        entry.is_dirty = entry.is_hoping = False
        entry.errors += 1
        entry.not_before_seconds = now + backoff_seconds(entry.errors, 1, self._settings)
        entry.due_seconds = now + self._settings.set_aside_seconds
        self._set_held(entry, Status(Code.ERROR, message))
        self._move(entry, Place.WAITING)
        return True

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
        active = self._active.next_due_seconds()
        if active == 0.0:
            return 0.0
        while self._due and self._due[0][1] != self._due[0][2].stamp:
            heappop(self._due)
        dues = [self._due[0][0]] if self._due else []
        if active is not None:
            dues.append(self._clock() + active)
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

    def held(self, key: ItemKey) -> Status | None:
        """What an item waits for, or why it was refused last."""
        entry = self._entries.get(key)
        return entry.held if entry else None

    def news(self) -> list[tuple[ItemKey, Status | None]]:
        """Items whose reason to wait changed since the last call (None: it waits no more); counts alone are no change."""
        found: list[tuple[ItemKey, Status | None]] = []
        for key in self._fresh:
            held, told = self.held(key), self._told.get(key)
            if (held.obstacles if held else None) == (told.obstacles if told else None):
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

    def _collect_due(self, now: float, state: ClusterState) -> None:
        while self._due and self._due[0][0] <= now:
            _, stamp, entry = heappop(self._due)
            if stamp != entry.stamp or entry.place is not Place.WAITING:
                continue
            if entry.errors:
                self.touch(entry.key, state)
            elif entry.is_hoping or not entry.failures:
                self._activate(entry, Cause.NEWS)
            else:
                self._active.put_overdue(entry)

    def _next(self, state: ClusterState) -> Entry | None:
        """The item to be tried now.

        Retries of which it is known how they would end are left out. While too much time has been spent in vain, new items are
        looked at before they are tried, and those for which there is no room wait with the other doubtful ones.
        """
        outlook: Outlook | None = None
        looks_until = 0.0
        while (entry := self._active.take()) is not None:
            if entry.cause is Cause.TIME and self._would_end_alike(entry, state):
                members = state.item(entry.key)
                if members is not None:
                    entry.failures += 1
                    self._wait(entry, members)
                continue
            if entry.cause is not Cause.NEWS or self._active.trusts_doubtful:
                return entry
            if outlook is None:
                outlook, looks_until = Outlook(state), self._clock() + _LOOK_SECONDS
            if self._clock() > looks_until or self._may_fit(entry, outlook, state):
                return entry
            self._activate(entry, Cause.DOUBT)
        return None

    def _may_fit(self, entry: Entry, outlook: Outlook, state: ClusterState) -> bool:
        with self._errors.about(entry.key, _STAGE):
            members = state.item(entry.key)
            return members is None or not members.pending or outlook.fits(members)
        return True

    def _version(self, state: ClusterState) -> Version:
        nodes = state.nodes
        return (self._notices, nodes.room_changes.end, nodes.rule_changes.end, state.classes.version)

    def _would_end_alike(self, entry: Entry, state: ClusterState) -> bool:
        """Whether the last attempt at a refused item would have the same end now."""
        if (
            entry.depends_on_time
            or entry.tried_version != self._version(state)
            or state.claims.of(entry.key) is not None
        ):
            return False
        now, settings = self._clock(), self._settings
        may_reserve = (entry.refused_since_seconds or now) + settings.reserve_after_seconds
        is_news = entry.tried_seconds < may_reserve <= now
        return not is_news and now - entry.tried_seconds < settings.unchanged_seconds

    def _settle(self, entry: Entry, members: Members, state: ClusterState) -> None:
        entry.priority, entry.created_seconds = members.priority, members.waits_since_seconds
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
            self._activate(entry, Cause.DOUBT if entry.was_refused else Cause.NEWS)

    def _refused(self, entry: Entry, decision: Decision, members: Members, state: ClusterState) -> None:
        entry.failures += 1
        if entry.refused_since_seconds is None:
            entry.refused_since_seconds = self._clock()
        self._set_held(entry, decision.status)
        entry.depends_on_time = decision.depends_on_time
        entry.tried_seconds = self._clock()
        self._vain = (entry.key, entry.cause)
        if decision.is_over_budget:
            entry.not_before_seconds = self._clock() + self._settings.over_budget_pause_seconds
        if not entry.was_woken:
            return
        self._look_again = True
        if decision.is_over_budget:
            return
        is_exact = not decision.room_is_held and wakes_exactly(state, members)
        # What looks as if it fitted still was not woken because of room that others have taken since.
        if not is_exact or placeable(state, members) >= wanted(members):
            entry.wasted_wakes += 1
            pause = self._settings.wake_pause_seconds * 2 ** min(entry.wasted_wakes - 1, 10)
            entry.no_wake_before_seconds = self._clock() + pause

    def _wait(self, entry: Entry, members: Members, *, is_over_budget: bool = False) -> None:
        if is_over_budget:
            entry.due_seconds = self._clock() + self._settings.over_budget_seconds
            self._move(entry, Place.WAITING)
            return
        wait = backoff_seconds(entry.failures, members.pending_count, self._settings)
        hopes_until = self._patience.hopes_until(members)
        due = self._clock() + wait
        entry.is_hoping = hopes_until is not None and hopes_until <= due
        entry.due_seconds = max(due if hopes_until is None else min(due, hopes_until), entry.not_before_seconds)
        self._move(entry, Place.WAITING)

    def _due_by(self, entry: Entry, seconds: float) -> None:
        """A waiting entry is due at that time at the latest."""
        if entry.place is Place.WAITING and entry.due_seconds > seconds:
            entry.due_seconds = seconds
            self._move(entry, Place.WAITING)

    def _activate(self, entry: Entry, cause: Cause, *, was_woken: bool = False) -> None:
        if entry.place is Place.ACTIVE and entry.was_woken:
            self._woken[entry.cause] -= 1
        if was_woken:
            self._woken[cause] += 1
        entry.cause, entry.was_woken = cause, was_woken
        self._waiting.pop(entry.key, None)
        self._stamps += 1
        entry.place, entry.stamp = Place.ACTIVE, self._stamps
        self._active.put(entry)

    def _move(self, entry: Entry, place: Place) -> None:
        self._stamps += 1
        if entry.place is Place.ACTIVE and entry.was_woken:
            self._woken[entry.cause] -= 1
        entry.place, entry.stamp = place, self._stamps
        if place is Place.WAITING:
            self._waiting[entry.key] = entry
            heappush(self._due, (entry.due_seconds, entry.stamp, entry))
        else:
            self._waiting.pop(entry.key, None)

    def _set_held(self, entry: Entry, held: Status | None) -> None:
        entry.held = held
        self._fresh[entry.key] = None

    def _wake(self, state: ClusterState, now: float) -> None:
        """Activates the first waiting items, in queue order, that fit by count, as long as the room lasts by count.

        An item that was woken in vain just now sits out, so that others get the room it could not use; if there was an event
        meanwhile, it is tried again when its pause is over. Doubtful ones hold no room against others while too much time has been
        spent in vain.
        """
        if now < self._next_wake_seconds or self._woken[Cause.ROOM]:
            return
        is_event, self._room_appeared, self._look_again = self._room_appeared, False, False
        outlook = Outlook(state)
        for entry, members in sorted(self._fitting(outlook, state, now), key=lambda found: found[0].order):
            if entry.no_wake_before_seconds > now:
                if is_event:
                    self._due_by(entry, entry.no_wake_before_seconds)
                continue
            with self._errors.about(entry.key, _STAGE):
                self._wake_one(entry, members, outlook, state)
        self._next_wake_seconds = now + _WAKE_SHARE * (self._clock() - now)

    def _fitting(self, outlook: Outlook, state: ClusterState, now: float) -> Iterator[tuple[Entry, Members]]:
        for key, entry in self._waiting.items():
            if entry.not_before_seconds > now or (entry.held and entry.held.code is Code.ERROR):
                continue
            with self._errors.about(key, _STAGE):
                members = state.item(key)
                if members is not None and members.pending and outlook.fits(members):
                    yield entry, members

    def _wake_one(self, entry: Entry, members: Members, outlook: Outlook, state: ClusterState) -> None:
        is_promised = outlook.is_certain(members) or state.claims.of(entry.key) is not None
        cause = Cause.ROOM if is_promised and not entry.wasted_wakes else Cause.DOUBT
        if self._woken[cause] >= _WAKE_BATCH:
            self._look_again = True
        elif (cause is Cause.DOUBT and not self._active.trusts_doubtful) or outlook.claim(members):
            self._activate(entry, cause, was_woken=True)
