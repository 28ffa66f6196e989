"""The one formula of exponential backoff, against the ones it stands for."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.backoff import exponential_backoff


def test_pauses_double_up_to_the_longest() -> None:
    pauses = [exponential_backoff(failures, base_seconds=0.5, max_seconds=5) for failures in range(1, 7)]
    assert pauses == [0.5, 1, 2, 4, 5, 5]


@given(st.integers(1, 60), st.floats(0.001, 600))
def test_each_failure_doubles_the_pause(failures: int, base_seconds: float) -> None:
    pause = exponential_backoff(failures, base_seconds=base_seconds, max_seconds=inf)
    assert exponential_backoff(failures + 1, base_seconds=base_seconds, max_seconds=inf) == 2 * pause


@pytest.mark.parametrize("failures", [1_100, 10**9])
def test_failures_without_end_are_no_error(failures: int) -> None:
    assert exponential_backoff(failures, base_seconds=0.2, max_seconds=10) == 10
