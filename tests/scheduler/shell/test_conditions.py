"""How a list of conditions takes in a new one."""

from api.constants import CONDITION_DEGRADED, CONDITION_POD_GROUP_SATISFIED, CONDITION_SCHEDULED
from api.meta import Condition
from scheduler.apicalls.conditions import MAX_MESSAGE, as_json, blockers, condition, with_conditions

EARLIER = "2026-01-01T00:00:00Z"
NOW = "2026-01-02T00:00:00Z"


def scheduled(*, is_true: bool, reason: str = "Unschedulable", message: str = "", at: str | None = None) -> Condition:
    wanted = condition(CONDITION_SCHEDULED, is_true=is_true, reason=reason, message=message)
    return Condition(wanted.type, wanted.status, wanted.reason, wanted.message, at)


def test_a_first_condition_gets_the_time_of_now() -> None:
    assert with_conditions((), [scheduled(is_true=False)], now=NOW) == (scheduled(is_true=False, at=NOW),)


def test_saying_the_same_again_changes_nothing() -> None:
    current = (scheduled(is_true=False, message="no room", at=EARLIER),)
    assert with_conditions(current, [scheduled(is_true=False, message="no room")], now=NOW) is None


def test_another_message_with_the_same_status_keeps_the_time() -> None:
    current = (scheduled(is_true=False, message="no room", at=EARLIER),)
    assert with_conditions(current, [scheduled(is_true=False, message="no nodes")], now=NOW) == (
        scheduled(is_true=False, message="no nodes", at=EARLIER),
    )


def test_a_change_of_status_moves_the_time() -> None:
    current = (scheduled(is_true=False, at=EARLIER),)
    assert with_conditions(current, [scheduled(is_true=True, reason="Scheduled")], now=NOW) == (
        scheduled(is_true=True, reason="Scheduled", at=NOW),
    )


def test_initially_scheduled_never_turns_back() -> None:
    current = (scheduled(is_true=True, reason="Scheduled", at=EARLIER),)
    assert with_conditions(current, [scheduled(is_true=False)], now=NOW) is None
    assert with_conditions(current, [scheduled(is_true=True, reason="Scheduled", message="x")], now=NOW) is None


def test_other_conditions_stay_where_and_what_they_are() -> None:
    other = Condition("DisruptionTarget", "True", "Preempted", "", EARLIER, 7)
    current = (other, scheduled(is_true=False, at=EARLIER))
    degraded = condition(CONDITION_POD_GROUP_SATISFIED, is_true=False, reason="BelowMinimum", message="6 of 8")
    changed = with_conditions(current, [degraded], now=NOW)
    assert changed is not None
    assert changed[:2] == current
    assert as_json(changed)[0]["observedGeneration"] == 7


def test_what_an_earlier_version_said_in_other_words_goes_with_any_write_and_alone() -> None:
    earlier = Condition(CONDITION_DEGRADED, "True", "BelowMinimum", "2 of 3", EARLIER)
    kept = scheduled(is_true=True, reason="Scheduled", at=EARLIER)
    short = condition(CONDITION_POD_GROUP_SATISFIED, is_true=False, reason="BelowMinimum", message="2 of 3")
    changed = with_conditions((earlier, kept), [short], now=NOW)
    assert changed is not None
    assert [one.type for one in changed] == [CONDITION_SCHEDULED, CONDITION_POD_GROUP_SATISFIED]
    assert with_conditions((earlier, kept), [], now=NOW) == (kept,)


def test_a_condition_of_that_type_that_somebody_else_wrote_stays() -> None:
    theirs = Condition(CONDITION_DEGRADED, "True", "SlowNetwork", "", EARLIER)
    assert with_conditions((theirs,), [], now=NOW) is None


def test_a_message_cannot_fill_the_database() -> None:
    assert len(condition(CONDITION_SCHEDULED, is_true=False, reason="X", message="y" * 10_000).message) == MAX_MESSAGE


def test_messages_that_differ_in_counts_name_the_same_blockers() -> None:
    assert blockers("0/7 nodes are available: 7 Insufficient cpu.") == blockers(
        "0/12 nodes are available: 12 Insufficient cpu."
    )
    assert blockers("0/7 nodes are available: 7 Insufficient cpu.") != blockers(
        "0/7 nodes are available: 7 Insufficient memory."
    )
