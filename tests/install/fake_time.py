"""Time for waiting code that passes only when somebody sleeps; and waiting for real processes, which need real time."""

import asyncio
from collections.abc import Callable

from install.poller import Poller

PATIENCE_SECONDS = 30


async def until(reached: Callable[[], bool]) -> None:
    """Waits until something real has happened; fails when it does not."""

    async def look() -> bool:
        return reached()

    assert await Poller(interval_seconds=0.01).until(look, within_seconds=PATIENCE_SECONDS)


class FakeTime:
    """A clock that `sleep` moves; other tasks get their turn while it does."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept.append(seconds)
        await asyncio.sleep(0)

    @property
    def poller(self) -> Poller:
        return Poller(clock=self.clock, sleep=self.sleep)
