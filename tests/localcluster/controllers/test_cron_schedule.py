"""When a cron schedule is due."""

import datetime

import pytest

from localcluster.controllers.cronjobs.schedule import BadSchedule, parse_schedule

SATURDAY = datetime.datetime(2026, 1, 3, 10, 20, 30, tzinfo=datetime.UTC)


def next_of(text: str, after: datetime.datetime = SATURDAY, zone: str | None = None) -> str | None:
    moment = parse_schedule(text, zone).next(after)
    return None if moment is None else moment.astimezone(datetime.UTC).strftime("%Y-%m-%d %H:%M:%S")


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("* * * * *", "2026-01-03 10:21:00"),
        ("*/15 * * * *", "2026-01-03 10:30:00"),
        ("5-20/5 * * * *", "2026-01-03 11:05:00"),
        ("7/20 * * * *", "2026-01-03 10:27:00"),
        ("20 10 * * *", "2026-01-04 10:20:00"),
        ("0 0 1 * *", "2026-02-01 00:00:00"),
        ("0 0 29 2 *", "2028-02-29 00:00:00"),
        ("0 0 * * MON-wed", "2026-01-05 00:00:00"),
        ("0 0 * * 7", "2026-01-04 00:00:00"),
        ("0 0 * * 0", "2026-01-04 00:00:00"),
        ("0 0 10 * 1", "2026-01-05 00:00:00"),
        ("0 0 10 * ?", "2026-01-10 00:00:00"),
        ("0 0 1 JUN *", "2026-06-01 00:00:00"),
        ("1,3,59 10 * * *", "2026-01-03 10:59:00"),
        ("@hourly", "2026-01-03 11:00:00"),
        ("@daily", "2026-01-04 00:00:00"),
        ("@weekly", "2026-01-04 00:00:00"),
        ("@monthly", "2026-02-01 00:00:00"),
        ("@yearly", "2027-01-01 00:00:00"),
        ("@every 1h30m", "2026-01-03 11:50:30"),
        ("@every 90s", "2026-01-03 10:22:00"),
        ("TZ=Asia/Kolkata 30 16 * * *", "2026-01-03 11:00:00"),
        ("0 0 31 2 *", None),
    ],
)
def test_the_next_moment(text: str, due: str | None) -> None:
    assert next_of(text) == due


def test_a_schedule_is_read_in_its_time_zone() -> None:
    assert next_of("0 12 * * *", zone="Europe/Berlin") == "2026-01-03 11:00:00"
    summer = datetime.datetime(2026, 7, 1, tzinfo=datetime.UTC)
    assert next_of("0 12 * * *", summer, "Europe/Berlin") == "2026-07-01 10:00:00"


def test_a_time_that_the_clocks_skip_does_not_happen_that_day() -> None:
    before = datetime.datetime(2026, 3, 29, 0, 0, tzinfo=datetime.UTC)
    assert next_of("30 2 * * *", before, "Europe/Berlin") == "2026-03-30 00:30:00"


def test_a_time_that_the_clocks_repeat_happens_once() -> None:
    before = datetime.datetime(2026, 10, 24, 23, 0, tzinfo=datetime.UTC)
    first = parse_schedule("30 2 * * *", "Europe/Berlin").next(before)
    assert first is not None
    assert first.strftime("%d %H:%M") == "25 00:30"
    assert next_of("30 2 * * *", first, "Europe/Berlin") == "2026-10-26 01:30:00"


@pytest.mark.parametrize(
    "text",
    [
        *("", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 8"),
        *("5-1 * * * *", "*/0 * * * *", "x * * * *", "-1 * * * *", "@every", "@every soon", "@never"),
    ],
)
def test_what_is_no_schedule_is_refused(text: str) -> None:
    with pytest.raises(BadSchedule):
        parse_schedule(text)


def test_a_zone_that_does_not_exist_is_refused() -> None:
    with pytest.raises(BadSchedule, match="unknown time zone Nowhere/Land"):
        parse_schedule("* * * * *", "Nowhere/Land")
