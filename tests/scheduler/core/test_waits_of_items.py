"""How long a refused item waits: twice as long each time, and a large one longer, up to the square root of its pods."""

import pytest

from scheduler.queue.settings import QueueSettings, backoff_seconds

SETTINGS = QueueSettings(initial_backoff_seconds=1.0, max_backoff_seconds=10.0)


@pytest.mark.parametrize(("failures", "seconds"), [(1, 1.0), (2, 2.0), (3, 4.0), (4, 8.0), (5, 10.0), (6, 10.0)])
def test_it_doubles_up_to_the_longest(failures: int, seconds: float) -> None:
    assert backoff_seconds(failures, 1, SETTINGS) == seconds


@pytest.mark.parametrize(("pods", "seconds"), [(0, 10.0), (1, 10.0), (2, 14.142), (4, 20.0), (100, 100.0)])
def test_the_longest_grows_with_the_square_root_of_the_pods(pods: int, seconds: float) -> None:
    assert backoff_seconds(30, pods, SETTINGS) == pytest.approx(seconds, abs=0.001)
