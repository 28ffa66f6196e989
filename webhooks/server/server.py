"""The HTTPS end of admission: reads a review, asks the route, writes the answer. Nothing else is served.

Whoever reaches the port may send anything, so whatever is no readable review gets one clean 4xx: no traceback, no log record
per bad request, no unbounded memory or time. Bodies may be large (object and old object of 3 MiB each), but not compressed.
"""

import asyncio
import contextlib
import logging
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, cast

from aiohttp import http_exceptions, web

from api.errors import ConfigurationError
from webhooks.admission.review import Malformed, Response, read_review, write_review
from webhooks.server.connections import Connections, close
from webhooks.server.limits import STANDARD_LIMITS, Limits
from webhooks.server.metrics import Metrics
from webhooks.server.routes import Route

_log = logging.getLogger(__name__)

MAX_BODY_BYTES: Final = 7 * 1024 * 1024
SMALL_BODY_BYTES: Final = 256 * 1024
LARGE_BODIES_AT_ONCE: Final = 8
"""Together with the two sizes and the connection limit this bounds the memory that clients nobody knows can take."""

BACKLOG: Final = 1024
HANDSHAKE_SECONDS: Final = 5.0

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class AdmissionServer:
    """Serves the routes over TLS until it is stopped.

    Args:
        served: path to route.
        context: the TLS context; its certificate may be replaced while the server runs.
        host: the address to listen on, None for all.
        port: 0 for any free port.
        metrics: where answers are counted.
        clock: seconds, monotonic.
        limits: what clients may do.
    """

    def __init__(
        self,
        served: Mapping[str, Route],
        *,
        context: ssl.SSLContext,
        host: str | None,
        port: int,
        metrics: Metrics,
        clock: Callable[[], float] = time.perf_counter,
        limits: Limits = STANDARD_LIMITS,
    ) -> None:
        self._context = context
        self._host = host
        self._port = port
        self._metrics = metrics
        self._clock = clock
        self._limits = limits
        self._connections = Connections(limits.max_connections)
        self._large_bodies = asyncio.Semaphore(LARGE_BODIES_AT_ONCE)
        self._server: asyncio.Server | None = None
        self._in_flight = 0
        self._idle = asyncio.Event()
        self._leaving = False
        application = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=[self._counted])
        for path, route in served.items():
            application.router.add_post(path, self._reviewer(path, route))
        self._runner = web.AppRunner(
            application,
            access_log=None,
            logger=_http_log(),
            auto_decompress=False,
            keepalive_timeout=limits.idle_seconds,
            lingering_time=2.0,
            shutdown_timeout=1.0,
        )

    @property
    def port(self) -> int:
        """The port in use; 0 while not listening."""
        return int(self._server.sockets[0].getsockname()[1]) if self._server and self._server.sockets else 0

    @property
    def is_listening(self) -> bool:
        """Whether new connections are taken."""
        return self._server is not None and self._server.is_serving()

    async def start(self) -> None:
        """Begins to listen.

        Raises:
            ConfigurationError: the address is unusable or taken.
        """
        await self._runner.setup()
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(
                lambda: _Newcomer(self._admitted),
                self._host,
                self._port,
                ssl=self._context,
                backlog=BACKLOG,
                ssl_handshake_timeout=HANDSHAKE_SECONDS,
            )
        except OSError as error:
            await self._runner.cleanup()
            where = f"{self._host or ''}:{self._port}"
            raise ConfigurationError(f"cannot listen on {where}: {error.strerror or error}") from error

    def leave(self) -> None:
        """Goes on answering, but each answer is the last of its connection.

        An API server keeps connections open and sends the next request on one of them, whatever the Service says by then. A
        connection that is closed while a request is on its way loses it, one that was said to be closing does not.
        """
        self._leaving = True

    async def stop(self) -> None:
        """Takes no new connections, finishes the requests in flight, closes."""
        if self._server is None:
            return
        self.leave()
        self._server.close()
        self._server = None
        # The HTTP library would drop what still arrives of a request from the moment it is told to stop.
        if self._in_flight:
            self._idle.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._limits.drain_seconds):
                    await self._idle.wait()
        await self._runner.cleanup()

    # --- connections -------------------------------------------------------------------------------------------------

    def _admitted(self, transport: asyncio.Transport) -> None:
        server = self._runner.server
        if server is None or not self._connections.make_room(server.connections):
            transport.abort()
            return
        connection = server()
        silent_too_long = asyncio.get_running_loop().call_later(self._limits.idle_seconds, self._close, connection)
        self._connections.opened(connection, silent_too_long)
        transport.set_protocol(connection)
        connection.connection_made(transport)

    def _close(self, connection: web.RequestHandler) -> None:
        self._connections.forget(connection)
        close(connection)

    # --- requests ----------------------------------------------------------------------------------------------------

    def _reviewer(self, path: str, route: Route) -> Handler:
        async def review(request: web.Request) -> web.StreamResponse:
            body = await self._body(request)
            started = self._clock()
            question = read_review(body)
            response = route(question)
            if not isinstance(response, Response):
                response = await response
            answer = web.Response(body=write_review(question.uid, response), content_type="application/json")
            self._metrics.seconds.labels(path, _outcome(response)).observe(self._clock() - started)
            return answer

        return review

    async def _body(self, request: web.Request) -> bytes:
        if request.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise web.HTTPUnsupportedMediaType(text="compressed bodies are not accepted\n")
        if request.content_type != "application/json":
            raise web.HTTPUnsupportedMediaType(text="the body must be application/json\n")
        small = request.content_length is not None and request.content_length <= SMALL_BODY_BYTES
        async with (
            asyncio.timeout(self._limits.read_seconds),
            contextlib.nullcontext() if small else self._large_bodies,
        ):
            return await request.read()

    @web.middleware
    async def _counted(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        self._connections.began(request.protocol)
        self._in_flight += 1
        try:
            answer = await self._answered(request, handler)
        finally:
            self._connections.ended(request.protocol)
            self._in_flight -= 1
            if not self._in_flight:
                self._idle.set()
        if self._leaving:
            answer.force_close()
        return answer

    async def _answered(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            wanted = self._limits.client_names
            if wanted and not wanted & _client_names_of(request):
                return self._refusal(403, "the client certificate is not that of the API server")
            return await handler(request)
        except Malformed as error:
            return self._refusal(400, str(error))
        except TimeoutError:
            return self._refusal(408, f"the request was not complete within {self._limits.read_seconds:g} s")
        except (web.RequestPayloadError, http_exceptions.HttpProcessingError, ConnectionError) as error:
            return self._refusal(400, f"the request cannot be read: {type(error).__name__}")
        except web.HTTPException as error:
            return self._refusal(error.status, (error.text or error.reason).strip(), headers=_allowed(error))
        except Exception as error:  # noqa: BLE001 (a mistake of ours must not end the connection without an answer)
            _log.error("%s: %s: %s", request.path, type(error).__name__, error)
            _log.debug("where it happened", exc_info=error)
            return self._refusal(500, "internal error")

    def _refusal(self, status: int, message: str, *, headers: Mapping[str, str] | None = None) -> web.Response:
        self._metrics.refusals.labels(str(status)).inc()
        answer = web.Response(status=status, text=f"{message}\n", headers=headers)
        answer.force_close()
        return answer


class _Newcomer(asyncio.Protocol):
    """A connection during its handshake: nothing is kept for it before it is one."""

    def __init__(self, admit: Callable[[asyncio.Transport], None]) -> None:
        self._admit = admit

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._admit(cast("asyncio.Transport", transport))


def _client_names_of(request: web.Request) -> set[str]:
    """The common names of the certificate by which the client has shown itself; none when it has not."""
    certificate = request.get_extra_info("peercert") or {}
    return {value for part in certificate.get("subject", ()) for key, value in part if key == "commonName"}


def _outcome(response: Response) -> str:
    if not response.allowed:
        return "denied"
    return "patched" if response.patch else "allowed"


def _allowed(error: web.HTTPException) -> Mapping[str, str] | None:
    return {"Allow": error.headers["Allow"]} if "Allow" in error.headers else None


def _http_log() -> logging.Logger:
    log = logging.getLogger(f"{__name__}.http")
    if not log.filters:
        log.addFilter(_without_tracebacks)
    return log


def _without_tracebacks(record: logging.LogRecord) -> bool:
    """What a client did wrong is worth no record, let alone a traceback; the rest fits one line."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, http_exceptions.HttpProcessingError | ConnectionError | TimeoutError):
        return False
    if error is not None:
        record.msg, record.args = f"{record.getMessage()}: {type(error).__name__}: {error}", None
        record.exc_info = None
    return True
