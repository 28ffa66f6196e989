"""A stream's time-out begins anew with everything that happens, and costs one timer however much that is."""

import asyncio

from localcluster.idle_timeout import IdleTimeout
from verify.simulator.loop import run_virtually


def test_it_rings_so_long_after_the_last_thing_that_happened() -> None:
    async def work() -> float:
        loop, wake = asyncio.get_running_loop(), asyncio.Event()
        idle, begun = IdleTimeout(10.0, wake), loop.time()
        idle.restart()
        for _ in range(3):
            await asyncio.sleep(7.0)
            assert not idle.has_expired
            idle.restart()
        await wake.wait()
        assert idle.has_expired
        return loop.time() - begun

    assert round(run_virtually(work()), 3) == 31.0


def test_it_rings_again_once_it_was_started_again() -> None:
    async def work() -> float:
        loop, wake = asyncio.get_running_loop(), asyncio.Event()
        idle, begun = IdleTimeout(10.0, wake), loop.time()
        for _ in range(2):
            wake.clear()
            idle.restart()
            assert not idle.has_expired
            await wake.wait()
        return loop.time() - begun

    assert round(run_virtually(work()), 3) == 20.0


def test_nothing_rings_once_it_was_cancelled() -> None:
    async def work() -> bool:
        wake = asyncio.Event()
        idle = IdleTimeout(10.0, wake)
        idle.restart()
        idle.cancel()
        await asyncio.sleep(30.0)
        return wake.is_set() or idle.has_expired

    assert not run_virtually(work())


def test_a_thousand_restarts_take_one_timer() -> None:
    async def work() -> int:
        loop, wake = asyncio.get_running_loop(), asyncio.Event()
        idle = IdleTimeout(10.0, wake)
        before = _timers(loop)
        for _ in range(1000):
            idle.restart()
        return _timers(loop) - before

    assert run_virtually(work()) == 1


def _timers(loop: asyncio.AbstractEventLoop) -> int:
    return len(loop._timers)  # type: ignore[attr-defined]
