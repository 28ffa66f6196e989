"""How often a check that has not come true yet is asked again."""

import pytest

from verify.clusters import eventually as module
from verify.clusters.eventually import POLL_SECONDS, SELDOM_SECONDS, eventually


class Clock:
    """Time that passes by sleeping only."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(module, "time", made)
    return made


def true_after(clock: Clock, seconds: float) -> bool:
    assert clock.now >= seconds, f"only {clock.now:g} s"
    return True


def test_what_comes_soon_is_asked_for_twenty_times_a_second(clock: Clock) -> None:
    assert eventually(lambda: true_after(clock, 1), within_seconds=5)
    assert set(clock.pauses) == {POLL_SECONDS}


def test_what_takes_long_is_asked_for_four_times_a_second_in_the_end(clock: Clock) -> None:
    assert eventually(lambda: true_after(clock, 30), within_seconds=60)
    assert clock.pauses == sorted(clock.pauses)
    assert clock.pauses[-1] == SELDOM_SECONDS
    assert clock.now < 30 + SELDOM_SECONDS


def test_a_pause_that_was_asked_for_is_kept_where_it_is_longer(clock: Clock) -> None:
    assert eventually(lambda: true_after(clock, 30), within_seconds=60, poll_seconds=3)
    assert set(clock.pauses) == {3}


def test_the_last_reason_is_told_once_the_time_is_over(clock: Clock) -> None:
    with pytest.raises(AssertionError, match=r"not within 2 s: only 2\.0"):
        eventually(lambda: true_after(clock, 30), within_seconds=2)
