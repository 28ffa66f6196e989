"""Time passes when nothing is left to do; a process that is killed or stopped does nothing."""

import asyncio

import pytest

from verify.simulator.loop import Process, Stalled, context_of, run_virtually


def test_hours_pass_in_no_time() -> None:
    async def work() -> float:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        await asyncio.sleep(36_000)
        return loop.time() - begun

    assert run_virtually(work()) == pytest.approx(36_000, abs=0.01)


def test_timers_fire_in_the_order_of_their_times() -> None:
    async def work() -> list[str]:
        done: list[str] = []

        async def after(seconds: float, name: str) -> None:
            await asyncio.sleep(seconds)
            done.append(name)

        await asyncio.gather(after(3, "c"), after(1, "a"), after(2, "b"))
        return done

    assert run_virtually(work()) == ["a", "b", "c"]


def test_whoever_waits_for_a_rounding_error_gets_on() -> None:
    async def work() -> int:
        loop = asyncio.get_running_loop()
        due, looks = loop.time() + 1.0, 0
        while loop.time() < due:
            await asyncio.sleep((due - loop.time()) * (1 - 1e-16))
            looks += 1
        return looks

    assert run_virtually(work()) < 10


def test_waiting_for_nothing_is_an_error() -> None:
    async def work() -> None:
        await asyncio.Event().wait()

    with pytest.raises(Stalled):
        run_virtually(work())


def test_work_for_threads_is_done_on_the_spot() -> None:
    async def work() -> int:
        return await asyncio.to_thread(lambda: 7)

    assert run_virtually(work()) == 7


async def _ticks(process: Process, ticks: list[float]) -> "asyncio.Task[None]":
    loop = asyncio.get_running_loop()

    async def tick() -> None:
        try:
            while True:
                await asyncio.sleep(1)
                ticks.append(round(loop.time() - begun))
        finally:
            ticks.append(-1)

    begun = loop.time()
    return loop.create_task(tick(), context=context_of(process))


async def _end(process: Process, task: "asyncio.Task[None]") -> None:
    process.clean_up()
    task.cancel()
    await asyncio.wait([task])


def test_a_killed_process_does_not_even_clean_up() -> None:
    async def work() -> list[float]:
        process, ticks = Process("one"), list[float]()
        task = await _ticks(process, ticks)
        await asyncio.sleep(2.5)
        process.kill()
        await asyncio.sleep(10)
        seen = list(ticks)
        await _end(process, task)
        return seen

    assert run_virtually(work()) == [1, 2]


def test_a_stopped_process_goes_on_where_it_was() -> None:
    async def work() -> list[float]:
        process, ticks = Process("one"), list[float]()
        task = await _ticks(process, ticks)
        await asyncio.sleep(2.5)
        process.stop()
        await asyncio.sleep(5)
        process.go_on()
        await asyncio.sleep(1.5)
        seen = list(ticks)
        await _end(process, task)
        return seen

    assert run_virtually(work()) == [1, 2, 8, 9]
