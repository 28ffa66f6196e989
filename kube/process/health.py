"""The health and metrics endpoint of a process: /livez, /readyz, /metrics.

A check answers None when all is well and otherwise says in a few words what is not; the answer lists every failing
check, so that a person who asks with curl reads the reason.

The server has a thread of its own. Checks and metrics look at the state of the process, so they are asked in the process's
own loop, with one exception: while that loop computes, /livez answers from what is known, for a process that is busy must not be
killed. It fails once the loop has not run for so long that it never will (`heartbeat`).
"""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from http import HTTPStatus
from types import TracebackType
from typing import Any, Final, Protocol, Self, TypeVar

from aiohttp import web
from prometheus_client import REGISTRY, CollectorRegistry
from prometheus_client.exposition import choose_encoder

from api.errors import ConfigurationError
from kube.process.heartbeat import Heartbeat
from kube.process.metrics_access import METRICS_PATH, MetricsAccess

Check = Callable[[], str | None]
"""None when all is well, else a reason."""

_LIVE: Final = "/livez"
_READY: Final = "/readyz"
_BUSY_SECONDS: Final = 1.0
"""How long /livez waits for the loop before it answers without it."""
_PATIENCE_SECONDS: Final = 8.0
"""How long the others wait for it; a little less than who asks does."""
_END_SECONDS: Final = 2.0
"""How long answers under way may take when the server stops."""

_BREATH_SECONDS: Final = 0.001
"""Between two parts of a file: whoever makes them has the interpreter, which everybody needs."""

Answer = TypeVar("Answer")
Failures = Mapping[str, str]
"""The reasons of failing checks by their names."""


def split_address(address: str) -> tuple[str | None, int]:
    """Host (None: all interfaces) and port of HOST:PORT, :PORT or [IPv6]:PORT.

    Raises:
        ConfigurationError: it is no such thing.
    """
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise ConfigurationError(f"{address!r} is no HOST:PORT address")
    return host.strip("[]") or None, int(port)


@dataclass(frozen=True, slots=True)
class Downloads:
    """Files that some people may fetch.

    Attributes:
        access: says who.
        files: by path: called in the process's loop, gives the file's parts, which are made one by one outside of it; None when
            there is no such file now.
        content_type: of all of them.
    """

    access: MetricsAccess
    files: Mapping[str, Callable[[], Iterator[bytes] | None]]
    content_type: str


class Asks(Protocol):
    """Gets the answer to a question from the process's loop; raises TimeoutError when it does not come in time, or never."""

    def __call__(
        self, question: Callable[[], Answer], timeout_seconds: float = _PATIENCE_SECONDS
    ) -> Coroutine[Any, Any, Answer]:
        """The answer."""


Beside = Callable[[Asks], contextlib.AbstractAsyncContextManager[object]]
"""Makes something else that serves in the same thread."""


