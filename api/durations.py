"""Durations as people write them in manifests: Go's syntax, `10m`, `1h30m`, `90s`, as in every Kubernetes field of that kind."""

import re
from typing import Final

from api.errors import InvalidGangSettings

_UNIT_SECONDS: Final = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART: Final = r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)"
_PARTS: Final = re.compile(_PART, re.ASCII)
_WHOLE: Final = re.compile(f"(?:{_PART})+", re.ASCII)
LONGEST_TEXT: Final = 63
LONGEST_SECONDS: Final = 365 * 24 * 3600.0
"""A year; whoever waits longer waits for ever."""


def duration_seconds(text: str) -> float | None:
    """The seconds that a duration such as `1h30m` stands for; None when it is none, not above zero, or above a year."""
    if len(text) > LONGEST_TEXT or not _WHOLE.fullmatch(text):
        return None
    seconds = sum(float(number) * _UNIT_SECONDS[unit] for number, unit in _PARTS.findall(text))
    return seconds if 0 < seconds <= LONGEST_SECONDS else None


def check_duration(text: str, *, field: str) -> str:
    """The text, when it is a duration.

    Raises:
        InvalidGangSettings: it is none, or it is not above zero and at most a year.
    """
    if duration_seconds(text) is None:
        shown = repr(text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "…")
        raise InvalidGangSettings(
            f"{shown} is not a duration above zero and up to a year, such as 10m or 1h30m", field=field
        )
    return text
