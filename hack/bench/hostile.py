"""How long anything that a user may write holds the scheduler's loop: the worst pods we could think of, on 5,000 nodes.

Each row is a group on a cluster with 20,000 pods of others. Measured are the parts of an attempt between which the loop gives way:
taking in one pod, the decision on the group (the first one, that has nothing to build on), the search for victims, the search for
room to reserve. Wall time would measure the machine's other work too, so it is CPU of this process.
"""

import json
from collections.abc import Callable, Sequence
from time import process_time
from typing import Any, NamedTuple

from hack.bench import clusters
from hack.bench.table import show
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.cluster import ClusterState
from scheduler.cache.records import EntityKey
from scheduler.preemption.evaluator import Evaluator, PreemptionLimits
from scheduler.reservations.starvation import demands_to_reserve

NODES = 5_000
OTHERS = 20_000
GOAL_MS = 250
HOSTNAME = "kubernetes.io/hostname"
INDEX = "batch.kubernetes.io/job-completion-index"

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_LIMITS = PreemptionLimits(victim_deadline_seconds=120.0, initial_pause_seconds=5.0, max_pause_seconds=600.0)

Spec = dict[str, Any]


class Member(NamedTuple):
    """What a pod of a row writes."""

    labels: dict[str, str]
    spec: Spec
    milli_cpu: int = 100


def measure() -> None:
    """Prints the table."""
    show(
        f"What users may write: longest hold of the loop in ms, {NODES:,} nodes, {OTHERS:,} pods of others",
        ["", "outcome", "pod event", "decision", "victims", "room to reserve", "longest", "goal"],
        [_row(name, make()) for name, make in ROWS.items()],
        notes=["outcome: of the decision; `error` is a decision over its budget, which is tried again after minutes"],
    )


def _row(name: str, members: Sequence[Member]) -> list[str]:
    state = _cluster()
    event_ms = _take_in(state, members)
    key = EntityKey("group", clusters.NAMESPACE, "hostile", "u-hostile")
    held = state.item(key)
    if held is None:
        raise RuntimeError(f"{name}: the group was not taken in")
    decision, decision_ms = _timed(lambda: decide(state, key))
    _, victims_ms = _timed(lambda: Evaluator(state, _LIMITS).preempt(key, 0.0))
    state.nominator.withdraw(key)
    _, reserve_ms = _timed(lambda: demands_to_reserve(state, held))
    figures = [event_ms, decision_ms, victims_ms, reserve_ms]
    return [
        name,
        decision.result,
        *(f"{figure:.1f}" for figure in figures),
        f"{max(figures):.0f}",
        f"at most {GOAL_MS}",
    ]


def _timed(call: Callable[[], Any]) -> tuple[Any, float]:
    begin = process_time()
    found = call()
    return found, (process_time() - begin) * 1000


def _cluster() -> ClusterState:
    state = clusters.cluster(NODES)
    for index in range(OTHERS):
        pod = clusters.pod_manifest(f"other-{index}", 500)
        pod["metadata"]["labels"] = {"app": f"other-{index % 50}"}
        pod["spec"] |= {"nodeName": f"node-{index % NODES}", "priority": -10}
        state.upsert_pod(clusters.decode_pod(json.dumps(pod)))
    return state


def _take_in(state: ClusterState, members: Sequence[Member]) -> float:
    """The longest event of a pod, in ms."""
    spec = {"schedulingPolicy": {"gang": {"minCount": len(members)}}}
    metadata = {"name": "hostile", "namespace": clusters.NAMESPACE, "uid": "u-hostile"}
    state.upsert_group(clusters.decode_group(json.dumps({"metadata": metadata, "spec": spec})))
    longest = 0.0
    for index, member in enumerate(members):
        pod = clusters.pod_manifest(f"hostile-{index}", member.milli_cpu, gang="hostile")
        pod["metadata"]["labels"] = member.labels
        pod["spec"] |= member.spec
        text = json.dumps(pod)
        longest = max(longest, _timed(lambda: state.upsert_pod(clusters.decode_pod(text)))[1])  # noqa: B023
    return longest


# --- what is written -------------------------------------------------------------------------------------------------


def _term(key: str, labels: dict[str, str], expressions: Sequence[Spec] = ()) -> Spec:
    selector = {"matchLabels": labels, "matchExpressions": list(expressions)}
    return {"topologyKey": key, "labelSelector": selector}


def _apart(*terms: Spec) -> Spec:
    return {"podAntiAffinity": {_REQUIRED: list(terms)}}


def _near(*terms: Spec) -> Spec:
    return {"podAffinity": {_REQUIRED: list(terms)}}


def _nodes(*terms: Spec) -> Spec:
    return {"affinity": {"nodeAffinity": {_REQUIRED: {"nodeSelectorTerms": list(terms)}}}}


def _beside_the_first(members: int) -> list[Member]:
    affinity = {**_near(_term(clusters.RACK, {"app": "x", INDEX: "0"})), **_apart(_term(HOSTNAME, {"app": "x"}))}
    return [Member({"app": "x", INDEX: str(index)}, {"affinity": affinity}, 1000) for index in range(members)]


