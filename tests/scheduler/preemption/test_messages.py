"""What people are told of a preemption: that of kube-scheduler, where it says the same."""

import pytest

from scheduler.preemption.result import PreemptionResult
from scheduler.preemption.victims import Refusal, RefusalCode
from tests.scheduler.core import build
from tests.scheduler.preemption.test_evaluator import full_world


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        (Refusal(RefusalCode.ITEM_GONE), ""),
        (Refusal(RefusalCode.NEVER), "not eligible due to preemptionPolicy=Never."),
        (Refusal(RefusalCode.NO_VICTIMS), "No preemption victims found for incoming preemptor"),
        (
            Refusal(RefusalCode.TOO_FEW, need=4, scheduled=2, remaining=3),
            "minCount (4) cannot be satisfied: 2 scheduled, 3 remaining",
        ),
        (Refusal(RefusalCode.PAUSED, pause_seconds=9.6), "waiting 10 s before the next attempt to preempt"),
        (Refusal(RefusalCode.ONGOING), "ongoing preemption on nominated nodes"),
        (
            Refusal(RefusalCode.ONGOING, victims=3, kind="group"),
            "found a placement for podgroup, preempting 3 victims; ongoing preemption on nominated nodes",
        ),
        (
            Refusal(RefusalCode.ONGOING, victims=1),
            "found a placement for pod, preempting 1 victims; ongoing preemption on nominated nodes",
        ),
    ],
)
def test_why_nobody_leaves(refusal: Refusal, said: str) -> None:
    assert refusal.message == said
    assert PreemptionResult("none", refusal=refusal).message == said


def test_how_many_leave() -> None:
    world, evaluator = full_world()
    assert evaluator.preempt(build.pod_key("new"), 0.0).message == "found a placement for pod, preempting 1 victims"
    world.group("g", 2, priority=7)
    world.pods("g", 2, priority=7)
    said = evaluator.preempt(build.group_key("g"), 0.0).message
    assert said == "found a placement for podgroup, preempting 2 victims"
