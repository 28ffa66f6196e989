"""How a supervised process notices that its supervisor is gone, however that ended.

The supervisor holds the writing end of the process's standard input and never writes. When it dies, be it by SIGKILL, the
operating system closes that end, the reading thread wakes up, and the process ends itself: politely first (a lease is then
given back at once), for certain a little later.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Final

GRACE_SECONDS: Final = 10.0


def follow_standard_input(
    *,
    ask_to_end: Callable[[], None] | None = None,
    end_now: Callable[[], None] | None = None,
    grace_seconds: float = GRACE_SECONDS,
) -> threading.Thread:
    """End this process once its standard input ends. Returns the watching thread.

    Args:
        ask_to_end: called first; the default sends SIGTERM to this process.
        end_now: called after the grace; the default ends the process on the spot.
        grace_seconds: time between the two.
    """
    watcher = threading.Thread(
        target=_watch,
        args=(sys.stdin.fileno(), ask_to_end or _terminate, end_now or _exit, grace_seconds),
        name="tether",
        daemon=True,
    )
    watcher.start()
    return watcher


def _watch(descriptor: int, ask_to_end: Callable[[], None], end_now: Callable[[], None], grace_seconds: float) -> None:
    try:
        while os.read(descriptor, 1024):
            pass
    except OSError:
        pass
    ask_to_end()
    time.sleep(grace_seconds)
    end_now()


def _terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def _exit() -> None:
    os._exit(1)
