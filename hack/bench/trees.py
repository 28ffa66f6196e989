"""What trees of groups cost: placed, refused, and where others have to leave; beside flat gangs of as many pods."""

import json
from collections.abc import Callable
from typing import Any, Final

from hack.bench import clusters
from hack.bench.table import median_ms, ratio, show
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.cluster import ClusterState
from scheduler.cache.records import EntityKey
from scheduler.preemption.dry_run import dry_run_preemption
from scheduler.preemption.victims import Candidate, Refusal

NODES: Final = 5000
WIDTH: Final = 10
"""Branches, gangs of each branch, and pods of each gang."""
PODS: Final = WIDTH**3
RUNS: Final = 7
SLOW_RUNS: Final = 3
HIGH: Final = 1000
_CPUS: Final = 64

Shape = dict[str, Any]
"""What all gangs ask for, as `clusters.gang` takes it."""

_ALIKE: Final[Shape] = {}
_TWO_KINDS: Final[Shape] = {"milli_cpu": lambda index: 1000 + index % 2}
_IN_RACKS: Final[Shape] = {"topology_key": clusters.RACK}


def measure() -> None:
    """Prints the table."""
    flat = _flat_gangs()
    rows = [
        _row(f"{PODS // WIDTH} flat gangs × {WIDTH}, one decision each, placed", flat, flat),
        *(
            _row(f"a tree, {text}", make(shape), flat, goal)
            for text, make, shape, goal in (
                ("placed", _placed, _ALIKE, "10 ms"),
                ("two kinds of pods, placed", _placed, _TWO_KINDS, ""),
                ("each gang in one rack, placed", _placed, _IN_RACKS, ""),
                ("refused for want of one place", _refused, _ALIKE, "10 ms"),
                ("two kinds of pods, refused", _refused, _TWO_KINDS, ""),
                ("each gang in one rack, refused", _refused, _IN_RACKS, ""),
                ("for which others leave", _preempting, _ALIKE, ""),
                ("two kinds of pods, for which others leave", _preempting, _TWO_KINDS, ""),
                ("each gang in one rack, for which others leave", _preempting, _IN_RACKS, ""),
            )
        ),
    ]
    show(
        f"Trees of {WIDTH} × {WIDTH} × {WIDTH} pods, {NODES:,} nodes in 50 racks × 10 resources",
        ["", "median ms", "min ms", "max ms", "of flat gangs", "outcome", "goal"],
        rows,
    )


class _Took:
    """Milliseconds, least, median and most, and what came of it."""

    def __init__(self, call: Callable[[], object], outcome: str, runs: int = RUNS) -> None:
        self.least, self.middle, self.most = median_ms(call, runs=runs)
        self.outcome: Final = outcome


def _row(name: str, took: _Took, flat: _Took, goal: str = "") -> list[str]:
    figures = f"{took.middle:.2f}", f"{took.least:.2f}", f"{took.most:.2f}"
    return [name, *figures, ratio(took.middle, flat.middle), took.outcome, f"at most {goal}" if goal else ""]


def _flat_gangs() -> _Took:
    state = clusters.cluster(NODES)
    keys = [clusters.gang(state, f"gang-{number}", WIDTH) for number in range(PODS // WIDTH)]
    return _Took(lambda: [clusters.bindings(state, key) for key in keys], "placed")


def _placed(shape: Shape) -> _Took:
    state = clusters.cluster(NODES)
    key = clusters.tree(state, "tree", WIDTH, WIDTH, WIDTH, **shape)
    return _Took(lambda: clusters.bindings(_touched(state), key), "placed")


def _refused(shape: Shape) -> _Took:
    state = clusters.cluster(NODES)
    # One pod of the tree has a place on each of the first nodes.
    _fill(state, lambda index: _CPUS * 1000 - (1001 if index < PODS - 1 else 0), "another")
    key = clusters.tree(state, "tree", WIDTH, WIDTH, WIDTH, **shape)

    decision = decide(state, key)
    if decision.result == "scheduled":
        raise RuntimeError("it was placed where one place is missing")
    outcome = "over budget" if decision.is_over_budget else "refused"
    return _Took(lambda: decide(_touched(state), key), outcome, SLOW_RUNS)


def _preempting(shape: Shape) -> _Took:
    state = clusters.cluster(NODES)
    _fill(state, lambda _: _CPUS * 1000, "tutti")
    key = clusters.tree(state, "tree", WIDTH, WIDTH, WIDTH, priority=HIGH, **shape)
    found = _dry_run(state, key)
    outcome = (
        f"{len(found.pods):,} leave" if isinstance(found, Candidate) else found.code.name.lower().replace("_", " ")
    )
    return _Took(lambda: _dry_run(_touched(state), key), outcome, SLOW_RUNS)


def _dry_run(state: ClusterState, key: EntityKey) -> Candidate | Refusal:
    members = state.item(key)
    if members is None:
        raise RuntimeError(f"{key} is no item")
    return dry_run_preemption(state, members)


def _touched(state: ClusterState) -> ClusterState:
    """As after an event about one of its groups: the tree is put together again."""
    members = state.entities.of_group(clusters.NAMESPACE, "tree-0-0")
    if members is not None:
        members.put(next(members.pods()))
    return state


def _fill(state: ClusterState, milli_cpu: Callable[[int], int], scheduler: str) -> None:
    """A pod of the lowest priority on every node."""
    for index, name in enumerate(list(state.nodes.slot_of)):
        manifest = clusters.pod_manifest(f"low-{index}", milli_cpu(index))
        manifest["spec"] |= {"schedulerName": scheduler, "nodeName": name, "priority": 0}
        state.upsert_pod(clusters.decode_pod(json.dumps(manifest)))
