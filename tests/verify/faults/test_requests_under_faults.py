"""What a script does to single requests: what the server sees of them, and what the client is told."""

import asyncio
import json

import aiohttp
import pytest
import urllib3

from tests.verify.faults.upstream import NODES, PODS, through
from verify.faults.proxy import LOOPBACK, FaultProxy
from verify.faults.script import parse

BINDING = f"{PODS}/p/binding"


async def test_without_a_script_requests_pass_as_they_are() -> None:
    async with through("") as client:
        code, headers, text = await client.ask("POST", PODS, '{"a": 1}')
        assert (code, json.loads(text)["metadata"]["resourceVersion"]) == (200, "1")
        assert headers["Content-Type"].startswith("application/json")
        assert client.upstream.arrived == [f'POST {PODS} {{"a": 1}}']
        assert client.proxy.injected == []


async def test_a_dropped_request_never_arrives_and_is_no_answer() -> None:
    async with through("drop @ create pods/binding #1") as client:
        with pytest.raises(aiohttp.ClientError):
            await client.ask("POST", BINDING)
        assert client.upstream.arrived == []
        assert (await client.ask("POST", BINDING))[0] == 200


async def test_a_request_whose_answer_is_lost_was_carried_out() -> None:
    async with through("lose-answer @ create pods/binding #2") as client:
        await client.ask("POST", BINDING)
        with pytest.raises(aiohttp.ClientError):
            await client.ask("POST", BINDING)
        assert len(client.upstream.arrived) == 2


async def test_a_duplicated_request_arrives_twice_and_is_answered_once() -> None:
    async with through("duplicate @ patch jobs") as client:
        assert (await client.ask("PATCH", "/apis/batch/v1/namespaces/ns/jobs/j", "{}"))[0] == 200
        assert len(client.upstream.arrived) == 2


async def test_a_delayed_request_arrives_after_one_that_was_sent_later() -> None:
    async with through("delay=0.5 @ create pods") as client:
        first = asyncio.create_task(client.ask("POST", PODS, "first"))
        await client.await_fault()
        await client.ask("POST", PODS, "second")
        await first
        assert client.upstream.arrived == [f"POST {PODS} second", f"POST {PODS} first"]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (401, "Unauthorized"),
        (403, "Forbidden"),
        (409, "Conflict"),
        (410, "Expired"),
        (429, "TooManyRequests"),
        (500, "InternalError"),
        (503, "ServiceUnavailable"),
    ],
)
async def test_a_refusal_is_one_of_kubernetes_and_the_server_sees_nothing(code: int, reason: str) -> None:
    async with through(f"answer={code} @ * * #*") as client:
        answered, headers, text = await client.ask("GET", PODS)
        status = json.loads(text)
        assert (answered, status["kind"], status["code"], status["reason"]) == (code, "Status", code, reason)
        assert "Retry-After" not in headers
        assert client.upstream.arrived == []


async def test_a_refusal_may_say_when_to_come_again() -> None:
    async with through("answer=429,3 @ list pods") as client:
        code, headers, _ = await client.ask("GET", PODS)
        assert (code, headers["Retry-After"]) == (429, "3")


async def test_a_stale_server_answers_a_list_as_it_did_at_first() -> None:
    async with through("stale @ list pods #2") as client:
        versions = []
        for client.upstream.version in (1, 2, 3):
            _, _, text = await client.ask("GET", PODS)
            versions.append(json.loads(text)["metadata"]["resourceVersion"])
        assert versions == ["1", "1", "3"]


async def test_a_hanging_request_has_neither_answer_nor_end() -> None:
    async with through("hang @ get nodes") as client:
        asked = asyncio.create_task(client.ask("GET", f"{NODES}/n"))
        await client.await_fault()
        await client.ask("GET", f"{NODES}/n")
        assert not asked.done()
        assert len(client.upstream.arrived) == 1
        asked.cancel()


async def test_a_slow_answer_is_whole_and_takes_its_time() -> None:
    async with through("slow=500 @ list pods #1") as client:
        begin = asyncio.get_running_loop().time()
        _, _, text = await client.ask("GET", PODS)
        took = asyncio.get_running_loop().time() - begin
        assert json.loads(text)["items"]
        assert took >= len(text) / 500


async def test_a_script_may_be_about_one_client_only() -> None:
    async with through("answer=503 @ list pods #* by tutti-scheduler") as client:
        assert (await client.ask("GET", PODS, agent="tutti-controllers/y"))[0] == 200
        assert (await client.ask("GET", PODS, agent="tutti-scheduler/x"))[0] == 503
        (injected,) = client.proxy.injected
        assert str(injected) == "answer happened to: tutti-scheduler/x list pods ns"


async def test_another_script_begins_to_count_anew() -> None:
    async with through("") as client:
        await client.ask("GET", PODS)
        client.proxy.follow(parse("answer=500 @ list pods #1"))
        assert (await client.ask("GET", PODS))[0] == 500
        assert (await client.ask("GET", PODS))[0] == 200


def test_the_proxy_runs_beside_a_program_without_an_event_loop() -> None:
    with FaultProxy("http://127.0.0.1:9", parse("answer=503 @ list pods")).in_thread() as proxy:
        answer = urllib3.request("GET", f"http://{LOOPBACK}:{proxy.port}{PODS}", retries=False)
        assert answer.status == 503
