"""What a refused item is told while room is kept for others by turns: the refusal that is so in every turn, where there is one.

Turns end by the clock (`scheduler.reservations.starvation`), and with each of them other counts would be true: how many members
can be placed, what the nodes lack, how many would have a place with everybody of lower priority gone. Conditions would be
written anew for all who wait as long as they wait, though nothing has happened. So an item that finds no place without the room
that is kept by turns either is told just that. One that would start then, or for which others would leave, is refused because of
this room, and that is said. This changes what is told and nothing else.
"""

from typing import Final

import msgspec

from scheduler.algorithm.decision import Decision
from scheduler.algorithm.future_pods import ClusterWithFuturePods
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.algorithm.without_starvation_reservations import ClusterWithoutStarvationReservations
from scheduler.preemption.evaluator import Evaluator, PreemptionLimits
from scheduler.preemption.result import PreemptionResult, with_post_filter
from scheduler.preemption.victims import Refusal, RefusalCode
from scheduler.reservations.future_reservations import of_existing_pods


class LastingRefusals:
    """Decides on refused items once more, without the room that is kept by turns.

    Args:
        seen: the cluster to decide on, with pods to come; nothing of it is changed.
    """

    def __init__(self, seen: ClusterWithFuturePods) -> None:
        self._seen: Final = seen
        self._without: Final = ClusterWithoutStarvationReservations(seen.view).view
        self._evaluator: Final = Evaluator(self._without, PreemptionLimits())

    def may_differ(self, decision: Decision) -> bool:
        """Whether it was refused for good, nobody leaves for it, and some room was not looked at that is kept by turns."""
        if decision.result != "unschedulable" or decision.is_hope or decision.depends_on_time:
            return False
        seen = self._seen.view
        if not len(seen.reservations) or seen.nominator.of(decision.key) is not None:
            return False
        members = seen.item(decision.key)
        return members is not None and seen.reservations.holds_against(decision.key, members.priority)

    def of(self, decision: Decision, aim: int) -> Decision:
        """The refusal with what is to be told of it, itself where that is as true in every turn or where turns are the reason.

        Args:
            decision: of an item, with what preemption found out.
            aim: with which it was decided.
        """
        if not self.may_differ(decision):
            return decision
        lasting, _ = of_existing_pods(decide(self._without, decision.key, aim), self._seen)
        if lasting.result != "unschedulable" or lasting.is_hope:
            return decision
        if decision.status.post_filter:
            refusal = self._evaluator.dry_run(decision.key)
            if not isinstance(refusal, Refusal) or refusal.waits or refusal.code is RefusalCode.OVER_BUDGET:
                return decision
            lasting = with_post_filter(lasting, PreemptionResult("none", refusal=refusal))
        return msgspec.structs.replace(decision, status=lasting.status, failures=lasting.failures)
