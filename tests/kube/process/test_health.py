"""The health endpoint says what is wrong, and metrics are served in the format that was asked for."""

import asyncio
import http.client
import threading
from typing import Any

import aiohttp
import pytest
from prometheus_client import CollectorRegistry, Counter

from api.errors import ConfigurationError
from kube.process.health import HealthServer, split_address
from kube.process.heartbeat import STUCK_SECONDS, Heartbeat


async def fetch(server: HealthServer, path: str, **headers: str) -> tuple[int, str, Any]:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://127.0.0.1:{server.port}{path}", headers=headers) as response,
    ):
        return response.status, await response.text(), response.headers


async def test_probes_are_fine_until_a_check_complains() -> None:
    reasons: dict[str, str | None] = {"lease": None, "cache": None}
    checks = {"lease": lambda: reasons["lease"], "cache": lambda: reasons["cache"]}
    async with HealthServer("127.0.0.1:0", ready=checks, registry=CollectorRegistry()) as server:
        assert (await fetch(server, "/readyz"))[:2] == (200, "ok\n")
        reasons["cache"] = "pods are not synced"
        assert (await fetch(server, "/readyz"))[:2] == (503, "cache: pods are not synced\n")
        assert (await fetch(server, "/livez"))[:2] == (200, "ok\n")
        reasons["cache"] = None
        assert (await fetch(server, "/readyz"))[0] == 200


async def test_liveness_has_its_own_checks() -> None:
    async with HealthServer("127.0.0.1:0", live={"loop": lambda: "stuck"}, registry=CollectorRegistry()) as server:
        assert (await fetch(server, "/livez"))[:2] == (503, "loop: stuck\n")
        assert (await fetch(server, "/readyz"))[0] == 200


async def test_metrics_of_the_given_registry_are_served() -> None:
    registry = CollectorRegistry()
    Counter("tutti_things", "Things.", registry=registry).inc(3)
    async with HealthServer("127.0.0.1:0", registry=registry) as server:
        _, body, headers = await fetch(server, "/metrics")
        assert "tutti_things_total 3.0" in body
        assert headers["Content-Type"].startswith("text/plain")
        _, body, headers = await fetch(server, "/metrics", Accept="application/openmetrics-text; version=1.0.0")
        assert headers["Content-Type"].startswith("application/openmetrics-text")
        assert body.endswith("# EOF\n")


@pytest.mark.parametrize("address", ["", "0"])
async def test_it_can_be_switched_off(address: str) -> None:
    async with HealthServer(address) as server:
        assert server.port == 0


async def test_a_taken_port_is_one_line() -> None:
    async with HealthServer("127.0.0.1:0", registry=CollectorRegistry()) as first:
        second = HealthServer(f"127.0.0.1:{first.port}")
        with pytest.raises(ConfigurationError, match=f"cannot listen on 127.0.0.1:{first.port}: "):
            await second.start()


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        (":8080", (None, 8080)),
        ("127.0.0.1:1", ("127.0.0.1", 1)),
        ("[::1]:9", ("::1", 9)),
        ("localhost:0", ("localhost", 0)),
    ],
)
def test_addresses(address: str, expected: tuple[str | None, int]) -> None:
    assert split_address(address) == expected


@pytest.mark.parametrize("address", ["8080", "host", "host:", "host:x", ":99999", ":-1"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(ConfigurationError, match="no HOST:PORT"):
        split_address(address)


def ask(port: int, path: str = "/livez") -> tuple[int, str]:
    """Asks as the kubelet does, from outside the event loop, which stands still meanwhile."""
    found: list[tuple[int, str]] = []

    def fetch_it() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", path)
        response = connection.getresponse()
        found.append((response.status, response.read().decode()))
        connection.close()

    kubelet = threading.Thread(target=fetch_it)
    kubelet.start()
    kubelet.join()
    return found[0]


async def test_a_loop_that_computes_is_alive() -> None:
    async with HealthServer("127.0.0.1:0", registry=CollectorRegistry()) as server:
        assert ask(server.port) == (200, "ok\n")


async def test_a_loop_that_has_not_run_for_a_minute_is_dead_until_it_runs_again() -> None:
    now = [1000.0]
    heartbeat = Heartbeat(lambda: now[0])
    async with HealthServer("127.0.0.1:0", registry=CollectorRegistry(), heartbeat=heartbeat) as server:
        assert (await fetch(server, "/livez"))[:2] == (200, "ok\n")
        now[0] += STUCK_SECONDS - 1
        assert ask(server.port) == (200, "ok\n")
        now[0] += 2
        assert ask(server.port) == (503, "event loop: has not run for 61 s\n")
        await heartbeat_of(heartbeat)
        assert (await fetch(server, "/livez"))[:2] == (200, "ok\n")


async def heartbeat_of(heartbeat: Heartbeat) -> None:
    """The loop runs again."""
    beating = asyncio.ensure_future(heartbeat.beat())
    await asyncio.sleep(0)
    beating.cancel()


async def test_what_was_wrong_before_it_computes_is_still_wrong() -> None:
    async with HealthServer("127.0.0.1:0", live={"loop": lambda: "failed"}, registry=CollectorRegistry()) as server:
        assert (await fetch(server, "/livez"))[:2] == (503, "loop: failed\n")
        assert ask(server.port) == (503, "loop: failed\n")


async def test_a_check_that_raises_is_no_good_answer_and_ends_nothing() -> None:
    def broken() -> str | None:
        raise RuntimeError("broken check")

    async with HealthServer("127.0.0.1:0", ready={"broken": broken}, registry=CollectorRegistry()) as server:
        assert (await fetch(server, "/readyz"))[0] == 500
        assert (await fetch(server, "/livez"))[0] == 200


async def test_it_ends_with_its_thread() -> None:
    async with HealthServer("127.0.0.1:0", registry=CollectorRegistry()) as server:
        port = server.port
        assert "health" in {thread.name for thread in threading.enumerate()}
    assert "health" not in {thread.name for thread in threading.enumerate()}
    async with HealthServer(f"127.0.0.1:{port}", registry=CollectorRegistry()) as again:
        assert again.port == port
