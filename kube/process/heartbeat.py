"""Tells an event loop that computes from one that is dead: it beats while it runs, and another thread may ask when it last did."""

import asyncio
import time
from collections.abc import Callable
from typing import Final

BEAT_SECONDS: Final = 1.0
STUCK_SECONDS: Final = 60.0
"""A loop that has not run for so long will not run again. Nothing we compute in one go takes a hundredth of this."""


class Heartbeat:
    """Beats in the loop that runs `beat`; `clock` gives monotonic seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock: Final = clock
        self._last = clock()

    async def beat(self) -> None:
        """Beat until cancelled."""
        while True:
            self._last = self._clock()
            await asyncio.sleep(BEAT_SECONDS)

    def trouble(self) -> str | None:
        """Why the loop counts as dead, None while it does not; may be asked from any thread."""
        silent_seconds = self._clock() - self._last
        if silent_seconds < STUCK_SECONDS:
            return None
        return f"has not run for {silent_seconds:.0f} s"
