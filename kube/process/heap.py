"""Free memory of the C library's heap is given back to the system from time to time.

A connection with TLS has a buffer of 256 KiB, and connections come and go all the time. Something small that stays gets into the
hole that one leaves, so the next one finds no room there and takes new memory: the heap of a busy process grows for hours, and
nearly all that it grows by is free. By itself the C library gives back only what is free at the end of its heap.
"""

import asyncio
import ctypes
from collections.abc import Callable
from functools import cache
from typing import Final

TRIM_SECONDS: Final = 30.0
"""A trim takes some milliseconds of a usual heap, and of half a gigabyte in small pieces less than a tenth of a second."""


def trim_heap() -> None:
    """Gives back all whole pages that are free; does nothing where the C library cannot (it is glibc's)."""
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


@cache
def _malloc_trim() -> Callable[[int], int] | None:
    # Looked for once: each time makes a class, 3.5 KB in circles that wait for the collector.
    found: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return found


async def keep_heap_trimmed(trim: Callable[[], None] = trim_heap) -> None:
    """Trims twice a minute until cancelled."""
    while True:
        await asyncio.sleep(TRIM_SECONDS)
        trim()
