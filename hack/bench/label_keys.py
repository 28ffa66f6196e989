"""What label keys in (anti-)affinities cost: pods that each name a key of their own, beside many pods of another scheduler."""

import json
import statistics
from time import process_time
from typing import Any, Final

import msgspec

from api.pod import Pod
from hack.bench import clusters
from hack.bench.table import show
from scheduler.cache.cluster import ClusterState
from scheduler.cache.records import EntityKey

NODES: Final = 5_000
OTHERS: Final = 20_000
DECISIONS: Final = 200
INDEX: Final = "batch.kubernetes.io/job-completion-index"

_decode = msgspec.json.Decoder(Pod).decode


def measure() -> None:
    """Prints the table."""
    rows = []
    for name, at_once, is_common in (
        ("a key that no other pod has", 1, False),
        ("a key that every pod has, named once in ten", 1, True),
        ("a hundred keys that no other pod has", 100, False),
    ):
        state = _cluster()
        times = [_decision_ms(state, number, at_once, is_common=is_common) for number in range(DECISIONS)]
        figures = f"{statistics.median(times):.2f}", f"{max(times):.2f}", f"{statistics.mean(times):.2f}"
        rows.append([name, *figures, f"{_event_us(state):.1f}"])
    show(
        f"Pods that each name new label keys, {NODES:,} nodes, {OTHERS:,} pods of another scheduler",
        ["anti-affinity with", "median ms", "max ms", "mean ms", "one pod event then, µs"],
        rows,
        notes=[f"{DECISIONS} decisions; an event: another scheduler's pod comes and goes"],
    )


def _cluster() -> ClusterState:
    state = clusters.cluster(NODES)
    for number in range(OTHERS):
        state.upsert_pod(_other(number))
    return state


def _other(number: int) -> Pod:
    manifest = clusters.pod_manifest(f"other-{number}", 100)
    job = f"job-{number // 20}"
    labels = {"app": "other", "batch.kubernetes.io/job-name": job, INDEX: str(number % 20)}
    manifest["metadata"]["labels"] = labels
    manifest["spec"] |= {"schedulerName": "another", "nodeName": f"node-{number % NODES}"}
    return _decode(json.dumps(manifest))


def _decision_ms(state: ClusterState, number: int, keys: int, *, is_common: bool) -> float:
    """One pod comes, is decided upon and goes."""
    name = f"lone-{number}"
    wanted = [INDEX] if is_common and not number % 10 else [f"example.com/key-{number}-{each}" for each in range(keys)]
    manifest = clusters.pod_manifest(name, 1000)
    manifest["metadata"]["labels"] |= dict.fromkeys(wanted, "x")
    manifest["spec"]["affinity"] = {
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_term(key) for key in wanted]}
    }
    state.upsert_pod(_decode(json.dumps(manifest)))
    key = EntityKey("pod", clusters.NAMESPACE, name, f"u-{name}")
    begin = process_time()
    clusters.place_all(state, [key])
    took = (process_time() - begin) * 1000
    state.remove_pod(clusters.NAMESPACE, name, key.uid)
    return took


def _term(key: str) -> dict[str, Any]:
    selector = {"matchLabels": {key: "x"}}
    return {"topologyKey": "kubernetes.io/hostname", "labelSelector": selector}


def _event_us(state: ClusterState) -> float:
    pods = [state.slim_pod(_other(OTHERS + number)) for number in range(1000)]
    begin = process_time()
    for pod in pods:
        state.upsert_pod(pod)
    for pod in pods:
        state.remove_pod(pod.namespace, pod.name, pod.uid)
    return (process_time() - begin) / (2 * len(pods)) * 1e6
