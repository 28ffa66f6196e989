"""Pods per second from the first create to the last bind on a real control plane, the stock kube-scheduler beside ours.

One control plane with the built-in group API serves all rows, so both schedulers see the same gangs, nodes and server. Each
subject has the machine for itself: the other scheduler is not running. Rows:

- `bare writes`: creates, then binds, by this program alone: what the API server allows at most;
- `bare pods`: hand-made PodGroups and their pods, scheduler live while they are created;
- `Jobs`: ordinary Jobs; ours through admission, Workload, PodGroup and gate, as gangs; stock without any gang.
"""

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import aiohttp

from hack.bench.bindwatch import BindWatch
from hack.bench.objects import NAMESPACE, bare_pod, job, node, pod_group
from hack.bench.table import ratio, show
from kube.client.client import Client
from kube.client.credentials import load_credentials
from kube.client.resources import JOBS, NAMESPACES, NODES, PODS
from kube.groups.group_api import BUILT_IN
from tests.conformance import cluster_files
from tests.conformance.controlplane import GATES, ControlPlane
from tests.conformance.server import Server, free_ports

NODES_COUNT = 1000
GANGS, SIZE = 100, 20
PODS_COUNT = GANGS * SIZE
IN_FLIGHT = 32
PATIENCE_SECONDS = 180
READY_SECONDS = 90
STOCK, OURS = "default-scheduler", "tutti"


@dataclass(frozen=True, slots=True)
class Timed:
    """One row: pods per second from first create to last bind, and when the first and the last bind came, in seconds."""

    name: str
    pods_per_second: float
    first_bind_seconds: float
    last_bind_seconds: float
    bound: int


def measure(assets: Path) -> None:
    """Runs all rows and prints the table."""
    with ControlPlane(group_api="built-in", assets=assets, stock_scheduler=False, audited=False) as plane:
        rows, creates, binds = asyncio.run(_measure(plane, assets))
    by_name = {row.name: row for row in rows}
    pairs = [("bare pods, stock", "bare pods, tutti"), ("Jobs, stock, no gang", "Jobs, tutti, gangs")]
    show(
        f"End to end: {GANGS} gangs of {SIZE} on {NODES_COUNT} nodes, real Kubernetes 1.37 control plane",
        ["", "bound", "pods/s", "first bind s", "last bind s", "ratio"],
        [
            [
                name,
                f"{by_name[name].bound}/{PODS_COUNT}",
                f"{by_name[name].pods_per_second:.0f}",
                f"{by_name[name].first_bind_seconds:.2f}",
                f"{by_name[name].last_bind_seconds:.2f}",
                ratio(by_name[name].pods_per_second, by_name[stock].pods_per_second),
            ]
            for stock, ours in pairs
            for name in (stock, ours)
        ],
        notes=[
            f"bare writes, no scheduler: {creates:.0f} creates/s, then {binds:.0f} binds/s",
            f"both per pod, one after the other: {1 / (1 / creates + 1 / binds):.0f} pods/s",
            "ratio: to the stock row of the same kind; everything shares the machine's two cores",
        ],
    )


async def _measure(plane: ControlPlane, assets: Path) -> tuple[list[Timed], float, float]:
    async with Client(load_credentials(str(plane.kubeconfig)), user_agent="tutti-bench", max_connections=64) as client:
        await prepare(client)
        creates, binds = await _bare_writes(client)
        rows = []
        async with stock_scheduler(plane, assets):
            rows.append(await place_bare_gangs(client, "bare pods, stock", STOCK))
            rows.append(await _jobs(client, "Jobs, stock, no gang", gang=False))
        async with running_tutti(plane):
            rows.append(await place_bare_gangs(client, "bare pods, tutti", OURS))
            rows.append(await _jobs(client, "Jobs, tutti, gangs", gang=True))
        return rows, creates, binds


async def prepare(client: Client) -> None:
    """Makes the namespace and the nodes."""
    await client.create(NAMESPACES, {"metadata": {"name": NAMESPACE}})
    await at_most_in_flight(client.create(NODES, node(index), parse=False) for index in range(NODES_COUNT))


