"""What a script does to the events of watches."""

import asyncio

import aiohttp
import pytest

from tests.verify.faults.upstream import NODES, PODS, through
from verify.faults.proxy import Injected


async def test_without_a_script_events_pass_one_by_one() -> None:
    async with through("") as client, client.watching(PODS) as watch:
        for name in ("a", "b"):
            await client.upstream.send(PODS, name)
            assert await watch.next() == name
        await client.upstream.end(PODS)
        assert await watch.next() == ""


async def test_a_half_open_watch_is_silent_and_does_not_end() -> None:
    async with through("half-open=1 @ watch pods") as client, client.watching(PODS) as watch:
        await client.upstream.send(PODS, "a", "b")
        await client.upstream.end(PODS)
        assert await watch.next() == "a"
        silence = asyncio.create_task(watch.next())
        async with client.watching(PODS) as again:
            await client.upstream.send(PODS, "c")
            # By the time that a later watch has got a later event, this one has got nothing.
            while await again.next() != "c":
                pass
        assert not silence.done()
        silence.cancel()


async def test_a_cut_watch_breaks_and_an_ended_one_ends() -> None:
    async with through("cut=1 @ watch pods") as client, client.watching(PODS) as watch:
        await client.upstream.send(PODS, "a", "b")
        assert await watch.next() == "a"
        with pytest.raises(aiohttp.ClientError):
            await watch.next()
    async with through("end=1 @ watch pods") as client, client.watching(PODS) as watch:
        await client.upstream.send(PODS, "a", "b")
        assert [await watch.next(), await watch.next()] == ["a", ""]


async def test_a_watch_may_break_before_its_first_event() -> None:
    async with through("end=0 @ watch pods") as client, client.watching(PODS) as watch:
        assert await watch.next() == ""


async def test_a_version_that_is_too_old_is_told_in_the_stream() -> None:
    async with through("gone=2 @ watch pods") as client, client.watching(PODS) as watch:
        await client.upstream.send(PODS, "a", "b", "c")
        assert [await watch.next() for _ in range(4)] == ["a", "b", "410", ""]


async def test_an_event_may_be_lost_or_come_twice() -> None:
    async with through("lose-event=2 @ watch pods") as client, client.watching(PODS) as watch:
        await client.upstream.send(PODS, "a", "b", "c")
        assert [await watch.next() for _ in range(2)] == ["a", "c"]
    async with through("repeat-event=2 @ watch pods") as client, client.watching(PODS) as watch:
        await client.upstream.send(PODS, "a", "b", "c")
        assert [await watch.next() for _ in range(4)] == ["a", "b", "b", "c"]


async def test_bookmarks_are_no_events() -> None:
    async with through("lose-event=1 @ watch pods") as client, client.watching(PODS) as watch:
        await client.upstream.send(PODS, "bookmark", "a", "b")
        assert [await watch.next() for _ in range(2)] == ["bookmark", "b"]


async def test_events_of_one_kind_may_come_after_later_ones_of_another() -> None:
    async with (
        through("behind=nodes,20 @ watch pods") as client,
        client.watching(PODS) as pods,
        client.watching(NODES) as nodes,
    ):
        order: list[str] = []

        async def note(watch: object) -> None:
            order.append(await watch.next())  # type: ignore[attr-defined]

        await client.upstream.send(PODS, "pod")
        first = asyncio.create_task(note(pods))
        await client.upstream.await_arrivals(2)
        await client.upstream.send(NODES, "node")
        await note(nodes)
        await first
        assert order == ["node", "pod"]


async def test_who_waits_for_another_kind_does_not_wait_for_ever() -> None:
    async with through("behind=nodes,0.1 @ watch pods") as client, client.watching(PODS) as watch:
        await client.upstream.send(PODS, "a")
        assert await watch.next() == "a"


async def test_a_watch_may_be_late_as_a_whole() -> None:
    async with through("hold=0.3 @ watch pods") as client, client.watching(PODS) as watch:
        begin = asyncio.get_running_loop().time()
        await client.upstream.send(PODS, "a")
        assert await watch.next() == "a"
        assert asyncio.get_running_loop().time() - begin >= 0.3


async def test_only_the_watches_that_are_named_are_hurt() -> None:
    async with through("end=0 @ watch * #2-3") as client:
        ends = []
        for _ in range(4):
            async with client.watching(PODS) as watch:
                await client.upstream.send(PODS, "a")
                ends.append(await watch.next())
        assert ends == ["a", "", "", "a"]
        assert [type(each) for each in client.proxy.injected] == [Injected, Injected]


async def test_all_watches_may_be_broken_at_once() -> None:
    async with through("") as client, client.watching(PODS) as pods, client.watching(NODES) as nodes:
        for path, watch in ((PODS, pods), (NODES, nodes)):
            await client.upstream.send(path, "a")
            assert await watch.next() == "a"
        client.proxy.break_watches()
        for watch in (pods, nodes):
            with pytest.raises(aiohttp.ClientError):
                await watch.next()
        assert (await client.ask("GET", PODS))[0] == 200


async def test_who_has_watched_is_known_when_the_watch_is_broken_too() -> None:
    async with through("") as client, client.watching(PODS) as watch:
        await client.upstream.send(PODS, "a")
        assert await watch.next() == "a"
        seen = client.proxy.watched()
        assert {resource for _, resource in seen} == {"pods"}
        client.proxy.break_watches()
        assert client.proxy.watched() == set()
        assert client.proxy.has_watched() == seen
        with pytest.raises(aiohttp.ClientError):
            await watch.next()
        async with client.watching(PODS) as again:
            await client.upstream.send(PODS, "b")
            assert await again.next() == "b"
            assert client.proxy.watched() == seen


async def test_a_watch_that_the_server_has_not_begun_is_none() -> None:
    # Whoever acts once all watch would act before the events that the server has for those who have just asked.
    async with through("hang @ watch pods #1") as client:
        asking = asyncio.create_task(client.ask("GET", f"{PODS}?watch=1"))
        await client.await_fault()
        assert {resource for _, resource in client.proxy.has_watched()} == {"pods"}
        assert client.proxy.watched() == set()
        asking.cancel()
        async with client.watching(PODS):
            assert client.proxy.watched() == client.proxy.has_watched()
