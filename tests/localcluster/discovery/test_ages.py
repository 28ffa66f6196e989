"""Ages in tables."""

import pytest

from localcluster.apiserver.discovery.tables.age import age, duration, moment

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
        (7 * HOUR + 59 * MINUTE, "7h59m"),
        (8 * HOUR + 59 * MINUTE, "8h"),
        (47 * HOUR + 59 * MINUTE, "47h"),
        (48 * HOUR, "2d"),
        (7 * DAY + 23 * HOUR, "7d23h"),
        (8 * DAY + 23 * HOUR, "8d"),
        (729 * DAY, "729d"),
        (2 * YEAR + 3 * DAY, "2y3d"),
        (8 * YEAR + 300 * DAY, "8y"),
    ],
)
def test_lengths_of_time_have_two_units_while_the_second_tells_something(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


def test_an_age_counts_from_a_time_in_any_zone() -> None:
    assert age("1970-01-01T01:00:00+01:00", 30) == "30s"
    assert age("1970-01-01T00:00:10.500000Z", 30) == "19s"


@pytest.mark.parametrize("nothing", [None, "", "yesterday"])
def test_no_time_has_no_age(nothing: str | None) -> None:
    assert moment(nothing) is None
    assert age(nothing, 30) == "<unknown>"
