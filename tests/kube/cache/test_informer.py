"""The informer follows a resource through everything a server and a network can do to it."""

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from kube.cache.decoding import ListDecoder
from kube.cache.informer import Change, Informer
from kube.client.client import Client
from kube.client.resources import PODS
from tests.kube.cache.builders import Thing, bookmark, event, page, stream_error, thing
from tests.kube.scripted_server import ScriptedServer, hang_up, ok, refusal, silence, stream


class Follower:
    """An informer that notes every change, and what the store held when it was told."""

    def __init__(self, client: Client, **options: Any) -> None:
        self.informer: Informer[Thing] = Informer(client, PODS, ListDecoder(Thing), random=random.Random(7), **options)
        self.informer.add_handler(self._note)
        self.log: list[str] = []
        self.mismatches: list[Change[Thing]] = []
        self._changed = asyncio.Event()

    def _note(self, change: Change[Thing]) -> None:
        subject = change.new or change.old
        assert subject is not None
        self.log.append(f"{change.kind} {subject.metadata.name}@{subject.metadata.resource_version}")
        metadata = subject.metadata
        if self.informer.store.get(metadata.namespace, metadata.name) is not change.new:
            self.mismatches.append(change)
        self._changed.set()

    async def logged(self, count: int) -> list[str]:
        """Wait until so many changes were told."""
        async with asyncio.timeout(10):
            while len(self.log) < count:
                self._changed.clear()
                await self._changed.wait()
        return self.log


@contextlib.asynccontextmanager
async def following(client: Client, **options: Any) -> AsyncIterator[Follower]:
    follower = Follower(client, **options)
    task = asyncio.create_task(follower.informer.run())
    try:
        yield follower
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_it_lists_page_by_page_and_then_watches_from_the_list(server: ScriptedServer, client: Client) -> None:
    server.then(
        ok(page(10, thing("a", 3), more="x")),
        ok(page(10, thing("b", 4))),
        stream(event("ADDED", thing("c", 11)), event("MODIFIED", thing("a", 12)), hold=server),
    )
    async with following(client, label_selector="k=v", field_selector="f=g") as follower:
        await follower.informer.synced.wait()
        assert await follower.logged(4) == ["added a@3", "added b@4", "added c@11", "updated a@12"]
    assert not follower.mismatches
    watch = server.requests[2].query
    assert watch["resourceVersion"] == "10"
    assert watch["allowWatchBookmarks"] == "true"
    assert 240 <= int(watch["timeoutSeconds"]) <= 300
    assert (watch["labelSelector"], watch["fieldSelector"]) == ("k=v", "f=g")


async def test_it_is_synced_only_after_the_last_page(server: ScriptedServer, client: Client) -> None:
    synced_before_second_page: list[bool] = []
    async with following(client) as follower:

        async def second_page(request: Any) -> Any:
            synced_before_second_page.append(follower.informer.synced.is_set())
            return await ok(page(10, thing("b", 4)))(request)

        server.then(ok(page(10, thing("a", 3), more="x")), second_page, stream(hold=server))
        await follower.informer.synced.wait()
        assert len(follower.informer.store) == 2
    assert synced_before_second_page == [False]


async def test_it_resumes_a_closed_stream_at_the_last_bookmark(server: ScriptedServer, client: Client) -> None:
    server.then(ok(page(10)), stream(event("ADDED", thing("a", 11)), bookmark(40)), stream(hold=server))
    async with following(client):
        requests = await server.received(3)
    assert requests[2].query["resourceVersion"] == "40"
    assert requests[2].query["watch"] == "1"


async def test_it_resumes_a_broken_stream_at_the_last_event(server: ScriptedServer, client: Client) -> None:
    server.then(ok(page(10)), stream(event("ADDED", thing("a", 11))), hang_up(), stream(hold=server))
    async with following(client) as follower:
        requests = await server.received(4)
        assert follower.log == ["added a@11"]
    assert [seen.query["resourceVersion"] for seen in requests[1:]] == ["10", "11", "11"]


@pytest.mark.parametrize(
    "too_old", [refusal(410, "Expired"), stream(stream_error(410, "Expired")), stream(stream_error(410, "Gone"))]
)
async def test_a_version_too_old_is_listed_anew_and_vanished_objects_are_reported(
    server: ScriptedServer, client: Client, too_old: Any
) -> None:
    server.then(
        ok(page(10, thing("gone", 1), thing("kept", 2), thing("changed", 3))),
        too_old,
        ok(page(50, thing("kept", 2), thing("changed", 45), thing("new", 46))),
        stream(hold=server),
    )
    async with following(client) as follower:
        await follower.logged(6)
    assert follower.log[3:] == ["deleted gone@1", "updated changed@45", "added new@46"]
    assert not follower.mismatches


