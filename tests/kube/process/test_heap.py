"""What a process does not need any more is not counted as its memory for long. A real process, because it is about its memory."""

import asyncio
import ctypes
import gc
import sys
from pathlib import Path

import pytest

from kube.process.heap import TRIM_SECONDS, keep_heap_trimmed, trim_heap
from tests.scheduler.shell.virtual_time import run_virtually

ROOT = Path(__file__).parents[3]

HOLES = """
import asyncio, sys
from pathlib import Path
from kube.process import heap
from kube.process.run import run_process

def resident_mib():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024

async def main(stop):
    heap.TRIM_SECONDS = 0.01
    pieces = [bytes(20_000) for _ in range(5_000)]
    before = resident_mib()
    del pieces[::2], pieces[:-1]
    async with asyncio.timeout(20):
        while resident_mib() > before - 60:
            await asyncio.sleep(0.01)
    return 0

sys.exit(run_process(main))
"""
"""The last piece that was made stays, at the end of the heap."""

CIRCLE = """
import asyncio, gc, sys, weakref
from kube.process import heap
from kube.process.run import run_process

class Link:
    pass

async def main(stop):
    heap.TRIM_SECONDS = 0.01
    gc.disable()
    link = Link()
    link.itself, gone = link, weakref.ref(link)
    gc.collect()
    del link
    async with asyncio.timeout(20):
        while gone() is not None:
            await asyncio.sleep(0.01)
    return 0

sys.exit(run_process(main))
"""
"""By itself the collector looks at something so old after tens of millions of new objects."""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="the C library is not glibc")
async def test_holes_in_the_heap_are_given_back() -> None:
    await _runs_well(HOLES)


async def test_garbage_that_was_old_when_it_became_garbage_is_collected_soon() -> None:
    await _runs_well(CIRCLE)


async def _runs_well(script: str) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(60):
        out, err = await process.communicate()
    assert (process.returncode, out, err) == (0, b"", b"")


def test_a_trim_leaves_nothing_for_the_collector() -> None:
    trim_heap()
    gc.collect()
    gc.disable()
    try:
        before = len(gc.get_objects())
        for _ in range(20):
            trim_heap()
        left = len(gc.get_objects()) - before
    finally:
        gc.enable()

    assert left < 20


def test_the_heap_is_trimmed_again_and_again() -> None:
    trims: list[float] = []

    async def run() -> None:
        loop = asyncio.get_running_loop()
        begin = loop.time()
        trimming = asyncio.ensure_future(keep_heap_trimmed(lambda: trims.append(loop.time() - begin)))
        await asyncio.sleep(2.5 * TRIM_SECONDS)
        trimming.cancel()

    run_virtually(run())
    assert trims == pytest.approx([TRIM_SECONDS, 2 * TRIM_SECONDS])
