"""What lies between a process and the API server lets everything pass but watches: these stay open, and nothing comes on them."""

import asyncio
import ssl
import threading
from concurrent.futures import Future
from functools import partial
from http import HTTPStatus

import aiohttp
from aiohttp import web

from verify.clusters.controlplane import ControlPlane
from verify.faults.forwarding import MOST_BYTES, lines, open_session, reply_headers, request_headers

START_SECONDS = 30


class HoldingProxy:
    """Runs in a thread; a context manager.

    Attributes:
        holds: whether watches are held; what was held then gets nothing any more, and its client has to ask again.
        port: on this machine.
    """

    def __init__(self, plane: ControlPlane) -> None:
        self.holds = False
        self.port = 0
        self._plane = plane
        self._loop = asyncio.new_event_loop()
        self._over = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="holding proxy", daemon=True)
        self._started: Future[int] = Future()

    def __enter__(self) -> "HoldingProxy":
        self._thread.start()
        self.port = self._started.result(START_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        folder = self._plane.folder
        serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        serving.load_cert_chain(folder / "apiserver.crt", folder / "apiserver.key")
        async with open_session(ssl.create_default_context(cafile=self._plane.ca)) as session:
            application = web.Application(client_max_size=MOST_BYTES)
            application.router.add_route("*", "/{path:.*}", partial(self._handle, session))
            runner = web.AppRunner(application, shutdown_timeout=0.1, handler_cancellation=True)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=serving).start()
            self._started.set_result(runner.addresses[0][1])
            await self._over.wait()
            await runner.cleanup()

    async def _handle(self, session: aiohttp.ClientSession, request: web.Request) -> web.StreamResponse:
        is_watch = "watch" in request.query
        if is_watch and self.holds:
            await self._over.wait()
            return web.Response(status=HTTPStatus.SERVICE_UNAVAILABLE)
        headers = request_headers(request.headers)
        url = self._plane.url + request.raw_path
        async with session.request(request.method, url, headers=headers, data=await request.read() or None) as answer:
            reply = web.StreamResponse(status=answer.status, headers=reply_headers(answer.headers))
            await reply.prepare(request)
            async for line in lines(answer):
                if is_watch and self.holds:
                    await self._over.wait()
                    return reply
                await reply.write(line)
            await reply.write_eof()
            return reply
