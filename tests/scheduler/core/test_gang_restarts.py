"""Gangs that could not be repaired in time leave whole where they ask for it, once, and never when work is finished."""

import pytest

from api.constants import DEGRADED, REPAIR_TIMEOUT
from tests.scheduler.core import build
from tests.scheduler.core.stage import Stage


def _restarting(*, policy: str = "restart") -> Stage:
    """A gang of three on three nodes."""
    stage = Stage()
    for number in range(3):
        stage.node(f"n{number}", cpu=1)
    stage.gang("g", 3, annotations={DEGRADED: policy, REPAIR_TIMEOUT: "1m"})
    stage.run()
    return stage


def test_a_gang_that_could_not_be_repaired_in_time_leaves_once_where_it_asks_for_that() -> None:
    stage = _restarting()
    stage.lose("g-0")
    stage.run()
    assert stage.lost.next_due_seconds() == 60.0
    stage.wait(59)
    assert stage.restarted == []
    stage.wait(1)
    assert stage.restarted == [build.group_key("g")]
    assert (stage.kept(), stage.lost.next_due_seconds()) == (0, None)
    stage.wait(600)
    assert stage.restarted == [build.group_key("g")]


def test_one_that_is_whole_in_time_stays() -> None:
    stage = _restarting()
    stage.lose("g-0")
    stage.wait(50)
    stage.pod("g-0-again", group="g")
    stage.run()
    stage.wait(600)
    assert stage.restarted == []
    assert len(stage.state.losses) == 0


def test_what_was_said_of_an_earlier_loss_does_not_count_for_the_next_one() -> None:
    stage = _restarting()
    stage.wait(300)
    _says_it_is_short(stage, "2026-01-01T00:00:10Z")
    stage.lose("g-0")
    stage.run()
    assert stage.lost.next_due_seconds() == 60.0


def test_a_scheduler_that_takes_over_counts_the_time_that_its_predecessor_has_waited() -> None:
    stage = _restarting()
    stage.lose("g-0")
    stage.run()
    stage.wait(40)
    _says_it_is_short(stage, "2026-01-01T00:00:02Z")
    stage.begin()
    stage.lost.restore()
    assert stage.lost.next_due_seconds() == 22.0
    stage.wait(22)
    assert stage.restarted == [build.group_key("g")]


def test_a_gang_that_a_predecessor_has_asked_to_start_anew_is_not_asked_again() -> None:
    stage = _restarting()
    stage.lose("g-0")
    stage.wait(100)
    asked = {"type": "DisruptionTarget", "status": "True", "reason": "GangRestart"}
    _says_it_is_short(stage, "2026-01-01T00:00:02Z", asked)
    stage.begin()
    stage.lost.restore()
    stage.wait(600)
    assert stage.restarted == []
    assert stage.kept() == 0


def _says_it_is_short(stage: Stage, since: str, *more: dict[str, str]) -> None:
    """The group's condition, of which the scheduler has written it."""
    satisfied = {"type": "PodGroupSatisfied", "status": "False", "reason": "BelowMinimum", "lastTransitionTime": since}
    said = {DEGRADED: "restart", REPAIR_TIMEOUT: "1m"}
    stage.group("g", 3, annotations=said, priority=0, conditions=[satisfied, *more])


@pytest.mark.parametrize("policy", ["repair", "report"])
def test_with_another_policy_it_stays_too(policy: str) -> None:
    stage = _restarting(policy=policy)
    stage.lose("g-0")
    stage.run()
    stage.wait(600)
    assert stage.restarted == []


def test_a_gang_that_is_finishing_is_never_touched() -> None:
    stage = _restarting()
    stage.lose("g-1", phase="Succeeded")
    stage.lose("g-0")
    stage.run()
    stage.wait(600)
    assert stage.restarted == []


def test_one_that_has_left_and_starts_anew_has_all_its_time_again() -> None:
    stage = _restarting()
    stage.lose("g-0")
    stage.run()
    stage.wait(60)
    for number in range(3):
        stage.pod_gone(f"g-{number}")
    stage.run()
    assert len(stage.state.losses) == 0
    stage.pods("g", 3, first=10)
    stage.run()
    assert len(stage.bound("g")) == 3
    stage.lose("g-10")
    stage.run()
    stage.wait(59)
    assert len(stage.restarted) == 1
    stage.wait(1)
    assert len(stage.restarted) == 2
