"""What `tutti why` and `tutti fit` cost: a gang of 1,000 on 5,000 nodes with 50,000 pods, from a snapshot's file.

Every node has ten pods of another scheduler and half a CPU left. Reading is from the file to a cluster that can decide; the answer
comes after it. Figures are milliseconds of CPU of this process, medians of several runs.
"""

import gc
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import yaml

from explain.advice import Advice
from explain.fit_command import FitRequest, fit_on
from explain.manifests import read_manifests
from explain.targets import items_of, parse_target
from explain.why import why
from hack.bench import clusters
from hack.bench.table import show
from kube.cache.decoding import cyclic_gc_paused
from scheduler.cache.cluster import ClusterState
from scheduler.cache.records import EntityKey
from scheduler.recording.file import Recording, lines_of, read, write
from scheduler.recording.inputs import DecisionInputs
from scheduler.recording.listed import from_manifests
from scheduler.recording.restore import Restored, restore

NODES = 5000
PODS_OF_A_NODE = 10
SIZE = 1000
RUNS = 5
NOW_SECONDS = 1_767_229_200.0


def measure() -> None:
    """Prints the table."""
    rows = [
        _row("too little CPU anywhere", 16_000),
        _row("inside one rack", 500, topology_key=clusters.RACK),
        _row("required anti-affinity by node", 16_000, affinity=_apart()),
        _row("too little CPU, 100 kinds of pods", 16_000, kinds=100),
    ]
    show(
        f"Why a gang of {SIZE:,} waits on {NODES:,} nodes with {NODES * PODS_OF_A_NODE:,} pods, one core",
        ["", "read ms", "answer ms", "decisions", "hint", "longest step ms", "goal"],
        rows,
        notes=[
            "longest step: of the search for the hint in the condition, which the scheduler's process makes; at most 50 ms"
        ],
    )
    show("Would a Job of 1,000 fit there, one core", ["", "answer ms", "fits", "goal"], [_fit_row()])


def _apart() -> dict[str, Any]:
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "gang"}}}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def _row(name: str, milli_cpu: int, **more: Any) -> list[str]:
    restored, read_ms = _restored(list(gang(milli_cpu, **more)))
    state = restored.core.state
    (key,) = items_of(state, parse_target("podgroup/gang", clusters.NAMESPACE))
    answer_ms = _median_ms(lambda: why(state, key, NOW_SECONDS))
    answer = why(state, key, NOW_SECONDS)
    hint = answer.hint.kind.value if answer.hint is not None else "none"
    step_ms = max(_steps_ms(state, key))
    return [name, f"{read_ms:,.0f}", f"{answer_ms:,.0f}", str(answer.decisions), hint, f"{step_ms:,.0f}", "at most 1 s"]


def _steps_ms(state: ClusterState, key: EntityKey) -> Iterator[float]:
    search, found = Advice(state, key), None
    while found is None:
        begin = process_time()
        found = search.step()
        yield (process_time() - begin) * 1000


def _fit_row() -> list[str]:
    restored, _ = _restored([])
    container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": "400m"}}}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "gang"},
        "spec": {
            "parallelism": SIZE,
            "completions": SIZE,
            "completionMode": "Indexed",
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
        },
    }
    begin = process_time()
    request = FitRequest(yaml.safe_dump(job), clusters.NAMESPACE)
    found = fit_on(restored, read_manifests(request.text, request.namespace), request)
    took = (process_time() - begin) * 1000
    return ["1,000 pods of 400m", f"{took:,.0f}", str(found.items[0].fits).lower(), "at most 1 s"]


def write_snapshot(path: Path, members: list[dict[str, Any]]) -> None:
    """The cluster with this gang, as a file."""
    inputs = DecisionInputs(
        epoch_seconds=NOW_SECONDS,
        monotonic_seconds=1000.0,
        settings={},
        group_api="own",
        server_version="",
        objects=from_manifests((*_nodes(), *_pods(), *members)),
    )
    write(path, lines_of(Recording(inputs)))


def _restored(members: list[dict[str, Any]]) -> tuple[Restored, float]:
    """The cluster with this gang, through a file, and how long reading it took in milliseconds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "snapshot"
        write_snapshot(path, members)
        gc.collect()
        gc.freeze()
        begin = process_time()
        with cyclic_gc_paused():
            restored = restore(read(path).inputs)
        read_ms = (process_time() - begin) * 1000
    # As in the scheduler's process, which keeps what its caches hold out of collections.
    gc.collect()
    gc.freeze()
    return restored, read_ms


def _nodes() -> Iterator[dict[str, Any]]:
    allocatable = {"cpu": "64", "memory": "512Gi", "ephemeral-storage": "1Ti", "pods": "110"}
    for index in range(NODES):
        name = f"node-{index}"
        labels = {"kubernetes.io/hostname": name, clusters.RACK: f"rack-{index // clusters.NODES_PER_RACK}"}
        metadata = {"name": name, "uid": f"u-{name}", "labels": labels}
        yield {"kind": "Node", "metadata": metadata, "spec": {}, "status": {"allocatable": allocatable}}


def _pods() -> Iterator[dict[str, Any]]:
    for node in range(NODES):
        for number in range(PODS_OF_A_NODE):
            pod = clusters.pod_manifest(f"used-{node}-{number}", 6_500 if number else 5_000)
            pod["spec"] |= {"schedulerName": "another", "nodeName": f"node-{node}"}
            yield {"kind": "Pod", **pod}


def gang(
    milli_cpu: int, *, topology_key: str = "", affinity: dict[str, Any] | None = None, kinds: int = 1
) -> Iterator[dict[str, Any]]:
    spec: dict[str, Any] = {"schedulingPolicy": {"gang": {"minCount": SIZE}}}
    if topology_key:
        spec["schedulingConstraints"] = {"topology": [{"key": topology_key}]}
    metadata = {"name": "gang", "namespace": clusters.NAMESPACE, "uid": "u-gang"}
    yield {"kind": "PodGroup", "metadata": metadata, "spec": spec}
    for index in range(SIZE):
        pod = clusters.pod_manifest(f"gang-{index}", milli_cpu + index % kinds, gang="gang")
        if affinity:
            pod["spec"]["affinity"] = affinity
        yield {"kind": "Pod", **pod}


def _median_ms(call: Callable[[], object]) -> float:
    times = []
    for _ in range(RUNS):
        begin = process_time()
        call()
        times.append((process_time() - begin) * 1000)
    return median(times)
