"""The one place where the HTTP library's troubles become `KubeError`s.

Two guarantees are made here. An exception that says the connection was never made is `Unreachable`; every other one is
`OutcomeUnknown`, because bytes may have reached the server. And a request is sent at most once per call: aiohttp would
repeat PUT and DELETE by itself when a kept-alive connection turns out to be dead, which could carry out a write twice.
"""

import contextlib
import ssl as tls
from collections.abc import AsyncGenerator, Callable, Iterator

import aiohttp
from aiohttp.abc import AbstractStreamWriter
from aiohttp.client_middlewares import ClientHandlerType

from kube.client.errors import KubeError, OutcomeUnknown, Unreachable, one_line

_CONNECTING_FAILED = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.InvalidURL)
_KEEP_ALIVE_SECONDS = 30.0
_CONNECT_SECONDS = 5.0
_READ_BUFFER_BYTES = 1 << 18


def translate(error: Exception, request: str) -> KubeError:
    """The `KubeError` that says what may be concluded from an exception of aiohttp or the event loop."""
    if isinstance(error, KubeError):
        return error
    if isinstance(error.__cause__, KubeError):
        # Raised by a body of ours: it says itself what may be concluded.
        return error.__cause__
    reason = one_line(str(error)) or type(error).__name__
    if isinstance(error, _CONNECTING_FAILED):
        return Unreachable(_why_not_connected(error, reason), request=request)
    if isinstance(error, aiohttp.ClientPayloadError):
        return OutcomeUnknown(f"{request}: the connection broke in the middle of the answer")
    if isinstance(error, TimeoutError):
        return OutcomeUnknown(f"{request}: no answer in time")
    return OutcomeUnknown(f"{request}: the connection broke before the answer was complete: {reason}")


def _why_not_connected(error: Exception, reason: str) -> str:
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"the server's certificate is not trusted: {one_line(str(error.certificate_error))}"
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return "no connection in time"
    if isinstance(error, aiohttp.ClientConnectorError):
        if isinstance(error.os_error, ConnectionRefusedError):
            return "connection refused"
        return one_line(str(error.os_error)) or reason
    return reason


@contextlib.contextmanager
def translated(request: str) -> Iterator[None]:
    """Whatever breaks inside is raised as a `KubeError`; cancellation passes through.

    Args:
        request: method and path, for the reader of the error.

    Raises:
        KubeError: what `translate` makes of it.
    """
    try:
        yield
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise translate(error, request) from without_frames(error)


def without_frames(error: Exception) -> Exception:
    """The error without the frames that it came through, which are of no interest once it is translated.

    A body keeps the error with which it broke, and these frames keep the body. A watch is old when it breaks, and what is old is
    collected only with a trim of the heap: each one that broke would leave its connection, its buffers and its frames until then.
    """
    return error.with_traceback(None)


async def _send_once(request: aiohttp.ClientRequest, send: ClientHandlerType) -> aiohttp.ClientResponse:
    try:
        return await send(request)
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise translate(error, f"{request.method} {request.url.path}") from without_frames(error)


class GuardedBody(aiohttp.BytesPayload):
    """A body that asks once more at the moment at which it is written, headers with it.

    A request may have waited for a connection since it was begun, or its process may have been stopped.

    Args:
        content: the bytes.
        guard: raises a KubeError to have nothing sent.
    """

    def __init__(self, content: bytes, guard: Callable[[], None]) -> None:
        super().__init__(content)
        self._guard = guard

    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        """Writes it, if it may be written still."""
        self._guard()
        await super().write_with_length(writer, content_length)


def open_session(
    context: tls.SSLContext | bool | None, *, user_agent: str, max_connections: int
) -> aiohttp.ClientSession:
    """A session over one keep-alive pool. Proxies of the environment are ignored, answers are not compressed."""
    connector = aiohttp.TCPConnector(
        limit=max_connections,
        ssl=True if context is None else context,
        keepalive_timeout=_KEEP_ALIVE_SECONDS,
    )
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"User-Agent": user_agent, "Accept": "application/json", "Accept-Encoding": "identity"},
        middlewares=(_send_once,),
        read_bufsize=_READ_BUFFER_BYTES,
        trust_env=False,
    )


def call_timeout(seconds: float) -> aiohttp.ClientTimeout:
    """Limits for a call of at most `seconds`: a little less for getting a connection, so that such a failure is certain."""
    connect = seconds * 0.8
    return aiohttp.ClientTimeout(total=seconds, connect=connect, sock_connect=min(connect, _CONNECT_SECONDS))


def stream_timeout(silence_seconds: float | None) -> aiohttp.ClientTimeout:
    """Limits for a stream that may last for ever but not be silent for longer than `silence_seconds`."""
    return aiohttp.ClientTimeout(
        total=None, connect=2 * _CONNECT_SECONDS, sock_connect=_CONNECT_SECONDS, sock_read=silence_seconds
    )


async def lines(response: aiohttp.ClientResponse, request: str) -> AsyncGenerator[bytes, None]:
    """The lines of a body as they arrive, of any length (a watched object may have 1.5 MiB).

    Raises:
        OutcomeUnknown: the body ended in the middle of a line.
    """
    parts: list[bytes] = []
    async for chunk in response.content.iter_any():
        first, *others = chunk.split(b"\n")
        parts.append(first)
        for following in others:
            line = b"".join(parts)
            parts = [following]
            if line:
                yield line
    if b"".join(parts).strip():
        raise OutcomeUnknown(f"{request}: the stream ended in the middle of an object")
