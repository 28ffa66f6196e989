"""Free memory of the C library's heap is given back to the system from time to time, and pages of buffers when asked for.

A connection with TLS has a buffer of 256 KiB, and connections come and go all the time. Something small that stays gets into the
hole that one leaves, so the next one finds no room there and takes new memory: the heap of a busy process grows for hours, and
nearly all that it grows by is free. By itself the C library gives back only what is free at the end of its heap.
"""

import asyncio
import ctypes
import mmap
from collections.abc import Callable
from functools import cache
from typing import Final

TRIM_SECONDS: Final = 30.0
"""A trim takes some milliseconds of a usual heap, and of half a gigabyte in small pieces less than a tenth of a second."""


def trim_heap() -> None:
    """Gives back all whole pages that are free; does nothing where the C library cannot (it is glibc's)."""
    trim = _c_function("malloc_trim", ctypes.c_size_t)
    if trim is not None:
        trim(0)


def release_pages(buffer: memoryview) -> None:
    """Gives back the whole pages of a writable buffer whose content is not needed any more: it may be zeros afterwards."""
    advise = _c_function("madvise", ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(buffer))
    first = -(-begin // mmap.PAGESIZE) * mmap.PAGESIZE
    end = (begin + buffer.nbytes) // mmap.PAGESIZE * mmap.PAGESIZE
    if advise is not None and end > first:
        advise(first, end - first, mmap.MADV_DONTNEED)


@cache
def _c_function(name: str, *argument_types: type) -> Callable[..., int] | None:
    # Looked for once: each time makes a class, 3.5 KB in circles that wait for the collector.
    found = getattr(ctypes.CDLL(None), name, None)
    if found is not None:
        found.argtypes = argument_types
    return found


async def keep_heap_trimmed(trim: Callable[[], None]) -> None:
    """Trims twice a minute until cancelled."""
    while True:
        await asyncio.sleep(TRIM_SECONDS)
        trim()
