"""Time stamps as the API server wants them."""

from datetime import UTC, datetime


def micro_time(moment: datetime) -> str:
    """MicroTime: RFC 3339 with microseconds, in UTC whatever the moment's own zone."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
