"""When all placements of a gang are searched, and what is left for it then."""

from collections.abc import Callable

import pytest

from scheduler.algorithm.attempt import Attempt, AttemptBudget
from scheduler.algorithm.exact import fallback as module
from scheduler.algorithm.exact.fallback import SearchFallback
from scheduler.algorithm.exact.members import Found, SearchBudget, search_for_members
from scheduler.algorithm.free_after_nominations import snapshot_for
from scheduler.algorithm.partition import MemberPartition, partition_by_signature
from scheduler.algorithm.snapshot import SnapshotOverlay
from scheduler.plugins.status import Certainty
from tests.scheduler.core import build
from tests.scheduler.core.world import World


@pytest.fixture
def gang() -> tuple[MemberPartition, Callable[[], SnapshotOverlay]]:
    """Two pods of two sizes, and snapshots of a node with room for both."""
    world = World()
    world.node("n0", cpu=4)
    world.group("g", 2)
    for size in (1, 2):
        world.pod(f"g-{size}", group="g", cpu=size)
    members = world.state.item(build.group_key("g"))
    assert members is not None
    found = partition_by_signature(world.state, members)
    return found, lambda: snapshot_for(world.state, members, None, "", found.topology)


def test_a_search_that_did_not_end_leaves_it_to_further_ways_and_is_not_made_again(
    gang: tuple[MemberPartition, Callable[[], SnapshotOverlay]], monkeypatch: pytest.MonkeyPatch
) -> None:
    found, new_snapshot = gang
    asked: list[int] = []

    def without_end(snapshot: SnapshotOverlay, pending: object, wanted: int, budget: SearchBudget) -> Found:
        asked.append(wanted)
        return Found([], Certainty.NOT_FOUND)

    monkeypatch.setattr(module, "search_for_members", without_end)
    budget = AttemptBudget(found.pending)
    fallback = SearchFallback(new_snapshot(), found.pending, 2, 2, "an order", budget, new_snapshot, SearchBudget())
    nothing = Attempt(new_snapshot(), [])
    assert fallback.take(nothing) == (nothing, False), "it is too soon"
    assert not asked
    assert fallback.kept > 0, "steps for the search"
    while not asked:
        fallback.count(found.pending)
        assert fallback.take(nothing) == (nothing, False)
    assert fallback.kept == 0, "none is to come"
    assert fallback.last(nothing) is nothing
    assert (nothing.certainty, nothing.incomplete_reason) == (Certainty.NOT_FOUND, "an order")
    assert asked == [2]


def test_what_is_spent_on_places_for_more_is_no_longer_left(
    gang: tuple[MemberPartition, Callable[[], SnapshotOverlay]],
) -> None:
    found, new_snapshot = gang
    search = SearchBudget(1000)
    budget = AttemptBudget(found.pending)
    fallback = SearchFallback(new_snapshot(), found.pending, 1, 2, "", budget, new_snapshot, search)
    snapshot = new_snapshot()
    one = Attempt(snapshot, [snapshot.place(next(iter(found.pending)), 1)])
    budget.pods = 0
    best, is_settled = fallback.take(one)
    assert (best.total, is_settled) == (2, True)
    assert search.spent > 0
    assert search.left == 1000 - search.spent
    small = min(found.pending, key=lambda signature: signature.demand.amounts["cpu"])
    assert best.snapshot.room(small).sum() == 1, "three of four processors are taken there"


def test_a_search_leaves_less_to_the_next_one(gang: tuple[MemberPartition, Callable[[], SnapshotOverlay]]) -> None:
    found, new_snapshot = gang
    budget = SearchBudget(1000)
    assert search_for_members(new_snapshot(), found.pending, 2, budget).placed
    once = budget.spent
    assert 0 < once == 1000 - budget.left
    search_for_members(new_snapshot(), found.pending, 2, budget)
    assert (budget.spent, budget.left) == (2 * once, 1000 - 2 * once)


def test_where_nothing_may_be_spent_on_searching_the_best_way_is_the_outcome(
    gang: tuple[MemberPartition, Callable[[], SnapshotOverlay]],
) -> None:
    found, new_snapshot = gang
    fallback = SearchFallback(new_snapshot(), found.pending, 2, 2, "an order", None, new_snapshot, None)
    nothing = Attempt(new_snapshot(), [])
    assert fallback.last(nothing) is nothing
    assert (nothing.certainty, nothing.incomplete_reason) == (Certainty.NOT_SEARCHED, "an order")
