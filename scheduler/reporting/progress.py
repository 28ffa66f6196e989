"""How far each group has come: initially scheduled, or started and short of members.

`PodGroupInitiallyScheduled` turns True only when minCount members are bound for certain: the watch shows them, or the
server answered so and the watch has not caught up. It never turns back. A gang that is partly bound says so in
`PodGroupSatisfied`, until it is whole again: one that had started a moment after members were lost, with who they are, for then
pods of a gang that ends are gone, too; another one when that lasts longer than a limit, and then it is given up.
"""

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from api.constants import (
    CONDITION_POD_GROUP_SATISFIED,
    CONDITION_SCHEDULED,
    REASON_BELOW_MINIMUM,
    REASON_RECOVERED,
    REASON_SCHEDULED,
    REASON_SCHEDULER_ERROR,
)
from api.meta import condition_of
from kube.process.trace import trace
from scheduler.apicalls.conditions import TRUE, condition
from scheduler.apicalls.group_conditions import GroupConditions
from scheduler.cache.cluster import ClusterState
from scheduler.cache.records import EntityKey, GroupRecord, MemberCounts, PodRecord
from scheduler.queue.delay_queue import DelayQueue
from scheduler.queue.item_errors import ItemErrors
from scheduler.reporting.events import EventWriter

_MOST_NAMED: Final = 8
"""Lost members that are named one by one."""


class ProgressCounts(Protocol):
    """What is counted of groups' progress, for metrics."""

    def started(self, group: GroupRecord) -> None:
        """The minimum of a group is bound."""

    def degraded(self) -> None:
        """A started gang has fallen below its minimum."""

    def repaired(self, seconds: float) -> None:
        """It has its minimum again, so long after it fell below."""


