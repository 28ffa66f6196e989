"""The endpoint: two tenants, their tokens, what each is told and what he is not."""

import json
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from prometheus_client import CollectorRegistry

from api.constants import WHY_TOKEN_HEADER
from api.errors import ConfigurationError
from kube.client.client import Client
from kube.client.tokens import FixedToken
from kube.process.health import HealthServer
from kube.process.own_certificate import server_context
from scheduler.recording.capture import Moment
from scheduler.recording.inputs import DecisionInputs
from scheduler.recording.listed import from_manifests
from scheduler.recording.recordings import Recordings
from scheduler.recording.restore import restore
from scheduler.settings import SchedulerSettings
from scheduler.tenants import respondent
from scheduler.tenants.limits import BURST, PAUSE_SECONDS
from scheduler.tenants.setup import why_server
from tests.kube.scripted_server import ScriptedServer, ok

NOW_SECONDS = 1_767_225_700.0
HERE = Path(__file__).parents[3]
EXPLAIN = (sys.executable, "-m", "explain.tenant")
NOT_FOUND = (sys.executable, "-c", "import sys; sys.stdin.buffer.read(); sys.exit(4)")
BROKEN = (sys.executable, "-c", "raise SystemExit('secret of red')")
ECHO = (
    sys.executable,
    "-c",
    "import sys; sys.stdin.buffer.read(); print('[\"' + '/'.join(sys.argv[1:]) + '\"]', end='')",
)
RED, BLUE = "red", "blue"


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that shares a busy machine with other tests may take longer than people are to wait."""
    monkeypatch.setattr(respondent, "ANSWER_SECONDS", 600.0)


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


class Reviews(ScriptedServer):
    """Knows the tokens `red-token` and `blue-token`; each tenant may get everything in the namespace of his name."""

    def __init__(self) -> None:
        super().__init__()
        self.always(self._answer)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        spec = json.loads(await request.read())["spec"]
        if request.path.endswith("/tokenreviews"):
            name = spec["token"].removesuffix("-token")
            known = name in {RED, BLUE}
            status = {"authenticated": known, "user": {"username": name, "groups": ["g"]} if known else {}}
        else:
            asked = spec["resourceAttributes"]
            status = {"allowed": asked["verb"] == "get" and asked["namespace"] == spec["user"]}
        return await ok({"status": status}, status=201)(request)


def gang(tenant: str, name: str, size: int, cpu: str, *, node: str = "") -> Iterator[dict[str, Any]]:
    """A Job's group and pods; with a node: they run there."""
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": f"uid-of-{name}", "controller": True}
    common = {"namespace": tenant, "creationTimestamp": "2026-01-01T00:00:00Z", "ownerReferences": [owner]}
    managed = {"annotations": {"tutti.scheduler/managed-by": "tutti"}}
    yield {
        "kind": "PodGroup",
        "metadata": {**common, **managed, "name": f"{name}-group", "uid": f"uid-of-{name}-group"},
        "spec": {"schedulingPolicy": {"gang": {"minCount": size}}},
    }
    for number in range(size):
        pod = f"{name}-{number}"
        yield {
            "kind": "Pod",
            "metadata": {
                **common,
                "name": pod,
                "uid": f"uid-of-{pod}",
                "annotations": {"tutti.scheduler/pod-group": f"{name}-group"},
                "labels": {"of": tenant},
            },
            "spec": {
                "schedulerName": "tutti",
                "containers": [{"image": f"{tenant}-image", "resources": {"requests": {"cpu": cpu}}}],
                **({"nodeName": node} if node else {}),
            },
            "status": {"phase": "Running" if node else "Pending"},
        }


