"""How a process starts and ends: signals, exit codes, and one line instead of a traceback.

Exit codes: 0 asked to stop, 1 something unexpected, 2 cannot start as asked (the person must change something), 3 the
lease was lost (start again and become a candidate).
"""

import asyncio
import gc
import logging
import signal
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

from api.errors import ConfigurationError, TuttiError
from kube.client.client import Client
from kube.client.errors import Forbidden, KubeError, Unauthorized, Unreachable, one_line
from kube.process.event_loop import EventLoop
from kube.process.heap import keep_heap_trimmed, trim_heap
from kube.process.lease import LeaseLost
from kube.process.logs import tell_refusal

_log = logging.getLogger(__name__)

EXIT_OK: Final = 0
EXIT_UNEXPECTED: Final = 1
EXIT_CONFIGURATION: Final = 2
EXIT_LEASE_LOST: Final = 3

PREFLIGHT_RETRY_SECONDS: Final = 0.2

Main = Callable[[asyncio.Event], Awaitable[int]]
"""A process's work: ends soon after the event is set and gives the exit code."""


def run_process(main: Main) -> int:
    """Run `main` to its end and give the exit code.

    The first SIGTERM or SIGINT sets the event that `main` was given; a second one cancels it.
    """
    try:
        loop = EventLoop()
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            return runner.run(_with_signals(main, loop))
    except (KeyboardInterrupt, asyncio.CancelledError):
        return EXIT_UNEXPECTED
    except Exception as error:  # noqa: BLE001 (the last line of defence: every error becomes an exit code)
        return _exit_code(error)


async def preflight(client: Client, *, patience_seconds: float = 0.0) -> dict[str, Any]:
    """The server's version, as proof that it can be reached with these credentials.

    `patience_seconds` is for a server that is just starting: so long nobody has to answer.

    Raises:
        ConfigurationError: it cannot.
    """
    server = client.credentials.server
    try:
        return await _version(client, until=time.monotonic() + patience_seconds)
    except Unreachable as error:
        raise ConfigurationError(f"cannot reach {server}: {error.cause}") from error
    except (Unauthorized, Forbidden) as error:
        raise ConfigurationError(f"{server} does not accept the credentials: {error}") from error
    except KubeError as error:
        raise ConfigurationError(f"{server} does not answer like an API server: {error}") from error


async def _version(client: Client, *, until: float) -> dict[str, Any]:
    while True:
        try:
            return await client.request_json("GET", "/version")
        except Unreachable:
            if time.monotonic() >= until:
                raise
        await asyncio.sleep(PREFLIGHT_RETRY_SECONDS)


def stop_on_signals(stop: asyncio.Event, process: "asyncio.Task[Any]") -> None:
    """From now on the first SIGTERM or SIGINT sets `stop`, a second one cancels `process`. For the main thread's loop."""

    def on_signal() -> None:
        if stop.is_set():
            process.cancel()
        stop.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal)


async def _with_signals(main: Main, loop: EventLoop) -> int:
    stop = asyncio.Event()
    task = asyncio.ensure_future(main(stop))
    stop_on_signals(stop, task)
    trimming = asyncio.ensure_future(keep_heap_trimmed(lambda: _give_back(loop)))
    try:
        return await task
    finally:
        trimming.cancel()


def _give_back(loop: EventLoop) -> None:
    # Garbage of any age, and what the interpreter keeps of freed objects. It takes some milliseconds: what the caches hold is not
    # the collector's (`gc=False`), and what was there at the start is frozen.
    gc.collect()
    loop.release_read_buffers()
    trim_heap()


def _exit_code(error: Exception) -> int:
    leaf = _first_leaf(error)
    if isinstance(leaf, LeaseLost):
        _log.error("%s", leaf)
        return EXIT_LEASE_LOST
    if isinstance(leaf, ConfigurationError):
        return _refuse(str(leaf))
    if isinstance(leaf, Forbidden):
        return _refuse(f"a right is missing: {leaf}")
    name = "" if isinstance(leaf, TuttiError) else f"{type(leaf).__name__}: "
    _log.critical("%s%s", name, one_line(str(leaf)))
    _log.debug("where it happened", exc_info=error)
    return EXIT_UNEXPECTED


def _refuse(reason: str) -> int:
    tell_refusal(one_line(reason))
    return EXIT_CONFIGURATION


def _first_leaf(error: BaseException) -> BaseException:
    """The first cause in a group of errors that says more than "something in the group failed"."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    leaves = [_first_leaf(part) for part in error.exceptions]
    return next((leaf for leaf in leaves if isinstance(leaf, TuttiError)), leaves[0])