def _shapes_that_name_each_other(members: int) -> list[Member]:
    def rules(index: int) -> Spec:
        return {"affinity": _apart(*(_term(HOSTNAME, {"app": "x", "number": str(one)}) for one in (index, index + 1)))}

    return [Member({"app": "x", "number": str(index)}, rules(index), 100 + index) for index in range(members)]


def _shapes_that_avoid_a_node(members: int) -> list[Member]:
    def avoid(index: int) -> Spec:
        return {"matchExpressions": [{"key": HOSTNAME, "operator": "NotIn", "values": [f"node-{index}"]}]}

    return [Member({"app": "x"}, _nodes(avoid(index)), 100 + index) for index in range(members)]


def _alike(spec: Spec, members: int = 4) -> list[Member]:
    return [Member({"app": "x"}, spec) for _ in range(members)]


def _spread(key: str, when: str, app: str = "x") -> Spec:
    selector = {"matchLabels": {"app": app}}
    return {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": when, "labelSelector": selector}


def _values(count: int) -> list[str]:
    return [f"value-{number:04}" for number in range(count)]


def _wish(number: int) -> Spec:
    return {"weight": 1, "preference": {"matchExpressions": [_is_node(number)]}}


def _is_node(number: int) -> Spec:
    return {"key": HOSTNAME, "operator": "In", "values": [f"none-{number}"]}


ROWS: dict[str, Callable[[], list[Member]]] = {
    "Job beside its index 0, a node each: 200 pods": lambda: _beside_the_first(200),
    "  400 pods": lambda: _beside_the_first(400),
    "  800 pods": lambda: _beside_the_first(800),
    "300 shapes that name each other": lambda: _shapes_that_name_each_other(300),
    "300 shapes, each avoids a node": lambda: _shapes_that_avoid_a_node(300),
    "1,000 label keys in anti-affinity": lambda: _alike(
        {"affinity": _apart(*(_term(HOSTNAME, {f"key-{number}": "x"}) for number in range(1000)))}
    ),
    "1,000 label keys in affinity": lambda: _alike(
        {"affinity": _near(*(_term(HOSTNAME, {f"key-{number}": "x"}) for number in range(1000)))}
    ),
    "1,000 topology keys": lambda: _alike(
        {"affinity": _apart(*(_term(f"key-{number}", {"app": "x"}) for number in range(1000)))}
    ),
    "1,000-term anti-affinity × 50 shapes": lambda: [
        Member(
            {"app": "x"},
            {"affinity": _apart(*(_term(HOSTNAME, {"app": f"y-{number}"}) for number in range(1000)))},
            100 + shape,
        )
        for shape in range(50)
    ],
    "1,000 preferred terms": lambda: _alike(
        {
            "affinity": {
                "podAffinity": {
                    _PREFERRED: [
                        {"weight": 1, "podAffinityTerm": _term(HOSTNAME, {"app": f"other-{number}"})}
                        for number in range(1000)
                    ]
                }
            }
        }
    ),
    "1,000 spread constraints": lambda: _alike(
        {"topologySpreadConstraints": [_spread(f"key-{number}", "DoNotSchedule") for number in range(1000)]}
    ),
    "1,000 soft spread constraints": lambda: _alike(
        {"topologySpreadConstraints": [_spread(HOSTNAME, "ScheduleAnyway", f"y-{n}") for n in range(1000)]}
    ),
    "64 KiB selector, 50 pods": lambda: _alike(
        {
            "affinity": _apart(
                _term(HOSTNAME, {}, expressions=[{"key": "app", "operator": "NotIn", "values": _values(4900)}])
            )
        },
        50,
    ),
    "64 KiB selector of 1,300 keys, 50 pods": lambda: _alike(
        {
            "affinity": _apart(
                _term(
                    HOSTNAME, {}, expressions=[{"key": f"key-{number}", "operator": "Exists"} for number in range(1300)]
                )
            )
        },
        50,
    ),
    "5,000 terms of node affinity": lambda: _alike(
        _nodes(*({"matchExpressions": [_is_node(number)]} for number in range(5000)))
    ),
    "5,000 wishes about nodes": lambda: _alike(
        {"affinity": {"nodeAffinity": {_PREFERRED: [_wish(number) for number in range(5000)]}}}
    ),
    "1 MiB of node names, unwanted": lambda: _alike(
        _nodes({"matchExpressions": [{"key": HOSTNAME, "operator": "NotIn", "values": _values(80_000)}]})
    ),
    "10,000 tolerations": lambda: _alike(
        {"tolerations": [{"key": f"key-{number}", "operator": "Exists"} for number in range(10_000)]}
    ),
    "1,000 pods with anti-affinity by node": lambda: _alike({"affinity": _apart(_term(HOSTNAME, {"app": "x"}))}, 1000),
    "5,000 pods with anti-affinity by node": lambda: _alike({"affinity": _apart(_term(HOSTNAME, {"app": "x"}))}, 5000),
    "1,000 pods spread over racks": lambda: _alike(
        {"topologySpreadConstraints": [_spread(clusters.RACK, "DoNotSchedule")]}, 1000
    ),
    "5,000 pods, all different": lambda: [Member({"app": "x"}, {}, 100 + number) for number in range(5000)],
}
"""What the members of each row write."""
