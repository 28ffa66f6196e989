"""kopf as the frame of the operator: its start-up begins the work, its clean-up ends it, its end is the end of the process.

kopf watches nothing here. Every kind is followed by an informer, which costs a twenty-fifth of the time and a quarter of the memory
and sees deletions that happened while its watch was broken; so nothing is ever written to users' objects by the framework either.
"""

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import kopf

from api.constants import CONTROLLERS_NAME
from api.errors import TuttiError
from kube.client.credentials import Credentials
from kube.client.errors import one_line
from kube.process.run import stop_on_signals

_TRACEBACKS = logging.getLogger("kopf._core.reactor")
_IDENTITY: Any = CONTROLLERS_NAME
"""kopf's type for it, a str to Python, is not public."""


class FrameEnded(TuttiError):
    """kopf ended by itself; only a new process helps."""


def kopf_settings() -> kopf.OperatorSettings:
    """Settings for a frame and nothing else: no peering, no events, no watch of CRDs and namespaces."""
    settings = kopf.OperatorSettings()
    settings.posting.enabled = False
    settings.peering.standalone = True
    settings.scanning.disabled = True
    settings.process.ultimate_exiting_timeout = None
    return settings


async def run_in_kopf(
    work: Callable[[], Awaitable[None]], credentials: Credentials, stop: asyncio.Event, *others: asyncio.Event
) -> None:
    """Run `work` between kopf's start-up and clean-up, until it ends or one of the events is set.

    Args:
        work: runs until cancelled; called in this loop.
        credentials: for the look at the server's API groups that kopf takes when it starts.
        stop: set to end; set by the first SIGTERM or SIGINT.
        others: further events that end it.

    Raises:
        FrameEnded: kopf ended by itself.
        Exception: whatever `work` raised.
    """
    ended = asyncio.Event()
    tasks: list[asyncio.Task[Any]] = []
    registry = kopf.OperatorRegistry()

    @kopf.on.login(registry=registry)
    def log_in(**_: Any) -> kopf.ConnectionInfo:
        return kopf.ConnectionInfo(**credentials.connection_info())

    @kopf.on.startup(registry=registry)
    async def start_up(**_: Any) -> None:
        for each in (work(), *(event.wait() for event in (stop, *others))):
            task = asyncio.ensure_future(each)
            task.add_done_callback(lambda _: ended.set())
            tasks.append(task)

    @kopf.on.cleanup(registry=registry)
    async def clean_up(**_: Any) -> None:
        await _cancel(tasks)

    try:
        await _run(registry, ended, stop)
    except Exception as error:
        raise FrameEnded(f"kopf has ended: {one_line(f'{type(error).__name__}: {error}')}") from error
    finally:
        await _cancel(tasks)
    if not ended.is_set():
        raise FrameEnded("kopf has ended: no reason was given")
    for task in tasks:
        if not task.cancelled():
            task.result()


async def _run(registry: kopf.OperatorRegistry, ended: asyncio.Event, stop: asyncio.Event) -> None:
    # Whatever ends kopf is reported by us in one line; its own reports are tracebacks.
    _TRACEBACKS.setLevel(logging.CRITICAL)
    ours = asyncio.all_tasks()
    # Without a name of ours kopf looks its user up, and the image's user has no entry anywhere. Nobody is told it: no peers are.
    tasks = await kopf.spawn_tasks(
        registry=registry,
        settings=kopf_settings(),
        identity=_IDENTITY,
        clusterwide=True,
        standalone=True,
        stop_flag=ended,
    )
    process = asyncio.current_task()
    if process is not None and threading.current_thread() is threading.main_thread():
        # kopf has taken the signals over; a second one has to cancel the process, as in every other process of ours.
        stop_on_signals(stop, process)
    await kopf.run_tasks(tasks, ignored=ours)


async def _cancel(tasks: list[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
