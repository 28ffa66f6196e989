"""What one scheduling decision costs, in this process alone: no server, no writes.

Rates count pods; every figure is the median of several runs on one core.
"""

import gc
import json
import os
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec

from api.node import Node
from api.pod import Pod
from api.podgroup import PodGroup
from hack.bench.table import median_ms, show
from scheduler.cycle.decide import decide
from scheduler.state.cluster import ClusterState
from scheduler.state.records import ItemKey

RUNS = 7
RESOURCES = ("cpu", "memory", "ephemeral-storage", *(f"example.com/device-{n}" for n in range(6)))
"""Nine named resources; with `pods` the ten dimensions of the table."""

APART: dict[str, Any] = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "apart"}}}
        ]
    }
}

_decode_node = msgspec.json.Decoder(Node).decode
_decode_pod = msgspec.json.Decoder(Pod).decode
_decode_group = msgspec.json.Decoder(PodGroup).decode


def measure() -> None:
    """Prints both tables; memory first, while this process has freed nothing that new records could hide in."""
    show("State", ["", "value"], _state_rows())
    show(
        "Decisions, one core",
        ["", "median ms", "min ms", "max ms", "pods/s"],
        [
            _row("1,000 identical pods, 5,000 nodes × 10 resources", 1000, _identical(nodes=5000, size=1000)),
            _row("1,000 pods, all different, 5,000 nodes × 10 resources", 1000, _different(nodes=5000, size=1000)),
            _row(
                "3,000 gangs × 3, one after the other, 5,000 nodes",
                9000,
                _stream(nodes=5000, gangs=3000, size=3),
                runs=3,
            ),
            _row("200 pods with required anti-affinity by node, 5,000 nodes", 200, _apart(nodes=5000, size=200)),
        ],
        notes=["the last row includes taking the room of each gang before the next; goal of the first: at most 1 ms"],
    )


def _row(name: str, pods: int, call: Callable[[], object], runs: int = RUNS) -> list[str]:
    least, middle, most = median_ms(call, runs=runs)
    return [name, f"{middle:.2f}", f"{least:.2f}", f"{most:.2f}", f"{pods / middle * 1000:,.0f}"]


def _identical(*, nodes: int, size: int) -> Callable[[], object]:
    state = _cluster(nodes)
    key = _gang(state, "same", size, lambda _: 1000)
    return lambda: _placed(state, key, size)


def _different(*, nodes: int, size: int) -> Callable[[], object]:
    state = _cluster(nodes)
    key = _gang(state, "mixed", size, lambda index: 100 + index)
    return lambda: _placed(state, key, size)


def _apart(*, nodes: int, size: int) -> Callable[[], object]:
    state = _cluster(nodes)
    key = _gang(state, "apart", size, lambda _: 1000, affinity=APART)
    return lambda: _placed(state, key, size)


def _stream(*, nodes: int, gangs: int, size: int) -> Callable[[], object]:
    def run() -> None:
        for key in keys:
            for uid, node in _placed(state, key, size):
                state.assume(uid, node, 1e9)
        for uid in uids:
            state.forget(uid)

    state = _cluster(nodes)
    keys = [_gang(state, f"gang-{number}", size, lambda _: 1000) for number in range(gangs)]
    uids = [member.uid for key in keys for member in state.members(key)]
    return run


def _placed(state: ClusterState, key: ItemKey, size: int) -> tuple[tuple[str, str], ...]:
    decision = decide(state, key)
    if len(decision.bindings) != size:
        raise RuntimeError(f"{len(decision.bindings)} of {size} placed: {decision.condition_message}")
    return decision.bindings


def _cluster(nodes: int) -> ClusterState:
    state = ClusterState(frozenset({"tutti"}))
    amounts = {"cpu": "64", "memory": "512Gi", "ephemeral-storage": "1Ti", "pods": "110"}
    allocatable = {name: amounts.get(name, "8") for name in (*RESOURCES, "pods")}
    for index in range(nodes):
        name = f"node-{index}"
        labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/rack": f"rack-{index // 100}"}
        node = {
            "metadata": {"name": name, "uid": f"u-{name}", "labels": labels},
            "status": {"allocatable": allocatable},
        }
        state.upsert_node(_decode_node(json.dumps(node)))
    return state


def _gang(
    state: ClusterState, name: str, size: int, milli_cpu: Callable[[int], int], affinity: dict[str, Any] | None = None
) -> ItemKey:
    group = {"metadata": {"name": name, "namespace": "bench", "uid": f"u-{name}"}}
    state.upsert_group(_decode_group(json.dumps({**group, "spec": {"schedulingPolicy": {"gang": {"minCount": size}}}})))
    for index in range(size):
        pod = _pod(name, index, milli_cpu(index))
        if affinity:
            pod["spec"]["affinity"] = affinity
        state.upsert_pod(_decode_pod(json.dumps(pod)))
    return ItemKey("group", "bench", name, f"u-{name}")


def _pod(gang: str, index: int, milli_cpu: int) -> dict[str, Any]:
    requests = {"cpu": f"{milli_cpu}m", "memory": "1Gi", "ephemeral-storage": "1Gi"}
    return {
        "metadata": {
            "name": f"{gang}-{index}",
            "namespace": "bench",
            "uid": f"u-{gang}-{index}",
            "resourceVersion": str(index),
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"app": gang},
            "annotations": {"tutti.scheduler/pod-group": gang},
        },
        "spec": {
            "schedulerName": "tutti",
            "containers": [
                {
                    "name": "main",
                    "image": "registry.example/trainer:1",
                    "env": [{"name": f"VARIABLE_{n}", "value": "x" * 40} for n in range(20)],
                    "resources": {"requests": requests},
                }
            ],
        },
    }


def _state_rows() -> list[list[str]]:
    count = 10_000
    lines = [json.dumps(_pod(f"gang-{n // 20}", n % 20, 1000)).encode() for n in range(count)]
    state = _cluster(1000)
    gc.collect()
    before = _resident_bytes()
    begin = perf_counter()
    for line in lines:
        state.upsert_pod(state.slim_pod(_decode_pod(line)))
    took = perf_counter() - begin
    gc.collect()
    grown = _resident_bytes() - before
    heartbeat = _decode_node(
        json.dumps(
            {
                "metadata": {"name": "node-1", "uid": "u-node-1", "labels": {"kubernetes.io/hostname": "node-1"}},
                "status": {"allocatable": {"cpu": "64", "memory": "512Gi", "pods": "110"}},
            }
        )
    )
    state.upsert_node(heartbeat)
    _, beat, _ = median_ms(lambda: [state.upsert_node(heartbeat) for _ in range(1000)], runs=RUNS)
    return [
        ["memory per 10,000 pending pods", f"{grown / 2**20:.1f} MiB"],
        ["decode and take in one pod event", f"{took / count * 1e6:.1f} µs"],
        ["take in one node heartbeat", f"{beat:.1f} µs"],
    ]


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
