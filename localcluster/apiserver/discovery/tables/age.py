"""Ages as kubectl shows them. Pure; moments are seconds since the epoch."""

import datetime

from api.age import duration

UNKNOWN = "<unknown>"


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
