"""Sending one request: the token, the one repetition after a 401, and the waits the server asks for.

A write is sent again only after the server said that it did nothing with it (401, 429, or 503 with Retry-After); any
other failure goes to the caller as it is. Reads are repeated by `kube.client.client`, on top of this.
"""

import asyncio
import contextlib
import ssl as tls
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping

import aiohttp
import msgspec
from yarl import URL

from api.errors import ConfigurationError
from kube.client.credentials import Credentials
from kube.client.errors import AnsweredError, KubeError, StreamSilent, Unauthorized, Unreachable, error_from_answer
from kube.client.retry import parse_retry_after, refusal_wait_seconds
from kube.client.transport import (
    GuardedBody,
    call_timeout,
    lines,
    open_session,
    stream_timeout,
    translated,
    without_frames,
)

Observe = Callable[[str, str, str, float], None]
"""Called after every request with verb, resource (plural), status code (or the error's class name) and seconds."""

Guard = Callable[[], None]
"""Called before every sending of a write, repetitions included, and again when its bytes go out; raises `NotSent` to forbid it."""


_CREDENTIALS_SECONDS = 30.0
_FORMER_SECONDS = 900.0
"""Longer than any request or watch lasts. Idle connections are closed much earlier, by the pool itself."""


class Request(msgspec.Struct, frozen=True):
    """One request, ready to be sent any number of times.

    Attributes:
        verb: the verb as RBAC names it, for metrics.
        plural: the resource, for metrics.
        method: the HTTP method.
        path: the URL path, already escaped.
        params: the query.
        data: the encoded body.
        media_type: the body's type.
        token_header: a header in which the value of Authorization is sent once more, for whom the API server passes the request
            on to: it keeps that of Authorization for itself. "": none.
    """

    verb: str
    plural: str
    method: str
    path: str
    params: Mapping[str, str]
    data: bytes | None = None
    media_type: str = "application/json"
    token_header: str = ""

    @property
    def name(self) -> str:
        """Method and path, as error messages show them."""
        return f"{self.method} {self.path}"


