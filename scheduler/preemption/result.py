"""What comes of evaluating an item that found no place (upstream: PostFilter)."""

from typing import Literal

import msgspec

from scheduler.algorithm.decision import Decision
from scheduler.cache.nominator import Nomination
from scheduler.preemption.victims import Candidate, Refusal, RefusalCode, found_message


class PreemptionResult(msgspec.Struct, frozen=True):
    """What comes of evaluating an item that found no place (upstream: PostFilterResult).

    Attributes:
        result: for the metric.
        candidate: who is to leave now.
        nomination: where its pods go once the victims have left, when that is new.
        refusal: why nobody else leaves; None with a candidate.
        given_up: nominations that hold no room any more.
    """

    result: Literal["victims", "none", "waiting", "paused"]
    candidate: Candidate | None = None
    nomination: Nomination | None = None
    refusal: Refusal | None = None
    given_up: tuple[Nomination, ...] = ()

    @property
    def message(self) -> str:
        """For people."""
        if self.candidate is not None:
            return found_message(len(self.candidate.pods), self.candidate.key.kind)
        return self.refusal.message if self.refusal is not None else ""


def with_post_filter(decision: Decision, result: PreemptionResult) -> Decision:
    """The decision with what preemption found out in its status (upstream: PostFilter)."""
    if result.refusal is not None and result.refusal.code is RefusalCode.ITEM_GONE:
        return decision
    status = msgspec.structs.replace(decision.status, post_filter=result.message)
    failures = decision.failures
    if decision.key.kind == "pod":
        failures = tuple((uid, status) for uid, _ in failures)
    return msgspec.structs.replace(
        decision, status=status, failures=failures, depends_on_time=result.result == "paused"
    )
