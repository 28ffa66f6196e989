"""Files are sent to those who may get the path, by the API server's word, whether or not metrics are open to all."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from prometheus_client import CollectorRegistry

from kube.process.health import Downloads, HealthServer
from kube.process.metrics_access import MetricsAccess
from tests.kube.process.test_metrics_access import Reviews

MAY = "keeper"
PATH, NONE = "/debug/snapshot", "/debug/decisions"
PARTS = [b"one ", b"", b"two"]


@asynccontextmanager
async def serving(parts: list[bytes]) -> AsyncIterator[HealthServer]:
    async with Reviews({MAY: PATH}) as reviews:
        downloads = Downloads(
            MetricsAccess(reviews.credentials, user_agent="test"),
            {PATH: lambda: iter(parts), NONE: lambda: None},
            "application/gzip",
        )
        async with HealthServer("127.0.0.1:0", registry=CollectorRegistry(), downloads=downloads) as server:
            yield server


async def fetched(server: HealthServer, path: str, token: str = "") -> tuple[int, bytes]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://127.0.0.1:{server.port}{path}", headers=headers) as response,
    ):
        return response.status, await response.read()


async def test_who_may_get_the_path_gets_the_whole_file() -> None:
    async with serving(PARTS) as server:
        assert await fetched(server, PATH, MAY) == (200, b"one two")


@pytest.mark.parametrize(("token", "status"), [("", 401), ("stranger", 401), ("somebody", 403)])
async def test_nobody_else_gets_a_byte_of_it(token: str, status: int) -> None:
    async with serving(PARTS) as server:
        found, body = await fetched(server, PATH, token)
        assert found == status
        assert b"one" not in body


async def test_a_right_to_one_path_is_no_right_to_another() -> None:
    async with serving(PARTS) as server:
        assert (await fetched(server, NONE, MAY))[0] == 403
        assert (await fetched(server, "/metrics"))[0] == 200


async def test_the_loop_has_its_turns_while_a_file_is_made() -> None:
    turn = threading.Event()
    seen: list[bool] = []

    def parts() -> Iterator[bytes]:
        for _ in range(20):
            turn.clear()
            # Made in the loop itself, a part would wait here for nothing.
            seen.append(turn.wait(timeout=10))
            yield b"x"

    async def live() -> None:
        while True:
            turn.set()
            await asyncio.sleep(0)

    async with Reviews({MAY: PATH}) as reviews:
        downloads = Downloads(MetricsAccess(reviews.credentials, user_agent="test"), {PATH: parts}, "application/gzip")
        async with HealthServer("127.0.0.1:0", registry=CollectorRegistry(), downloads=downloads) as server:
            living = asyncio.ensure_future(live())
            assert await fetched(server, PATH, MAY) == (200, b"x" * 20)
            living.cancel()
            await asyncio.gather(living, return_exceptions=True)
    assert seen == [True] * 20
