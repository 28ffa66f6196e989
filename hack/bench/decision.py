"""What scheduling decisions cost, in this process alone: no server, no writes.

Rates count pods (or gangs where it says so); figures are milliseconds of CPU of this process, medians of several runs. The
streams re-create shapes of kube-scheduler's own benchmarks (scheduler_perf): each gang is decided upon after the room of all
earlier ones was taken, which is part of the figure.
"""

import statistics
from collections.abc import Callable
from typing import Any

from hack.bench import clusters, devices, hostile, label_keys, levels, trees
from hack.bench.table import median_ms, show
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.cluster import ClusterState
from scheduler.cache.records import EntityKey

RUNS = 7
STREAM_RUNS = 5
SMALL_DECISIONS = 100
"""Decisions of one run for small gangs: one alone is too short to be timed."""
MORE_THAN_A_NODE_HAS = 65_000

APART: dict[str, Any] = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "apart"}}}
        ]
    }
}

Make = Callable[[ClusterState], list[EntityKey]]


def measure() -> None:
    """Prints the tables."""
    show(
        "One decision, one core",
        ["", "median ms", "min ms", "max ms", "pods/s", "goal"],
        [
            _one("1,000 identical pods, 5,000 nodes × 10 resources", 1000, "1 ms"),
            _one("1,000 pods, all different, 5,000 nodes × 10 resources", 1000, "40 ms", milli_cpu=lambda n: 100 + n),
            _one("1,000 identical pods, nodes used unevenly", 1000, "1 ms", is_used=True),
            _one("1,000 pods, all different, nodes used unevenly", 1000, "", is_used=True, milli_cpu=lambda n: 100 + n),
            _one("200 pods with required anti-affinity by node, 5,000 nodes", 200, "100 ms", affinity=APART),
        ],
    )
    show(
        "One decision for a small gang, 5,000 nodes used unevenly, one core",
        ["", "median µs", "min µs", "max µs"],
        [
            _small("1 pod", 1),
            _small("3 pods", 3),
            _small("8 pods", 8),
            _small("3 pods inside one rack", 3, topology_key=clusters.RACK),
            _small("3 pods that no node has room for", 3, milli_cpu=lambda _: MORE_THAN_A_NODE_HAS),
        ],
    )
    show(
        "Streams, one core",
        ["", "median ms", "min ms", "max ms", "pods/s", "gangs/s", "goal"],
        [
            _stream("GangScheduling 1000 × 3, 5,000 nodes", 5000, 1000, 3),
            _stream("GangScheduling 3000 × 3, 5,000 nodes", 5000, 3000, 3, goal="30,000 pods/s"),
            _stream("GangScheduling 3000 × 3, 1,000 nodes", 1000, 3000, 3),
            _stream("GangScheduling 9 × 1000, 5,000 nodes", 5000, 9, 1000),
            _stream("TopologyAware 750 × 4, 50 racks, all of them scored", 5000, 750, 4, topology_key=clusters.RACK),
            _stream(
                "TopologyAware 2250 × 4, 50 racks, all of them scored",
                5000,
                2250,
                4,
                topology_key=clusters.RACK,
                goal="2,500 gangs/s",
            ),
            _stream("TopologyAware 9 × 1000, 50 racks, all of them scored", 5000, 9, 1000, topology_key=clusters.RACK),
        ],
    )
    levels.measure()
    trees.measure()
    _nominations()
    devices.measure()
    label_keys.measure()
    hostile.measure()


def _one(name: str, size: int, goal: str, *, is_used: bool = False, **options: Any) -> list[str]:
    state = clusters.cluster(5000)
    if is_used:
        clusters.use_unevenly(state)
    key = clusters.gang(state, "apart" if "affinity" in options else "gang", size, **options)
    least, middle, most = median_ms(lambda: clusters.bindings(state, key), runs=RUNS)
    return [
        name,
        f"{middle:.2f}",
        f"{least:.2f}",
        f"{most:.2f}",
        f"{size / middle * 1000:,.0f}",
        f"at most {goal}" if goal else "",
    ]


def _small(name: str, size: int, **options: Any) -> list[str]:
    state = clusters.cluster(5000)
    clusters.use_unevenly(state)
    key = clusters.gang(state, "gang", size, **options)

    def decide_often() -> None:
        for _ in range(SMALL_DECISIONS):
            decide(state, key)

    least, middle, most = (took * 1000 / SMALL_DECISIONS for took in median_ms(decide_often, runs=RUNS))
    return [name, f"{middle:.1f}", f"{least:.1f}", f"{most:.1f}"]


def _stream(name: str, nodes: int, gangs: int, size: int, *, topology_key: str = "", goal: str = "") -> list[str]:
    state = clusters.cluster(nodes)
    keys = [clusters.gang(state, f"gang-{number}", size, topology_key=topology_key) for number in range(gangs)]
    least, middle, most = _stream_ms(state, keys)
    rates = f"{gangs * size / middle * 1000:,.0f}", f"{gangs / middle * 1000:,.0f}"
    return [name, f"{middle:.1f}", f"{least:.1f}", f"{most:.1f}", *rates, f"at least {goal}" if goal else ""]


def _stream_ms(state: ClusterState, keys: list[EntityKey], runs: int = STREAM_RUNS) -> tuple[float, float, float]:
    return median_ms(
        lambda: clusters.place_all(state, keys),
        runs=runs,
        before=lambda: clusters.give_back(state, keys),
    )


def _nominations() -> None:
    """Lone pods beside room that is held for others, and without it."""
    kinds = {"no nomination": 0, "2,000 nominations of 20 gangs": 100, "2,000 nominations of lone pods": 1}
    cases = {name: _beside_nominations(per_claim) for name, per_claim in kinds.items()}
    times: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(3 * STREAM_RUNS):
        # In turn, so that whatever else the machine does falls on all alike.
        for name, (state, keys) in cases.items():
            times[name].append(_stream_ms(state, keys, runs=1)[1])
    without = statistics.median(times["no nomination"])
    rows = [_beside_row(name, took, without) for name, took in times.items()]
    show(
        "1,000 plain pods, 5,000 nodes",
        ["", "median ms", "min ms", "max ms", "pods/s", "of the rate without"],
        rows,
        notes=["goal: at least 90 %"],
    )


def _beside_row(name: str, took: list[float], without: float) -> list[str]:
    middle = statistics.median(took)
    figures = f"{middle:.1f}", f"{min(took):.1f}", f"{max(took):.1f}"
    return [name, *figures, f"{1000 / middle * 1000:,.0f}", f"{without / middle:.0%}"]


def _beside_nominations(per_claim: int) -> tuple[ClusterState, list[EntityKey]]:
    state = clusters.cluster(5000)
    if per_claim:
        _nominate(state, 2000, per_claim)
    return state, clusters.lone_pods(state, "plain", 1000)


def _nominate(state: ClusterState, pods: int, per_claim: int) -> None:
    for number in range(pods // per_claim):
        names = [f"claim-{number}-{index}" for index in range(per_claim)]
        keys = [clusters.lone_pod(state, name, 2000) for name in names]
        places = {}
        for index, key in enumerate(keys):
            pod = state.pod(key.uid)
            if pod is not None:
                places[key.uid] = (f"node-{(number * per_claim + index) % 5000}", pod.demand)
        state.nominator.nominate(keys[0], 100, places, frozenset(), 1e9)