async def _bare_writes(client: Client) -> tuple[float, float]:
    begin = perf_counter()
    pods = await at_most_in_flight(
        client.create(PODS, bare_pod(gang, index, "nobody"), NAMESPACE)
        for gang in range(GANGS)
        for index in range(SIZE)
    )
    created = perf_counter()
    await at_most_in_flight(
        client.create(
            PODS,
            {
                "metadata": {"name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]},
                "target": {"kind": "Node", "name": f"node-{index % NODES_COUNT:04}"},
            },
            NAMESPACE,
            name=pod["metadata"]["name"],
            subresource="binding",
            parse=False,
        )
        for index, pod in enumerate(pods)
    )
    bound = perf_counter()
    await _clear(client)
    return PODS_COUNT / (created - begin), PODS_COUNT / (bound - created)


async def place_bare_gangs(client: Client, name: str, scheduler_name: str) -> Timed:
    groups = BUILT_IN.pod_groups
    await at_most_in_flight(client.create(groups, pod_group(BUILT_IN, gang, SIZE), NAMESPACE) for gang in range(GANGS))
    return await _timed(
        client,
        name,
        (
            client.create(PODS, bare_pod(gang, index, scheduler_name), NAMESPACE, parse=False)
            for gang in range(GANGS)
            for index in range(SIZE)
        ),
    )


async def _jobs(client: Client, name: str, *, gang: bool) -> Timed:
    return await _timed(
        client,
        name,
        (client.create(JOBS, job(index, SIZE, gang=gang), NAMESPACE, parse=False) for index in range(GANGS)),
    )


async def _timed(client: Client, name: str, creates: Iterable[Awaitable[Any]]) -> Timed:
    async with BindWatch(client, NAMESPACE) as watch:
        begin = perf_counter()
        await at_most_in_flight(creates)
        await watch.wait_bound(PODS_COUNT, within_seconds=PATIENCE_SECONDS)
        times = sorted(watch.bound.values()) or [float("inf")]
    await _clear(client)
    took = times[-1] - begin
    return Timed(name, len(watch.bound) / took, times[0] - begin, took, len(watch.bound))


async def _clear(client: Client) -> None:
    """Empties the namespace and waits until it is, so that one row does not pay for the one before."""
    for resource in (JOBS, BUILT_IN.workloads, BUILT_IN.pod_groups, PODS):
        path = resource.path(NAMESPACE)
        options = {"propagationPolicy": "Background", "gracePeriodSeconds": 0}
        await client.request_json("DELETE", path, options, timeout_seconds=60)
    for resource in (JOBS, PODS, BUILT_IN.pod_groups):
        while (await client.list(resource, NAMESPACE))["items"]:  # noqa: ASYNC110 (no event says that garbage collection is done)
            await asyncio.sleep(0.2)


async def at_most_in_flight(calls: Iterable[Awaitable[Any]]) -> list[Any]:
    """Awaits all calls, at most IN_FLIGHT at once, results in order."""
    limit = asyncio.Semaphore(IN_FLIGHT)

    async def one(call: Awaitable[Any]) -> Any:
        async with limit:
            return await call

    return await asyncio.gather(*(one(call) for call in calls))


@contextlib.asynccontextmanager
async def stock_scheduler(plane: ControlPlane, assets: Path) -> AsyncIterator[None]:
    """The stock kube-scheduler with its client limits out of the way."""
    (port,) = free_ports(1)
    configuration = plane.folder / "stock-scheduler.json"
    configuration.write_text(
        json.dumps(
            {
                "apiVersion": "kubescheduler.config.k8s.io/v1",
                "kind": "KubeSchedulerConfiguration",
                "leaderElection": {"leaderElect": False},
                "clientConnection": {
                    "kubeconfig": str(plane.kubeconfig_of(cluster_files.STOCK_SCHEDULER)),
                    "qps": 5000,
                    "burst": 5000,
                },
            }
        )
    )
    command = [
        str(assets / "kube-scheduler"),
        f"--config={configuration}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        GATES,
    ]
    async with (
        aiohttp.ClientSession() as session,
        _running(
            Server("kube-scheduler", command, log=plane.folder / "stock.log"),
            lambda _: _is_ok(session, f"https://127.0.0.1:{port}/readyz"),
        ),
    ):
        yield


@contextlib.asynccontextmanager
async def running_tutti(plane: ControlPlane, *options: str) -> AsyncIterator[None]:
    """The three processes as `tutti run` starts them."""
    command = [sys.executable, "-m", "tutti", "run", "--kubeconfig", str(plane.kubeconfig), *options]
    async with _running(Server("tutti", command, log=plane.folder / "tutti.log"), _says_it_runs):
        yield


async def _is_ok(session: aiohttp.ClientSession, url: str) -> bool:
    try:
        async with session.get(url, ssl=False) as answer:
            return answer.status == 200
    except aiohttp.ClientError:
        return False


async def _says_it_runs(server: Server) -> bool:
    return "Tutti is running" in server.last_log_lines(2000)


@contextlib.asynccontextmanager
async def _running(server: Server, is_ready: Callable[[Server], Awaitable[bool]]) -> AsyncIterator[None]:
    """Starts a server, waits until it is ready, and ends it politely."""
    server.start()
    try:
        async with asyncio.timeout(READY_SECONDS):
            while not await is_ready(server):
                server.require_running()
                await asyncio.sleep(0.1)
        yield
    finally:
        server.terminate(within_seconds=30)
