"""Exponential backoff: how long to wait before something that failed is tried again. Pure; who wants jitter adds it."""

from typing import Final

_MOST_DOUBLINGS: Final = 60
"""More would only bring numbers nearer to where floats end."""


def exponential_backoff(failures: int, *, base_seconds: float, max_seconds: float) -> float:
    """The pause in seconds after so many failures in a row: the base after the first, then doubled by each further one.

    Args:
        failures: failures in a row, 1 or more.
        base_seconds: pause after the first failure.
        max_seconds: the longest pause; `math.inf` for none.
    """
    return min(base_seconds * 2.0 ** min(failures - 1, _MOST_DOUBLINGS), max_seconds)
