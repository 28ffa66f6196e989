"""Time stamps of objects: RFC 3339 to the second, in UTC, as the API server keeps them."""

import datetime
from collections.abc import Callable

Now = Callable[[], datetime.datetime]
"""The wall clock; always aware and in UTC."""


def parse_time(text: str | None) -> datetime.datetime | None:
    """The moment that a time stamp names; None for none."""
    return None if not text else datetime.datetime.fromisoformat(text).astimezone(datetime.UTC)


def render_time(moment: datetime.datetime) -> str:
    """The time stamp of a moment, cut to the second."""
    return moment.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
