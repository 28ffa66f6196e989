"""What is said once stays said: counts are no news, other blockers are, and so is a very old refusal."""

from scheduler.reporting.events import EventDeduplicator
from tests.scheduler.shell.clocks import FakeClock


def test_other_counts_are_no_news() -> None:
    once = EventDeduplicator(FakeClock(), repeat_seconds=1800.0)
    assert once.is_news("g", "FailedScheduling", "0/7 nodes are available: 7 Insufficient cpu.")
    assert not once.is_news("g", "FailedScheduling", "0/8 nodes are available: 8 Insufficient cpu.")


def test_other_blockers_or_reasons_or_subjects_are_news() -> None:
    once = EventDeduplicator(FakeClock(), repeat_seconds=1800.0)
    once.is_news("g", "FailedScheduling", "7 Insufficient cpu")
    assert once.is_news("h", "FailedScheduling", "7 Insufficient cpu")
    assert once.is_news("g", "FailedScheduling", "7 Insufficient memory")
    assert once.is_news("g", "WaitingForMembers", "7 Insufficient memory")


def test_a_refusal_that_stands_for_long_is_said_again_before_the_server_forgets_it() -> None:
    clock = FakeClock()
    once = EventDeduplicator(clock, repeat_seconds=1800.0)
    once.is_news("g", "FailedScheduling", "no room")
    clock.pass_seconds(1799.0)
    assert not once.is_news("g", "FailedScheduling", "no room")
    clock.pass_seconds(2.0)
    assert once.is_news("g", "FailedScheduling", "no room")


def test_a_forgotten_subject_is_news_again() -> None:
    once = EventDeduplicator(FakeClock(), repeat_seconds=1800.0)
    once.is_news("g", "FailedScheduling", "no room")
    once.forget("g")
    assert once.is_news("g", "FailedScheduling", "no room")
