"""How long ago, in as few letters as kubectl uses. Pure."""

from datetime import datetime

from api.age import duration


def age(since: str, now: datetime) -> str:
    """The time from `since` (RFC 3339) until now; `-` when there is no since."""
    try:
        seconds = (now - datetime.fromisoformat(since)).total_seconds() if since else None
    except ValueError:
        seconds = None
    return "-" if seconds is None else duration(max(seconds, 0))
