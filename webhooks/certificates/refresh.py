"""Doing something again and again whose errors must not end the process (client-go's `wait.JitterUntil`)."""

import asyncio
import contextlib
import logging
import random as randomness
from collections.abc import Awaitable, Callable
from typing import Final

from api.errors import TuttiError

CHECK_SECONDS: Final = 60.0
RETRY_SECONDS: Final = 2.0
"""Short, since a certificate and its key are two files that may be replaced one after the other."""


async def refresh_periodically(
    refresh: Callable[[], Awaitable[object]],
    *,
    what: str,
    log: logging.Logger,
    random: randomness.Random,
    every_seconds: float = CHECK_SECONDS,
    retry_seconds: float | None = RETRY_SECONDS,
    wake: asyncio.Event | None = None,
) -> None:
    """Waits and refreshes, until cancelled. An error is logged once per reason.

    Args:
        refresh: what is done; may raise TuttiError.
        what: begins the log record of an error.
        log: gets that record.
        random: spreads the usual pause by up to a fifth, so that replicas do not act at the same time.
        every_seconds: the usual pause.
        retry_seconds: the pause after an error; None: the usual one.
        wake: ends a pause when it is set, and is cleared then.
    """
    reported = ""
    wake = wake or asyncio.Event()
    while True:
        usual = every_seconds * random.uniform(0.8, 1.2)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(retry_seconds if reported and retry_seconds is not None else usual):
                await wake.wait()
        wake.clear()
        try:
            await refresh()
        except TuttiError as error:
            if str(error) != reported:
                log.warning("%s: %s", what, error)
            reported = str(error)
        else:
            reported = ""
