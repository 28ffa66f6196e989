"""The only way a conformance test waits: for a check to come true, or to see that it stays true.

A check is any callable. It fails by raising AssertionError (whose text becomes the reason that a timeout shows) or
by returning something false.
"""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

POLL_SECONDS = 0.05
SELDOM_SECONDS = 0.25
PAUSE_OF_WAITED = 1 / 20
"""Who has waited for long asks less often: a pause grows to this part of the time so far, a quarter of a second at most. What is
waited for shares the processors with the API server that is asked."""


def eventually(check: Callable[[], T], *, within_seconds: float, poll_seconds: float = POLL_SECONDS) -> T:
    """The first true answer of `check`; AssertionError with the last reason when there was none in time."""
    begin = time.monotonic()
    while True:
        try:
            answer = check()
            reason = f"{getattr(check, '__name__', check)} answered {answer!r}"
            if answer:
                return answer
        except AssertionError as error:
            reason = str(error)
        waited = time.monotonic() - begin
        if waited >= within_seconds:
            raise AssertionError(f"not within {within_seconds:g} s: {reason}")
        time.sleep(max(poll_seconds, min(waited * PAUSE_OF_WAITED, SELDOM_SECONDS)))


def throughout(check: Callable[[], object], *, seconds: float, poll_seconds: float = POLL_SECONDS) -> None:
    """AssertionError as soon as `check` fails once during this time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        answer = check()
        assert answer, f"{getattr(check, '__name__', check)} answered {answer!r}"
        time.sleep(poll_seconds)
