"""Pods per second from the first create to the last bind on a real control plane, the stock kube-scheduler beside ours.

One control plane with the built-in group API serves all rows, so both schedulers see the same gangs, nodes and server. Each
subject has the machine for itself: the other scheduler is not running. Rows:

- `bare writes`: creates, then binds, by this program alone: what the API server allows at most;
- `100 × 20` and the like: hand-made PodGroups and their pods, one scheduler process live while they are created;
- `waiting`: the same pods exist before the scheduler is started, and time counts from its start;
- `Jobs`: ordinary Jobs; ours through admission, Workload, PodGroup and gate, as gangs; stock without any gang.
"""

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import aiohttp

from api.constants import SYSTEM_NAMESPACE
from hack.bench.bindwatch import BindWatch
from hack.bench.objects import NAMESPACE, bare_pod, job, node, pod_group
from hack.bench.table import ratio, show
from install.address import free_ports
from kube.client.client import Client
from kube.client.credentials import load_credentials
from kube.client.errors import OutcomeUnknown
from kube.client.resources import JOBS, NAMESPACES, NODES, PODS, Resource
from kube.groups.group_api import BUILT_IN
from verify.clusters import cluster_files
from verify.clusters.controlplane import ControlPlane
from verify.clusters.real import GATES, RealControlPlane
from verify.clusters.server import Server

NODES_COUNT = 1000
GANGS, SIZE = 100, 20
PODS_COUNT = GANGS * SIZE
IN_FLIGHT = 32
PATIENCE_SECONDS = 180
READY_SECONDS = 90
STOCK, OURS = "default-scheduler", "tutti"

Running = Callable[[], AbstractAsyncContextManager[None]]
"""Starts a scheduler, which ends with the context."""


@dataclass(frozen=True, slots=True)
class Load:
    """So many gangs of so many pods each; `is_waiting` when they exist before the scheduler does."""

    gangs: int
    size: int
    is_waiting: bool = False

    @property
    def pods(self) -> int:
        """All pods."""
        return self.gangs * self.size

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.gangs} × {self.size:,}{', waiting' if self.is_waiting else ''}"


LIVE = (Load(GANGS, SIZE), Load(666, 3), Load(2, 1000))
WAITING = Load(2, 1000, is_waiting=True)


@dataclass(frozen=True, slots=True)
class Timed:
    """One row: pods per second until the last bind, and when the first and the last bind came, in seconds.

    Time counts from the first create, or from the start of the scheduler where the pods were there before.
    """

    name: str
    pods: int
    pods_per_second: float
    first_bind_seconds: float
    last_bind_seconds: float
    bound: int


def measure(assets: Path) -> None:
    """Runs all rows and prints the table."""
    with RealControlPlane(group_api="built-in", assets=assets, stock_scheduler=False, audited=False) as plane:
        stock, ours, (creates, binds) = asyncio.run(_measure(plane, assets))
    show(
        f"End to end on {NODES_COUNT} nodes, real Kubernetes 1.37 control plane",
        ["", "bound", "pods/s", "first bind s", "last bind s", "rate", "to the first", "to the last"],
        [row for theirs, own in zip(stock, ours, strict=True) for row in _pair(theirs, own)],
        notes=[
            f"bare writes, no scheduler: {creates:.0f} creates/s, then {binds:.0f} binds/s",
            f"both per pod, one after the other: {1 / (1 / creates + 1 / binds):.0f} pods/s",
            "rate: to the stock row above; to the first, last: how many times as long the stock scheduler took",
            "everything shares the machine's cores, this program too",
        ],
    )


def _pair(stock: Timed, ours: Timed) -> Iterator[list[str]]:
    for row in (stock, ours):
        yield [
            row.name,
            f"{row.bound}/{row.pods}",
            f"{row.pods_per_second:.0f}",
            f"{row.first_bind_seconds:.2f}",
            f"{row.last_bind_seconds:.2f}",
            *(
                ("", "", "")
                if row is stock
                else (
                    ratio(ours.pods_per_second, stock.pods_per_second),
                    ratio(stock.first_bind_seconds, ours.first_bind_seconds),
                    ratio(stock.last_bind_seconds, ours.last_bind_seconds),
                )
            ),
        ]


async def _measure(plane: ControlPlane, assets: Path) -> tuple[list[Timed], list[Timed], tuple[float, float]]:
    async with Client(load_credentials(str(plane.kubeconfig)), user_agent="tutti-bench", max_connections=64) as client:
        await prepare(client)
        await client.create(NAMESPACES, {"metadata": {"name": SYSTEM_NAMESPACE}})
        writes = await _bare_writes(client)
        stock = await _bare_rows(client, "stock", STOCK, lambda: stock_scheduler(plane, assets))
        async with stock_scheduler(plane, assets):
            stock.append(await _jobs(client, "Jobs, stock, no gang", gang=False))
        ours = await _bare_rows(client, "tutti", OURS, lambda: tutti_scheduler(plane))
        async with running_tutti(plane):
            ours.append(await _jobs(client, "Jobs, tutti, gangs", gang=True))
        return stock, ours, writes


