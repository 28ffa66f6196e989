"""Gangs whose pods have a resource claim each on a real control plane, the stock kube-scheduler beside ours: pods/s and writes.

One control plane serves all rows, with the claim controller of kube-controller-manager, which makes claims from templates. Rows:

- `live`: the scheduler runs while groups and pods are created; the controller, which makes the claims, is part of the time;
- `waiting`: pods and claims exist before the scheduler is started, and time counts from its start: that of a process, too.

Writes are those of the scheduler alone, from the API server's audit log, by its user agent; leases do not count.
"""

import asyncio
import contextlib
import os
import statistics
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from api.constants import SCHEDULER_NAME, SYSTEM_NAMESPACE
from hack.bench.bindwatch import BindWatch
from hack.bench.end_to_end import OURS, STOCK, Running, at_most_in_flight, clear, stock_scheduler, tutti_scheduler
from hack.bench.objects import NAMESPACE, bare_pod, node, pod_group
from hack.bench.table import ratio, show
from kube.client.client import Client
from kube.client.credentials import load_credentials
from kube.client.errors import Conflict, NotFound
from kube.client.resources import (
    DEVICE_CLASSES,
    NAMESPACES,
    NODES,
    PODS,
    RESOURCE_CLAIMS,
    RESOURCE_SLICES,
    Resource,
)
from kube.groups.group_api import BUILT_IN
from verify.auditor.audit_log import AuditLog
from verify.clusters.controlplane import ControlPlane
from verify.clusters.real import RealControlPlane

GANGS: Final = int(os.environ.get("TUTTI_BENCH_GANGS", "50"))
SIZE: Final = 8
PODS_COUNT: Final = GANGS * SIZE
NODES_COUNT: Final = 100
PER_NODE: Final = 8
ROUNDS: Final = int(os.environ.get("TUTTI_BENCH_ROUNDS", "3"))
"""Of each row, one scheduler after the other; shown are medians."""
PATIENCE_SECONDS: Final = 600.0
POLL_SECONDS: Final = 0.2
CLASS: Final = "gpu"
DRIVER: Final = "gpu.example.com"
AGENTS: Final = {STOCK: "kube-scheduler/", OURS: f"{SCHEDULER_NAME}/"}
KINDS: Final = {
    "claims": {"resourceclaims", "resourceclaims/status"},
    "binds": {"pods/binding"},
    "pods": {"pods", "pods/status"},
    "groups": {"podgroups", "podgroups/status"},
    "events": {"events"},
}
TEMPLATES: Final = Resource("resource.k8s.io", "v1", "resourceclaimtemplates", "ResourceClaimTemplate", namespaced=True)


@dataclass(frozen=True, slots=True)
class Row:
    """One run: pods bound, seconds until the last bind, and writes of the scheduler by kind."""

    bound: int
    seconds: float
    writes: Counter[str]
    refused: int
    """Writes of claims and binds that the server answered with an error."""

    @property
    def pods_per_second(self) -> float:
        """From the first create, or the start of the scheduler."""
        return self.bound / self.seconds


def measure(assets: Path) -> None:
    """Runs all rows and prints the table."""
    with RealControlPlane(group_api="built-in", assets=assets, stock_scheduler=False) as plane:
        rows = asyncio.run(_measure(plane, assets))
    shown = [
        line
        for is_waiting in (False, True)
        for line in _pair("waiting" if is_waiting else "live", rows[STOCK, is_waiting], rows[OURS, is_waiting])
    ]
    columns = [
        "",
        "bound",
        "pods/s",
        "last bind s",
        "writes/pod",
        *KINDS,
        "refused",
        "pods/s to stock",
        "writes to stock",
    ]
    show(
        f"{GANGS} gangs × {SIZE} pods with a claim each, {NODES_COUNT} nodes × {PER_NODE} devices, real 1.37 control plane",
        columns,
        shown,
        notes=[
            f"medians of {ROUNDS} runs; lowest to highest pods/s: "
            + "; ".join(f"{_name(key)} {_range(found)}" for key, found in rows.items()),
            "writes: of the scheduler, per pod, leases left out; refused: of claims and binds, in all runs together",
            "everything shares the machine's cores, this program too",
        ],
    )


def _name(key: tuple[str, bool]) -> str:
    return f"{'tutti' if key[0] == OURS else 'stock'}{', waiting' if key[1] else ''}"


def _range(rows: list[Row]) -> str:
    speeds = [row.pods_per_second for row in rows]
    return f"{min(speeds):.0f} to {max(speeds):.0f}"


def _pair(name: str, stock: list[Row], ours: list[Row]) -> Iterator[list[str]]:
    speeds = {
        who: statistics.median(row.pods_per_second for row in rows) for who, rows in ((STOCK, stock), (OURS, ours))
    }
    writes = {who: statistics.median(_all(row) for row in rows) for who, rows in ((STOCK, stock), (OURS, ours))}
    for who, rows in ((STOCK, stock), (OURS, ours)):
        yield [
            f"{name}, {'stock' if who == STOCK else 'tutti'}",
            f"{min(row.bound for row in rows)}/{PODS_COUNT}",
            f"{speeds[who]:.0f}",
            f"{statistics.median(row.seconds for row in rows):.2f}",
            f"{writes[who] / PODS_COUNT:.2f}",
            *(f"{statistics.median(row.writes[kind] for row in rows) / PODS_COUNT:.2f}" for kind in KINDS),
            str(sum(row.refused for row in rows)),
            *(("", "") if who == STOCK else (ratio(speeds[OURS], speeds[STOCK]), ratio(writes[OURS], writes[STOCK]))),
        ]


