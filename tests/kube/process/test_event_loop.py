"""What connections with TLS do not use between two reads goes back to the system, and nothing is lost by it."""

import asyncio
import mmap
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
from aiohttp import web

from kube.process.event_loop import EventLoop
from tests.kube.certificates import Certificates, make_certificates

ANSWER = bytes(range(1, 256)) * 4096
"""A megabyte without a zero in it."""


def test_a_read_buffer_is_empty_after_a_release_and_is_read_into_again(tmp_path: Path) -> None:
    certificates = make_certificates(tmp_path)

    async def run(loop: EventLoop) -> None:
        async with _server(_server_side(certificates)) as port, _client(certificates) as client:
            first, received = await _get(client, f"https://localhost:{port}/")
            assert received == ANSWER
            buffer = first.get_extra_info("uvloop.sslproto").get_buffer(0)
            assert any(_whole_pages(buffer))

            loop.release_read_buffers()
            assert not any(_whole_pages(buffer))

            second, received = await _get(client, f"https://localhost:{port}/")
            assert received == ANSWER
            assert second is first

    _run(run)


def test_a_release_in_the_middle_of_an_answer_takes_nothing_of_it(tmp_path: Path) -> None:
    certificates = make_certificates(tmp_path)

    async def run(loop: EventLoop) -> None:
        pieces = []
        async with (
            _server(_server_side(certificates)) as port,
            _client(certificates) as client,
            client.get(f"https://localhost:{port}/") as response,
        ):
            async for piece in response.content.iter_any():
                pieces.append(piece)
                loop.release_read_buffers()
        assert len(pieces) > 1
        assert b"".join(pieces) == ANSWER

    _run(run)


def test_connections_without_tls_and_connections_that_have_ended_are_passed_over(tmp_path: Path) -> None:
    certificates = make_certificates(tmp_path)

    async def run(loop: EventLoop) -> None:
        async with _server(None) as port, _client(certificates) as client:
            _, received = await _get(client, f"http://localhost:{port}/")
            assert received == ANSWER
            loop.release_read_buffers()
        async with _server(_server_side(certificates)) as port, _client(certificates) as client:
            ended, _ = await _get(client, f"https://localhost:{port}/")
            ended.abort()
            loop.release_read_buffers()
            _, received = await _get(client, f"https://localhost:{port}/")
            assert received == ANSWER

    _run(run)


def _run(run: Callable[[EventLoop], Awaitable[None]]) -> None:
    loop = EventLoop()

    async def within_seconds() -> None:
        async with asyncio.timeout(60):
            await run(loop)

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(within_seconds())


async def _get(client: aiohttp.ClientSession, url: str) -> tuple[asyncio.Transport, bytes]:
    """The connection, and what came over it."""
    async with client.get(url) as response:
        assert response.connection is not None
        transport = response.connection.transport
        assert transport is not None
        return transport, await response.read()


def _whole_pages(buffer: memoryview) -> memoryview:
    """Without the ends, which may lie in a page with something else."""
    return buffer[mmap.PAGESIZE : -mmap.PAGESIZE]


@asynccontextmanager
async def _server(context: ssl.SSLContext | None) -> AsyncIterator[int]:
    """Its port; it answers everybody the same."""

    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(body=ANSWER)

    app = web.Application()
    app.router.add_get("/", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def _server_side(certificates: Certificates) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificates.certificate, certificates.key)
    return context


def _client(certificates: Certificates) -> aiohttp.ClientSession:
    context = ssl.create_default_context(cafile=str(certificates.ca))
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context))
