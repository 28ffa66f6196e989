"""How soon a waiting gang starts when room appears for it, the stock kube-scheduler beside ours, on a real control plane.

1000 nodes, nearly all full. Each gang has a pool of eight nodes for itself, one of them without room, and has been refused for a
while, so that it is in back-off. Then room appears in one of the ways below; the time runs from the answer to that request to
the last bind of the gang. One control plane with the built-in group API serves both schedulers, one after the other.
"""

import asyncio
import statistics
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from hack.bench.bindwatch import BindWatch
from hack.bench.end_to_end import OURS, STOCK, at_most_in_flight, prepare, running_tutti, stock_scheduler
from hack.bench.objects import NAMESPACE, bare_pod, node, pod_group
from hack.bench.table import ratio, show
from kube.client.client import Client
from kube.client.credentials import load_credentials
from kube.client.resources import NODES, PODS
from kube.groups.group_api import BUILT_IN
from verify.clusters.controlplane import ControlPlane
from verify.clusters.real import RealControlPlane

SIZE: Final = 8
REPEATS: Final = 3
REFUSED_SECONDS: Final = 12.0
PATIENCE_SECONDS: Final = 60.0
POOL: Final = "example.com/pool"
TAINT: Final = {"key": "example.com/kept", "effect": "NoSchedule"}
BIG: Final = {"cpu": "15", "memory": "1Gi"}
"""A pod of this size has a node of 16 cores for itself."""

Act = Callable[[Client, int], Awaitable[Any]]
"""Does something to the pool of this number."""


async def _nothing(_client: Client, _pool: int) -> None:
    """Needs no preparation."""


async def _add_node(client: Client, pool: int, *, cpu: str = "16", taints: tuple[Any, ...] = ()) -> None:
    made = node(10_000 + pool)
    made["metadata"]["labels"][POOL] = f"p{pool}"
    made["status"]["allocatable"] = {**made["status"]["allocatable"], "cpu": cpu}
    made["spec"] = {"taints": list(taints)}
    await client.create(NODES, made, parse=False)


async def _add_tainted_node(client: Client, pool: int) -> None:
    await _add_node(client, pool, taints=(TAINT,))


async def _add_small_node(client: Client, pool: int) -> None:
    await _add_node(client, pool, cpu="1")


async def _take_taint_off(client: Client, pool: int) -> None:
    await client.patch(NODES, {"spec": {"taints": None}}, f"node-{10_000 + pool}", parse=False)


async def _make_node_large(client: Client, pool: int) -> None:
    body = {"status": {"allocatable": {"cpu": "16"}}}
    await client.patch(NODES, body, f"node-{10_000 + pool}", subresource="status", parse=False)


async def _end_filler(client: Client, pool: int) -> None:
    body = {"status": {"phase": "Succeeded"}}
    await client.patch(PODS, body, f"filler-{_last(pool)}", NAMESPACE, subresource="status", parse=False)


async def _delete_filler(client: Client, pool: int) -> None:
    await client.request_json("DELETE", PODS.path(NAMESPACE, f"filler-{_last(pool)}"), {"gracePeriodSeconds": 0})


async def _lower_minimum(client: Client, pool: int) -> None:
    body = {"spec": {"schedulingPolicy": {"gang": {"minCount": SIZE - 1}}}}
    await client.patch(BUILT_IN.pod_groups, body, f"gang-{pool}", NAMESPACE, parse=False)


WAYS: Final[dict[str, tuple[Act, Act, int]]] = {
    "a node is added": (_nothing, _add_node, SIZE),
    "a pod ends": (_nothing, _end_filler, SIZE),
    "a pod is deleted": (_nothing, _delete_filler, SIZE),
    "a taint is removed": (_add_tainted_node, _take_taint_off, SIZE),
    "a node becomes larger": (_add_small_node, _make_node_large, SIZE),
    "minCount is lowered": (_nothing, _lower_minimum, SIZE - 1),
}
"""What is done before, what makes room, and how many pods start then."""


