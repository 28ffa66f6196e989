"""I3: no eviction whose preemptor does not start, or is not more important than its victim.

Sees: pods that our scheduler deletes, groups that it asks to leave, for which nominated item each of them goes, and whether that
item then gets its minimum of members bound, and each that was nominated, within `start_seconds` after the last victim has gone.
An item that was deleted or does not want the room any more excuses its evictions. For nobody leaves only a gang that asks for it,
once members have been missing for as long as it allows and none has succeeded; of a Job by its suspension, once. Does not see:
whether there had been a way to start an item without any eviction, or to repair a gang.
"""

from collections.abc import Iterator
from typing import Any

from api.constants import CONDITION_DISRUPTION_TARGET, REASON_GANG_RESTART
from verify.auditor.audit_log import Record
from verify.auditor.changes import Change, GroupTold
from verify.auditor.history import History
from verify.auditor.identities import SCHEDULER_USER
from verify.auditor.model import Group
from verify.auditor.preemptions import Eviction, Plan, Preemptions, group_of
from verify.auditor.promises.promise import Promise
from verify.auditor.restarts import Shortages


class JustifiedEviction(Promise):
    """Who leaves makes room for somebody who starts."""

    number = "I3"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._preemptions = Preemptions(self.windows)
        self._shortages = Shortages()
        self._told: set[int] = set()

    def see(self, change: Change, history: History) -> Iterator[str]:
        """Looks for whom a victim leaves."""
        for found in self._preemptions.see(change, history):
            if isinstance(found, Eviction) and not found.plans:
                yield from self._for_nobody(found, history)
        match change:
            case GroupTold(group, record, written) if CONDITION_DISRUPTION_TARGET in written:
                yield from self._asked_to_restart(group, record, history)
        self._shortages.see(change, history)

    def close(self, now: float, history: History) -> Iterator[str]:
        """Plans whose victims went long ago, and whose item has not started, or not with each member that was nominated."""
        for plan in self._preemptions.open.values():
            left = plan.left(history)
            if not left or id(plan) in self._told or not all(pod.ended for pod in left):
                continue
            since = max(pod.ended_at for pod in left)
            if now - since > self.windows.start_seconds:
                self._told.add(id(plan))
                yield _wasted(plan, len(left), now - since)

    def _for_nobody(self, found: Eviction, history: History) -> Iterator[str]:
        group, victim = group_of(found.victim, history), "/".join(found.victim.key)
        why_not = "it is in no gang"
        if group is not None:
            why_not = self._shortages.why_not_deleted(found.victim, group, history, found.record.received)
        if why_not:
            yield (
                f"pod {victim} was evicted for nobody: no item of a higher priority is nominated, nor may its gang start anew: "
                f"{why_not}: {found.record}"
            )

    def _asked_to_restart(self, group: Group, record: Record, history: History) -> Iterator[str]:
        said = group.conditions[CONDITION_DISRUPTION_TARGET]
        is_new = said.status == "True" and said.reason == REASON_GANG_RESTART and said.since == record.completed
        if not is_new or record.user != SCHEDULER_USER:
            return
        was_asked = self._shortages.asked(group)
        why_not = "it was asked before" if was_asked else self._shortages.why_not(group, history, record.received)
        if why_not:
            yield f"gang {group.key} was asked to start anew: {why_not}: {record}"


def _wasted(plan: Plan, count: int, lasted: float) -> str:
    item = f"gang {plan.group.key}" if plan.group is not None else f"pod {plan.item}"
    lacks = "got all its places" if plan.group is not None and plan.group.satisfied else "started"
    return f"{count} pods were evicted for {item}, which has not {lacks} {lasted:.0f} s after the last of them had gone"
