"""What only the search for cycles frees: it stays until there is enough of it, and in a process with a large store that is long."""

import gc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def cycles() -> Iterator[Counter[str]]:
    """Objects in cycles that the body has left behind, by type; counted when it has ended."""
    found: Counter[str] = Counter()
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield found
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        found.update(type(thing).__name__ for thing in gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        if was_enabled:
            gc.enable()