def two_tenants() -> DecisionInputs:
    """On each of two nodes one tenant runs a Job, and both have one that waits until another has ended."""
    nodes = [
        {
            "kind": "Node",
            "metadata": {"name": name, "uid": name, "labels": {"kubernetes.io/hostname": name}},
            "spec": {},
            "status": {"allocatable": {"cpu": "8", "memory": "64Gi", "pods": "110"}},
        }
        for name in ("n0", "n1")
    ]
    manifests = [
        *nodes,
        *gang(RED, "red-trains", 2, "4", node="n0"),
        *gang(BLUE, "blue-trains", 2, "4", node="n1"),
        *gang(RED, "red-waits", 4, "2"),
        *gang(BLUE, "blue-waits", 8, "2"),
    ]
    return DecisionInputs(
        epoch_seconds=NOW_SECONDS, monotonic_seconds=1000.0, group_api="own", objects=from_manifests(manifests)
    )


@asynccontextmanager
async def serving(
    *command: str, is_scheduling: bool = True, inputs: DecisionInputs | None = None
) -> AsyncIterator["Tenants"]:
    core = restore(inputs if inputs is not None else two_tenants()).core
    recordings = Recordings(core, lambda: Moment(NOW_SECONDS, 1000.0, {}, "own"), lambda: 1000.0, 0)
    if is_scheduling:
        recordings.begin()
    port = free_port()
    async with Reviews() as reviews:
        tenants = why_server(
            SchedulerSettings(why_address=f"127.0.0.1:{port}", metrics_address="127.0.0.1:0"),
            reviews.credentials,
            recordings,
            user_agent="test",
            groups_api="tutti.scheduler",
            command=command or EXPLAIN,
            folder=str(HERE),
        )
        async with HealthServer("127.0.0.1:0", registry=CollectorRegistry(), beside=tenants):
            yield Tenants(port, reviews)


class Tenants:
    """Asks as one of them."""

    def __init__(self, port: int, reviews: Reviews) -> None:
        self.port, self.reviews = port, reviews

    async def ask(self, path: str, token: str = "", header: str = WHY_TOKEN_HEADER) -> tuple[int, str, dict[str, str]]:
        headers = {header: f"Bearer {token}"} if token else {}
        url = f"https://127.0.0.1:{self.port}/why/namespaces/{path}"
        async with (
            aiohttp.ClientSession() as session,
            session.get(url, headers=headers, ssl=False) as response,
        ):
            return response.status, await response.text(), dict(response.headers)


async def test_each_tenant_is_told_of_his_own_and_the_other_is_not_named() -> None:
    async with serving() as tenants:
        for tenant, other in ((RED, BLUE), (BLUE, RED)):
            for asked in (f"job/{tenant}-waits", f"podgroup/{tenant}-waits-group", f"pod/{tenant}-waits-0"):
                status, text, _ = await tenants.ask(f"{tenant}/{asked}", f"{tenant}-token")
                assert status == 200, text
                (answer,) = json.loads(text)
                assert answer["item"]["owner"] == f"job/{tenant}-waits"
                assert answer["verdict"] == "waits"
                assert answer["turn"]["waiting"] == 2
                assert answer["hint"]
                assert other not in text


async def test_without_a_token_that_is_valid_nobody_is_told_anything() -> None:
    async with serving(*ECHO) as tenants:
        for token, header in (("", WHY_TOKEN_HEADER), ("stranger", WHY_TOKEN_HEADER), ("red-token", "Authorization")):
            status, text, _ = await tenants.ask("red/job/red-waits", token, header)
            assert status == 401
            assert "waits" not in text


async def test_a_right_in_one_namespace_is_none_in_another_whatever_exists_there() -> None:
    async with serving(*ECHO) as tenants:
        for asked in ("job/red-waits", "podgroup/red-waits-group", "pod/red-waits-0", "lws/red-waits", "job/never-was"):
            status, text, _ = await tenants.ask(f"red/{asked}", "blue-token")
            assert status == 403
            assert asked.partition("/")[2] not in text


