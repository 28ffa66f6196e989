"""Who may not read the whole cluster asks its scheduler: what is sent, and what each refusal is told as."""

import re

import pytest
from aiohttp import web

from api.errors import ConfigurationError
from explain.answer import Answer, Item, Verdict
from explain.asked_scheduler import ask_scheduler
from explain.targets import Target
from kube.client.client import Client
from kube.client.tokens import FixedToken
from tests.kube.scripted_server import ScriptedServer, ok

TARGET = Target("job", "team", "train")
PATH = "/api/v1/namespaces/tutti-system/services/https:tutti-scheduler:why/proxy/why/namespaces/team/job/train"


def says(status: int, message: str, reason: str = "") -> object:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.json_response(
            {"kind": "Status", "message": message, "reason": reason, "code": status}, status=status
        )

    return answer


async def asked(answer: object) -> list[Answer]:
    async with ScriptedServer() as server:
        server.always(answer)  # type: ignore[arg-type]
        credentials = server.credentials
        credentials.tokens = FixedToken("Bearer mine")
        async with Client(credentials, user_agent="test") as client:
            found = await ask_scheduler(client, TARGET, "tutti-system")
        (seen,) = server.requests
        assert (seen.method, seen.path) == ("GET", PATH)
        assert seen.headers["Tutti-Authorization"] == "Bearer mine"
        return found


async def test_the_answer_comes_as_it_is() -> None:
    document = [{"item": {"kind": "group", "namespace": "team", "name": "g", "owner": "job/train"}, "verdict": "waits"}]
    assert await asked(ok(document)) == [Answer(Item("group", "team", "g", "job/train"), Verdict.WAITS)]


async def test_what_the_scheduler_does_not_know_is_no_mistake() -> None:
    assert await asked(says(404, "job/train in team: nothing of that name is scheduled by Tutti")) == []


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (says(404, 'services "tutti-scheduler" not found', "NotFound"), "there is no Service tutti-scheduler"),
        (says(403, "tenant may not get podgroups in team"), "tenant may not get podgroups in team"),
        (says(503, "no endpoints available", "ServiceUnavailable"), "does not answer now: no endpoints available"),
        (says(500, "the answer could not be found"), "does not answer now: the answer could not be found"),
        (ok({"not": "answers"}), "the scheduler's answer was lost"),
    ],
)
async def test_a_refusal_is_one_line(answer: object, told: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(told)):
        await asked(answer)
