"""A share of all the time: so much comes in, so much may be saved up, and what was spent beyond that is waited for."""

import pytest

from scheduler.queue.allowance import Allowance

SHARE, SAVED = 0.25, 2.0


class Purse:
    """An allowance, and the clock that it goes by."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.allowance = Allowance(lambda: self.now, SHARE, SAVED)

    def state(self) -> tuple[bool, float, float]:
        """Whether it is open, what is left, and in how many seconds it opens."""
        return self.allowance.is_open, self.allowance.left_seconds, self.allowance.opens_in_seconds()


@pytest.fixture
def purse() -> Purse:
    return Purse()


def test_what_is_saved_is_there_at_the_beginning_and_no_more_is_saved(purse: Purse) -> None:
    assert purse.state() == (True, SAVED, 0.0)
    purse.now += 3600.0
    assert purse.state() == (True, SAVED, 0.0)


def test_it_is_open_until_more_than_that_is_spent_at_once(purse: Purse) -> None:
    purse.allowance.spend(SAVED)
    assert purse.state() == (True, 0.0, 0.0)
    purse.allowance.spend(1.0)
    assert purse.state() == (False, -1.0, 4.0)


def test_its_share_of_the_time_comes_in(purse: Purse) -> None:
    purse.allowance.spend(SAVED + 1.0)
    purse.now += 3.0
    assert purse.state() == (False, -0.25, 1.0)
    purse.now += 3.0
    assert purse.state() == (True, 0.5, 0.0)
    purse.allowance.spend(0.25)
    assert purse.state() == (True, 0.25, 0.0)


def test_what_is_taken_over_counts_from_now_on(purse: Purse) -> None:
    purse.now += 100.0
    purse.allowance.restore(-1.0)
    assert purse.state() == (False, -1.0, 4.0)
    purse.now += 4.0
    assert purse.state() == (True, 0.0, 0.0)
