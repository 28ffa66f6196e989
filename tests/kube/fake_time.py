"""A loop whose clock jumps to the next timer instead of waiting: tests of time take none, and are exact."""

import asyncio
import functools
import selectors
from collections.abc import Callable, Coroutine
from typing import Any


class _JumpingSelector(selectors.SelectSelector):
    """Never waits: when nothing is ready it moves the clock by as much as it should have waited."""

    now = 1000.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            if timeout is None:
                raise RuntimeError("everything waits for something that will never happen")
            self.now += max(timeout, 0.0)
        return ready


class _FakeTimeLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


def now() -> float:
    """The fake time of the running loop, usable as a clock."""
    return asyncio.get_running_loop().time()


def in_fake_time(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run an asynchronous test, without asynchronous fixtures, in fake time."""

    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        with asyncio.Runner(loop_factory=_FakeTimeLoop) as runner:
            runner.run(test(*args, **kwargs))

    return run
