"""Preemption on a real control plane, the stock kube-scheduler beside ours: time until all are bound, and how many had to leave.

Every row starts from the same low pods on the same nodes, put there past every scheduler. Victims have no grace period and no
kubelet, so what is measured is the schedulers and the API server. A third row is no scheduler at all: this program sends what
cannot be done without (the gang's pods, a condition and a delete for every pod in its way, the binds) as fast as the server
takes it, so it says what is left to gain.
"""

import asyncio
from collections.abc import Awaitable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from time import perf_counter
from typing import Any

from api.constants import SYSTEM_NAMESPACE
from hack.bench.bindwatch import BindWatch
from hack.bench.end_to_end import OURS, STOCK, at_most_in_flight, stock_scheduler, tutti_scheduler
from hack.bench.objects import NAMESPACE
from hack.bench.table import ratio, show
from kube.client.client import Client, PatchKind
from kube.client.credentials import load_credentials
from kube.client.resources import NAMESPACES, NODES, PODS, PRIORITY_CLASSES
from kube.groups.group_api import BUILT_IN
from verify.clusters.controlplane import ControlPlane
from verify.clusters.real import RealControlPlane

PATIENCE_SECONDS = 120
BARE = "no scheduler"
LOW, HIGH = "bench-low", "bench-high"
CLASS_LABEL = "bench-class"
GANG_MILLI = 4000
GROUPS = BUILT_IN.pod_groups


