"""When a request may be sent again, decided without sending anything.

Three rules. A *refusal* (429 or 503 that says when to come back) was not acted upon, so any verb may wait and repeat.
Only *reads* are repeated after anything else. A write whose outcome is unknown is never repeated here: only the caller
knows how to look.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt

from kube.backoff import Backoff
from kube.client.errors import AnsweredError, OutcomeUnknown, ServerError, TooManyRequests, Unreachable

MAX_REFUSAL_WAIT_SECONDS = 10.0
"""Longest time one call spends waiting because the server asked for it."""

READ_ATTEMPTS = 3

_Answer = TypeVar("_Answer")
_REPEATABLE = (Unreachable, OutcomeUnknown, ServerError)


def refusal_wait_seconds(error: AnsweredError, waited_seconds: float) -> float | None:
    """How long to wait before repeating a refused request; None when it was no refusal or too much time was spent so."""
    if error.retry_after_seconds is None or not (isinstance(error, TooManyRequests) or error.status == 503):
        return None
    wait = max(error.retry_after_seconds, 0.05)
    return wait if waited_seconds + wait <= MAX_REFUSAL_WAIT_SECONDS else None


def parse_retry_after(header: str | None) -> float | None:
    """Seconds of a Retry-After header; the API server only ever sends whole seconds, other forms count as absent."""
    if header is None or not header.isascii() or not header.isdigit() or len(header) > 6:
        return None
    return float(header)


class ReadRetry:
    """Repeats a read up to three times after a failure that may pass, with growing, jittered pauses.

    Args:
        jitter: spreads the pauses.
        base_seconds: the pause after the first failure.
        max_seconds: the longest pause.
    """

    def __init__(self, jitter: random.Random, *, base_seconds: float = 0.1, max_seconds: float = 2.0) -> None:
        self._jitter = jitter
        self._base_seconds = base_seconds
        self._max_seconds = max_seconds

    async def __call__(self, read: Callable[[], Awaitable[_Answer]]) -> _Answer:
        """The answer of `read`, or the error of its last attempt."""
        backoff = Backoff(self._base_seconds, self._max_seconds, self._jitter)
        try:
            # Nearly every read ends here. A `tenacity` retry takes as long as all else that is done for a read, and leaves cycles
            # that only the garbage collector frees: of a failure with all its frames.
            return await read()
        except _REPEATABLE:
            await asyncio.sleep(backoff.next_seconds())

        def pause(_: RetryCallState) -> float:
            return backoff.next_seconds()

        attempts = AsyncRetrying(
            stop=stop_after_attempt(READ_ATTEMPTS - 1),
            retry=retry_if_exception_type(_REPEATABLE),
            wait=pause,
            reraise=True,
        )

        async def attempt() -> _Answer:
            # tenacity awaits only what it recognises as a coroutine function, which a lambda is not.
            return await read()

        return await attempts(attempt)
