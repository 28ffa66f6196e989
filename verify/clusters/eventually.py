"""The only way a conformance test waits: for a check to come true, or to see that it stays true.

A check is any callable. It fails by raising AssertionError (whose text becomes the reason that a timeout shows) or
by returning something false.
"""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

POLL_SECONDS = 0.05


def eventually(check: Callable[[], T], *, within_seconds: float, poll_seconds: float = POLL_SECONDS) -> T:
    """The first true answer of `check`; AssertionError with the last reason when there was none in time."""
    deadline = time.monotonic() + within_seconds
    while True:
        try:
            answer = check()
            reason = f"{getattr(check, '__name__', check)} answered {answer!r}"
            if answer:
                return answer
        except AssertionError as error:
            reason = str(error)
        if time.monotonic() >= deadline:
            raise AssertionError(f"not within {within_seconds:g} s: {reason}")
        time.sleep(poll_seconds)


def throughout(check: Callable[[], object], *, seconds: float, poll_seconds: float = POLL_SECONDS) -> None:
    """AssertionError as soon as `check` fails once during this time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        answer = check()
        assert answer, f"{getattr(check, '__name__', check)} answered {answer!r}"
        time.sleep(poll_seconds)
