"""The score of one node for one pod in plain numbers, and the bound that no pod exceeds, beside the scores of arrays."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.cache.demand import Demand
from scheduler.plugins.framework import best_score, total_score
from scheduler.plugins.resource_allocation import NodesWithPods, PodLoads
from scheduler.plugins.single_node_scores import SingleNode, plain_loads

OFFERED = st.one_of(st.just(0), st.integers(1, 200), st.integers(1, 2**50))
NODE = st.tuples(OFFERED, OFFERED, st.floats(-0.2, 1), st.floats(-0.2, 1), st.integers(0, 2**40), st.integers(0, 2**40))
REQUEST = st.one_of(st.just(0), st.integers(0, 300), st.integers(0, 2**50))
REQUESTS = st.lists(st.tuples(REQUEST, REQUEST), min_size=1, max_size=6)


def _columns(node: tuple[int, int, float, float, int, int]) -> tuple[list[int], list[int], list[int]]:
    """What there is, what is free (possibly less than nothing), and what is taken as scoring sees it."""
    cpu, memory, cpu_part, memory_part, *scored = node
    return [cpu, memory], [int(cpu * cpu_part), int(memory * memory_part)], scored


@settings(max_examples=300, deadline=None)
@given(node=NODE, requests=REQUESTS)
def test_in_plain_numbers_every_score_is_that_of_the_arrays(
    node: tuple[int, int, float, float, int, int], requests: list[tuple[int, int]]
) -> None:
    offered, free, scored = _columns(node)
    plain = SingleNode(*offered, *free, *scored)
    loads = PodLoads([Demand({"cpu": cpu, "memory": memory}) for cpu, memory in requests])
    for index, taken in enumerate(plain_loads(loads)):
        there, unused, used = (np.array(column, dtype=np.int64)[:, None] for column in (offered, free, scored))
        expected = total_score(NodesWithPods(there, unused, used, loads, slice(None)))[0].tolist()
        assert [plain.score(load) for load in plain_loads(loads)] == expected
        plain.take(taken)
        free = [amount - int(asked) for amount, asked in zip(free, loads.asked[:, index], strict=True)]
        scored = [amount + int(counted) for amount, counted in zip(scored, loads.counted[:, index], strict=True)]
        assert ([*plain.unused], [*plain.scored]) == (free, scored)


@settings(max_examples=300, deadline=None)
@given(nodes=st.lists(NODE, min_size=1, max_size=8), requests=REQUESTS)
def test_no_pod_scores_more_than_the_best_score(
    nodes: list[tuple[int, int, float, float, int, int]], requests: list[tuple[int, int]]
) -> None:
    loads = PodLoads([Demand({"cpu": cpu, "memory": memory}) for cpu, memory in requests])
    columns = [_columns(node) for node in nodes]
    offered, free, scored = (np.array(table, dtype=np.int64).T for table in zip(*columns, strict=True))
    found = total_score(NodesWithPods(offered, free, scored, loads, slice(None)))
    bound = best_score(offered, free, scored, loads, slice(None))
    assert (found.max(axis=1) <= bound).all()
