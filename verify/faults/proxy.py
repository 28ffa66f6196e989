"""A proxy that speaks HTTP and knows Kubernetes: it passes requests on, and does to some of them what its script says.

proxy = FaultProxy("https://127.0.0.1:6443", parse("lose-answer @ create pods/binding #1"), to_server=…, to_clients=…)
with proxy.in_thread():
… a process whose kubeconfig names https://127.0.0.1:{proxy.port} …
assert proxy.injected
"""

import asyncio
import json
import ssl
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import aiohttp
from aiohttp import web

from verify.faults.asked import Asked, asked
from verify.faults.forwarding import MOST_BYTES, lines, open_session, reply_headers, request_headers
from verify.faults.kinds import CODES, FAULTS
from verify.faults.script import Progress, Rule, Script
from verify.faults.streams import BrokenError, Passed, altered

LOOPBACK = "127.0.0.1"
START_SECONDS = 30.0
CLOSE_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Injected:
    """A fault that has happened, and to which request."""

    rule: Rule
    asked: Asked

    def __str__(self) -> str:
        return f"{self.rule.fault} happened to: {self.asked}"


class FaultProxy:
    """One port that leads to one server.

    Attributes:
        port: where it listens, once it has been started.
        injected: what has happened so far. Whoever tests under a fault asks whether it came to it.

    Args:
        server: the URL of the server behind.
        script: what happens to requests.
        to_server: how the server is trusted.
        to_clients: with which certificate clients are answered; without it the proxy speaks plain HTTP.
    """

    def __init__(
        self,
        server: str,
        script: Script = Script(),  # noqa: B008 (a value that never changes)
        *,
        to_server: ssl.SSLContext | None = None,
        to_clients: ssl.SSLContext | None = None,
    ) -> None:
        self.port = 0
        self.injected: list[Injected] = []
        self._server = server
        self._progress = Progress(script)
        self._tls = (to_server, to_clients)
        self._first_lists: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self._watches: dict[asyncio.Transport, tuple[str, str]] = {}
        self._begun: set[asyncio.Transport] = set()
        """Whose watch the server has begun to answer."""
        self._has_watched: set[tuple[str, str]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    def follow(self, script: Script) -> None:
        """From now on this script is in force, from its beginning; watches that are under way go on as they are."""
        self._progress = Progress(script)

    def break_watches(self) -> None:
        """Breaks the connections of all watches, as a server that is restarted does; from now on none of them is `watched`."""
        broken, self._watches = self._watches, {}
        if self._loop is not None:
            self._loop.call_soon_threadsafe(_abort, broken)

    def watched(self) -> set[tuple[str, str]]:
        """Who watches what at this moment: components and plurals. A watch is one once the server has begun to answer it."""
        return {watching for transport, watching in self._watches.copy().items() if transport in self._begun}

    def has_watched(self) -> set[tuple[str, str]]:
        """Who has ever watched what: components and plurals. Who takes over from a process that has ended counts as the same."""
        return self._has_watched.copy()

    # --- life --------------------------------------------------------------------------------------------------------

    async def start(self, port: int = 0) -> None:
        """Listens on this port of the loopback address, on a free one for 0."""
        self._loop = asyncio.get_running_loop()
        self._session = open_session(self._tls[0])
        self._passed = Passed()
        app = web.Application(client_max_size=MOST_BYTES)
        app.router.add_route("*", "/{path:.*}", self._handle)
        # A client that has gone away must not leave a request behind that hangs.
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, LOOPBACK, port, ssl_context=self._tls[1])
        await site.start()
        self.port = int(self._runner.addresses[0][1])

    async def stop(self) -> None:
        """Closes every connection."""
        await self._session.close()
        await self._runner.cleanup()
        # Connections with TLS are closed a moment after their session is.
        await asyncio.sleep(CLOSE_SECONDS)

    @contextmanager
    def in_thread(self) -> Iterator["FaultProxy"]:
        """Runs it beside a program that has no event loop."""
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, name="fault proxy", daemon=True)
        thread.start()
        asyncio.run_coroutine_threadsafe(self.start(), loop).result(START_SECONDS)
        try:
            yield self
        finally:
            asyncio.run_coroutine_threadsafe(self.stop(), loop).result(START_SECONDS)
            loop.call_soon_threadsafe(loop.stop)
            thread.join(START_SECONDS)
            loop.close()

    # --- requests ----------------------------------------------------------------------------------------------------

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        about = asked(request.method, request.path, request.query_string, request.headers.get("User-Agent", ""))
        body = await request.read()
        rule = self._progress.rule_for(about)
        if rule is not None:
            self.injected.append(Injected(rule, about))
        transport = request.transport
        if about.verb == "watch" and transport is not None:
            self._watches[transport] = watching = (about.component, about.resource)
            self._has_watched.add(watching)
        try:
            refused = await self._before(rule, request, body)
            return refused if refused is not None else await self._pass_on(rule, about, request, body)
        except (BrokenError, aiohttp.ClientError):
            return _broken(request)
        finally:
            if transport is not None:
                self._watches.pop(transport, None)
                self._begun.discard(transport)

    async def _before(self, rule: Rule | None, request: web.Request, body: bytes) -> web.StreamResponse | None:
        """What happens before the server sees the request; an answer when it never does."""
        match rule.fault if rule is not None else "":
            case "drop":
                raise BrokenError
            case "hang":
                await asyncio.Event().wait()
            case "delay" if rule is not None:
                await asyncio.sleep(float(rule.values[0]))
            case "answer" if rule is not None:
                return _refusal(rule)
            case "lose-answer":
                async with self._sent(request, body) as answer:
                    await answer.read()
                raise BrokenError
            case "stale" if (remembered := self._first_lists.get(request.path)) is not None:
                status, headers, content = remembered
                return web.Response(status=status, headers=headers, body=content)
        return None

    async def _pass_on(self, rule: Rule | None, about: Asked, request: web.Request, body: bytes) -> web.StreamResponse:
        async with self._sent(request, body) as answer:
            if rule is not None and rule.fault == "duplicate":
                async with self._sent(request, body) as again:
                    await again.read()
            is_slow = rule is not None and rule.fault == "slow"
            if about.verb == "list" and answer.ok and not is_slow and request.path not in self._first_lists:
                content = await answer.read()
                self._first_lists[request.path] = (answer.status, reply_headers(answer.headers), content)
            reply = web.StreamResponse(status=answer.status, headers=reply_headers(answer.headers))
            if answer.ok and request.transport in self._watches:
                self._begun.add(request.transport)
            await reply.prepare(request)
            async for part in self._parts(rule, about, answer):
                await reply.write(part)
                if about.verb == "watch":
                    await self._passed.note(about)
            await reply.write_eof()
            return reply

    async def _parts(self, rule: Rule | None, about: Asked, answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        if rule is not None and rule.fault == "slow":
            async for part in _slowly(answer, int(rule.values[0])):
                yield part
        elif about.verb == "watch" and answer.ok and rule is not None and FAULTS[rule.fault].is_of_watch:
            async for line in altered(lines(answer), rule, about, self._passed):
                yield line
        elif about.verb == "watch":
            async for line in lines(answer):
                yield line
        else:
            yield await answer.read()

    def _sent(self, request: web.Request, body: bytes) -> "aiohttp.client._RequestContextManager":
        return self._session.request(
            request.method,
            self._server + request.raw_path,
            headers=request_headers(request.headers),
            data=body or None,
            allow_redirects=False,
        )


def _abort(watches: dict[asyncio.Transport, tuple[str, str]]) -> None:
    for transport in list(watches):
        transport.abort()


async def _slowly(answer: aiohttp.ClientResponse, bytes_per_second: int) -> AsyncIterator[bytes]:
    """Reads a tenth of a second's worth at a time: what is not read waits in the server."""
    piece = max(1, bytes_per_second // 10)
    async for part in answer.content.iter_chunked(piece):
        yield part
        await asyncio.sleep(len(part) / bytes_per_second)


def _refusal(rule: Rule) -> web.Response:
    code = int(rule.values[0])
    headers = {"Retry-After": rule.values[1]} if len(rule.values) > 1 else {}
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": f"the fault proxy answers {code}",
        "reason": CODES[code],
        "code": code,
    }
    return web.Response(status=code, headers=headers, body=json.dumps(status).encode(), content_type="application/json")


def _broken(request: web.Request) -> web.StreamResponse:
    """Closes the connection without a word more."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()
