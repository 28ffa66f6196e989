"""Says on each group that names a PriorityClass for its preemption priority which number counts.

The number is used by the next decision after any change. Members keep showing their own `spec.priority`, which does not count
when somebody wants their room; where the two differ the condition's reason says so (`PodsNotMatchingPriority`).
"""

from typing import Final

from api.constants import (
    ALLOW_AS_PREEMPTION_PRIORITY,
    CONDITION_PREEMPTION_PRIORITY,
    REASON_BELOW_SCHEDULING_PRIORITY,
    REASON_IN_FORCE,
    REASON_NOT_STATED,
    REASON_PODS_NOT_MATCHING_PRIORITY,
    REASON_PRIORITY_CLASS_NOT_ALLOWED,
    REASON_PRIORITY_CLASS_NOT_FOUND,
)
from api.meta import Condition, condition_of
from api.priorityclass import PreemptionClassProblem, preemption_class_problem
from scheduler.apicalls.conditions import condition
from scheduler.apicalls.group_conditions import GroupConditions
from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.records import EntityKey, GroupRecord

_NOT_ALLOWED: Final = (
    f"above the priority the group is scheduled with, and not allowed by {ALLOW_AS_PREEMPTION_PRIORITY}=true"
)
_REFUSALS: Final = {
    PreemptionClassProblem.BELOW_OWN: (
        REASON_BELOW_SCHEDULING_PRIORITY,
        "below the priority the group is scheduled with",
    ),
    PreemptionClassProblem.OF_SYSTEM: (REASON_PRIORITY_CLASS_NOT_ALLOWED, "for the system"),
    PreemptionClassProblem.NOT_ALLOWED: (REASON_PRIORITY_CLASS_NOT_ALLOWED, _NOT_ALLOWED),
}


class PreemptionPriorityReporter:
    """The condition that says with which priority a group counts when somebody wants its room.

    Args:
        state: where PriorityClasses are kept, and which groups name one.
        groups: writes the condition.
    """

    def __init__(self, state: ClusterState, groups: GroupConditions) -> None:
        self._state = state
        self._groups = groups

    def review(self, key: EntityKey) -> None:
        """Something about the group changed: its condition is brought up to date."""
        members = self._state.item(key)
        group = members.group if members else None
        if members is None or group is None:
            return
        if not group.preemption_class:
            told = condition_of(self._groups.current(group), CONDITION_PREEMPTION_PRIORITY)
            if told is None or told.reason == REASON_NOT_STATED:
                return
        self._groups.want(group, self._in_force(group, members))

    def _in_force(self, group: GroupRecord, members: PodGroupState) -> Condition:
        name, own = group.preemption_class, members.priority
        found = self._state.classes.find(name) if name else None
        counts = self._state.classes.as_victim(group, own)
        if not name:
            return _said(
                REASON_NOT_STATED, f"when somebody wants its room the group counts with its priority, {counts}"
            )
        if found is None:
            return _said(
                REASON_PRIORITY_CLASS_NOT_FOUND,
                f"there is no PriorityClass {name}: when somebody wants its room the group counts with its priority, {counts}",
            )
        problem = preemption_class_problem(found, own)
        if problem is not None:
            reason, words = _REFUSALS[problem]
            return _said(
                reason,
                f"PriorityClass {name} has the value {found.value}, which is {words}: {counts} counts when somebody wants its "
                "room",
            )
        others = sorted({profile.priority for profile in members.profiles} - {counts})
        differ = f"; its pods show {', '.join(map(str, others))}, which does not count for that" if others else ""
        return _said(
            REASON_PODS_NOT_MATCHING_PRIORITY if others else REASON_IN_FORCE,
            f"when somebody wants its room the group counts with {counts}, the value of PriorityClass {name}{differ}",
            is_true=True,
        )


def _said(reason: str, message: str, *, is_true: bool = False) -> Condition:
    return condition(CONDITION_PREEMPTION_PRIORITY, is_true=is_true, reason=reason, message=message)
