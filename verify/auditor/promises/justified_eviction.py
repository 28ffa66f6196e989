"""I3: no eviction whose preemptor does not start, or is not more important than its victim.

Sees: pods that our scheduler deletes, groups that it asks to leave, for which nominated item each of them goes, and whether that
item then gets its minimum of members bound within `start_seconds` after the last victim has gone. An item that was deleted or
does not want the room any more excuses its evictions, and a gang that asks to be restarted may leave for nobody while it says that
members are missing. Does not see: whether there had been a way to start it without any eviction.
"""

from collections.abc import Iterator
from typing import Any

from api.constants import CONDITION_POD_GROUP_SATISFIED
from verify.auditor.changes import Change
from verify.auditor.history import History
from verify.auditor.model import Group
from verify.auditor.preemptions import Eviction, Plan, Preemptions, group_of
from verify.auditor.promises.promise import Promise


class JustifiedEviction(Promise):
    """Who leaves makes room for somebody who starts."""

    number = "I3"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._preemptions = Preemptions()
        self._told: set[int] = set()

    def see(self, change: Change, history: History) -> Iterator[str]:
        """Looks for whom a victim leaves."""
        for found in self._preemptions.see(change, history):
            if isinstance(found, Eviction) and not found.plans and not _is_restarted(group_of(found.victim, history)):
                victim = "/".join(found.victim.key)
                yield f"pod {victim} was evicted for nobody: no item of a higher priority is nominated: {found.record}"

    def close(self, now: float, history: History) -> Iterator[str]:
        """Plans whose victims went long ago, and whose item has not started."""
        for plan in self._preemptions.open.values():
            left = plan.left(history)
            if not left or id(plan) in self._told or not all(pod.ended for pod in left):
                continue
            since = max(pod.ended_at for pod in left)
            if now - since > self.windows.start_seconds:
                self._told.add(id(plan))
                yield _wasted(plan, len(left), now - since)


def _is_restarted(group: Group | None) -> bool:
    said = group.conditions.get(CONDITION_POD_GROUP_SATISFIED) if group is not None else None
    return group is not None and group.asks_to_restart and said is not None and said.status == "False"


def _wasted(plan: Plan, count: int, lasted: float) -> str:
    item = f"gang {plan.group.key}" if plan.group is not None else f"pod {plan.item}"
    return f"{count} pods were evicted for {item}, which has not started {lasted:.0f} s after the last of them had gone"
