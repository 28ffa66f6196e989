"""What deciding on a preemption costs, in this process alone, and how many have to leave.

The shapes are those of kube-scheduler's own preemption benchmarks (for which upstream publishes no threshold) and three that
were measured with the stock scheduler on a real control plane. Each decision is made on the state that all earlier ones of its
row left behind, with their nominations in it. Garbage is collected as in the scheduler's process, which keeps what its caches hold
out of it.
"""

import gc
import json
import statistics
from collections.abc import Callable
from time import perf_counter
from typing import Any

import msgspec

from api.node import Node
from api.pod import Pod
from api.podgroup import PodGroup
from hack.bench.table import show
from scheduler.cache.cluster import ClusterState
from scheduler.cache.records import EntityKey
from scheduler.preemption.dry_run import dry_run_preemption
from scheduler.preemption.victims import Candidate
from scheduler.process import tune_garbage_collection

Rule = dict[str, Any]
"""Fields of a pod's spec that speak of other pods."""

RUNS = 5
HIGH = 1000

_decode_node = msgspec.json.Decoder(Node).decode
_decode_pod = msgspec.json.Decoder(Pod).decode
_decode_group = msgspec.json.Decoder(PodGroup).decode


def measure() -> None:
    """Prints the table."""
    show(
        "Preemption decisions, one core",
        ["", "median ms", "max ms", "goal ms", "victims"],
        [
            _row("100 nodes, 1,000 low pods; 1 gang × 100", lambda: _lone(100, 10, 40), (1, 100, 3970), 10),
            _row("100 nodes, 1,000 low pods; 10 gangs × 10", lambda: _lone(100, 10, 40), (10, 10, 3970), 10),
            _row("100 nodes, 5 low gangs × 100; 1 gang × 100", lambda: _gangs(100, 5, 100, 600), (1, 100, 3500), 10),
            _row("100 nodes, 50 low gangs × 10; 10 gangs × 10", lambda: _gangs(100, 50, 10, 600), (10, 10, 3500), 10),
            _row(
                "1,000 nodes, 50 low gangs × 100; 10 gangs × 100",
                lambda: _gangs(1000, 50, 100, 600),
                (10, 100, 3500),
                10,
            ),
            _row("1,000 nodes, 10,000 low pods; 1 gang × 100", lambda: _lone(1000, 10, 300), (1, 100, 3970), 10),
            _row("5,000 nodes, 20,000 low pods; 10 gangs × 100", lambda: _lone(5000, 4, 1000), (10, 100, 4000), 50),
            _row("5,000 nodes, 20,000 low pods; 10 lone pods", lambda: _lone(5000, 4, 1000), (10, 1, 4000), 50),
            _row("(a) 200 nodes, 800 low pods; 1 gang × 50", lambda: _lone(200, 4, 1000), (1, 50, 4000), 10),
            _row("(b) 200 nodes, 20 low gangs × 40; 1 gang × 50", lambda: _gangs(200, 20, 40, 1000), (1, 50, 4000), 10),
            _row(
                "(c) 400 nodes, 50 low gangs × 32; 10 gangs × 40", lambda: _gangs(400, 50, 32, 1000), (10, 40, 4000), 10
            ),
            _row(
                "100 nodes, 1,000 low pods, an anchor each; 1 gang × 100 near anchors",
                lambda: _anchored(100, 10, 40),
                (1, 100, 3570),
                10,
                _near("anchor"),
            ),
            _row(
                "100 nodes in 3 zones, 1,000 low pods; 6 gangs × 16, spread",
                lambda: _lone(100, 10, 40),
                (6, 16, 3970),
                10,
                _spread("high"),
            ),
            _row(
                "1,000 nodes, 10,000 low pods; 1 gang × 100, one a node",
                lambda: _lone(1000, 10, 300),
                (1, 100, 3970),
                10,
                _apart("high"),
            ),
        ],
        notes=[
            "nodes of 4 CPUs and ten resources; low gangs leave whole; their pods are spread over the nodes in turn"
        ],
    )


def _row(
    name: str, build: Callable[[], ClusterState], gangs: tuple[int, int, int], goal: int, rule: Rule | None = None
) -> list[str]:
    times: list[float] = []
    victims = 0
    for _ in range(RUNS):
        gc.unfreeze()
        state = build()
        tune_garbage_collection()
        took, victims = _preempt(state, *gangs, rule or {})
        times += took
    return [name, f"{statistics.median(times):.2f}", f"{max(times):.2f}", str(goal), f"{victims:,}"]


def _preempt(state: ClusterState, gangs: int, size: int, milli_cpu: int, rule: Rule) -> tuple[list[float], int]:
    """Times in milliseconds of all decisions but the first (which compiles the signature), unless it is the only one."""
    keys = [_preemptor(state, number, size, milli_cpu, rule) for number in range(gangs)]
    _decide(state, _preemptor(state, gangs, size, milli_cpu, rule))
    times, leaving = [], set()
    for key in keys:
        begin = perf_counter()
        candidate = _decide(state, key)
        times.append((perf_counter() - begin) * 1000)
        places = {uid: (node, _demand(state, uid)) for uid, node in candidate.places}
        leaving |= {pod.uid for pod in candidate.pods}
        state.nominator.nominate(key, candidate.priority, places, frozenset(pod.uid for pod in candidate.pods), 0.0)
        for pod in candidate.pods:
            state.upsert_pod(msgspec.structs.replace(pod, terminating=True))
    return times, len(leaving)