def _all(row: Row) -> int:
    return sum(row.writes.values())


async def _measure(plane: ControlPlane, assets: Path) -> dict[tuple[str, bool], list[Row]]:
    schedulers: dict[str, Running] = {
        STOCK: lambda: stock_scheduler(plane, assets),
        OURS: lambda: tutti_scheduler(plane),
    }
    rows: dict[tuple[str, bool], list[Row]] = {(who, late): [] for late in (False, True) for who in schedulers}
    log = AuditLog(plane.audit_log)
    async with Client(load_credentials(str(plane.kubeconfig)), user_agent="bench", max_connections=64) as client:
        await _prepare(client)
        for _ in range(ROUNDS):
            for (who, is_waiting), found in rows.items():
                found.append(await _run(client, log, who, schedulers[who], is_waiting=is_waiting))
                # The whole takes minutes: what is known is told at once.
                print(_name((who, is_waiting)), found[-1], file=sys.stderr)
    return rows


async def _prepare(client: Client) -> None:
    for name in (NAMESPACE, SYSTEM_NAMESPACE):
        await client.create(NAMESPACES, {"metadata": {"name": name}})
    expression = f'device.driver == "{DRIVER}"'
    selectors = [{"cel": {"expression": expression}}]
    await client.create(DEVICE_CLASSES, {"metadata": {"name": CLASS}, "spec": {"selectors": selectors}})
    request = {"name": "r", "exactly": {"deviceClassName": CLASS}}
    template = {"metadata": {"name": "t"}, "spec": {"spec": {"devices": {"requests": [request]}}}}
    await client.create(TEMPLATES, template, NAMESPACE)
    await at_most_in_flight(client.create(NODES, node(index), parse=False) for index in range(NODES_COUNT))
    await at_most_in_flight(client.create(RESOURCE_SLICES, _slice(index), parse=False) for index in range(NODES_COUNT))


def _slice(index: int) -> dict[str, Any]:
    name = f"node-{index:04}"
    return {
        "metadata": {"name": name},
        "spec": {
            "driver": DRIVER,
            "nodeName": name,
            "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": f"g{each}"} for each in range(PER_NODE)],
        },
    }


def _pod(gang: int, index: int, scheduler: str) -> dict[str, Any]:
    pod = bare_pod(gang, index, scheduler)
    spec = pod["spec"]
    (container,) = spec["containers"]
    resources = {**container["resources"], "claims": [{"name": "device"}]}
    claims = [{"name": "device", "resourceClaimTemplateName": "t"}]
    return {**pod, "spec": {**spec, "containers": [{**container, "resources": resources}], "resourceClaims": claims}}


async def _run(client: Client, log: AuditLog, who: str, running: Running, *, is_waiting: bool) -> Row:
    groups = [pod_group(BUILT_IN, gang, SIZE) for gang in range(GANGS)]
    pods = [_pod(gang, index, who) for gang in range(GANGS) for index in range(SIZE)]

    async def create() -> None:
        await at_most_in_flight(client.create(BUILT_IN.pod_groups, group, NAMESPACE, parse=False) for group in groups)
        await at_most_in_flight(client.create(PODS, pod, NAMESPACE, parse=False) for pod in pods)

    async with BindWatch(client, NAMESPACE) as watch:
        if is_waiting:
            await create()
            await _until_claims(client, PODS_COUNT)
        position = log.position()
        begin = perf_counter()
        async with running():
            if not is_waiting:
                begin = perf_counter()
                await create()
            await watch.wait_bound(PODS_COUNT, within_seconds=PATIENCE_SECONDS)
            seconds = max(watch.bound.values(), default=float("inf")) - begin
        # The scheduler has ended, so whatever it had to say is said.
        row = _judged(log, position, AGENTS[who], len(watch.bound), seconds)
    await _clear(client)
    return row


async def _clear(client: Client) -> None:
    """Takes away pods and claims at once: the claim controller, which frees devices, needs minutes on a busy machine."""
    await clear(client)
    while claims := (await client.list(RESOURCE_CLAIMS, NAMESPACE))["items"]:
        await at_most_in_flight(_remove(client, claim["metadata"]) for claim in claims)


async def _remove(client: Client, meta: dict[str, Any]) -> None:
    with contextlib.suppress(NotFound, Conflict):
        await client.patch(RESOURCE_CLAIMS, {"metadata": {"finalizers": None}}, meta["name"], NAMESPACE)
        await client.delete(RESOURCE_CLAIMS, meta["name"], NAMESPACE, uid=meta["uid"])


async def _until_claims(client: Client, count: int) -> None:
    """Waits until there are so many claims."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while len((await client.list(RESOURCE_CLAIMS, NAMESPACE))["items"]) != count:  # noqa: ASYNC110 (another process, no event tells)
            await asyncio.sleep(POLL_SECONDS)


def _judged(log: AuditLog, position: int, agent: str, bound: int, seconds: float) -> Row:
    writes: Counter[str] = Counter()
    refused = 0
    for record in log.since(position):
        if not record.agent.startswith(agent) or record.verb in {"get", "list", "watch"} or record.resource == "leases":
            continue
        kind = next((kind for kind, resources in KINDS.items() if record.resource in resources), "others")
        writes[kind] += 1
        refused += kind in {"claims", "binds"} and not record.succeeded
    return Row(bound, seconds, writes, refused)
