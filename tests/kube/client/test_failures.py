"""What the client concludes from every way in which a request can fail, and when it tries again."""

import asyncio
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from api.errors import ConfigurationError, TuttiError
from kube.client.client import Client
from kube.client.credentials import Credentials
from kube.client.errors import (
    AlreadyExists,
    AnsweredError,
    BadRequest,
    Conflict,
    Forbidden,
    Gone,
    Invalid,
    NotFound,
    NotSent,
    OutcomeUnknown,
    ServerError,
    TooManyRequests,
    Unauthorized,
    Unreachable,
)
from kube.client.resources import PODS
from kube.client.retry import parse_retry_after
from tests.kube.scripted_server import ScriptedServer, cut_short, hang_up, ok, refusal, silence, stream, text


@pytest.mark.parametrize(
    ("code", "reason", "kind"),
    [
        (400, "BadRequest", BadRequest),
        (403, "Forbidden", Forbidden),
        (404, "NotFound", NotFound),
        (409, "Conflict", Conflict),
        (409, "AlreadyExists", AlreadyExists),
        (410, "Expired", Gone),
        (410, "Gone", Gone),
        (422, "Invalid", Invalid),
        (429, "TooManyRequests", TooManyRequests),
        (500, "InternalError", ServerError),
        (504, "Timeout", ServerError),
        (418, "", AnsweredError),
    ],
)
async def test_an_answer_becomes_the_error_of_its_status(
    server: ScriptedServer, client: Client, code: int, reason: str, kind: type[AnsweredError]
) -> None:
    server.then(refusal(code, reason, 'pods "a"\nis bad', details={"name": "a"}))
    with pytest.raises(kind) as caught:
        await client.create(PODS, {}, "ns")
    assert type(caught.value) is kind
    assert caught.value.details == {"name": "a"}
    assert str(caught.value) == f'POST /api/v1/namespaces/ns/pods: pods "a" is bad ({f"{code} {reason}".strip()})'


async def test_a_patch_with_the_uid_of_another_object_is_a_conflict(server: ScriptedServer, client: Client) -> None:
    # As the API server says it of a pod whose name a StatefulSet has given to the next one.
    cause = {"reason": "FieldValueInvalid", "message": "field is immutable", "field": "metadata.uid"}
    server.then(refusal(422, "Invalid", "metadata.uid: field is immutable", details={"name": "a", "causes": [cause]}))
    with pytest.raises(Conflict) as caught:
        await client.patch(PODS, {"metadata": {"uid": "before"}}, "a", "ns")
    assert caught.value.status == 422
    assert len(server.requests) == 1


async def test_an_answer_that_is_no_status_still_has_a_readable_error(server: ScriptedServer, client: Client) -> None:
    server.then(text("<html>\n<b>proxy</b> says no</html>", status=403))
    with pytest.raises(Forbidden, match=r"<b>proxy</b> says no</html> \(403\)$"):
        await client.get(PODS, "p", "ns")


async def test_a_write_whose_answer_was_lost_is_unknown_and_not_repeated(
    server: ScriptedServer, client: Client
) -> None:
    for call in (
        lambda: client.create(PODS, {}, "ns"),
        lambda: client.replace(PODS, {}, "p", "ns"),
        lambda: client.patch(PODS, {}, "p", "ns"),
        lambda: client.delete(PODS, "p", "ns", uid="u"),
    ):
        server.requests.clear()
        server.then(hang_up())
        with pytest.raises(OutcomeUnknown) as caught:
            await call()
        assert caught.value.outcome_unknown
        assert len(server.requests) == 1


async def test_a_write_over_a_used_connection_is_not_repeated_either(server: ScriptedServer, client: Client) -> None:
    server.then(ok(), hang_up())
    await client.replace(PODS, {}, "p", "ns")
    with pytest.raises(OutcomeUnknown):
        await client.replace(PODS, {}, "p", "ns")
    assert len(server.requests) == 2


async def test_a_truncated_answer_is_unknown(server: ScriptedServer, client: Client) -> None:
    server.then(cut_short(b'{"kind":'))
    with pytest.raises(OutcomeUnknown):
        await client.create(PODS, {}, "ns")


async def test_an_answer_that_is_no_json_is_unknown(server: ScriptedServer, client: Client) -> None:
    server.then(text("{ nope"))
    with pytest.raises(OutcomeUnknown, match="no JSON"):
        await client.create(PODS, {}, "ns")


