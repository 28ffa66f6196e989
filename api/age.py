"""Lengths of time as kubectl shows them: two units at most, the finer one only while it tells something. Pure.

The steps are those of Kubernetes' own duration printer, so that whatever shows an age here and there reads alike.
"""

from typing import Final

INVALID: Final = "<invalid>"

_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR
_YEAR: Final = 365 * _DAY

_STEPS: Final = (
    (2 * _MINUTE, 1, "s", 0, ""),
    (10 * _MINUTE, _MINUTE, "m", 1, "s"),
    (3 * _HOUR, _MINUTE, "m", 0, ""),
    (8 * _HOUR, _HOUR, "h", _MINUTE, "m"),
    (2 * _DAY, _HOUR, "h", 0, ""),
    (8 * _DAY, _DAY, "d", _HOUR, "h"),
    (2 * _YEAR, _DAY, "d", 0, ""),
    (8 * _YEAR, _YEAR, "y", _DAY, "d"),
)
"""(below so many seconds, unit, its letter, finer unit or 0, its letter)."""


def duration(seconds: float) -> str:
    """A length of time in at most two units; a second in the future still counts as now, more is `<invalid>`."""
    whole = int(seconds)
    if whole < -1:
        return INVALID
    whole = max(whole, 0)
    for limit, unit, letter, finer, finer_letter in _STEPS:
        if whole < limit:
            rest = whole % unit // finer if finer else 0
            return f"{whole // unit}{letter}" + (f"{rest}{finer_letter}" if rest else "")
    return f"{whole // _YEAR}y"