def measure(assets: Path) -> None:
    """Runs all rows and prints the table."""
    with RealControlPlane(group_api="built-in", assets=assets, stock_scheduler=False, audited=False) as plane:
        found = asyncio.run(_measure(plane, assets))
    rows = []
    for way in WAYS:
        stock, ours = found[STOCK][way], found[OURS][way]
        faster = ratio(statistics.median(stock), statistics.median(ours))
        rows.append([way, *(f"{statistics.median(times):.2f} ({max(times):.2f})" for times in (stock, ours)), faster])
    show(
        f"Room appears for a waiting gang of {SIZE}, 1000 nodes: seconds to its last bind, median of {REPEATS} (worst)",
        ["", "stock", "tutti", "ratio"],
        rows,
        notes=[f"each gang had been refused for {REFUSED_SECONDS:.0f} s; {PATIENCE_SECONDS:.0f} s means: not by then"],
    )


async def _measure(plane: ControlPlane, assets: Path) -> dict[str, dict[str, list[float]]]:
    found: dict[str, dict[str, list[float]]] = {STOCK: {way: [] for way in WAYS}, OURS: {way: [] for way in WAYS}}
    async with Client(load_credentials(str(plane.kubeconfig)), user_agent="tutti-bench", max_connections=64) as client:
        await prepare(client)
        await _fill(client)
        pool = 0
        for name, running in ((STOCK, stock_scheduler(plane, assets)), (OURS, running_tutti(plane))):
            async with running:
                for _ in range(REPEATS):
                    pools = dict(zip(WAYS, range(pool, pool + len(WAYS)), strict=True))
                    pool += len(WAYS)
                    for way, seconds in (await _round(client, name, pools)).items():
                        found[name][way].append(seconds)
    return found


async def _fill(client: Client) -> None:
    """Makes the pools, and puts a pod that leaves no room on every node but the first seven of each pool."""
    pools = 2 * REPEATS * len(WAYS)
    await at_most_in_flight(
        client.patch(NODES, {"metadata": {"labels": {POOL: f"p{index // SIZE}"}}}, f"node-{index:04}", parse=False)
        for index in range(pools * SIZE)
    )
    full = [index for index in range(1000) if index >= pools * SIZE or index % SIZE == SIZE - 1]
    await at_most_in_flight(client.create(PODS, _filler(f"node-{index:04}"), NAMESPACE, parse=False) for index in full)


def _filler(on: str) -> dict[str, Any]:
    pod = _large(bare_pod(0, 0, "nobody"))
    pod["metadata"] = {"name": f"filler-{on}", "namespace": NAMESPACE}
    pod["spec"]["nodeName"] = on
    del pod["spec"]["schedulingGroup"]
    return pod


def _large(pod: dict[str, Any]) -> dict[str, Any]:
    pod["spec"]["containers"] = [{**pod["spec"]["containers"][0], "resources": {"requests": BIG}}]
    return pod


def _last(pool: int) -> str:
    return f"node-{pool * SIZE + SIZE - 1:04}"


async def _round(client: Client, scheduler_name: str, pools: dict[str, int]) -> dict[str, float]:
    """One gang per way, all waiting at the same time; seconds from the room to the last bind of each."""
    async with BindWatch(client, NAMESPACE) as watch:
        uids = {way: await _submit(client, scheduler_name, pool, WAYS[way][0]) for way, pool in pools.items()}
        await asyncio.sleep(REFUSED_SECONDS)
        if watch.bound.keys() & {uid for gang in uids.values() for uid in gang}:
            raise RuntimeError("a gang started before there was room for it")
        begun: dict[str, float] = {}
        for way, pool in pools.items():
            await WAYS[way][1](client, pool)
            begun[way] = perf_counter()
        end = perf_counter() + PATIENCE_SECONDS
        while perf_counter() < end and any(_bound(watch, uids[way]) < WAYS[way][2] for way in pools):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return {
        way: max(watch.bound[uid] for uid in uids[way] if uid in watch.bound) - begun[way]
        if _bound(watch, uids[way]) >= WAYS[way][2]
        else PATIENCE_SECONDS
        for way in pools
    }


def _bound(watch: BindWatch, uids: set[str]) -> int:
    return len(watch.bound.keys() & uids)


async def _submit(client: Client, scheduler_name: str, pool: int, before: Act) -> set[str]:
    """Creates the gang of a pool; the UIDs of its pods."""
    await before(client, pool)
    await client.create(BUILT_IN.pod_groups, pod_group(BUILT_IN, pool, SIZE), NAMESPACE, parse=False)
    uids = set()
    for index in range(SIZE):
        pod = _large(bare_pod(pool, index, scheduler_name))
        pod["spec"]["nodeSelector"] = {POOL: f"p{pool}"}
        uids.add((await client.create(PODS, pod, NAMESPACE))["metadata"]["uid"])
    return uids
