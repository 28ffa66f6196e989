"""An HTTP server on loopback that answers exactly what a test says, and remembers what it was asked."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from kube.client.credentials import Credentials

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True)
class Seen:
    """One request as the server received it."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class ScriptedServer:
    """Answers requests in the scripted order, then with the standing answer."""

    def __init__(self) -> None:
        self.requests: list[Seen] = []
        self.over = asyncio.Event()
        self._script: list[Answer] = []
        self._always: Answer | None = None
        self._arrived = asyncio.Condition()
        self._runner: web.AppRunner | None = None
        self.port = 0

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=1 << 26)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port).start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.over.set()
        assert self._runner is not None
        await self._runner.cleanup()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def credentials(self) -> Credentials:
        return Credentials(server=self.url)

    def then(self, *answers: Answer) -> Self:
        self._script.extend(answers)
        return self

    def always(self, answer: Answer) -> Self:
        self._always = answer
        return self

    async def received(self, count: int) -> list[Seen]:
        """Wait until so many requests arrived."""
        async with asyncio.timeout(10), self._arrived:
            await self._arrived.wait_for(lambda: len(self.requests) >= count)
        return self.requests

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        seen = Seen(request.method, request.path, dict(request.query), dict(request.headers), body)
        answer = self._script.pop(0) if self._script else self._always
        async with self._arrived:
            self.requests.append(seen)
            self._arrived.notify_all()
        if answer is None:
            return web.Response(status=599, text=f"the script has no answer to {seen.method} {seen.path}")
        return await answer(request)


def ok(body: Any = None, *, status: int = 200) -> Answer:
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.json_response({} if body is None else body, status=status)

    return answer


def text(content: str, *, status: int = 200) -> Answer:
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(status=status, text=content)

    return answer


def refusal(code: int, reason: str = "", message: str = "no", *, retry_after: str | None = None, **more: Any) -> Answer:
    """A Status object, as the API server sends it."""

    async def answer(request: web.Request) -> web.StreamResponse:
        status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, **more}
        headers = {} if retry_after is None else {"Retry-After": retry_after}
        return web.json_response(status | {"message": message}, status=code, headers=headers)

    return answer


def hang_up() -> Answer:
    """The request was read completely, then the connection is closed without a byte of an answer."""

    async def answer(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.close()
        return web.Response()

    return answer


def cut_short(document: bytes) -> Answer:
    """The head promises more than the body has."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": str(len(document) + 100)})
        await response.prepare(request)
        await response.write(document)
        assert request.transport is not None
        request.transport.close()
        return response

    return answer


def silence(server: ScriptedServer) -> Answer:
    """No answer until the server ends."""

    async def answer(request: web.Request) -> web.StreamResponse:
        await server.over.wait()
        return web.Response()

    return answer


def stream(*lines: Any, hold: ScriptedServer | None = None, tail: bytes = b"") -> Answer:
    """A watch: one JSON document per line, then the end, or with `hold` silence until the server ends."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        for line in lines:
            await response.write(json.dumps(line).encode() + b"\n")
        if tail:
            await response.write(tail)
        if hold is not None:
            await hold.over.wait()
        return response

    return answer