class Connection:
    """A pool of connections to one API server as one identity. Belongs to one event loop.

    Args:
        credentials: the server and the identity.
        user_agent: the header of that name.
        max_connections: how many may be open at a time.
        timeout_seconds: limit for each sending of a request, unless the call says another.
        observe: called after every request, for metrics.
        guard: called right before every write.
    """

    def __init__(
        self,
        credentials: Credentials,
        *,
        user_agent: str,
        max_connections: int,
        timeout_seconds: float,
        observe: Observe | None,
        guard: Guard | None = None,
    ) -> None:
        self._credentials = credentials
        self._user_agent = user_agent
        self._max_connections = max_connections
        self._timeout = call_timeout(timeout_seconds)
        self._observe = observe
        self._guard = guard
        self._session: aiohttp.ClientSession | None = None
        self._session_tls: tls.SSLContext | bool | None = None
        self._former: deque[tuple[float, aiohttp.ClientSession]] = deque()

    async def close(self) -> None:
        """Close the connections; calling it twice does no harm."""
        sessions = [session for _, session in self._former]
        self._former.clear()
        if self._session is not None:
            sessions.append(self._session)
            self._session = None
        for session in sessions:
            await session.close()

    async def call(self, request: Request, timeout_seconds: float | None = None) -> bytes:
        """The body of a successful answer.

        Args:
            request: what to send.
            timeout_seconds: limit for each sending; waits that the server asks for come on top, ten seconds in all.

        Raises:
            KubeError: there is none.
        """
        timeout = self._timeout if timeout_seconds is None else call_timeout(timeout_seconds)
        waited_seconds = 0.0
        renewed = False
        while True:
            if self._guard is not None and request.method != "GET":
                # Here for writes without a body, and to end the others before they wait for a connection.
                self._guard()
            started = time.perf_counter()
            try:
                answer = await self._exchange(request, timeout, refresh=renewed)
            except AnsweredError as error:
                self._observed(request, str(error.status), started)
                if isinstance(error, Unauthorized) and not renewed:
                    renewed = True
                    continue
                wait = refusal_wait_seconds(error, waited_seconds)
                if wait is None:
                    raise
                await asyncio.sleep(wait)
                waited_seconds += wait
            except KubeError as error:
                self._observed(request, type(error).__name__, started)
                raise
            else:
                self._observed(request, "200", started)
                return answer

    async def stream(
        self, request: Request, silence_seconds: float | None, opened: Callable[[], None] | None = None
    ) -> AsyncGenerator[bytes, None]:
        """The lines of a successful answer's body as they arrive.

        Args:
            request: what to send.
            silence_seconds: the longest time without a line; None: for ever.
            opened: called when the server has begun to answer, before the first line.

        Raises:
            StreamSilent: it began and then fell silent.
            KubeError: the server refused, or the stream broke.
        """
        started = time.perf_counter()
        timeout = stream_timeout(silence_seconds)
        with translated(request.name):
            response = await self._open(request, timeout)
            if response.status == 401:
                response.close()
                response = await self._open(request, timeout, refresh=True)
            self._observed(request, str(response.status), started)
            try:
                if response.status != 200:
                    raise await _failure(response, request)
                if opened is not None:
                    opened()
                async with contextlib.aclosing(lines(response, request.name)) as received:
                    async for line in received:
                        yield line
            except aiohttp.SocketTimeoutError as error:
                raise StreamSilent(f"{request.name}: nothing came for {silence_seconds:g} s") from without_frames(error)
            finally:
                response.close()

    async def _exchange(
        self,
        request: Request,
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 (aiohttp applies it phase by phase)
        *,
        refresh: bool,
    ) -> bytes:
        with translated(request.name):
            async with await self._open(request, timeout, refresh=refresh) as response:
                if response.status >= 300:
                    raise await _failure(response, request)
                return await response.read()

    async def _open(
        self,
        request: Request,
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 (aiohttp applies it phase by phase)
        *,
        refresh: bool = False,
    ) -> aiohttp.ClientResponse:
        headers = await self._authorization(request, refresh=refresh)
        session = await self._current_session()
        if request.token_header and "Authorization" in headers:
            headers[request.token_header] = headers["Authorization"]
        if request.data is not None:
            headers["Content-Type"] = request.media_type
        url = URL(self._credentials.server + request.path, encoded=True)
        return await session.request(
            request.method,
            url.with_query(request.params) if request.params else url,
            data=self._body(request),
            headers=headers,
            timeout=timeout,
            allow_redirects=False,
            server_hostname=self._credentials.server_name,
        )

    def _body(self, request: Request) -> bytes | GuardedBody | None:
        if self._guard is None or request.data is None:
            return request.data
        return GuardedBody(request.data, self._guard)

    async def _current_session(self) -> aiohttp.ClientSession:
        """The pool whose connections show the present client certificate.

        The former pool is not used any more and closed once nothing can go on in it: what was sent over it gets its answer.
        """
        while self._former and time.monotonic() - self._former[0][0] > _FORMER_SECONDS:
            await self._former.popleft()[1].close()
        if self._session is not None and self._session_tls is not self._credentials.ssl:
            self._former.append((time.monotonic(), self._session))
            self._session = None
        if self._session is None:
            self._session_tls = self._credentials.ssl
            self._session = open_session(
                self._session_tls, user_agent=self._user_agent, max_connections=self._max_connections
            )
        return self._session

    async def _authorization(self, request: Request, *, refresh: bool) -> dict[str, str]:
        """The header, or `Unreachable`: without credentials nothing is sent, and they may come back."""
        try:
            if not refresh and self._credentials.tokens.is_fresh():
                return await self._credentials.headers()
            async with asyncio.timeout(_CREDENTIALS_SECONDS):
                return await self._credentials.headers(refresh=refresh)
        except ConfigurationError as error:
            raise Unreachable(str(error), request=request.name) from error
        except TimeoutError as error:
            raise Unreachable("the credential plugin gave no answer in time", request=request.name) from error

    def _observed(self, request: Request, code: str, started: float) -> None:
        if self._observe is not None:
            self._observe(request.verb, request.plural, code, time.perf_counter() - started)


async def _failure(response: aiohttp.ClientResponse, request: Request) -> AnsweredError:
    return error_from_answer(
        response.status,
        await response.read(),
        retry_after_seconds=parse_retry_after(response.headers.get("Retry-After")),
        request=request.name,
    )