async def _bare_rows(client: Client, name: str, scheduler_name: str, running: Running) -> list[Timed]:
    rows = []
    for load in LIVE:
        async with running():
            rows.append(await place_bare_gangs(client, f"{load.name}, {name}", scheduler_name, load))
    rows.append(await _place_waiting_gangs(client, f"{WAITING.name}, {name}", scheduler_name, running))
    return rows


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
    await clear(client)
    return PODS_COUNT / (created - begin), PODS_COUNT / (bound - created)


async def place_bare_gangs(client: Client, name: str, scheduler_name: str, load: Load = LIVE[0]) -> Timed:
    """Creates the gangs while the scheduler runs, and waits until all of them are bound."""
    await _pod_groups(client, load)
    return await _timed(client, name, load.pods, _bare_pods(client, scheduler_name, load))


async def _place_waiting_gangs(client: Client, name: str, scheduler_name: str, running: Running) -> Timed:
    await _pod_groups(client, WAITING)
    await at_most_in_flight(_bare_pods(client, scheduler_name, WAITING))
    async with BindWatch(client, NAMESPACE) as watch:
        begin = perf_counter()
        async with running():
            await watch.wait_bound(WAITING.pods, within_seconds=PATIENCE_SECONDS)
        timed = _outcome(name, WAITING.pods, watch, begin)
    await clear(client)
    return timed


async def _pod_groups(client: Client, load: Load) -> None:
    groups = BUILT_IN.pod_groups
    await at_most_in_flight(
        client.create(groups, pod_group(BUILT_IN, gang, load.size), NAMESPACE) for gang in range(load.gangs)
    )


def _bare_pods(client: Client, scheduler_name: str, load: Load) -> Iterator[Awaitable[Any]]:
    for gang in range(load.gangs):
        for index in range(load.size):
            yield client.create(PODS, bare_pod(gang, index, scheduler_name), NAMESPACE, parse=False)


async def _jobs(client: Client, name: str, *, gang: bool) -> Timed:
    return await _timed(
        client,
        name,
        PODS_COUNT,
        (client.create(JOBS, job(index, SIZE, gang=gang), NAMESPACE, parse=False) for index in range(GANGS)),
    )


async def _timed(client: Client, name: str, pods: int, creates: Iterable[Awaitable[Any]]) -> Timed:
    async with BindWatch(client, NAMESPACE) as watch:
        begin = perf_counter()
        await at_most_in_flight(creates)
        await watch.wait_bound(pods, within_seconds=PATIENCE_SECONDS)
        timed = _outcome(name, pods, watch, begin)
    await clear(client)
    return timed


def _outcome(name: str, pods: int, watch: BindWatch, begin: float) -> Timed:
    times = sorted(watch.bound.values()) or [float("inf")]
    took = times[-1] - begin
    timed = Timed(name, pods, len(watch.bound) / took, times[0] - begin, took, len(watch.bound))
    # The whole takes minutes: what is known is told at once.
    print(timed, file=sys.stderr)
    return timed


async def clear(client: Client) -> None:
    """Empties the namespace and waits until it is, so that one row does not pay for the one before."""
    for resource in (JOBS, BUILT_IN.workloads, BUILT_IN.pod_groups, PODS):
        await _delete_all(client, resource)
    for resource in (JOBS, PODS, BUILT_IN.pod_groups):
        while (await client.list(resource, NAMESPACE))["items"]:
            await _delete_all(client, resource)
            await asyncio.sleep(0.2)


async def _delete_all(client: Client, resource: Resource) -> None:
    options = {"propagationPolicy": "Background", "gracePeriodSeconds": 0}
    # Thousands of objects may take the server longer than it gives one request; what is left is deleted by the next one.
    with contextlib.suppress(OutcomeUnknown):
        await client.request_json("DELETE", resource.path(NAMESPACE), options, timeout_seconds=60)


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
async def tutti_scheduler(plane: ControlPlane) -> AsyncIterator[None]:
    """Our scheduler process alone, as the stock one runs alone."""
    command = [sys.executable, "-m", "tutti", "scheduler", "--kubeconfig", str(plane.kubeconfig)]
    configuration = plane.folder / "tutti-scheduler.yaml"
    # The stock one has no lease to lose; ours is not to lose its own because the machine is busy.
    configuration.write_text('metrics_address: ""\nlease_seconds: 120\nrenew_seconds: 100\n')
    server = Server("scheduler", [*command, "--config", str(configuration)], log=plane.folder / "scheduler.log")
    async with _running(server, _says_it_schedules):
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


async def _says_it_schedules(server: Server) -> bool:
    return "scheduling:" in server.last_log_lines(2000)


@contextlib.asynccontextmanager
async def _running(server: Server, is_ready: Callable[[Server], Awaitable[bool]]) -> AsyncIterator[None]:
    """Starts a server, waits until it is ready, and ends it politely. What the one before it said says nothing of this one."""
    server.log.unlink(missing_ok=True)
    server.start()
    try:
        async with asyncio.timeout(READY_SECONDS):
            while not await is_ready(server):
                server.require_running()
                await asyncio.sleep(0.1)
        yield
    finally:
        server.terminate(within_seconds=30)