async def test_no_answer_in_time_is_unknown(server: ScriptedServer, client: Client) -> None:
    server.then(silence(server))
    with pytest.raises(OutcomeUnknown, match="no answer in time"):
        await client.create(PODS, {}, "ns", timeout_seconds=0.1)


async def test_a_refused_connection_is_unreachable() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, not listening: connecting is refused
        port = taken.getsockname()[1]
        async with Client(Credentials(server=f"http://127.0.0.1:{port}"), user_agent="t") as client:
            with pytest.raises(Unreachable, match="connection refused") as caught:
                await client.create(PODS, {}, "ns")
    assert not caught.value.outcome_unknown


async def test_an_unknown_host_is_unreachable() -> None:
    async with Client(Credentials(server="http://no-such-host.invalid"), user_agent="t") as client:
        with pytest.raises(Unreachable):
            await client.create(PODS, {}, "ns")


@pytest.mark.parametrize("trouble", [hang_up(), refusal(500, "InternalError"), refusal(504, "Timeout")])
async def test_a_read_is_repeated(server: ScriptedServer, client: Client, trouble: Any) -> None:
    server.then(trouble, trouble, ok({"third": True}))
    assert await client.get(PODS, "p", "ns") == {"third": True}


async def test_a_read_is_given_up_after_three_attempts(server: ScriptedServer, client: Client) -> None:
    server.always(refusal(500, "InternalError"))
    with pytest.raises(ServerError):
        await client.get(PODS, "p", "ns")
    assert len(server.requests) == 3


async def test_a_read_is_not_repeated_after_a_clear_answer(server: ScriptedServer, client: Client) -> None:
    server.always(refusal(404, "NotFound"))
    with pytest.raises(NotFound):
        await client.get(PODS, "p", "ns")
    assert len(server.requests) == 1


@pytest.mark.parametrize("code", [429, 503])
async def test_a_refused_write_waits_as_long_as_the_server_asks(
    server: ScriptedServer, client: Client, code: int
) -> None:
    server.then(refusal(code, retry_after="0"), refusal(code, retry_after="0"), ok({"done": 1}))
    assert await client.create(PODS, {"a": 1}, "ns") == {"done": 1}
    assert [seen.json for seen in server.requests] == [{"a": 1}] * 3


async def test_a_server_that_asks_for_too_long_a_wait_is_not_waited_for(server: ScriptedServer, client: Client) -> None:
    server.always(refusal(429, retry_after="3600"))
    with pytest.raises(TooManyRequests) as caught:
        await client.create(PODS, {}, "ns")
    assert caught.value.retry_after_seconds == 3600
    assert len(server.requests) == 1


async def test_a_503_that_does_not_say_when_to_come_back_is_no_refusal(server: ScriptedServer, client: Client) -> None:
    server.then(refusal(503, "ServiceUnavailable"))
    with pytest.raises(ServerError) as caught:
        await client.create(PODS, {}, "ns")
    assert caught.value.outcome_unknown
    assert len(server.requests) == 1


@pytest.mark.parametrize("code", [500, 502, 504])
async def test_an_error_that_says_when_to_come_back_is_no_refusal_either(
    server: ScriptedServer, client: Client, code: int
) -> None:
    server.then(refusal(code, "InternalError", retry_after="0"), ok({"done": 1}))
    with pytest.raises(ServerError) as caught:
        await client.create(PODS, {}, "ns")
    assert caught.value.outcome_unknown
    assert len(server.requests) == 1


async def test_a_list_starts_again_when_its_version_was_forgotten(server: ScriptedServer, client: Client) -> None:
    first = ok({"metadata": {"resourceVersion": "1", "continue": "c"}, "items": [{"n": 1}]})
    server.then(first, refusal(410, "Expired"), ok({"metadata": {"resourceVersion": "9"}, "items": [{"n": 3}]}))
    assert (await client.list(PODS))["items"] == [{"n": 3}]
    assert "continue" not in server.requests[2].query


class _Token:
    """A token source that counts how often it was asked for a new token."""

    def __init__(self) -> None:
        self.generation = 0

    def authorization(self, *, refresh: bool) -> str:
        self.generation += refresh
        return f"Bearer {self.generation}"

    def is_fresh(self) -> bool:
        return True