@dataclass(frozen=True, slots=True)
class Shape:
    """Nodes full of low pods, and gangs of pods of four CPUs that want in; `low_gangs` 0 stands for lone pods."""

    name: str
    nodes: int
    low_pods: int
    low_gangs: int
    gangs: int
    size: int
    low_milli: int = 1500
    """CPU of a low pod; so many low pods as there are for each node fill it."""

    @property
    def low_per_node(self) -> int:
        """How many low pods fill a node."""
        return self.low_pods // self.nodes

    @property
    def in_the_way(self) -> int:
        """How many low pods must leave a node before a pod of a gang fits."""
        return -(-GANG_MILLI // self.low_milli)


SHAPES = (
    Shape("(a) 1 gang × 50 over 800 low pods", 200, 800, 0, 1, 50),
    Shape("(b) 1 gang × 50 over 20 low gangs × 40", 200, 800, 20, 1, 50),
    Shape("(c) 10 gangs × 40 over 50 low gangs × 32", 400, 1600, 50, 10, 40),
    Shape("(c) where only all low pods are enough", 400, 1600, 50, 10, 40, low_milli=1000),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One row."""

    bound: int
    seconds: float
    """Infinite when not all were bound in time."""
    victims: int

    @property
    def shown_seconds(self) -> str:
        """The time, or that there was none."""
        return f"{self.seconds:.2f}" if isfinite(self.seconds) else f"> {PATIENCE_SECONDS}"

    def faster_than(self, other: "Outcome") -> str:
        """How many times faster it was; at least so many where the other one was not done in time."""
        if not isfinite(self.seconds):
            return "–"
        least = "" if isfinite(other.seconds) else "> "
        return least + ratio(min(other.seconds, PATIENCE_SECONDS), self.seconds)


def measure(assets: Path) -> None:
    """Runs all rows and prints the table."""
    with RealControlPlane(group_api="built-in", assets=assets, stock_scheduler=False, audited=False) as plane:
        rows = asyncio.run(_measure(plane, assets))
    show(
        "Preemption end to end, real Kubernetes 1.37 control plane",
        ["", "scheduler", "bound", "all bound s", "victims", "faster"],
        [
            [
                shape.name,
                scheduler,
                f"{outcome.bound}/{shape.gangs * shape.size}",
                outcome.shown_seconds,
                f"{outcome.victims}/{shape.low_pods}",
                outcome.faster_than(rows[shape.name, STOCK]),
            ]
            for shape in SHAPES
            for scheduler in (STOCK, OURS, BARE)
            for outcome in [rows[shape.name, scheduler]]
        ],
        notes=[
            "time from the first create of a gang's pod to the last bind; everything shares the machine's two cores"
        ],
    )


async def _measure(plane: ControlPlane, assets: Path) -> dict[tuple[str, str], Outcome]:
    rows: dict[tuple[str, str], Outcome] = {}
    async with Client(load_credentials(str(plane.kubeconfig)), user_agent="tutti-bench", max_connections=64) as client:
        for namespace in (NAMESPACE, SYSTEM_NAMESPACE):
            await client.create(NAMESPACES, {"metadata": {"name": namespace}})
        for name, value in ((LOW, 10), (HIGH, 1000)):
            await client.create(PRIORITY_CLASSES, {"metadata": {"name": name}, "value": value})
        subjects: tuple[tuple[str, AbstractAsyncContextManager[None]], ...] = (
            (STOCK, stock_scheduler(plane, assets)),
            (OURS, tutti_scheduler(plane)),
        )
        for scheduler, running in subjects:
            async with running:
                for shape in SHAPES:
                    rows[shape.name, scheduler] = await _one(client, shape, scheduler)
        for shape in SHAPES:
            rows[shape.name, BARE] = await _bare(client, shape)
    return rows


async def _bare(client: Client, shape: Shape) -> Outcome:
    low = await _prepare(client, shape, "nobody")
    wanted = shape.gangs * shape.size
    cleared = [_node_name(index) for index in range(wanted)]
    # The low pods go round the nodes, so one lap of them is one from each.
    victims = [low[lap * shape.nodes + index] for lap in range(shape.in_the_way) for index in range(wanted)]
    begin = perf_counter()
    high = await at_most_in_flight(client.create(PODS, pod, NAMESPACE) for pod in _high_pods(shape, "nobody"))
    await at_most_in_flight(_evict(client, pod["metadata"]) for pod in victims)
    await at_most_in_flight(_bind(client, pod["metadata"], node) for pod, node in zip(high, cleared, strict=True))
    took = perf_counter() - begin
    await _clear(client)
    return Outcome(wanted, took, len(victims))


async def _evict(client: Client, metadata: dict[str, Any]) -> None:
    name, uid = metadata["name"], metadata["uid"]
    marked = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "message": "bench"}
    body = {"metadata": {"uid": uid}, "status": {"conditions": [marked]}}
    await client.patch(PODS, body, name, NAMESPACE, subresource="status", kind=PatchKind.STRATEGIC, parse=False)
    await client.delete(PODS, name, NAMESPACE, uid=uid)


def _bind(client: Client, metadata: dict[str, Any], node: str) -> Awaitable[Any]:
    name = metadata["name"]
    body = {"metadata": {"name": name, "uid": metadata["uid"]}, "target": {"kind": "Node", "name": node}}
    return client.create(PODS, body, NAMESPACE, name=name, subresource="binding", parse=False)


async def _prepare(client: Client, shape: Shape, scheduler: str) -> list[dict[str, Any]]:
    """Nodes, low pods and all groups; the low pods as they were made."""
    await at_most_in_flight(client.create(NODES, _node(shape, index), parse=False) for index in range(shape.nodes))
    await at_most_in_flight(
        client.create(GROUPS, _group(f"low-{number}", shape.low_pods // shape.low_gangs, LOW), NAMESPACE)
        for number in range(shape.low_gangs)
    )
    low: list[dict[str, Any]] = await at_most_in_flight(
        client.create(PODS, pod, NAMESPACE) for pod in _low_pods(shape, scheduler)
    )
    await at_most_in_flight(
        client.create(GROUPS, _group(f"high-{number}", shape.size, HIGH), NAMESPACE) for number in range(shape.gangs)
    )
    await asyncio.sleep(2)
    return low


async def _one(client: Client, shape: Shape, scheduler: str) -> Outcome:
    await _prepare(client, shape, scheduler)
    wanted = shape.gangs * shape.size
    async with BindWatch(client, NAMESPACE, label_selector=f"{CLASS_LABEL}={HIGH}") as watch:
        begin = perf_counter()
        await at_most_in_flight(
            client.create(PODS, pod, NAMESPACE, parse=False) for pod in _high_pods(shape, scheduler)
        )
        await watch.wait_bound(wanted, within_seconds=PATIENCE_SECONDS)
        times = sorted(watch.bound.values())
    took = times[-1] - begin if len(times) >= wanted else float("inf")
    await asyncio.sleep(2)
    left = [pod for pod in (await client.list(PODS, NAMESPACE))["items"] if pod["metadata"]["name"].startswith("low-")]
    await _clear(client)
    return Outcome(len(times), took, shape.low_pods - len(left))


async def _clear(client: Client) -> None:
    # A group is kept by the server while it has pods, so everything is asked for before anything is waited for.
    everything = ((PODS, NAMESPACE), (GROUPS, NAMESPACE), (NODES, None))
    for resource, namespace in everything:
        options = {"propagationPolicy": "Background", "gracePeriodSeconds": 0}
        await client.request_json("DELETE", resource.path(namespace), options, timeout_seconds=60)
    for resource, namespace in everything:
        while (await client.list(resource, namespace))["items"]:  # noqa: ASYNC110 (no event says that it is done)
            await asyncio.sleep(0.2)


def _high_pods(shape: Shape, scheduler: str) -> Iterable[dict[str, Any]]:
    for gang in range(shape.gangs):
        for index in range(shape.size):
            yield _pod(f"high-{gang}", index, GANG_MILLI, HIGH, scheduler)


def _low_pods(shape: Shape, scheduler: str) -> Iterable[dict[str, Any]]:
    for index in range(shape.low_pods):
        gang = f"low-{index * shape.low_gangs // shape.low_pods}" if shape.low_gangs else ""
        pod = _pod(gang or "low", index, shape.low_milli, LOW, scheduler, is_member=bool(gang))
        pod["spec"]["nodeName"] = _node_name(index % shape.nodes)
        yield pod


def _node_name(index: int) -> str:
    return f"node-{index:04}"


def _node(shape: Shape, index: int) -> dict[str, Any]:
    capacity = {"cpu": f"{shape.low_per_node * shape.low_milli}m", "memory": "64Gi", "pods": "110"}
    return {
        "metadata": {"name": _node_name(index), "labels": {"kubernetes.io/hostname": _node_name(index)}},
        "status": {
            "capacity": capacity,
            "allocatable": capacity,
            "conditions": [{"type": "Ready", "status": "True", "reason": "Bench"}],
        },
    }


def _group(name: str, size: int, priority_class: str) -> dict[str, Any]:
    return {
        "apiVersion": GROUPS.api_version,
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "schedulingPolicy": {"gang": {"minCount": size}},
            "disruptionMode": {"all": {}},
            "priorityClassName": priority_class,
        },
    }


def _pod(
    group: str, index: int, cpu_milli: int, priority_class: str, scheduler: str, *, is_member: bool = True
) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "schedulerName": scheduler,
        "priorityClassName": priority_class,
        "containers": [
            {
                "name": "main",
                "image": "registry.example/pause",
                "resources": {"requests": {"cpu": f"{cpu_milli}m", "memory": "1Gi"}},
            }
        ],
        "terminationGracePeriodSeconds": 0,
    }
    if is_member:
        spec["schedulingGroup"] = {"podGroupName": group}
    metadata = {"name": f"{group}-{index}", "namespace": NAMESPACE, "labels": {CLASS_LABEL: priority_class}}
    return {"metadata": metadata, "spec": spec}
