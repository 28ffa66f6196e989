"""A stream that breaks leaves nothing for the garbage collector, which looks at what is old only once in hours."""

import asyncio
import gc
from collections.abc import Iterator

import aiohttp
import pytest
from aiohttp import web

from kube.client.client import Client
from kube.client.errors import KubeError
from kube.client.resources import PODS
from tests.kube.scripted_server import Answer, ScriptedServer, cut_short, stream

BOOKMARK = {"type": "BOOKMARK", "object": {}}
BREAKS = 5


async def broken_chunk(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    await response.write(b'{"type": "BOOKMARK"}\n')
    assert request.transport is not None
    request.transport.close()
    return response


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def bodies() -> int:
    return sum(type(each) is aiohttp.StreamReader for each in gc.get_objects())


async def watched(client: Client, silence_seconds: float) -> None:
    with pytest.raises(KubeError):
        async for _ in client.watch(PODS, resource_version="1", timeout_seconds=60.0, silence_seconds=silence_seconds):
            pass


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("how", ["in the middle of a body", "in the middle of a chunk", "silent"])
async def test_a_watch_that_breaks_is_gone_with_its_buffers_at_once(
    server: ScriptedServer, client: Client, how: str
) -> None:
    answers: dict[str, Answer] = {
        "in the middle of a body": cut_short(b'{"type": "BOOKMARK"}\n'),
        "in the middle of a chunk": broken_chunk,
        "silent": stream(BOOKMARK, hold=server),
    }
    silence_seconds = 0.1 if how == "silent" else 10.0
    server.always(answers[how])
    await watched(client, silence_seconds)
    before = bodies()
    for _ in range(BREAKS):
        await watched(client, silence_seconds)
    await asyncio.sleep(0)
    assert bodies() <= before
