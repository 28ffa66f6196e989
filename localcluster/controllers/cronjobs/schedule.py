"""Cron schedules: five fields (minute, hour, day of month, month, day of week), the macros, and when the next moment is.

Pure. The rules are those of the library that the stock controller uses: lists, ranges, steps, names of months and weekdays,
7 for Sunday; when both day fields are restricted, either one suffices; `@every 90s` counts from the given moment. A local
time that a clock change skips does not happen that day; one that it repeats happens once.
"""

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from api.errors import TuttiError

MACROS: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_MONTH_NAMES: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTHS: Final = {name: number for number, name in enumerate(_MONTH_NAMES, 1)}
WEEKDAYS: Final = {name: number for number, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))}
YEARS_AHEAD: Final = 5
"""A schedule that matches no day within so many years (31 February) never fires."""

_EVERY: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_UNIT_SECONDS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_DAY: Final = datetime.timedelta(days=1)


class BadSchedule(TuttiError):
    """A schedule or time zone that cannot be read; the message says why."""


class Schedule(Protocol):
    """When something happens."""

    def next(self, after: datetime.datetime) -> datetime.datetime | None:
        """The first moment later than `after`, None when there is none."""


@dataclass(frozen=True, slots=True)
class Every:
    """At a fixed distance from the last time."""

    seconds: int

    def next(self, after: datetime.datetime) -> datetime.datetime | None:
        """So many whole seconds later."""
        return (after + datetime.timedelta(seconds=self.seconds)).replace(microsecond=0)


@dataclass(frozen=True, slots=True)
class Fields:
    """At the times that match all fields, in one time zone."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either_day: bool
    """Both day fields are restricted, so a match of one is enough."""
    zone: datetime.tzinfo

    def next(self, after: datetime.datetime) -> datetime.datetime | None:
        """The first matching minute later than `after`, in UTC."""
        local = after.astimezone(self.zone)
        day = local.date()
        for _ in range(366 * YEARS_AHEAD):
            if self._is_day(day):
                found = self._first(day, after)
                if found is not None:
                    return found
            day += _DAY
        return None

    def _is_day(self, day: datetime.date) -> bool:
        if day.month not in self.months:
            return False
        of_month, of_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return of_month or of_week if self.either_day else of_month and of_week

    def _first(self, day: datetime.date, after: datetime.datetime) -> datetime.datetime | None:
        for hour in sorted(self.hours):
            for minute in sorted(self.minutes):
                local = datetime.datetime.combine(day, datetime.time(hour, minute), self.zone)
                moment = local.astimezone(datetime.UTC)
                # A time that the clocks skip comes back from UTC as another one.
                is_real = moment.astimezone(self.zone).replace(tzinfo=None) == local.replace(tzinfo=None)
                if is_real and moment > after:
                    return moment
        return None


def parse_schedule(text: str, time_zone: str | None = None) -> Schedule:
    """The schedule of a CronJob; `TZ=Zone` or `CRON_TZ=Zone` in front of it names a zone as well.

    Raises:
        BadSchedule: it is none.
    """
    zone = time_zone
    if text.startswith(("TZ=", "CRON_TZ=")):
        named, _, text = text.partition(" ")
        zone = zone or named.partition("=")[2]
    text = text.strip()
    if text.startswith("@every "):
        return Every(_every_seconds(text.removeprefix("@every ")))
    parts = MACROS.get(text, text).split()
    if len(parts) != 5:
        raise BadSchedule(f"expected exactly 5 fields, found {len(parts)}: [{' '.join(parts)}]")
    weekdays = frozenset(day % 7 for day in _field(parts[4], 0, 7, WEEKDAYS))
    return Fields(
        minutes=_field(parts[0], 0, 59),
        hours=_field(parts[1], 0, 23),
        days=_field(parts[2], 1, 31),
        months=_field(parts[3], 1, 12, MONTHS),
        weekdays=weekdays,
        either_day=not (_is_open(parts[2]) or _is_open(parts[4])),
        zone=zone_of(zone),
    )


def zone_of(name: str | None) -> datetime.tzinfo:
    """The time zone of that name; UTC for none.

    Raises:
        BadSchedule: there is no such zone.
    """
    if not name:
        return datetime.UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise BadSchedule(f"unknown time zone {name}") from error


def _is_open(field: str) -> bool:
    return any(part.partition("/")[0] in {"*", "?"} for part in field.split(","))


def _field(text: str, lowest: int, highest: int, names: Mapping[str, int] | None = None) -> frozenset[int]:
    values: set[int] = set()
    for part in text.split(","):
        span, slash, step_text = part.partition("/")
        first, last = _span(span, lowest, highest, names or {}, has_step=bool(slash))
        step = _number(step_text, {}) if slash else 1
        if step < 1:
            raise BadSchedule(f"step of range should be a positive number: {part}")
        if not lowest <= first <= last <= highest:
            raise BadSchedule(f"{part} is not within {lowest}-{highest}")
        values.update(range(first, last + 1, step))
    return frozenset(values)


def _span(text: str, lowest: int, highest: int, names: Mapping[str, int], *, has_step: bool) -> tuple[int, int]:
    if text in {"*", "?"}:
        # 7 is another name of Sunday; an open field does not name it twice.
        return lowest, 6 if (names is WEEKDAYS) else highest
    first_text, dash, last_text = text.partition("-")
    first = _number(first_text, names)
    if dash:
        return first, _number(last_text, names)
    return first, highest if has_step else first


def _number(text: str, names: Mapping[str, int]) -> int:
    if text.lower() in names:
        return names[text.lower()]
    if not (text.isascii() and text.isdigit()):
        raise BadSchedule(f"failed to parse number: {text!r}")
    return int(text)


def _every_seconds(text: str) -> int:
    parts = _EVERY.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text.strip():
        raise BadSchedule(f"failed to parse duration @every {text}")
    return max(1, int(sum(float(number) * _UNIT_SECONDS[unit] for number, unit in parts)))
