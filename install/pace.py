"""Waiting for the cluster to get somewhere, with the clock and the sleeping passed in."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """How to wait.

    Attributes:
        clock: monotonic seconds.
        sleep: sleeps so many seconds.
        interval_seconds: time between two looks.
    """

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    interval_seconds: float = 0.2

    async def until(self, reached: Callable[[], Awaitable[bool]], *, within_seconds: float) -> bool:
        """Look again and again until `reached` says so; False when the time is up. It looks once at least."""
        deadline = self.clock() + within_seconds
        while not await reached():
            if self.clock() >= deadline:
                return False
            await self.sleep(self.interval_seconds)
        return True
