"""Lengths of time as they are shown: as short as kubectl writes them."""

import pytest

from api.age import duration

MINUTE, HOUR, DAY, YEAR = 60, 3600, 86400, 365 * 86400


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-5, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (119.9, "119s"),
        (2 * MINUTE, "2m"),
        (9 * MINUTE + 59, "9m59s"),
        (10 * MINUTE + 59, "10m"),
        (3 * HOUR - 1, "179m"),
        (3 * HOUR, "3h"),
        (4 * HOUR + 5 * MINUTE, "4h5m"),
        (7 * HOUR + 59 * MINUTE, "7h59m"),
        (8 * HOUR + 59 * MINUTE, "8h"),
        (47 * HOUR + 59 * MINUTE, "47h"),
        (48 * HOUR, "2d"),
        (7 * DAY + 23 * HOUR, "7d23h"),
        (8 * DAY + 23 * HOUR, "8d"),
        (729 * DAY, "729d"),
        (2 * YEAR + 3 * DAY, "2y3d"),
        (8 * YEAR + 300 * DAY, "8y"),
        (9 * YEAR, "9y"),
    ],
)
def test_lengths_of_time_have_two_units_while_the_second_tells_something(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown
