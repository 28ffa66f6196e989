"""A small server behind the proxy: it counts what arrives, answers, and sends on its watches what a test tells it to."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import web

from verify.faults.proxy import LOOPBACK, FaultProxy
from verify.faults.script import parse

PODS = "/api/v1/namespaces/ns/pods"
NODES = "/api/v1/nodes"
SOON_SECONDS = 20.0


class Upstream:
    """What arrived, in order, and queues of events by path."""

    def __init__(self) -> None:
        self.arrived: list[str] = []
        self.version = 1
        self.port = 0
        self._queues: dict[str, asyncio.Queue[bytes | None]] = {}
        self._changed = asyncio.Event()

    async def send(self, path: str, *names: str) -> None:
        """An event for each name on the watch of this path."""
        for name in names:
            kind = "BOOKMARK" if name == "bookmark" else "ADDED"
            await self._queue(path).put(json.dumps({"type": kind, "object": {"name": name}}).encode() + b"\n")

    async def end(self, path: str) -> None:
        """The watch of this path ends."""
        await self._queue(path).put(None)

    async def await_arrivals(self, count: int) -> None:
        """Returns once so many requests have arrived."""
        async with asyncio.timeout(SOON_SECONDS):
            while len(self.arrived) < count:
                self._changed.clear()
                await self._changed.wait()

    def _queue(self, path: str) -> asyncio.Queue[bytes | None]:
        return self._queues.setdefault(path, asyncio.Queue())

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.text()
        self.arrived.append(f"{request.method} {request.path} {body}".strip())
        self._changed.set()
        if request.query.get("watch"):
            return await self._watch(request)
        items = [{"metadata": {"name": f"p{self.version}"}}]
        return web.json_response({"metadata": {"resourceVersion": f"{self.version}"}, "items": items})

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        reply = web.StreamResponse()
        await reply.prepare(request)
        while (event := await self._queue(request.path).get()) is not None:
            await reply.write(event)
        return reply


class Client:
    """A client that goes through the proxy."""

    def __init__(self, session: aiohttp.ClientSession, url: str, upstream: Upstream, proxy: FaultProxy) -> None:
        self._session = session
        self._url = url
        self.upstream = upstream
        self.proxy = proxy

    async def ask(
        self, method: str, path: str, body: str = "", agent: str = "tutti-scheduler/x"
    ) -> tuple[int, dict[str, str], str]:
        """Code, headers and text of the answer."""
        headers = {"User-Agent": agent}
        async with self._session.request(method, self._url + path, data=body or None, headers=headers) as answer:
            return answer.status, dict(answer.headers), await answer.text()

    async def await_fault(self) -> None:
        """Returns once a fault has begun to happen."""
        async with asyncio.timeout(SOON_SECONDS):
            while not self.proxy.injected:  # noqa: ASYNC110 (the proxy tells nobody)
                await asyncio.sleep(0)

    @asynccontextmanager
    async def watching(self, path: str, agent: str = "tutti-scheduler/x") -> AsyncIterator["Watch"]:
        headers = {"User-Agent": agent}
        async with self._session.get(f"{self._url}{path}?watch=1", headers=headers) as answer:
            yield Watch(answer)


class Watch:
    """The events of one watch."""

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self._answer = answer

    async def next(self) -> str:
        """The name in the next event, its code for an error, or an empty text at the end."""
        async with asyncio.timeout(SOON_SECONDS):
            line = await self._answer.content.readline()
        if not line:
            return ""
        event = json.loads(line)
        return str(event["object"].get("name") or event["object"]["code"])


@asynccontextmanager
async def through(script: str) -> AsyncIterator[Client]:
    """A client behind whose proxy a server stands, with this script in force."""
    upstream = Upstream()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", upstream.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    try:
        await web.TCPSite(runner, LOOPBACK, 0).start()
        proxy = FaultProxy(f"http://{LOOPBACK}:{runner.addresses[0][1]}", parse(script))
        await proxy.start()
        try:
            async with aiohttp.ClientSession() as session:
                yield Client(session, f"http://{LOOPBACK}:{proxy.port}", upstream, proxy)
        finally:
            await proxy.stop()
    finally:
        await runner.cleanup()
