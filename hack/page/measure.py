"""How long the page's frames take on a made-up cluster, in a browser without a screen."""

import asyncio
import contextlib
import random as randomness
from collections.abc import AsyncIterator
from typing import Any, Final

from hack.page.browser import Tab
from hack.page.made_up import MadeUp
from views.model.objects import Objects
from views.page.feed import Feed
from views.page.main import listen, now_milliseconds, serve
from views.page.server import Explain, Messages
from views.page.state import PageState
from views.page.tape import Tape

ABOUT: Final = {"server": "https://made-up.example:6443", "namespace": "", "seesNodes": True}

MEASURE: Final = """
window.drawn = [];
const ask = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (work) => ask((time) => {
  const began = performance.now();
  work(time);
  window.drawn.push(performance.now() - began);
});
window.tasks = [];
new PerformanceObserver((seen) => window.tasks.push(...seen.getEntries().map((each) => each.duration))).observe({type: "longtask"});
"""
"""Notes how long each frame's own work takes, and every task of more than 50 ms."""


@contextlib.asynccontextmanager
async def served_page(state: PageState, feed: Messages, explain: Explain | None = None) -> AsyncIterator[str]:
    """The address of a page that shows this."""
    said: list[str] = []
    stop = asyncio.Event()
    with listen(0) as listening:
        serving = asyncio.create_task(serve(state, feed, listening, stop, said.append, explain=explain))
        while not said:
            await asyncio.sleep(0.01)
        try:
            yield said[0].removeprefix("page: ")
        finally:
            stop.set()
            await serving


@contextlib.asynccontextmanager
async def made_up_page(nodes: int, gangs: int, explain: Explain | None = None) -> AsyncIterator[tuple[str, MadeUp]]:
    """The address of a page that shows a made-up cluster, and that cluster."""
    objects = Objects()
    state = PageState(objects, now_milliseconds)
    world = MadeUp(objects, state, randomness.Random(7), nodes)
    world.fill(gangs)
    feed = Feed(state, ABOUT, "run")
    feed.publish()
    async with served_page(state, feed, explain) as address:
        yield address, world


def made_up_tape(nodes: int, gangs: int, steps: int) -> Tape:
    """A recording of a made-up cluster in which something happens every half second."""
    objects, clock = Objects(), [now_milliseconds()]
    state = PageState(objects, lambda: clock[0])
    world = MadeUp(objects, state, randomness.Random(7), nodes)
    world.fill(gangs)
    state.delta()
    full, deltas = state.full(), []
    for _ in range(steps):
        clock[0] += 500
        world.step()
        delta = state.delta()
        if delta is not None:
            deltas.append(delta)
    return Tape(full, deltas, state)


async def frames_while_busy(tab: Tab, world: MadeUp, seconds: float, steps_per_second: int) -> dict[str, Any]:
    """How long frames took, in milliseconds, while so much happened; the page is open and was told `MEASURE` before."""
    await tab.evaluate("drawn.length = 0; tasks.length = 0")
    await tab.call("Performance.enable", timeDomain="threadTicks")
    before = await _spent(tab)
    for _ in range(round(seconds * steps_per_second)):
        world.step()
        await asyncio.sleep(1 / steps_per_second)
    drawn: list[float] = sorted(await tab.evaluate("drawn"))
    tasks: list[float] = await tab.evaluate("tasks")
    return {
        "frames": len(drawn),
        "median": drawn[len(drawn) // 2],
        "p95": drawn[int(len(drawn) * 0.95)],
        "most": drawn[-1],
        "long tasks": len(tasks),
        **{
            f"cpu of {kind} a frame": (spent - before[kind]) / len(drawn) for kind, spent in (await _spent(tab)).items()
        },
    }


async def _spent(tab: Tab) -> dict[str, float]:
    """Processor time of the page's main thread so far in milliseconds: unlike a clock, it leaves out what other processes took."""
    answer = await tab.call("Performance.getMetrics")
    found = {each["name"]: each["value"] * 1000 for each in answer["metrics"]}
    return {kind: found[f"{kind}Duration"] for kind in ("Task", "Script", "Layout", "RecalcStyle")}
