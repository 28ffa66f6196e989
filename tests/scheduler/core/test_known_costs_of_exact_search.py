"""What it takes to search all placements, in steps of the search: the same gangs always take the same.

Nearly all of the search is about looking at less, which no answer shows. The figures are those of the search as it is; where it
works otherwise they change, and are written down anew: the message of the test tells the new ones.
"""

from typing import Any

import pytest

from scheduler.algorithm.exact.members import Found, SearchBudget, search_for_members, steps_to_keep
from scheduler.algorithm.free_after_nominations import snapshot_for
from scheduler.algorithm.partition import partition_by_signature
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.cluster import ClusterState
from scheduler.plugins.status import Certainty
from tests.placement.case import near, selector, term
from tests.scheduler.core import build
from tests.scheduler.core.costs import steps_of as steps_of_decision
from tests.scheduler.core.exact_cases import drawn, world_of
from tests.scheduler.core.world import World

ONE_STEP = 10_000 + 2 * 600 + 2 * 20 + 2 * 200
"""What a step costs the decision about two different pods and two nodes."""


def searched(state: ClusterState, wanted: int) -> tuple[Found, int]:
    """What the search comes to, and its steps."""
    members = state.item(build.group_key("g"))
    assert members is not None
    parts, budget = partition_by_signature(state, members), SearchBudget()
    snapshot = snapshot_for(state, members, None, "", parts.topology)
    return search_for_members(snapshot, parts.pending, wanted, budget), budget.spent


def steps_of(seed: int) -> int:
    gang = drawn(seed)
    return searched(world_of(gang).state, gang.need)[1]


def two_pods() -> ClusterState:
    """Two nodes with room for a gang of two."""
    world = World()
    for number in range(2):
        world.node(f"n{number}", cpu=4)
    world.group("g", 2)
    for number in range(2):
        world.pod(f"g-{number}", group="g", cpu=number + 1)
    return world.state


@pytest.mark.parametrize(
    ("first_seed", "steps"),
    [
        (0, [0, 4, 3, 0, 1, 0, 6, 4, 1, 0, 8, 3, 0, 0, 17, 0, 0, 0, 3, 0]),
        (20, [3, 0, 5, 4, 0, 0, 15, 6, 4, 0, 0, 0, 0, 13, 11, 0, 2, 0, 8, 0]),
        (40, [11, 5, 2, 0, 10, 0, 0, 3, 0, 2, 5, 27, 0, 0, 11, 0, 0, 0, 5, 0]),
        (60, [6, 0, 1, 0, 0, 0, 7, 3, 0, 0, 6, 0, 0, 0, 1, 0, 9, 0, 3, 10]),
        (80, [0, 12, 9, 0, 0, 0, 10, 5, 0, 0, 0, 0, 10, 0, 2, 1, 7, 0, 0, 0]),
        (100, [7, 4, 0, 5, 5, 52, 2, 9, 3, 0, 11, 2, 2, 5, 11, 5, 0, 2, 9, 0]),
        (120, [5, 2, 11, 0, 0, 0, 11, 5, 8, 0, 7, 10, 0, 0, 10, 0, 10, 0, 8, 0]),
        (140, [2, 0, 0, 3, 0, 0, 4, 21, 12, 2, 0, 12, 12, 0, 9, 17, 0, 0, 0, 5]),
        (160, [2, 2, 12, 0, 7, 0, 12, 1, 10, 0, 11, 0, 0, 9, 9, 3, 2, 0, 10, 3]),
        (180, [3, 2, 7, 4, 0, 5, 3, 3, 6, 0, 0, 0, 6, 0, 11, 2, 5, 0, 11, 0]),
        (200, [5, 4, 12, 0, 0, 26, 3, 0, 9, 5, 2, 0, 0, 0, 4, 0, 207, 0, 4, 10]),
        (220, [0, 9, 4, 0, 5, 0, 1, 70, 11, 0, 0, 1, 0, 4, 6, 10, 0, 0, 3, 0]),
    ],
)
def test_gangs_by_chance_are_searched_in_so_many_steps(first_seed: int, steps: list[int]) -> None:
    assert [steps_of(seed) for seed in range(first_seed, first_seed + len(steps))] == steps


@pytest.mark.parametrize(("seed", "steps"), [(433, 39), (507, 172), (3749, 49), (4345, 72), (4521, 519), (5001, 255)])
def test_gangs_whose_pods_hinder_each_other_are_searched_in_so_many_steps(seed: int, steps: int) -> None:
    assert steps_of(seed) == steps


@pytest.mark.parametrize(("seed", "steps"), [(155, 9_151_395), (227, 3_853_225), (507, 7_299_934), (3261, 11_328_772)])
def test_decisions_about_few_pods_search_before_all_orders_are_tried(seed: int, steps: int) -> None:
    state = world_of(drawn(seed)).state
    assert steps_of_decision(state, lambda: decide(state, build.group_key("g"))) == steps


@pytest.mark.parametrize(
    ("most", "certainty"), [(3 * 2 * ONE_STEP, Certainty.PROVED), (3 * 2 * ONE_STEP - 1, Certainty.NOT_SEARCHED)]
)
def test_a_search_may_take_a_third_of_the_steps_of_a_decision(most: int, certainty: Certainty) -> None:
    state = two_pods()
    state.nodes.steps.most = most
    assert searched(state, 2)[0].certainty is certainty


@pytest.mark.parametrize(("left", "certainty"), [(1_323_488, Certainty.PROVED), (1_323_487, Certainty.NOT_SEARCHED)])
def test_a_search_is_not_begun_where_fewer_steps_are_left_than_it_and_what_is_around_it_may_take(
    left: int, certainty: Certainty
) -> None:
    # 50 steps of the search, and what compiling and saying why nobody has a place take.
    state = two_pods()
    steps = state.nodes.steps
    steps.most = 3 * 50 * ONE_STEP
    with steps.limited("decision"):
        steps.spend(steps.most - left)
        assert searched(state, 2)[0].certainty is certainty


def test_what_is_kept_for_a_search_is_enough_for_it() -> None:
    state = two_pods()
    members = state.item(build.group_key("g"))
    assert members is not None
    parts, steps = partition_by_signature(state, members), state.nodes.steps
    steps.most = 3 * 50 * ONE_STEP
    with steps.limited("decision"):
        snapshot = snapshot_for(state, members, None, "", parts.topology)
        kept = steps_to_keep(snapshot, parts.pending, 2, SearchBudget())
        steps.spend(int(steps.left) - kept)
        assert kept > 0
        assert search_for_members(snapshot, parts.pending, 2, SearchBudget()).certainty is Certainty.PROVED


def test_neighbours_that_no_member_is_do_not_make_nodes_differ() -> None:
    def steps(spec: dict[str, Any]) -> int:
        world = World()
        for index, zone in enumerate("xyxy"):
            world.node(f"n{index}", cpu=8, labels={"zone": zone})
            world.pod(f"p{index}", on=f"n{index}", labels={"app": "store" if index < 2 else "other"})
        sizes = [5, 4, 4, 3, 3, 3, 2, 2, 2]
        world.group("g", len(sizes))
        for index, cpu in enumerate(sizes):
            world.pod(f"g-{index}", group="g", cpu=cpu, spec=spec)
        found, spent = searched(world.state, len(sizes))
        assert found.placed
        return spent

    assert steps(near(term(selector(app="store")))) == steps({}) > 0
