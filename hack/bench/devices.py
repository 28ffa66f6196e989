"""What deciding on devices costs: gangs whose pods have resource claims, and what forty thousand devices take of memory."""

import gc
import json
import tracemalloc
from time import process_time
from typing import Any

import msgspec

from api.devices import DeviceClass, ResourceClaim, ResourceSlice
from hack.bench import clusters
from hack.bench.table import median_ms, show
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.cluster import ClusterState
from scheduler.cache.devices.record_factory import class_record
from scheduler.cache.records import EntityKey
from scheduler.process import tune_garbage_collection

DRIVER = "gpu.example.com"
PER_NODE = 8
RUNS = 7

_slice = msgspec.json.Decoder(ResourceSlice).decode
_claim = msgspec.json.Decoder(ResourceClaim).decode
_class = msgspec.json.Decoder(DeviceClass).decode


def measure() -> None:
    """Prints the tables."""
    # As the scheduler does at its start.
    tune_garbage_collection()
    alike = [{"matchAttribute": f"{DRIVER}/numa"}]
    show(
        "Gangs with resource claims, 1,000 nodes × 8 devices, one core",
        ["", "median ms", "first ms", "pods/s", "goal"],
        [
            _row("1,000 pods with one identical claim each", 1000, 1, [], "10 ms"),
            _row("200 pods with four devices of one NUMA node each", 200, 4, alike, "100 ms"),
            _row("1,000 pods without claims beside the devices", 1000, 0, [], ""),
        ],
        notes=["first: nothing about these claims was counted before"],
    )
    show("40,000 devices on 5,000 nodes", ["", "MiB"], _memory())


def _row(name: str, pods: int, count: int, constraints: list[dict[str, Any]], goal: str) -> list[str]:
    state = clusters.cluster(1000)
    add_devices(state, 1000)
    key = clusters.gang(state, "gang", pods)
    if count:
        add_claims(state, key, count, constraints)
    begin = process_time()
    _placed(state, key, pods)
    first = (process_time() - begin) * 1000
    _, middle, _ = median_ms(lambda: _placed(state, key, pods), runs=RUNS)
    return [name, f"{middle:.1f}", f"{first:.1f}", f"{pods / middle * 1000:,.0f}", f"at most {goal}" if goal else ""]


def _placed(state: ClusterState, key: EntityKey, pods: int) -> None:
    decision = decide(state, key)
    if len(decision.bindings) != pods:
        raise RuntimeError(f"{len(decision.bindings)} of {pods} placed: {decision.condition_message}")


def add_devices(state: ClusterState, nodes: int, *, are_distinct: bool = False) -> None:
    """Eight devices on each node, four in each NUMA node; with `are_distinct` each has a serial number that a selector can see."""
    state.devices.is_followed = True
    expression = f'device.driver == "{DRIVER}"'
    manifest = {"metadata": {"name": "gpu"}, "spec": {"selectors": [{"cel": {"expression": expression}}]}}
    state.devices.set_class("gpu", class_record(_class(json.dumps(manifest))))
    for index in range(nodes):
        name = f"node-{index}"
        devices = [_device(index, number, is_distinct=are_distinct) for number in range(PER_NODE)]
        spec = {
            "driver": DRIVER,
            "nodeName": name,
            "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
            "devices": devices,
        }
        offered = {"metadata": {"name": f"slice-{name}", "uid": f"u-slice-{name}"}, "spec": spec}
        state.devices.set_slice(f"slice-{name}", state.devices.slim_slice(_slice(json.dumps(offered))))


def _device(node: int, number: int, *, is_distinct: bool) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        "numa": {"int": number // 4},
        "model": {"string": "a100"},
        "driver": {"version": "1.2.3"},
    }
    if is_distinct:
        attributes["uuid"] = {"string": f"gpu-{node:06}-{number}-4f2e-9a61"}
    return {"name": f"gpu-{number}", "attributes": attributes, "capacity": {"memory": {"value": "80Gi"}}}


def add_claims(state: ClusterState, key: EntityKey, count: int, constraints: list[dict[str, Any]]) -> None:
    """Gives each pod of the gang a claim of its own, as if from a template."""
    members = state.item(key)
    exactly = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count}
    spec = {"devices": {"requests": [{"name": "r", "exactly": exactly}], "constraints": constraints}}
    uids = [uid for waiting in members.pending.values() for uid in waiting.uids] if members is not None else []
    for uid in uids:
        pod = state.pod(uid)
        if pod is None:
            continue
        name = f"{pod.name}-gpu"
        owner = {"apiVersion": "v1", "kind": "Pod", "name": pod.name, "uid": uid, "controller": True}
        metadata = {"name": name, "namespace": pod.namespace, "uid": f"u-{name}", "ownerReferences": [owner]}
        made = state.devices.slim_claim(_claim(json.dumps({"metadata": metadata, "spec": spec})))
        state.devices.set_claim((pod.namespace, name), made)
        manifest = clusters.pod_manifest(pod.name, 1000, gang=key.name)
        manifest["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
        manifest["status"] = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": name}]}
        state.upsert_pod(clusters.decode_pod(json.dumps(manifest)))


def _memory() -> list[list[str]]:
    return [
        ["all alike but for their names", f"{_mebibytes(are_distinct=False):.0f}"],
        ["each with a serial number of its own", f"{_mebibytes(are_distinct=True):.0f}"],
    ]


def _mebibytes(*, are_distinct: bool) -> float:
    state = clusters.cluster(10)
    gc.collect()
    tracemalloc.start()
    try:
        add_devices(state, 5000, are_distinct=are_distinct)
        gc.collect()
        return tracemalloc.get_traced_memory()[0] / 2**20
    finally:
        tracemalloc.stop()
