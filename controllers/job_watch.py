"""Watching Jobs and LeaderWorkerSets with kopf: what we use of the framework, and what we keep it from doing.

kopf's root handlers would write annotations and finalizers to users' objects; event handlers that return nothing write
nothing, and storages that remember nothing double their speed. kopf runs in a thread of its own: at its end it cancels every
task of its loop and on the main thread it would take over the process's signals. It ends by itself on errors that
it does not understand, which is right as long as the process ends with it.
"""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, TypeVar

import kopf
import msgspec
import uvloop
from kopf._core.reactor.inventory import ResourceMemories, ResourceMemory

from api.constants import GROUP
from api.errors import TuttiError
from kube.cache.store import KubeObject
from kube.client.client import PAGE_SIZE
from kube.client.credentials import Credentials
from kube.client.errors import one_line
from kube.client.resources import Resource

_log = logging.getLogger(__name__)

T = TypeVar("T", bound=KubeObject)

Deliver = Callable[[Literal["put", "remove"], T], None]
"""Takes an object that was reported; called in kopf's thread."""

SERVER_SECONDS: Final = 270
"""A whole number: kopf sends it as it is, and the API server refuses `270.0`."""

CONNECT_SECONDS: Final = 5.0
REQUEST_SECONDS: Final = 20.0
IDLE_SECONDS: Final = 0.05
STOP_SECONDS: Final = 8.0


class WatchEnded(TuttiError):
    """kopf gave up watching; only a new process helps."""


class NoDiffBase(kopf.DiffBaseStorage):
    """Remembers no earlier state: nothing is ever written to an object."""

    def build(self, **_: Any) -> kopf.BodyEssence:
        """Nothing of the object is essential, so no change of it is either."""
        return kopf.BodyEssence()

    def fetch(self, **_: Any) -> kopf.BodyEssence | None:
        """There is no earlier state."""
        return None

    def store(self, **_: Any) -> None:
        """Do nothing."""


class NoProgress(kopf.ProgressStorage):
    """Remembers no progress of handlers: nothing is ever written to an object."""

    def fetch(self, **_: Any) -> None:
        """There is no progress."""

    def store(self, **_: Any) -> None:
        """Do nothing."""

    def purge(self, **_: Any) -> None:
        """Do nothing."""

    def touch(self, **_: Any) -> None:
        """Do nothing."""

    def clear(self, *, essence: kopf.BodyEssence) -> kopf.BodyEssence:
        """The essence as it is."""
        return essence


class NoMemories(ResourceMemories):
    """Remembers nothing of any object: kopf would forget only those whose deletion it is told of."""

    async def recall(
        self,
        raw_body: kopf.RawBody,
        *,
        memobase: Any = None,
        noticed_by_listing: bool = False,
        ephemeral: bool = True,  # noqa: ARG002 (always)
    ) -> ResourceMemory:
        """What is known of an object that is seen for the first time."""
        return await super().recall(raw_body, memobase=memobase, noticed_by_listing=noticed_by_listing, ephemeral=True)


def kopf_settings() -> kopf.OperatorSettings:
    """Settings for watching and nothing else; short idle times make kopf hold fewer tasks and handle more events."""
    settings = kopf.OperatorSettings()
    settings.persistence.diffbase_storage = NoDiffBase()
    settings.persistence.progress_storage = NoProgress()
    settings.persistence.finalizer = f"{GROUP}/unused"
    settings.posting.enabled = False
    settings.peering.standalone = True
    settings.scanning.disabled = True
    settings.queueing.idle_timeout = IDLE_SECONDS
    settings.queueing.worker_limit = None
    settings.watching.server_timeout = SERVER_SECONDS
    settings.watching.connect_timeout = CONNECT_SECONDS
    settings.watching.chunk_size = PAGE_SIZE
    settings.networking.request_timeout = REQUEST_SECONDS
    settings.networking.connect_timeout = CONNECT_SECONDS
    settings.networking.enforce_retry_after = True
    settings.process.ultimate_exiting_timeout = None
    return settings


def watching_registry(
    credentials: Credentials, resource: Resource, record: type[T], deliver: Deliver[T]
) -> kopf.OperatorRegistry:
    """A registry with exactly two handlers: how to log in, and what to do with an object that was reported."""
    registry = kopf.OperatorRegistry()

    @kopf.on.login(registry=registry)
    def log_in(**_: Any) -> kopf.ConnectionInfo:
        return kopf.ConnectionInfo(**credentials.connection_info())

    @kopf.on.event(resource.group, resource.version, resource.plural, registry=registry)
    async def take(event: Mapping[str, Any], **_: Any) -> None:
        report(event, record, deliver)

    return registry


def report(event: Mapping[str, Any], record: type[T], deliver: Deliver[T]) -> None:
    """Hand on the object of a watch event; one that cannot be read is logged and left out."""
    body = event["object"]
    try:
        found = msgspec.convert(body, record)
    except msgspec.ValidationError as error:
        metadata = body.get("metadata") or {}
        name = f"{metadata.get('namespace')}/{metadata.get('name')}"
        _log.warning("ignoring %s %s, it is not readable: %s", record.__name__, name, error)
        return
    deliver("remove" if event["type"] == "DELETED" else "put", found)


async def watch_until_it_ends(
    registry: kopf.OperatorRegistry, settings: kopf.OperatorSettings, what: str = "Jobs"
) -> None:
    """Run kopf until cancelled.

    Raises:
        WatchEnded: kopf ended by itself.
    """
    watch = _Watch(registry, settings)
    ended = watch.start()
    try:
        reason = await asyncio.shield(ended)
    except asyncio.CancelledError:
        watch.ask_to_stop()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(ended), STOP_SECONDS)
        raise
    raise WatchEnded(f"the watch of {what} has ended: {reason}")


class _Watch:
    """One run of kopf in its own thread and loop."""

    def __init__(self, registry: kopf.OperatorRegistry, settings: kopf.OperatorSettings) -> None:
        self._registry = registry
        self._settings = settings
        self._owner = asyncio.get_running_loop()
        self._ended: asyncio.Future[str] = self._owner.create_future()
        self._guard = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopping = False
        # Whatever ends kopf is reported by us in one line; its own reports are tracebacks.
        logging.getLogger("kopf._core.reactor").setLevel(logging.CRITICAL)

    def start(self) -> asyncio.Future[str]:
        """Start the thread; the future gives the reason once it has ended."""
        threading.Thread(target=self._run, name="kopf", daemon=True).start()
        return self._ended

    def ask_to_stop(self) -> None:
        """Make the thread end soon."""
        with self._guard:
            self._stopping = True
            if self._loop is not None and self._task is not None:
                with contextlib.suppress(RuntimeError):
                    self._loop.call_soon_threadsafe(self._task.cancel)

    def _run(self) -> None:
        reason = "no reason was given"
        try:
            uvloop.run(self._operate())
        except BaseException as error:  # noqa: BLE001 (whatever ends the thread has to end the process)
            reason = one_line(f"{type(error).__name__}: {error}")
        with contextlib.suppress(RuntimeError):
            self._owner.call_soon_threadsafe(self._tell, reason)

    def _tell(self, reason: str) -> None:
        if not self._ended.done():
            self._ended.set_result(reason)

    async def _operate(self) -> None:
        with self._guard:
            if self._stopping:
                return
            self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        # Stopped by cancellation: for a stop flag, kopf would keep a task that delays its end by five seconds.
        await kopf.operator(
            registry=self._registry,
            settings=self._settings,
            memories=NoMemories(),
            clusterwide=True,
            standalone=True,
        )