async def test_a_401_fetches_the_token_anew_once(server: ScriptedServer) -> None:
    server.then(refusal(401, "Unauthorized"), ok({"in": True}))
    async with Client(Credentials(server=server.url, tokens=_Token()), user_agent="t") as client:
        assert await client.create(PODS, {}, "ns") == {"in": True}
    assert [seen.headers["Authorization"] for seen in server.requests] == ["Bearer 0", "Bearer 1"]


async def test_a_second_401_is_an_error(server: ScriptedServer) -> None:
    server.always(refusal(401, "Unauthorized"))
    async with Client(Credentials(server=server.url, tokens=_Token()), user_agent="t") as client:
        with pytest.raises(Unauthorized):
            await client.create(PODS, {}, "ns")
    assert len(server.requests) == 2


class _NoToken:
    """A token source that gives nothing any more."""

    def authorization(self, *, refresh: bool) -> str:
        raise ConfigurationError("the credential plugin 'x' failed: no network")

    def is_fresh(self) -> bool:
        return False


async def test_credentials_that_stop_working_are_a_request_that_was_not_sent(server: ScriptedServer) -> None:
    async with Client(Credentials(server=server.url, tokens=_NoToken()), user_agent="t") as client:
        with pytest.raises(Unreachable, match="no network"):
            await client.create(PODS, {}, "ns")
    assert not server.requests


async def test_a_watch_fetches_the_token_anew_once_too(server: ScriptedServer) -> None:
    server.then(refusal(401, "Unauthorized"), stream({"type": "BOOKMARK", "object": {}}))
    async with Client(Credentials(server=server.url, tokens=_Token()), user_agent="t") as client:
        watch = client.watch(PODS, resource_version="1", timeout_seconds=10)
        assert [line async for line in watch] == [b'{"type": "BOOKMARK", "object": {}}']
    assert [seen.headers["Authorization"] for seen in server.requests] == ["Bearer 0", "Bearer 1"]


async def note_all(stream_of_lines: AsyncIterator[bytes], received: list[bytes]) -> None:
    async for line in stream_of_lines:
        received.append(line)  # noqa: PERF401 (what came before an error counts)


async def test_a_watch_that_ends_within_an_object_is_no_clean_end(server: ScriptedServer, client: Client) -> None:
    server.then(stream({"type": "BOOKMARK", "object": {}}, tail=b'{"type": "ADD'))
    received: list[bytes] = []
    with pytest.raises(OutcomeUnknown, match="in the middle of an object"):
        await note_all(client.watch(PODS, resource_version="1", timeout_seconds=10), received)
    assert received == [b'{"type": "BOOKMARK", "object": {}}']


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("3", 3.0), ("0", 0.0), (None, None), ("-1", None), ("1e9", None), ("Wed, 21 Oct 2026 07:28:00 GMT", None)],
)
def test_only_whole_seconds_count_as_retry_after(header: str | None, seconds: float | None) -> None:
    assert parse_retry_after(header) == seconds


async def test_every_error_is_a_tutti_error_of_one_line(server: ScriptedServer, client: Client) -> None:
    server.then(refusal(500, "InternalError", "first\nsecond\r\n" + "x" * 5000))
    with pytest.raises(TuttiError) as caught:
        await client.create(PODS, {}, "ns")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1200


async def test_a_write_that_waited_for_a_connection_is_not_sent_once_it_is_forbidden(server: ScriptedServer) -> None:
    is_allowed = True

    def guard() -> None:
        if not is_allowed:
            raise NotSent("the lease is not held")

    release = asyncio.Event()

    async def late(_: web.Request) -> web.StreamResponse:
        await release.wait()
        return web.json_response({})

    server.then(late, ok())
    async with Client(server.credentials, user_agent="test", max_connections=1, guard=guard) as client:
        first = asyncio.create_task(client.create(PODS, {"number": 1}, "ns"))
        await server.received(1)
        waiting = asyncio.create_task(client.create(PODS, {"number": 2}, "ns"))
        await asyncio.sleep(0)
        is_allowed = False
        release.set()
        assert await first == {}
        with pytest.raises(NotSent):
            await waiting
        assert [seen.json for seen in server.requests] == [{"number": 1}]
        is_allowed = True
        await client.create(PODS, {"number": 3}, "ns")
        assert server.requests[-1].json == {"number": 3}
