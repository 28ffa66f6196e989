"""How long a group waits: until it gives up, and until it is content with fewer pods than it would like.

Giving up (annotation `scheduling-timeout`) counts from the creation of the oldest member that waits, in the time of day, so a
restart of the scheduler does not begin anew. Only a group none of whose members has a place gives up: half of a gang that runs
is not left alone. A tree waits as its root says, and gives up as one. The wish for more pods (annotation `desired-count` of a basic
group) is short and counts from the first sight.
"""

from collections.abc import Callable
from typing import Final

from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_state import MemberState, PodGroupState
from scheduler.cache.records import EntityKey, GroupRecord
from scheduler.plugins.gang_scheduling import pre_enqueue
from scheduler.plugins.status import Code, Status
from scheduler.queue.delay_queue import DelayQueue
from scheduler.queue.queue_state import PatienceState
from scheduler.queue.settings import QueueSettings

_REFUSALS: Final = frozenset({Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.PENDING, Code.ERROR})
_HOPING: Final = "waiting up to {} for the {} pods it would like to start with: {} of them exist"
_LEAVING_SECONDS: Final = 1.0
"""A group for which others are leaving does not give up; it is looked at again after this time."""


class Patience:
    """Which items have waited long enough. `clock` gives monotonic seconds, `epoch` those since 1970."""

    def __init__(self, clock: Callable[[], float], epoch: Callable[[], float], settings: QueueSettings) -> None:
        self._clock = clock
        self._epoch = epoch
        self._settings = settings
        self._due: DelayQueue[EntityKey] = DelayQueue(clock)
        self._until: dict[EntityKey, float] = {}
        self._limits: dict[EntityKey, float] = {}
        """The limit for which an item is in `_due`."""

    def judge(
        self, members: PodGroupState, state: ClusterState, before: Status | None, *, is_due: bool = False
    ) -> Status | None:
        """Why the item is not to be tried now, as far as waiting decides.

        `before` is what held it until now; `is_due` says that `take_due` gave it, so it may give up.
        """
        if members.group is None:
            return None
        return self._exhausted(members, members.group, state, before, is_due=is_due) or self._hopes(members)

    def aim(self, members: PodGroupState) -> int:
        """Members that are to get a place together for the time being; 0 when it has no such wish (any more)."""
        group = members.group
        if group is None or group.is_gang or group.waiting.desired_count <= 1:
            return 0
        if members.scheduled_count or not members.pending_count:
            return 0
        until = self._until.get(members.key)
        if until is None:
            until = self._until[members.key] = self._clock() + self._settings.desired_wait_seconds
            self._due.add(members.key, self._settings.desired_wait_seconds)
        return 0 if self._clock() >= until else group.waiting.desired_count

    def hopes_until(self, members: PodGroupState) -> float | None:
        """When it will be content with less, in monotonic seconds; None when it is."""
        return self._until.get(members.key) if self.aim(members) else None

    def forget(self, key: EntityKey) -> None:
        """The key is no item any more."""
        self._due.discard(key)
        self._until.pop(key, None)
        self._limits.pop(key, None)

    def state(self) -> PatienceState:
        """All it remembers."""
        return PatienceState(tuple(self._due.dues()), tuple(self._until.items()), tuple(self._limits.items()))

    def restore(self, state: PatienceState) -> None:
        """Remembers this; for a new one."""
        now = self._clock()
        for key, at in state.due:
            self._due.add(key, at - now)
        self._until.update(state.until)
        self._limits.update(state.judged_for)

    def take_due(self) -> list[EntityKey]:
        """Items that are to be judged anew now."""
        return self._due.take_due()

    def next_due_seconds(self) -> float | None:
        """Seconds until `take_due` has something."""
        return self._due.next_due_seconds()

    # --- giving up ---------------------------------------------------------------------------------------------------

    def _exhausted(
        self, members: PodGroupState, group: GroupRecord, state: ClusterState, before: Status | None, *, is_due: bool
    ) -> Status | None:
        limit = group.waiting.timeout_seconds
        if not limit:
            return None
        has_given_up = before is not None and before.code is Code.TIMED_OUT
        is_known = self._limits.get(members.key) == limit and members.key in self._due
        # The pods of a group come together, and a look at all of them for each would be long. Groups of a tree come in any order.
        if is_known and not has_given_up and not group.is_tree:
            return None
        since = _waits_since(members)
        if since is None:
            return None
        left = since + limit - self._epoch()
        if left <= 0 and state.nominator.of(members.key) is not None:
            left = _LEAVING_SECONDS
        if left > 0:
            self._limits[members.key] = limit
            self._due.add(members.key, left)
            return None
        if has_given_up:
            return before
        if not is_due:
            # Right after a start not all of its pods have been seen: it is judged when the next item is asked for.
            self._due.add(members.key, 0.0)
            return None
        last = pre_enqueue(members) or (before if before is not None and before.code in _REFUSALS else None)
        return Status(Code.TIMED_OUT, "gave up after {}", (_shown(limit),), cause=last)

    # --- hoping for more ---------------------------------------------------------------------------------------------

    def _hopes(self, members: PodGroupState) -> Status | None:
        counts = members.counts()
        if not self.aim(members) or members.group is None or counts.known >= members.group.waiting.desired_count:
            return None
        wish = members.group.waiting.desired_count
        wait = _shown(self._settings.desired_wait_seconds)
        return Status(Code.WAITING_FOR_MEMBERS, _HOPING, (wait, wish, counts.known))


def _waits_since(members: PodGroupState) -> float | None:
    if members.count(MemberState.ASSUMED) or members.count(MemberState.BOUND):
        return None
    waiting = members.pods(MemberState.PENDING, MemberState.GATED)
    return min((pod.created_seconds for pod in waiting), default=None)


def _shown(seconds: float) -> str:
    minutes, rest = divmod(seconds, 60)
    if not minutes:
        return f"{rest:g} s"
    return f"{minutes:g} min" if not rest else f"{minutes:g} min {rest:g} s"
