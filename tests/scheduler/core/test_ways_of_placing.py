"""Where one way of placing members that affect each other is not enough, others are tried: how many, and which one counts."""

import pytest

from scheduler.algorithm.attempt import Attempt, AttemptBudget
from scheduler.algorithm.attempts import best_attempt
from scheduler.algorithm.free_after_nominations import snapshot_for
from scheduler.algorithm.partition import partition_by_signature
from scheduler.algorithm.snapshot import SnapshotOverlay
from scheduler.cache.cluster import ClusterState
from tests.placement.case import HOSTNAME, apart, selector, term
from tests.scheduler.core.build import group_key
from tests.scheduler.core.world import World

ALL_WAYS = 4
"""Two orders of two kinds of pods, both of them packed, too."""


def _one_of_two_has_a_place() -> ClusterState:
    """One node, and two pods that keep away from each other: by itself each has a place."""
    world = World()
    world.node("n0", cpu=8)
    world.group("g", 2)
    for number, other in enumerate("ba"):
        rule = apart(term(selector(app=other), HOSTNAME))
        world.pod(f"g-{number}", cpu=1 + number, group="g", labels={"app": "ab"[number]}, spec=rule)
    return world.state


def _tried(state: ClusterState, budget: AttemptBudget | None = None) -> tuple[Attempt, list[int]]:
    """What comes of it, and the steps that were spent when each way began."""
    members = state.item(group_key("g"))
    assert members is not None
    found = partition_by_signature(state, members)
    began: list[int] = []

    def new_snapshot() -> SnapshotOverlay:
        began.append(state.nodes.steps.spent)
        return snapshot_for(state, members, topology=found.topology)

    attempt = best_attempt(found.pending, 2, state.nodes, new_snapshot, budget)
    return attempt, began[1:]


def _budget(pods: int) -> AttemptBudget:
    made = AttemptBudget({})
    made.pods = pods
    return made


@pytest.mark.parametrize(("pods", "ways"), [(0, 1), (2, 1), (3, 2), (4, 2), (5, 3), (8, ALL_WAYS), (100, ALL_WAYS)])
def test_further_ways_are_tried_while_pods_may_be_placed_tentatively(pods: int, ways: int) -> None:
    assert len(_tried(_one_of_two_has_a_place(), _budget(pods))[1]) == ways


@pytest.mark.parametrize(("members", "pods"), [(1, 1003), (500, 2500)])
def test_large_groups_are_tried_a_few_times_and_small_ones_very_often(members: int, pods: int) -> None:
    world = World()
    world.group("g", members)
    world.pods("g", members)
    found = world.state.item(group_key("g"))
    assert found is not None
    assert AttemptBudget({signature: len(waiting.uids) for signature, waiting in found.pending.items()}).pods == pods


def test_of_ways_that_place_equally_many_the_first_counts() -> None:
    attempt, _ = _tried(_one_of_two_has_a_place(), _budget(100))
    first, _ = _tried(_one_of_two_has_a_place(), _budget(1))
    assert attempt.total == first.total == 1
    assert [part.signature.demand.amounts for part in attempt.placed] == [
        part.signature.demand.amounts for part in first.placed
    ]


@pytest.mark.parametrize(("lacking", "ways"), [(0, 2), (1, 1)])
def test_a_further_way_is_tried_with_twice_the_steps_that_the_longest_took(lacking: int, ways: int) -> None:
    _, began = _tried(_one_of_two_has_a_place())
    first, second = began[:2]
    state = _one_of_two_has_a_place()
    state.nodes.steps.most = second + 2 * (second - first) - lacking
    with state.nodes.steps.limited("decision"):
        assert len(_tried(state)[1]) == ways
