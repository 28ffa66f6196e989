"""Equal pods: the closed form against loops that place one pod at a time."""

from collections import Counter

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from scheduler.algorithm.identical import spread
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.node_columns import Slots
from tests.scheduler.core import build
from tests.scheduler.core.reference import greedy_feasible, greedy_spread
from tests.scheduler.core.world import World

NODES = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 6), st.integers(0, 3)), min_size=0, max_size=7
)
REQUESTS = st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 2))


def _world(nodes: list[tuple[int, int, int, int]], used: list[tuple[int, int, int]]) -> World:
    world = World()
    for index, (cpu, memory, pods, gpus) in enumerate(nodes):
        world.node(f"n{index}", cpu=cpu, memory=f"{memory}Gi", pods=pods, resources={"example.com/gpu": str(gpus)})
    for index, requests in enumerate(used):
        if nodes:
            world.pod(f"used-{index}", on=f"n{index % len(nodes)}", requests=_requests(requests), scheduler="other")
    return world


def _requests(amounts: tuple[int, int, int]) -> dict[str, str]:
    cpu, memory, gpus = amounts
    return {"cpu": str(cpu), "memory": f"{memory}Gi", "example.com/gpu": str(gpus)}


@settings(max_examples=150, deadline=None)
@given(nodes=NODES, used=st.lists(REQUESTS, max_size=4), wanted=REQUESTS, count=st.integers(1, 20))
def test_a_gang_of_equal_pods_is_placed_exactly_when_it_fits_one_by_one(
    nodes: list[tuple[int, int, int, int]], used: list[tuple[int, int, int]], wanted: tuple[int, int, int], count: int
) -> None:
    world = _world(nodes, used)
    world.group("g", count)
    world.pods("g", count, requests=_requests(wanted))
    demand = world.state.slim_pod(build.pod("probe", requests=_requests(wanted))).demand
    decision = decide(world.state, build.group_key("g"))
    feasible = greedy_feasible(world.state.nodes, demand.amounts, count)
    assert (decision.result == "scheduled") is feasible
    assert len(decision.bindings) == (count if feasible else 0)


@settings(max_examples=150, deadline=None)
@given(nodes=NODES, used=st.lists(REQUESTS, max_size=4), wanted=REQUESTS, count=st.integers(1, 20))
def test_equal_pods_go_where_a_loop_that_scores_anew_for_each_pod_would_put_them(
    nodes: list[tuple[int, int, int, int]], used: list[tuple[int, int, int]], wanted: tuple[int, int, int], count: int
) -> None:
    world = _world(nodes, used)
    world.group("g")
    world.pods("g", count, requests=_requests(wanted))
    demand = world.state.slim_pod(build.pod("probe", requests=_requests(wanted))).demand
    decision = decide(world.state, build.group_key("g"))
    assert Counter(node for _, node in decision.bindings) == greedy_spread(world.state.nodes, demand, count)


@settings(max_examples=200, deadline=None)
@example(table=[[0, 1], [0]], count=2)
@given(
    table=st.lists(st.lists(st.integers(0, 6), min_size=0, max_size=9), max_size=6),
    count=st.integers(1, 25),
)
def test_scores_that_rise_and_fall_along_a_node_are_taken_in_the_order_of_the_loop(
    table: list[list[int]], count: int
) -> None:
    capacity = np.array([len(row) for row in table], dtype=np.int64)
    first = np.array([row[0] if row else 0 for row in table], dtype=np.int64)

    def score_table(nodes: Slots, depth: int) -> NDArray[np.int64]:
        padded = np.array([[*row, *[99] * 50][:50] for row in table], dtype=np.int64)
        return padded[nodes, :depth]

    slots, counts = spread(count, capacity, first, score_table)
    given = [0] * len(table)
    for _ in range(min(count, int(capacity.sum()))):
        heads = [
            (row[taken], -taken, -node)
            for node, (row, taken) in enumerate(zip(table, given, strict=True))
            if taken < len(row)
        ]
        given[-max(heads)[2]] += 1
    assert dict(zip(slots.tolist(), counts.tolist(), strict=True)) == {
        node: taken for node, taken in enumerate(given) if taken
    }


def test_equal_pods_spread_over_empty_nodes() -> None:
    world = World()
    for index in range(4):
        world.node(f"n{index}", cpu=8)
    world.group("g", 8)
    world.pods("g", 8)
    world.run()
    assert Counter(world.bound().values()) == {f"n{index}": 2 for index in range(4)}


def test_a_deep_node_takes_what_shallow_ones_cannot() -> None:
    world = World()
    world.node("deep", cpu=500, pods=500)
    for index in range(10):
        world.node(f"n{index}", cpu=1)
    world.group("g", 400)
    world.pods("g", 400)
    (decision,) = world.run()
    demand = world.state.slim_pod(build.pod("probe")).demand
    assert decision.result == "scheduled"
    assert Counter(node for _, node in decision.bindings)["deep"] >= 390
    assert demand.amounts == {"cpu": 1000, "pods": 1}
