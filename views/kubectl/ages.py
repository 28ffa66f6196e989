"""How long ago, in as few letters as kubectl uses. Pure."""

from datetime import datetime
from typing import Final

_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR
_YEAR: Final = 365 * _DAY


def age(since: str, now: datetime) -> str:
    """The time from `since` (RFC 3339) until now; `-` when there is no since."""
    try:
        seconds = int((now - datetime.fromisoformat(since)).total_seconds()) if since else None
    except ValueError:
        seconds = None
    return "-" if seconds is None else span(max(seconds, 0))


def span(seconds: int) -> str:
    """As kubectl writes it: two units while the larger one is small, one above."""
    for limit, unit, letter, smaller, smaller_letter in (
        (2 * _MINUTE, 1, "s", 0, ""),
        (10 * _MINUTE, _MINUTE, "m", 1, "s"),
        (3 * _HOUR, _MINUTE, "m", 0, ""),
        (8 * _HOUR, _HOUR, "h", _MINUTE, "m"),
        (2 * _DAY, _HOUR, "h", 0, ""),
        (8 * _DAY, _DAY, "d", _HOUR, "h"),
        (2 * _YEAR, _DAY, "d", 0, ""),
        (8 * _YEAR, _YEAR, "y", _DAY, "d"),
    ):
        if seconds < limit:
            rest = seconds % unit // smaller if smaller else 0
            return f"{seconds // unit}{letter}" + (f"{rest}{smaller_letter}" if rest else "")
    return f"{seconds // _YEAR}y"
