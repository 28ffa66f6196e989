"""How soon an informer follows again what broke: at once after a stream that lasted, ever later while none does."""

import asyncio
import contextlib
import json
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any, cast

import pytest

from kube.cache.decoding import ListDecoder
from kube.cache.informer import Informer
from kube.client.client import Client
from kube.client.errors import Gone, KubeError, OutcomeUnknown
from kube.client.resources import POD_DISRUPTION_BUDGETS
from tests.kube.cache.builders import Thing, page
from tests.kube.fake_time import in_fake_time, now

SOON_SECONDS = 0.2
"""The longest pause after one failure."""
BREAKS = 12
NOTHING: tuple[bytes, ...] = ()
BROKEN = OutcomeUnknown("the connection broke")


class Quiet:
    """A server that opens every stream and tells nothing, until the stream breaks.

    Attributes:
        pauses: the seconds between each break and the next request for a stream.
        lists: how often it was asked for a list.

    Args:
        lasts_seconds: how long each stream lasts.
        end: what breaks it; None: it ends as the server wants it.
        opens: whether the server begins to answer at all.
    """

    def __init__(self, lasts_seconds: float, end: KubeError | None, *, opens: bool = True) -> None:
        self.pauses: list[float] = []
        self.lists = 0
        self.enough = asyncio.Event()
        self._lasts_seconds = lasts_seconds
        self._end = end
        self._opens = opens
        self._broke_at: float | None = None

    async def list_pages(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        self.lists += 1
        yield json.dumps(page(10)).encode()

    async def watch(self, *_: Any, opened: Callable[[], None] | None = None, **__: Any) -> AsyncGenerator[bytes, None]:
        if self._broke_at is not None:
            self.pauses.append(now() - self._broke_at)
        if len(self.pauses) == BREAKS:
            self.enough.set()
        if self._opens and opened is not None:
            opened()
        await asyncio.sleep(self._lasts_seconds)
        self._broke_at = now()
        if self._end is not None:
            raise self._end
        for line in NOTHING:
            yield line


def informer_of(server: Quiet) -> Informer[Thing]:
    decoder = ListDecoder(Thing)
    return Informer(cast("Client", server), POD_DISRUPTION_BUDGETS, decoder, clock=now, random=random.Random(7))


@contextlib.asynccontextmanager
async def followed(server: Quiet) -> AsyncIterator[Informer[Thing]]:
    informer = informer_of(server)
    task = asyncio.create_task(informer.run())
    try:
        yield informer
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@pytest.mark.parametrize("end", [BROKEN, Gone(410), None], ids=["broken", "too old", "ended"])
@in_fake_time
async def test_a_kind_of_which_nothing_is_told_is_followed_again_at_once_however_often_its_stream_broke(
    end: KubeError | None,
) -> None:
    server = Quiet(20.0, end)
    async with followed(server):
        await server.enough.wait()
    assert max(server.pauses) <= SOON_SECONDS


@in_fake_time
async def test_a_quiet_kind_whose_streams_last_is_not_listed_anew() -> None:
    server = Quiet(20.0, BROKEN)
    async with followed(server):
        await server.enough.wait()
    assert server.lists == 1


@pytest.mark.parametrize("end", [BROKEN, None], ids=["broken", "ended"])
@in_fake_time
async def test_streams_that_do_not_last_a_second_are_opened_ever_later(end: KubeError | None) -> None:
    server = Quiet(0.5, end)
    async with followed(server):
        await server.enough.wait()
    assert server.pauses[-1] >= 10.0


@in_fake_time
async def test_a_server_that_takes_long_to_refuse_a_stream_is_asked_ever_later() -> None:
    server = Quiet(20.0, BROKEN, opens=False)
    async with followed(server):
        await server.enough.wait()
    assert server.pauses[-1] >= 10.0


@in_fake_time
async def test_the_trouble_of_a_quiet_kind_is_over_once_its_stream_has_lasted_a_second() -> None:
    server = Quiet(20.0, BROKEN)
    async with followed(server) as informer:
        await asyncio.sleep(20.1)
        assert informer.is_in_trouble
        await asyncio.sleep(2)
        assert not informer.is_in_trouble


@in_fake_time
async def test_a_server_that_begins_to_answer_was_heard() -> None:
    async with followed(Quiet(60.0, BROKEN)) as informer:
        await asyncio.sleep(70)
        assert informer.last_heard_seconds() < 11