async def test_a_version_too_old_between_two_pages_is_listed_anew(server: ScriptedServer, client: Client) -> None:
    server.then(
        ok(page(10, thing("a", 1), more="x")), refusal(410, "Expired"), ok(page(20, thing("b", 2))), stream(hold=server)
    )
    async with following(client) as follower:
        assert await follower.logged(1) == ["added b@2"]


async def test_same_name_with_another_uid_is_a_deletion_and_an_addition(server: ScriptedServer, client: Client) -> None:
    server.then(
        ok(page(10, thing("a", 1, uid="first"))), stream(event("MODIFIED", thing("a", 11, uid="second")), hold=server)
    )
    async with following(client) as follower:
        assert await follower.logged(3) == ["added a@1", "deleted a@1", "added a@11"]
        assert follower.informer.store.by_uid("first") is None
        assert follower.informer.store.by_uid("second") is not None
    assert not follower.mismatches


async def test_a_silent_stream_is_taken_for_dead(server: ScriptedServer, client: Client) -> None:
    server.then(ok(page(10)), stream(bookmark(33), hold=server), stream(hold=server))
    async with following(client, silence_seconds=0.2):
        requests = await server.received(3)
    assert requests[2].query["resourceVersion"] == "33"


async def test_a_kind_of_which_nothing_is_ever_told_is_no_trouble(
    server: ScriptedServer, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    """A server sends bookmarks only of kinds that have had an event since it was started."""
    now = iter(range(1000))
    server.then(ok(page(10)), stream(hold=server), stream(hold=server), stream(hold=server))
    with caplog.at_level(logging.INFO, logger="kube.cache.informer"):
        async with following(client, silence_seconds=0.05, clock=lambda: float(next(now))) as follower:
            listed = follower.informer
            requests = await server.received(4)
            assert not listed.is_in_trouble
            assert listed.last_heard_seconds() < 8
    assert [each.query["resourceVersion"] for each in requests[1:]] == ["10"] * 3
    assert caplog.messages == []


async def test_after_many_silent_streams_it_is_listed_anew(server: ScriptedServer, client: Client) -> None:
    """A server restored from a backup would wait for a version that it has not reached yet."""
    server.then(ok(page(10)), *(stream(hold=server) for _ in range(6)), ok(page(4)), stream(hold=server))
    async with following(client, silence_seconds=0.05):
        requests = await server.received(9)
    assert "watch" not in requests[7].query
    assert requests[8].query["resourceVersion"] == "4"


async def test_a_server_that_does_not_even_begin_to_answer_is_trouble(
    server: ScriptedServer, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    server.then(ok(page(10)), silence(server), silence(server))
    async with following(client, silence_seconds=0.05) as follower:
        await server.received(3)
        assert follower.informer.is_in_trouble
    assert ["no answer in time" in each for each in caplog.messages] == [True]


async def test_the_age_of_the_last_word_is_known(server: ScriptedServer, client: Client) -> None:
    now = 100.0
    server.then(ok(page(10)), stream(bookmark(11), hold=server))
    async with following(client, clock=lambda: now) as follower:
        await server.received(2)
        now = 107.5
        assert follower.informer.last_heard_seconds() == 7.5


async def test_an_object_cut_off_at_the_end_is_not_believed(server: ScriptedServer, client: Client) -> None:
    half = b'{"type":"ADDED","object":{"metadata":{"name":"half","resourceVersion":"12"'
    server.then(ok(page(10)), stream(event("ADDED", thing("a", 11)), tail=half), stream(hold=server))
    async with following(client) as follower:
        requests = await server.received(3)
        assert follower.log == ["added a@11"]
    assert requests[2].query["resourceVersion"] == "11"


async def test_a_line_that_is_no_event_does_not_end_it(server: ScriptedServer, client: Client) -> None:
    server.then(ok(page(10)), stream("nonsense"), stream(event("ADDED", thing("a", 11)), hold=server))
    async with following(client) as follower:
        assert await follower.logged(1) == ["added a@11"]


async def test_any_other_error_in_the_stream_is_waited_out(server: ScriptedServer, client: Client) -> None:
    server.then(
        ok(page(10)),
        stream(stream_error(500, "InternalError")),
        stream(event("ADDED", thing("a", 11)), hold=server),
    )
    async with following(client) as follower:
        assert await follower.logged(1) == ["added a@11"]
    assert server.requests[2].query["resourceVersion"] == "10"


async def test_a_missing_resource_is_asked_for_until_it_is_there_and_logged_once(
    server: ScriptedServer, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    server.then(refusal(404, "NotFound"), refusal(404, "NotFound"), refusal(403, "Forbidden"))
    server.then(ok(page(10, thing("a", 1))), stream(bookmark(11), event("ADDED", thing("b", 12)), hold=server))
    with caplog.at_level(logging.INFO, logger="kube.cache.informer"):
        async with following(client) as follower:
            await follower.logged(2)
    assert "following pods again" in caplog.messages
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert [("404" in line, "403" in line) for line in warnings] == [(True, False), (False, True)]


async def test_streams_that_end_at_once_are_not_opened_in_a_tight_loop(server: ScriptedServer, client: Client) -> None:
    server.then(ok(page(10))).always(stream())
    begun = time.monotonic()
    async with following(client):
        await server.received(5)
    assert time.monotonic() - begun >= 0.1 + 0.2 + 0.4  # the shortest pauses after the first three streams


async def test_a_server_that_keeps_failing_the_watch_is_listed_anew(server: ScriptedServer) -> None:
    server.then(ok(page(10)), *[refusal(500, "InternalError")] * 6, ok(page(3, thing("a", 2))), stream(hold=server))
    async with Client(server.credentials, user_agent="t") as client:
        follower = Follower(client)
        follower.informer._backoff = _NoPause()  # type: ignore[assignment]
        task = asyncio.create_task(follower.informer.run())
        await follower.logged(1)
        task.cancel()
    assert server.requests[-1].query["resourceVersion"] == "3"


class _NoPause:
    """A backoff that counts and does not wait."""

    attempts = 0

    def next_seconds(self) -> float:
        self.attempts += 1
        return 0.0

    def reset(self) -> None:
        self.attempts = 0


async def test_an_unreadable_object_does_not_hide_the_others(
    server: ScriptedServer, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    bad = thing("bad", 2, replicas="many")
    server.then(
        ok(page(10, thing("a", 1), bad, thing("c", 3))),
        stream(event("MODIFIED", thing("a", 11, replicas="few")), event("ADDED", thing("d", 12)), hold=server),
    )
    async with following(client) as follower:
        assert await follower.logged(3) == ["added a@1", "added c@3", "added d@12"]
        kept = follower.informer.store.get("ns", "a")
        assert kept is not None
        assert kept.metadata.resource_version == "1"
    assert sum("not readable" in message for message in caplog.messages) == 2


async def test_an_object_that_became_unreadable_is_not_deleted_by_the_next_list(
    server: ScriptedServer, client: Client
) -> None:
    server.then(
        ok(page(10, thing("a", 1))),
        stream(stream_error(410, "Gone")),
        ok(page(20, thing("a", 15, replicas="few"), thing("b", 16))),
        stream(hold=server),
    )
    async with following(client) as follower:
        assert await follower.logged(2) == ["added a@1", "added b@16"]


async def test_a_repeated_version_is_no_change(server: ScriptedServer, client: Client) -> None:
    server.then(
        ok(page(10, thing("a", 5))),
        stream(event("MODIFIED", thing("a", 5)), event("DELETED", thing("a", 12)), hold=server),
    )
    async with following(client) as follower:
        assert await follower.logged(2) == ["added a@5", "deleted a@5"]


async def test_very_long_lines_arrive_whole(server: ScriptedServer, client: Client) -> None:
    huge = thing("huge", 11, nodeName="x" * 1_500_000)
    server.then(ok(page(10)), stream(event("ADDED", huge), hold=server))
    async with following(client) as follower:
        await follower.logged(1)
        stored = follower.informer.store.get("ns", "huge")
        assert stored is not None
        assert len(stored.spec.node_name) == 1_500_000


async def test_indexes_follow_the_changes(server: ScriptedServer, client: Client) -> None:
    server.then(
        ok(page(10, thing("a", 1, nodeName="n1"), thing("b", 2, nodeName="n1"))),
        stream(event("MODIFIED", thing("a", 11, nodeName="n2")), hold=server),
    )
    async with following(client, indexers={"node": lambda item: [item.spec.node_name]}) as follower:
        await follower.logged(3)
        store = follower.informer.store
        assert [item.metadata.name for item in store.by_index("node", "n1")] == ["b"]
        assert [item.metadata.name for item in store.by_index("node", "n2")] == ["a"]
