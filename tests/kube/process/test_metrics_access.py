"""Metrics are shown to those who may read them, by the API server's word; health is open to all."""

import json
from http import HTTPStatus

import aiohttp
import pytest
from aiohttp import web
from prometheus_client import CollectorRegistry

from kube.process.health import HealthServer
from kube.process.metrics_access import MetricsAccess, metrics_access
from tests.kube.scripted_server import ScriptedServer, ok, refusal

MAY = "prometheus"


class Reviews(ScriptedServer):
    """Knows the tokens of those who may get a path, `prometheus` by default, and `somebody`, who may get none."""

    def __init__(self, paths: dict[str, str] | None = None) -> None:
        """`paths`: token -> the path that its owner may get."""
        super().__init__()
        self._paths = paths if paths is not None else {MAY: "/metrics"}
        self.always(self._answer)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        spec = json.loads(await request.read())["spec"]
        if request.path.endswith("/tokenreviews"):
            known = spec["token"] in {*self._paths, "somebody"}
            status = {"authenticated": known, "user": {"username": spec["token"], "groups": ["g"]} if known else {}}
        else:
            wanted = {"path": self._paths.get(spec["user"]), "verb": "get"}
            status = {"allowed": spec["nonResourceAttributes"] == wanted}
        return await ok({"status": status}, status=201)(request)


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (f"Bearer {MAY}", HTTPStatus.OK),
        (f"bearer {MAY}", HTTPStatus.OK),
        ("Bearer somebody", HTTPStatus.FORBIDDEN),
        ("Bearer stranger", HTTPStatus.UNAUTHORIZED),
        ("Bearer ", HTTPStatus.UNAUTHORIZED),
        ("Basic cHJvbWV0aGV1cw==", HTTPStatus.UNAUTHORIZED),
        ("", HTTPStatus.UNAUTHORIZED),
    ],
)
async def test_only_who_may_get_the_path_is_let_in(header: str, status: HTTPStatus) -> None:
    async with Reviews() as server, MetricsAccess(server.credentials, user_agent="test") as access:
        assert await access.decide(header) is status


async def test_an_answer_is_kept_for_a_minute_and_no_longer() -> None:
    now = [0.0]
    async with (
        Reviews() as server,
        MetricsAccess(server.credentials, user_agent="test", clock=lambda: now[0]) as access,
    ):
        for now[0] in (0.0, 59.0):
            assert await access.decide(f"Bearer {MAY}") is HTTPStatus.OK
        assert len(server.requests) == 2
        now[0] = 61.0
        assert await access.decide(f"Bearer {MAY}") is HTTPStatus.OK
        assert len(server.requests) == 4


async def test_a_server_that_refuses_to_say_lets_nobody_in_and_is_asked_again() -> None:
    async with ScriptedServer() as server, MetricsAccess(server.credentials, user_agent="test") as access:
        server.always(refusal(403, "Forbidden"))
        for count in (1, 2):
            assert await access.decide(f"Bearer {MAY}") is HTTPStatus.SERVICE_UNAVAILABLE
            assert len(server.requests) == count


async def test_strangers_with_many_tokens_fill_no_memory() -> None:
    async with Reviews() as server, MetricsAccess(server.credentials, user_agent="test") as access:
        for number in range(120):
            await access.decide(f"Bearer stranger-{number}")
        assert len(access._answers) <= 100


async def test_the_health_server_asks_for_metrics_only() -> None:
    async with Reviews() as reviews:
        access = metrics_access(is_asked=True, credentials=reviews.credentials, user_agent="test")
        async with HealthServer("127.0.0.1:0", registry=CollectorRegistry(), access=access) as server:
            assert await status_of(server, "/livez") == 200
            assert await status_of(server, "/readyz") == 200
            assert reviews.requests == []
            assert await status_of(server, "/metrics") == 401
            assert await status_of(server, "/metrics", Authorization="Bearer somebody") == 403
            assert await status_of(server, "/metrics", Authorization=f"Bearer {MAY}") == 200


def test_without_being_asked_for_it_everybody_may_read() -> None:
    assert metrics_access(is_asked=False, credentials=ScriptedServer().credentials, user_agent="test") is None


async def status_of(server: HealthServer, path: str, **headers: str) -> int:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://127.0.0.1:{server.port}{path}", headers=headers) as response,
    ):
        return response.status
