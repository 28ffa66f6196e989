"""What remains of what came and went: a hundred thousand nodes, namespaces, groups, pods and Jobs, a few at a time.

In this process, without a server: objects go into the scheduler's state and queue and are decided upon, Jobs into the store of the
controllers. Memory is that of this process after each ten thousand of each kind.
"""

import gc
import json
import resource
import sys
import time
from pathlib import Path
from typing import Any, Final

import msgspec

from api.job import Job
from api.node import Node
from api.pod import Pod
from api.podgroup import PodGroup
from controllers.jobs.interning import interned
from controllers.owner_cache import OwnerCache
from hack.bench.table import show
from kube.cache.informer import Change
from kube.cache.store import Store
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.cluster import ClusterState
from scheduler.cache.records import StateChange
from scheduler.queue.scheduling_queue import SchedulingQueue
from scheduler.queue.settings import QueueSettings

CHURNED: Final = 100_000
STEP: Final = 10_000
BATCH: Final = 50

_decode_node = msgspec.json.Decoder(Node).decode
_decode_pod = msgspec.json.Decoder(Pod).decode
_decode_group = msgspec.json.Decoder(PodGroup).decode
_decode_job = msgspec.json.Decoder(Job).decode


def measure() -> None:
    """Prints the table."""
    process = _Process()
    rows = [_row(0)]
    for first in range(0, CHURNED, BATCH):
        process.come_and_go([f"x-{number}" for number in range(first, first + BATCH)])
        if not (first + BATCH) % STEP:
            rows.append(_row(first + BATCH))
    show(
        f"Churn: {CHURNED:,} nodes, namespaces, groups, Jobs and twice as many pods, {BATCH} at a time",
        ["of each kind came and went", "MiB resident", "blocks allocated"],
        rows,
        notes=["the caches with a limit (1,024 sets of labels and owners among them) fill during the first steps"],
    )


class _Process:
    """The parts that remember what users make."""

    def __init__(self) -> None:
        self._state = ClusterState(frozenset({"tutti"}))
        self._queue = SchedulingQueue(time.monotonic, QueueSettings())
        self._job_store: Store[Job] = Store()
        self._jobs = OwnerCache(self._job_store)

    def come_and_go(self, names: list[str]) -> None:
        """All of these come, are decided upon, and go."""
        for name in names:
            self._come(name)
        while (key := self._queue.pop(self._state)) is not None:
            decision = decide(self._state, key)
            for uid, node in decision.bindings:
                self._apply(self._state.assume(uid, node, 0.0))
            self._queue.done(key, decision, self._state)
        for name in names:
            self._go(name)
        self._queue.changed_statuses()

    def _come(self, name: str) -> None:
        state = self._state
        self._apply(state.upsert_namespace(name, {"team": name}))
        self._apply(state.upsert_node(_decode_node(json.dumps(_node(name)))))
        self._apply(state.upsert_group(_decode_group(json.dumps(_group(name)))))
        self._apply(state.upsert_pod(_decode_pod(json.dumps(_member(name)))))
        self._apply(state.upsert_pod(_decode_pod(json.dumps(_other(name)))))
        job = interned(_decode_job(json.dumps(_job(name))))
        self._job_store.put(job)
        self._jobs.caught_up(Change("added", None, job))

    def _go(self, name: str) -> None:
        state = self._state
        for pod in (f"{name}-member", f"{name}-other"):
            self._apply(state.remove_pod(name, pod, f"u-{pod}"))
        self._apply(state.remove_group(name, name, f"g-{name}"))
        self._apply(state.remove_node(name, f"n-{name}"))
        self._apply(state.remove_namespace(name))
        job = self._job_store.remove(*_decode_job(json.dumps(_job(name))).metadata.key)
        self._jobs.caught_up(Change("deleted", job, None))

    def _apply(self, change: StateChange) -> None:
        self._queue.move_all_to_active(change, self._state)


def _row(churned: int) -> list[str]:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return [f"{churned:,}", f"{pages * resource.getpagesize() / 2**20:.1f}", f"{sys.getallocatedblocks():,}"]


def _node(name: str) -> dict[str, Any]:
    labels = {"kubernetes.io/hostname": name}
    return {
        "metadata": {"name": name, "uid": f"n-{name}", "labels": labels},
        "status": {"allocatable": {"cpu": "4", "memory": "16Gi", "pods": "110"}},
    }


def _group(name: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": name, "uid": f"g-{name}"}
    return {"metadata": metadata, "spec": {"schedulingPolicy": {"gang": {"minCount": 1}}}}


def _member(name: str) -> dict[str, Any]:
    """A pod that keeps away from its like, by a label that nobody else has."""
    away = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {f"example.com/{name}": "x"}}}
    made = _pod(f"{name}-member", name)
    made["metadata"] |= {
        "labels": {f"example.com/{name}": "x"},
        "annotations": {"tutti.scheduler/pod-group": name},
        "ownerReferences": [_owner(name)],
    }
    made["spec"]["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [away]}}
    return made


def _other(name: str) -> dict[str, Any]:
    """Another scheduler's pod, on the node of the same name, with a volume."""
    made = _pod(f"{name}-other", name)
    made["metadata"]["labels"] = {"app": name}
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": name}}]
    made["spec"] |= {"schedulerName": "another", "nodeName": name, "volumes": volumes}
    return made


def _pod(name: str, namespace: str) -> dict[str, Any]:
    resources = {"requests": {"cpu": "1", "memory": "1Gi"}}
    return {
        "metadata": {"name": name, "namespace": namespace, "uid": f"u-{name}", "resourceVersion": "1"},
        "spec": {"schedulerName": "tutti", "containers": [{"name": "main", "image": "i", "resources": resources}]},
    }


def _owner(name: str) -> dict[str, Any]:
    return {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": f"j-{name}", "controller": True}


def _job(name: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": name, "uid": f"j-{name}", "resourceVersion": "1", "labels": {"app": name}}
    return {"metadata": metadata, "spec": {"parallelism": 1, "completions": 1, "completionMode": "Indexed"}}