class HealthServer:
    """Serves the probes and metrics of one process. An asynchronous context manager.

    Args:
        address: HOST:PORT; "" or "0" serves nothing.
        live: the checks of /livez by their names.
        ready: the checks of /readyz by their names.
        registry: the metrics of /metrics.
        heartbeat: tells whether the process's loop still runs; None makes one.
        access: who may read the metrics; None: everybody. Probes are open to all: kubelets have no token.
        downloads: files that some people may fetch.
        beside: something else that serves in the same thread, as long as this does.
    """

    def __init__(
        self,
        address: str,
        *,
        live: Mapping[str, Check] | None = None,
        ready: Mapping[str, Check] | None = None,
        registry: CollectorRegistry = REGISTRY,
        heartbeat: Heartbeat | None = None,
        access: MetricsAccess | None = None,
        downloads: Downloads | None = None,
        beside: Beside | None = None,
    ) -> None:
        self._beside: Final = beside
        self._access: Final = access
        self._downloads: Final = downloads
        self._address: Final = address
        self._checks: Final = {_LIVE: dict(live or {}), _READY: dict(ready or {})}
        self._registry: Final = registry
        self._heartbeat: Final = heartbeat or Heartbeat()
        self._known: Failures = {}
        """What the liveness checks said last."""
        self._beating: asyncio.Task[None] | None = None
        self._owner: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._thread_loop: asyncio.AbstractEventLoop | None = None
        self._stopped: asyncio.Event | None = None
        self._port = 0

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    @property
    def port(self) -> int:
        """The port in use; 0 while the server is not running or switched off."""
        return self._port

    async def start(self) -> None:
        """Begin to serve; an address of "" or "0" serves nothing.

        Raises:
            ConfigurationError: an address is unusable or taken.
        """
        if self._address in {"", "0"}:
            return
        address = split_address(self._address)
        self._owner = asyncio.get_running_loop()
        self._beating = asyncio.ensure_future(self._heartbeat.beat())
        started: Future[int] = Future()
        self._thread = threading.Thread(target=self._run, args=(address, started), name="health", daemon=True)
        self._thread.start()
        try:
            self._port = await asyncio.wrap_future(started)
        except OSError as error:
            await self.stop()
            raise ConfigurationError(f"cannot listen on {self._address}: {error.strerror or error}") from error
        except ConfigurationError:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Stop serving; calling it twice does no harm."""
        self._port = 0
        if self._beating is not None:
            self._beating.cancel()
            await asyncio.gather(self._beating, return_exceptions=True)
            self._beating = None
        if self._thread is not None:
            if self._thread_loop is not None and self._stopped is not None:
                with contextlib.suppress(RuntimeError):  # the thread's loop has ended already
                    self._thread_loop.call_soon_threadsafe(self._stopped.set)
            await asyncio.to_thread(self._thread.join, _PATIENCE_SECONDS)
            self._thread = None

    # --- the thread --------------------------------------------------------------------------------------------------

    def _run(self, address: tuple[str | None, int], started: "Future[int]") -> None:
        asyncio.run(self._serve(address, started))

    async def _serve(self, address: tuple[str | None, int], started: "Future[int]") -> None:
        async with contextlib.AsyncExitStack() as entered:
            for access in (self._access, self._downloads.access if self._downloads is not None else None):
                if access is not None:
                    await entered.enter_async_context(access)
            if self._beside is not None:
                try:
                    await entered.enter_async_context(self._beside(self._asked))
                except ConfigurationError as error:
                    started.set_exception(error)
                    return
            await self._listen(address, started)

    async def _listen(self, address: tuple[str | None, int], started: "Future[int]") -> None:
        self._thread_loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application()
        app.router.add_get(_LIVE, self._live)
        app.router.add_get(_READY, self._ready)
        app.router.add_get(METRICS_PATH, self._metrics)
        for path in self._downloads.files if self._downloads is not None else ():
            app.router.add_get(path, self._download)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=_END_SECONDS)
        await runner.setup()
        try:
            await web.TCPSite(runner, *address).start()
        except OSError as error:
            started.set_exception(error)
        else:
            started.set_result(int(runner.addresses[0][1]))
            await self._stopped.wait()
        finally:
            await runner.cleanup()

    async def _live(self, _: web.Request) -> web.Response:
        trouble = self._heartbeat.trouble()
        if trouble is not None:
            return _response({"event loop": trouble})
        with contextlib.suppress(TimeoutError):
            self._known = await self._asked(lambda: self._failures(_LIVE), _BUSY_SECONDS)
        return _response(self._known)

    async def _ready(self, _: web.Request) -> web.Response:
        try:
            return _response(await self._asked(lambda: self._failures(_READY), _PATIENCE_SECONDS))
        except TimeoutError:
            return _response({"event loop": "is busy"})

    async def _metrics(self, request: web.Request) -> web.Response:
        refusal = await _refusal(self._access, request) if self._access is not None else None
        if refusal is not None:
            return refusal
        encode, content_type = choose_encoder(request.headers.get("Accept", ""))
        try:
            body = await self._asked(lambda: encode(self._registry), _PATIENCE_SECONDS)
        except TimeoutError:
            return _response({"event loop": "is busy"})
        return web.Response(body=body, headers={"Content-Type": content_type})

    async def _download(self, request: web.Request) -> web.StreamResponse:
        """Sends a file part by part; between two of them the process's loop gets its turn."""
        if self._downloads is None:
            raise web.HTTPNotFound
        refusal = await _refusal(self._downloads.access, request)
        if refusal is not None:
            return refusal
        try:
            parts = await self._asked(self._downloads.files[request.path], _PATIENCE_SECONDS)
        except TimeoutError:
            return _response({"event loop": "is busy"})
        if parts is None:
            return web.Response(
                status=HTTPStatus.NOT_FOUND, text="there is none: it is switched off, or not yet begun\n"
            )
        answer = web.StreamResponse(headers={"Content-Type": self._downloads.content_type})
        await answer.prepare(request)
        for part in parts:
            if part:
                await answer.write(part)
            await asyncio.sleep(_BREATH_SECONDS)
        await answer.write_eof()
        return answer

    async def _asked(self, question: Callable[[], Answer], timeout_seconds: float = _PATIENCE_SECONDS) -> Answer:
        """The answer of the process's loop.

        Raises:
            TimeoutError: it does not come in time, or never.
        """
        answered: Future[Answer] = Future()

        def answer() -> None:
            if answered.set_running_or_notify_cancel():
                try:
                    answered.set_result(question())
                except Exception as error:  # noqa: BLE001 (whoever asked gets it)
                    answered.set_exception(error)

        if self._owner is None or self._owner.is_closed():
            raise TimeoutError
        self._owner.call_soon_threadsafe(answer)
        async with asyncio.timeout(timeout_seconds):
            return await asyncio.wrap_future(answered)

    # --- the process's loop ------------------------------------------------------------------------------------------

    def _failures(self, path: str) -> Failures:
        return {name: reason for name, check in self._checks[path].items() if (reason := check())}


async def _refusal(access: MetricsAccess, request: web.Request) -> web.Response | None:
    """What somebody is told who may not read this path."""
    status = await access.decide(request.headers.get("Authorization", ""), request.path)
    if status is HTTPStatus.OK:
        return None
    challenge = {"WWW-Authenticate": "Bearer"} if status is HTTPStatus.UNAUTHORIZED else None
    return web.Response(status=status, text=f"{status.phrase}\n", headers=challenge)


def _response(failures: Failures) -> web.Response:
    if not failures:
        return web.Response(text="ok\n")
    return web.Response(status=503, text="".join(f"{name}: {reason}\n" for name, reason in failures.items()))
