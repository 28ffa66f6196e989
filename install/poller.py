"""Polling with the clock and the sleeping passed in (apimachinery's `wait.PollUntilContextTimeout`)."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Poller:
    """How to poll.

    Attributes:
        clock: monotonic seconds.
        sleep: sleeps so many seconds.
        interval_seconds: time between two checks.
    """

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    interval_seconds: float = 0.2

    async def until(self, reached: Callable[[], Awaitable[bool]], *, within_seconds: float) -> bool:
        """Ask `reached` again and again until it says so; False when the time is up. It is asked once at least."""
        deadline = self.clock() + within_seconds
        while not await reached():
            if self.clock() >= deadline:
                return False
            await self.sleep(self.interval_seconds)
        return True
