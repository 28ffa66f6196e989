"""How far each group has come: initially scheduled, or started and short of members.

`PodGroupInitiallyScheduled` turns True only when minCount members are bound for certain: the watch shows them, or the
server answered so and the watch has not caught up. It never turns back. A gang that stays partly bound for longer than a
limit says so in `Degraded`, until it is whole again.
"""

from collections.abc import Callable

from api.constants import (
    CONDITION_DEGRADED,
    CONDITION_SCHEDULED,
    REASON_BELOW_MINIMUM,
    REASON_RECOVERED,
    REASON_SCHEDULED,
    REASON_SCHEDULER_ERROR,
)
from api.meta import condition_of
from scheduler.agenda import Agenda
from scheduler.item_errors import ItemErrors
from scheduler.reporting.voice import Voice
from scheduler.state.cluster import ClusterState
from scheduler.state.records import Counts, GroupRecord, ItemKey
from scheduler.writes.condition_rules import TRUE, condition
from scheduler.writes.group_conditions import GroupConditions


class Progress:
    """Watches the counts of groups and keeps their two conditions true."""

    def __init__(
        self,
        *,
        state: ClusterState,
        groups: GroupConditions,
        voice: Voice,
        clock: Callable[[], float],
        degraded_after_seconds: float,
        errors: ItemErrors,
    ) -> None:
        self._errors = errors
        self._state = state
        self._groups = groups
        self._voice = voice
        self._agenda: Agenda[ItemKey] = Agenda(clock)
        self._degraded_after_seconds = degraded_after_seconds
        self._answered: dict[ItemKey, set[str]] = {}
        self._started: set[ItemKey] = set()
        self._short: set[ItemKey] = set()

    def has_started(self, key: ItemKey) -> bool:
        """Whether the group's condition is True, or about to be."""
        return key in self._started

    def answered(self, key: ItemKey, pod_uid: str) -> None:
        """The server said that this member is bound."""
        if self._state.assumption(pod_uid) is not None:
            self._answered.setdefault(key, set()).add(pod_uid)
        self.look(key)

    def look(self, key: ItemKey) -> None:
        """Something about the group changed."""
        group = self._state.group(key)
        if group is None:
            return
        counts = self._state.items.counts(key)
        confirmed = self._confirmed(key, counts)
        if confirmed >= group.need:
            self._whole(key, group)
        elif group.is_gang and (counts.bound or confirmed > counts.succeeded):
            if key not in self._short:
                self._short.add(key)
                self._agenda.add(key, self._degraded_after_seconds)
        else:
            self._short.discard(key)

    def next_due_seconds(self) -> float | None:
        """When `say_degraded` has something to do."""
        return self._agenda.next_due_seconds()

    def say_degraded(self) -> None:
        """The limit has passed for some: those that are still short say so."""
        for key in self._agenda.take_due():
            group = self._state.group(key)
            if group is not None and key in self._short:
                with self._errors.about(key, "report"):
                    self._below_minimum(key, group)

    def forbidden(self, key: ItemKey, reason: str, message: str) -> None:
        """The server forbids the bind of a member."""
        group = self._state.group(key)
        if group is None:
            return
        self._degrade(group, reason, message)
        if key not in self._started:
            wanted = condition(CONDITION_SCHEDULED, is_true=False, reason=REASON_SCHEDULER_ERROR, message=message)
            self._groups.want(group, wanted, then=lambda: self._voice.group_refused(key, group, message))

    def forget(self, key: ItemKey) -> None:
        """The group is gone."""
        self._answered.pop(key, None)
        self._started.discard(key)
        self._short.discard(key)
        self._agenda.discard(key)

    def _confirmed(self, key: ItemKey, counts: Counts) -> int:
        """Members that are bound or were, the answered ones included that the watch has not shown yet."""
        waiting = self._answered.get(key)
        if not waiting or counts.confirmed >= counts.need:
            self._answered.pop(key, None)
            return counts.confirmed
        if counts.confirmed + len(waiting) < counts.need:
            return counts.confirmed + len(waiting)
        for uid in [uid for uid in waiting if self._state.assumption(uid) is None]:
            waiting.discard(uid)
        return counts.confirmed + len(waiting)

    def _whole(self, key: ItemKey, group: GroupRecord) -> None:
        self._short.discard(key)
        if key not in self._started:
            self._started.add(key)
            wanted = condition(CONDITION_SCHEDULED, is_true=True, reason=REASON_SCHEDULED, message="")
            self._groups.want(group, wanted, then=lambda: self._voice.group_scheduled(key, group))
        degraded = condition_of(self._groups.current(group), CONDITION_DEGRADED)
        if degraded is not None and degraded.status == TRUE:
            recovered = condition(
                CONDITION_DEGRADED, is_true=False, reason=REASON_RECOVERED, message="the group has its minimum again"
            )
            self._groups.want(group, recovered)

    def _below_minimum(self, key: ItemKey, group: GroupRecord) -> None:
        counts = self._state.items.counts(key)
        message = (
            f"{counts.bound + counts.succeeded} of at least {group.need} members are bound or done for more than "
            f"{self._degraded_after_seconds:.0f} s; {counts.pending} are waiting for a place"
        )
        self._degrade(group, REASON_BELOW_MINIMUM, message)

    def _degrade(self, group: GroupRecord, reason: str, message: str) -> None:
        self._groups.want(group, condition(CONDITION_DEGRADED, is_true=True, reason=reason, message=message))
