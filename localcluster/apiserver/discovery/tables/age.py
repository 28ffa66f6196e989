"""Ages as kubectl shows them: two units at most, the finer one only while it tells something.

Pure; moments are seconds since the epoch. The steps are those of Kubernetes' own duration printer, so that a table made
here and one made by a real server read alike.
"""

import datetime

UNKNOWN = "<unknown>"
INVALID = "<invalid>"

MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR
YEAR = 365 * DAY


def duration(seconds: float) -> str:
    """A length of time in at most two units; a second in the future still counts as now."""
    whole = int(seconds)
    if whole < -1:
        return INVALID
    if whole < 2 * MINUTE:
        return f"{max(whole, 0)}s"
    for limit, unit, letter, finer, finer_letter in (
        (10 * MINUTE, MINUTE, "m", 1, "s"),
        (3 * HOUR, MINUTE, "m", 0, ""),
        (8 * HOUR, HOUR, "h", MINUTE, "m"),
        (2 * DAY, HOUR, "h", 0, ""),
        (8 * DAY, DAY, "d", HOUR, "h"),
        (2 * YEAR, DAY, "d", 0, ""),
        (8 * YEAR, YEAR, "y", DAY, "d"),
    ):
        if whole < limit:
            rest = whole % unit // finer if finer else 0
            return f"{whole // unit}{letter}" + (f"{rest}{finer_letter}" if rest else "")
    return f"{whole // YEAR}y"


def moment(timestamp: str | None) -> float | None:
    """An RFC 3339 time as seconds since the epoch; None for none and for what is no time."""
    if not timestamp:
        return None
    try:
        return datetime.datetime.fromisoformat(timestamp).timestamp()
    except ValueError:
        return None


def age(timestamp: str | None, now: float) -> str:
    """How long ago that was; `<unknown>` for no time."""
    then = moment(timestamp)
    return UNKNOWN if then is None else duration(now - then)