async def test_what_is_not_there_is_not_found() -> None:
    async with serving() as tenants:
        status, text, _ = await tenants.ask("red/job/never-was", "red-token")
        assert status == 404
        assert "never-was" in text
        assert (await tenants.ask("red/secret/x", "red-token"))[0] == 404


async def test_a_replica_that_does_not_schedule_says_so_and_asks_nobody() -> None:
    async with serving(*ECHO, is_scheduling=False) as tenants:
        status, _, headers = await tenants.ask("red/job/red-waits", "red-token")
        assert (status, headers["Retry-After"]) == (503, "1")
        assert tenants.reviews.requests == []


async def test_who_asks_too_often_has_to_wait_and_others_have_not() -> None:
    async with serving(*ECHO) as tenants:
        asked = [await tenants.ask("red/job/red-waits", "red-token") for _ in range(BURST + 1)]
        assert [status for status, _, _ in asked] == [200] * BURST + [429]
        assert 0 < int(asked[-1][2]["Retry-After"]) <= PAUSE_SECONDS
        assert (await tenants.ask("blue/job/blue-waits", "blue-token"))[0] == 200


async def test_an_answer_that_fails_tells_nothing_of_why() -> None:
    async with serving(*BROKEN) as tenants:
        status, text, _ = await tenants.ask("red/job/red-waits", "red-token")
        assert status == 500
        assert "secret" not in text


async def test_a_server_that_does_not_say_who_may_ask_lets_nobody_in() -> None:
    async with serving(*ECHO) as tenants:
        tenants.reviews.always(ok({"status": {"authenticated": True, "user": {"username": 7}}}, status=201))
        assert (await tenants.ask("red/job/red-waits", "red-token"))[0] == 503


async def test_names_reach_the_child_as_they_are() -> None:
    async with serving(*ECHO) as tenants:
        status, text, _ = await tenants.ask("red/podgroup/a.b-c", "red-token")
        assert (status, json.loads(text)) == (200, ["red/podgroup/a.b-c"])


async def test_the_command_shows_the_token_in_a_header_of_its_own() -> None:
    async with ScriptedServer() as server:
        server.always(ok({}))
        credentials = server.credentials
        credentials.tokens = FixedToken("Bearer mine")
        async with Client(credentials, user_agent="test") as client:
            await client.ask_behind("/api/v1/x", token_header=WHY_TOKEN_HEADER)
        (seen,) = server.requests
        assert seen.headers[WHY_TOKEN_HEADER] == seen.headers["Authorization"] == "Bearer mine"


async def test_an_address_that_is_taken_ends_the_start_in_one_line() -> None:
    async with serving(*ECHO) as tenants:
        with pytest.raises(ConfigurationError, match=f"cannot listen on 127.0.0.1:{tenants.port}"):
            async with HealthServer(
                "127.0.0.1:0", registry=CollectorRegistry(), beside=_another(tenants.port, tenants.reviews)
            ):
                pass


def _another(port: int, reviews: Reviews) -> Any:
    core = restore(two_tenants()).core
    return why_server(
        SchedulerSettings(why_address=f"127.0.0.1:{port}"),
        reviews.credentials,
        Recordings(core, lambda: Moment(NOW_SECONDS, 1000.0, {}), lambda: 1000.0, 0),
        user_agent="test",
        groups_api="tutti.scheduler",
        command=ECHO,
        folder="",
    )


def test_certificates_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"tls\.crt and tls\.key cannot be used"):
        server_context(tmp_path, name="x")


def test_without_probes_there_is_nothing_to_serve_beside() -> None:
    with pytest.raises(ConfigurationError, match="why_address"):
        why_server(
            SchedulerSettings(why_address=":0", metrics_address="0"),
            ScriptedServer().credentials,
            Recordings(restore(two_tenants()).core, lambda: Moment(0.0, 0.0, {}), lambda: 0.0, 0),
            user_agent="test",
            groups_api="tutti.scheduler",
            command=ECHO,
            folder="",
        )
