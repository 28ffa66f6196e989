"""What finding out costs who has to leave for devices, where all of 40,000 are held by pods that could."""

import json
from typing import Any

import msgspec

from api.devices import ResourceClaim
from hack.bench import clusters
from hack.bench.devices import DRIVER, PER_NODE, add_claims, add_devices
from hack.bench.table import median_ms, show
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.cluster import ClusterState
from scheduler.cache.records import EntityKey
from scheduler.preemption.dry_run import dry_run_preemption
from scheduler.preemption.victims import Candidate

NODES = 5000
RUNS = 3
UNLIMITED = 10**15
"""Steps, so that what is over the limit is measured, too."""
LESS = -10
"""The priority of those who hold devices."""

_claim = msgspec.json.Decoder(ResourceClaim).decode


def measure() -> None:
    """Prints the table."""
    alike = [{"matchAttribute": f"{DRIVER}/numa"}]
    state = held_cluster(NODES)
    show(
        f"Who leaves for devices, {NODES * PER_NODE:,} held by as many pods on {NODES:,} nodes, one core",
        ["", "victims", "median ms", "steps the first time"],
        [
            _row(state, "16 pods with one device each", "plain", 16, 1, []),
            _row(state, "200 pods with four devices of one NUMA node each", "alike", 200, 4, alike),
        ],
        notes=[f"a decision may take {state.nodes.steps.most:,} steps"],
    )


def held_cluster(nodes: int) -> ClusterState:
    """Nodes with devices, each held by a pod of its own that anybody may evict."""
    state = clusters.cluster(nodes)
    add_devices(state, nodes)
    for node in range(nodes):
        for device in range(PER_NODE):
            _hold(state, node, device)
    return state


def _hold(state: ClusterState, node: int, device: int) -> None:
    name = f"holder-{node}-{device}"
    manifest = clusters.pod_manifest(name, 10)
    namespace = manifest["metadata"]["namespace"]
    fields = [{"key": "metadata.name", "operator": "In", "values": [f"node-{node}"]}]
    result = {"request": "r", "driver": DRIVER, "pool": f"node-{node}", "device": f"gpu-{device}"}
    consumer = {"resource": "pods", "name": name, "uid": manifest["metadata"]["uid"]}
    allocation: dict[str, Any] = {
        "devices": {"results": [result]},
        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": fields}]},
    }
    claim = {
        "metadata": {"name": name, "namespace": namespace, "uid": f"u-claim-{name}"},
        "status": {"allocation": allocation, "reservedFor": [consumer]},
    }
    state.devices.set_claim((namespace, name), state.devices.slim_claim(_claim(json.dumps(claim))))
    manifest["spec"] |= {
        "nodeName": f"node-{node}",
        "priority": LESS,
        "resourceClaims": [{"name": "gpu", "resourceClaimName": name}],
    }
    manifest["status"] = {"phase": "Running"}
    state.upsert_pod(clusters.decode_pod(json.dumps(manifest)))


def _row(state: ClusterState, name: str, gang: str, pods: int, count: int, constraints: list[Any]) -> list[str]:
    key = clusters.gang(state, gang, pods)
    add_claims(state, key, count, constraints)
    decide(state, key)  # as the cycle does before; it counts devices that nobody counted before
    most, state.nodes.steps.most = state.nodes.steps.most, UNLIMITED
    begin = state.nodes.steps.spent
    found = _victims(state, key)
    steps = state.nodes.steps.spent - begin
    _, middle, _ = median_ms(lambda: _victims(state, key), runs=RUNS)
    state.nodes.steps.most = most
    return [name, f"{found:,}", f"{middle:,.0f}", f"{steps:,}"]


def _victims(state: ClusterState, key: EntityKey) -> int:
    members = state.item(key)
    found = dry_run_preemption(state, members) if members is not None else None
    if isinstance(found, Candidate):
        return len(found.victims)
    raise RuntimeError(f"nobody was found to leave: {found}")