class Progress:
    """Watches the counts of groups and keeps their two conditions true.

    Args:
        state: the cluster as it is.
        groups: writes conditions.
        event_writer: tells people.
        clock: monotonic seconds.
        degraded_after_seconds: how long a gang that has not started may be partly bound.
        lost_report_seconds: after the first member of a started gang was lost, when that is said.
        give_up: called with a gang that has been partly bound for longer, none of its binds under way or forbidden.
        errors: where exceptions about single groups are noted.
        counts: for metrics.
    """

    def __init__(  # noqa: PLR0913 (the parts it ties together)
        self,
        *,
        state: ClusterState,
        groups: GroupConditions,
        event_writer: EventWriter,
        clock: Callable[[], float],
        degraded_after_seconds: float,
        lost_report_seconds: float,
        give_up: Callable[[EntityKey], None],
        errors: ItemErrors,
        counts: ProgressCounts,
    ) -> None:
        self._errors = errors
        self._counts = counts
        self._clock = clock
        self._lost_report_seconds = lost_report_seconds
        self._state = state
        self._groups = groups
        self._event_writer = event_writer
        self._short_due: DelayQueue[EntityKey] = DelayQueue(clock)
        self._degraded_after_seconds = degraded_after_seconds
        self._give_up = give_up
        self._answered: dict[EntityKey, set[str]] = {}
        self._started: set[EntityKey] = set()
        self._short: dict[EntityKey, float] = {}
        """Since when, in monotonic seconds."""
        self._told_degraded: set[EntityKey] = set()
        self._refused: set[EntityKey] = set()
        """Groups of which the server has forbidden a bind since they were looked at."""

    def has_started(self, key: EntityKey) -> bool:
        """Whether the group's condition is True, or about to be."""
        return key in self._started

    def start(self, key: EntityKey) -> None:
        """As `update`, when the caches are filled: what earlier versions said in other words is taken away."""
        group = self._state.group(key)
        if group is not None:
            self._groups.tidy(group)
            self.update(key)

    def answered(self, key: EntityKey, pod_uid: str) -> None:
        """The server said that this member is bound."""
        if self._is_assumed(pod_uid):
            self._answered.setdefault(key, set()).add(pod_uid)
        self.update(key)

    def update(self, key: EntityKey) -> None:
        """Something about the group changed."""
        group = self._state.group(key)
        if group is None:
            return
        counts = self._state.entities.counts(key)
        if self._has_minimum(key, counts):
            self._whole(key, group)
        elif group.is_gang and (counts.bound or any(map(self._is_assumed, self._answered.get(key, ())))):
            if key not in self._short:
                self._short[key] = self._clock()
                had_started = self._had_started(key, group)
                self._short_due.add(key, self._lost_report_seconds if had_started else self._degraded_after_seconds)
        else:
            self._is_not_short(key)

    def partial_groups(self) -> dict[str, int]:
        """Gangs with some members bound and fewer than their minimum, by whether they had started, for metrics."""
        had_started = 0
        for key in self._short:
            group = self._state.group(key)
            had_started += group is not None and self._had_started(key, group)
        return {"false": len(self._short) - had_started, "true": had_started}

    def next_due_seconds(self) -> float | None:
        """When `say_degraded` has something to do."""
        return self._short_due.next_due_seconds()

    def say_degraded(self) -> None:
        """The limit has passed for some: those that are still short say so."""
        for key in self._short_due.take_due():
            group = self._state.group(key)
            if group is None or key not in self._short:
                continue
            if group.terminating or group.preempted_by:
                # The request may be taken back.
                self._short_due.add(key, self._lost_report_seconds)
                continue
            with self._errors.about(key, "report"):
                self._below_minimum(key, group)

    def forbidden(self, key: EntityKey, reason: str, message: str) -> None:
        """The server forbids the bind of a member, which the group says in `PodGroupSatisfied` with this reason and message."""
        group = self._state.group(key)
        if group is None:
            return
        self._degrade(group, reason, message)
        self._refused.add(key)
        if key not in self._started:
            wanted = condition(CONDITION_SCHEDULED, is_true=False, reason=REASON_SCHEDULER_ERROR, message=message)
            self._groups.want(group, wanted, then=lambda: self._event_writer.group_refused(key, group, message))

    def forget(self, key: EntityKey) -> None:
        """The group is gone."""
        self._answered.pop(key, None)
        self._started.discard(key)
        self._is_not_short(key)
        self._told_degraded.discard(key)
        self._refused.discard(key)

    def _is_not_short(self, key: EntityKey) -> float | None:
        """Since when it was, in monotonic seconds; the next shortage has its own time."""
        since = self._short.pop(key, None)
        if since is not None:
            self._short_due.discard(key)
            self._refused.discard(key)
        return since

    def _had_started(self, key: EntityKey, group: GroupRecord) -> bool:
        said = condition_of(self._groups.current(group), CONDITION_SCHEDULED)
        return key in self._started or (said is not None and said.status == TRUE)

    def _has_minimum(self, key: EntityKey, counts: MemberCounts) -> bool:
        """Whether enough members are bound or were, the answered ones included that the watch has not shown yet."""
        waiting = self._answered.get(key)
        if not waiting or counts.confirmed >= counts.min_count:
            self._answered.pop(key, None)
            return counts.confirmed >= counts.min_count
        if counts.confirmed + len(waiting) < counts.min_count:
            return False
        waiting.intersection_update([uid for uid in waiting if self._is_assumed(uid)])
        return counts.confirmed + len(waiting) >= counts.min_count

    def _is_assumed(self, pod_uid: str) -> bool:
        return self._state.assumption(pod_uid) is not None

    def _whole(self, key: EntityKey, group: GroupRecord) -> None:
        since = self._is_not_short(key)
        if key not in self._started:
            self._started.add(key)
            wanted = condition(CONDITION_SCHEDULED, is_true=True, reason=REASON_SCHEDULED, message="")
            self._groups.want(group, wanted, then=lambda: self._say_started(key, group))
        if key in self._told_degraded:
            self._told_degraded.discard(key)
            self._event_writer.group_whole_again(key)
            if since is not None:
                self._counts.repaired(self._clock() - since)
        # What is on its way may be carried out later, and nothing would follow that takes it back.
        satisfied = condition_of(self._groups.to_be(group), CONDITION_POD_GROUP_SATISFIED)
        if satisfied is not None and satisfied.status != TRUE:
            recovered = condition(
                CONDITION_POD_GROUP_SATISFIED,
                is_true=True,
                reason=REASON_RECOVERED,
                message="the group has its minimum again",
            )
            self._groups.want(group, recovered)

    def _say_started(self, key: EntityKey, group: GroupRecord) -> None:
        self._counts.started(group)
        trace("bound", group.owner.uid, namespace=group.namespace, group=group.name, min_count=group.min_count)
        self._event_writer.group_scheduled(key, group)

    def _below_minimum(self, key: EntityKey, group: GroupRecord) -> None:
        if self._had_started(key, group):
            self._members_lost(key, group)
            return
        counts = self._state.entities.counts(key)
        if key in self._refused:
            # A person has to act: it would be begun again and again, and nobody would see for how long already.
            self._refused.discard(key)
            self._short_due.add(key, self._degraded_after_seconds)
            return
        message = (
            f"{counts.bound + counts.succeeded} of at least {group.min_count} members are bound or done for more than "
            f"{self._degraded_after_seconds:.0f} s; {counts.pending} are waiting for a place"
        )
        self._degrade(group, REASON_BELOW_MINIMUM, message)
        if counts.assumed:
            # What becomes of binds that are under way is not known yet.
            self._short_due.add(key, self._degraded_after_seconds)
        else:
            self._give_up(key)

    def _members_lost(self, key: EntityKey, group: GroupRecord) -> None:
        counts = self._state.entities.counts(key)
        lost = lost_message(group.min_count, counts.confirmed, list(self._state.losses.of(key).values()))
        self._degrade(group, REASON_BELOW_MINIMUM, lost)
        self._event_writer.group_degraded(key, group, lost)
        if key not in self._told_degraded:
            self._told_degraded.add(key)
            self._counts.degraded()

    def _degrade(self, group: GroupRecord, reason: str, message: str) -> None:
        self._groups.want(
            group, condition(CONDITION_POD_GROUP_SATISFIED, is_true=False, reason=reason, message=message)
        )


def lost_message(min_count: int, left: int, lost: Sequence[PodRecord]) -> str:
    """How many of a started gang are left, and who is missing.

    Args:
        min_count: the gang's minimum.
        left: members that run or have succeeded.
        lost: those that are known to be missing, in the order of their loss; somebody else may have replaced the first ones.
    """
    lost = lost[-max(min_count - left, 1) :]
    named = ", ".join(f"{pod.name} (on {pod.node_name})" for pod in lost[:_MOST_NAMED])
    more = f" and {len(lost) - _MOST_NAMED} more" if len(lost) > _MOST_NAMED else ""
    missing = f"; missing: {named}{more}" if named else ""
    return f"{left} of at least {min_count} members are left{missing}"
