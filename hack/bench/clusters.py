"""The clusters, gangs and pods that decisions are measured on, taken in by a state of this process."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from api.compositepodgroup import CompositePodGroup
from api.node import Node
from api.pod import Pod
from api.podgroup import PodGroup
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.cluster import ClusterState
from scheduler.cache.records import EntityKey

RESOURCES = ("cpu", "memory", "ephemeral-storage", *(f"example.com/device-{n}" for n in range(6)))
"""Nine named resources; with `pods` the ten dimensions of the tables."""
RACK = "topology.kubernetes.io/rack"
NODES_PER_RACK = 100
NAMESPACE = "bench"

decode_node = msgspec.json.Decoder(Node).decode
decode_pod = msgspec.json.Decoder(Pod).decode
decode_composite = msgspec.json.Decoder(CompositePodGroup).decode
decode_group = msgspec.json.Decoder(PodGroup).decode


def cluster(nodes: int, more_labels: Callable[[int], dict[str, str]] = lambda _: {}) -> ClusterState:
    """Equal nodes in racks of a hundred; `more_labels` are those of the node with that number."""
    state = ClusterState(frozenset({"tutti"}))
    amounts = {"cpu": "64", "memory": "512Gi", "ephemeral-storage": "1Ti", "pods": "110"}
    allocatable = {name: amounts.get(name, "8") for name in (*RESOURCES, "pods")}
    for index in range(nodes):
        name = f"node-{index}"
        labels = {"kubernetes.io/hostname": name, RACK: f"rack-{index // NODES_PER_RACK}"}
        labels |= more_labels(index)
        node = {
            "metadata": {"name": name, "uid": f"u-{name}", "labels": labels},
            "status": {"allocatable": allocatable},
        }
        state.upsert_node(decode_node(json.dumps(node)))
    return state


def use_unevenly(state: ClusterState) -> None:
    """Another scheduler's pods on every node, more on some than on others."""
    for index, name in enumerate(list(state.nodes.slot_of)):
        manifest = pod_manifest(f"used-{index}", 1 + index * 37 % 40_000)
        manifest["spec"] |= {"schedulerName": "another", "nodeName": name}
        state.upsert_pod(decode_pod(json.dumps(manifest)))


def gang(
    state: ClusterState,
    name: str,
    size: int,
    *,
    milli_cpu: Callable[[int], int] = lambda _: 1000,
    affinity: dict[str, Any] | None = None,
    topology_key: str = "",
    parent: str = "",
    annotations: dict[str, str] | None = None,
    has_ranks: bool = False,
    priority: int | None = None,
) -> EntityKey:
    """A group that needs all of its pods, which ask for so many milli-CPUs each.

    `annotations` are those of the group; `parent` is a CompositePodGroup above it.
    """
    spec: dict[str, Any] = {"schedulingPolicy": {"gang": {"minCount": size}}}
    if parent:
        spec["parentCompositePodGroupName"] = parent
    if priority is not None:
        spec["priority"] = priority
    if topology_key:
        spec["schedulingConstraints"] = {"topology": [{"key": topology_key}]}
    metadata = {"name": name, "namespace": NAMESPACE, "uid": f"u-{name}", "annotations": annotations or {}}
    state.upsert_group(decode_group(json.dumps({"metadata": metadata, "spec": spec})))
    for index in range(size):
        pod = pod_manifest(f"{name}-{index}", milli_cpu(index), gang=name)
        if affinity:
            pod["spec"]["affinity"] = affinity
        if priority is not None:
            pod["spec"]["priority"] = priority
        if has_ranks:
            pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"] = str(index)
        state.upsert_pod(decode_pod(json.dumps(pod)))
    return EntityKey("group", NAMESPACE, name, f"u-{name}")


def tree(
    state: ClusterState, name: str, branches: int, gangs: int, size: int, *, priority: int | None = None, **more: Any
) -> EntityKey:
    """A tree of two levels above its gangs, all of which are needed; `more` as of `gang`, for each of these."""
    key = _composite(state, name, branches, priority=priority)
    for branch in range(branches):
        _composite(state, f"{name}-{branch}", gangs, parent=name, priority=priority)
        for number in range(gangs):
            gang(state, f"{name}-{branch}-{number}", size, parent=f"{name}-{branch}", priority=priority, **more)
    return key


def _composite(state: ClusterState, name: str, need: int, *, priority: int | None, parent: str = "") -> EntityKey:
    spec: dict[str, Any] = {"schedulingPolicy": {"gang": {"minGroupCount": need}}}
    if priority is not None:
        spec["priority"] = priority
    if parent:
        spec["parentCompositePodGroupName"] = parent
    metadata = {"name": name, "namespace": NAMESPACE, "uid": f"u-{name}"}
    state.composites.upsert(decode_composite(json.dumps({"metadata": metadata, "spec": spec})))
    return EntityKey("composite", NAMESPACE, name, f"u-{name}")


def lone_pods(state: ClusterState, prefix: str, count: int) -> list[EntityKey]:
    """Pods that belong to no group."""
    return [lone_pod(state, f"{prefix}-{index}", 1000) for index in range(count)]


def lone_pod(state: ClusterState, name: str, milli_cpu: int) -> EntityKey:
    """A pod that belongs to no group."""
    state.upsert_pod(decode_pod(json.dumps(pod_manifest(name, milli_cpu))))
    return EntityKey("pod", NAMESPACE, name, f"u-{name}")


def pod_manifest(name: str, milli_cpu: int, *, gang: str = "") -> dict[str, Any]:
    """A pod as the API server delivers it, with things in it that do not matter to us."""
    requests = {"cpu": f"{milli_cpu}m", "memory": "1Gi", "ephemeral-storage": "1Gi"}
    return {
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "uid": f"u-{name}",
            "resourceVersion": "1",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"app": gang or "lone"},
            "annotations": {"tutti.scheduler/pod-group": gang} if gang else {},
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


def bindings(state: ClusterState, key: EntityKey) -> tuple[tuple[str, str], ...]:
    """Where the pending pods of an item go, all of them.

    Raises:
        RuntimeError: some found no place.
    """
    pending = state.item(key)
    decision = decide(state, key)
    if pending is None or len(decision.bindings) != pending.pending_count:
        raise RuntimeError(f"{key.name}: {len(decision.bindings)} placed: {decision.condition_message}")
    return decision.bindings


def place_all(state: ClusterState, keys: list[EntityKey]) -> None:
    """Decides on one item after the other, each on what the ones before have left."""
    for key in keys:
        for uid, node in bindings(state, key):
            state.assume(uid, node, 1e9)


def give_back(state: ClusterState, keys: list[EntityKey]) -> None:
    """Undoes `place_all`."""
    for uid in assumed(state, keys):
        state.forget(uid)


def assumed(state: ClusterState, keys: list[EntityKey]) -> Iterator[str]:
    """The UIDs of members that have a place."""
    for key in keys:
        members = state.item(key)
        for pod in tuple(members.pods()) if members else ():
            if state.assumption(pod.uid) is not None:
                yield pod.uid