def _decide(state: ClusterState, key: EntityKey) -> Candidate:
    members = state.item(key)
    if members is None:
        raise RuntimeError(f"{key} is no item")
    found = dry_run_preemption(state, members)
    if isinstance(found, Candidate):
        return found
    raise RuntimeError(f"no candidate: {found.message}")


def _demand(state: ClusterState, uid: str) -> Any:
    pod = state.pod(uid)
    return pod.demand if pod else None


def _lone(nodes: int, pods_per_node: int, milli_cpu: int) -> ClusterState:
    state = _nodes(nodes)
    for index in range(nodes * pods_per_node):
        state.upsert_pod(_pod(f"low-{index}", milli_cpu, priority=0, node=f"node-{index % nodes}"))
    return state


def _gangs(nodes: int, gangs: int, size: int, milli_cpu: int) -> ClusterState:
    state = _nodes(nodes)
    for number in range(gangs):
        _group(state, f"low-{number}", size, 0)
    for index in range(gangs * size):
        group = f"low-{index // size}"
        state.upsert_pod(_pod(f"low-{index}", milli_cpu, priority=0, node=f"node-{index % nodes}", group=group))
    return state


def _nodes(count: int) -> ClusterState:
    state = ClusterState(frozenset({"tutti"}))
    devices = {f"example.com/device-{number}": "8" for number in range(6)}
    allocatable = {"cpu": "4", "memory": "64Gi", "ephemeral-storage": "1Ti", "pods": "110", **devices}
    for index in range(count):
        labels = {
            "rack": f"rack-{index // 100}",
            "zone": f"zone-{index % 3}",
            "kubernetes.io/hostname": f"node-{index}",
        }
        metadata = {"name": f"node-{index}", "uid": f"u-node-{index}", "labels": labels}
        state.upsert_node(_decode_node(json.dumps({"metadata": metadata, "status": {"allocatable": allocatable}})))
    return state


def _preemptor(state: ClusterState, number: int, size: int, milli_cpu: int, rule: Rule) -> EntityKey:
    if size == 1:
        state.upsert_pod(_pod(f"high-{number}", milli_cpu, priority=HIGH, rule=rule))
        return EntityKey("pod", "bench", f"high-{number}", f"u-high-{number}")
    _group(state, f"high-{number}", size, HIGH)
    for index in range(size):
        state.upsert_pod(_pod(f"high-{number}-{index}", milli_cpu, priority=HIGH, group=f"high-{number}", rule=rule))
    return EntityKey("group", "bench", f"high-{number}", f"u-high-{number}")


def _group(state: ClusterState, name: str, size: int, priority: int) -> None:
    spec = {"schedulingPolicy": {"gang": {"minCount": size}}, "disruptionMode": {"all": {}}, "priority": priority}
    metadata = {"name": name, "namespace": "bench", "uid": f"u-{name}"}
    state.upsert_group(_decode_group(json.dumps({"metadata": metadata, "spec": spec})))


def _pod(
    name: str,
    milli_cpu: int,
    *,
    priority: int,
    node: str = "",
    group: str = "",
    rule: Rule | None = None,
    app: str = "",
) -> Pod:
    labels = {"app": app or ("high" if priority == HIGH else "low"), "gang": group}
    metadata: dict[str, Any] = {"name": name, "namespace": "bench", "uid": f"u-{name}", "labels": labels}
    if group:
        metadata["annotations"] = {"tutti.scheduler/pod-group": group}
    spec: dict[str, Any] = {
        "schedulerName": "tutti",
        "priority": priority,
        "containers": [{"resources": {"requests": {"cpu": f"{milli_cpu}m", "memory": "1Gi"}}}],
        **(rule or {}),
    }
    if node:
        spec["nodeName"] = node
    return _decode_pod(json.dumps({"metadata": metadata, "spec": spec}))


def _anchored(nodes: int, pods_per_node: int, milli_cpu: int) -> ClusterState:
    state = _lone(nodes, pods_per_node, milli_cpu)
    for index in range(nodes):
        state.upsert_pod(_pod(f"anchor-{index}", milli_cpu, priority=HIGH + 1, node=f"node-{index}", app="anchor"))
    return state


def _near(app: str) -> Rule:
    return {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_term(app)]}}}


def _apart(app: str) -> Rule:
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_term(app)]}}}


def _term(app: str) -> Rule:
    return {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": app}}}


def _spread(app: str) -> Rule:
    one = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    return {"topologySpreadConstraints": [{**one, "labelSelector": {"matchLabels": {"app": app}}}]}
