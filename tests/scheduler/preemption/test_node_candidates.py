"""Which nodes are cleared for a gang, and for a lone pod: what leaves on each is weighed as a whole, and for each place it opens."""

import pytest

from api.node import Node
from scheduler.preemption.victims import Candidate
from tests.scheduler.core import build
from tests.scheduler.preemption.test_victims import leaving, low, searched, spares, state_of


def _gang(count: int, cpu: int) -> list[object]:
    pods = (build.pod(f"new-{number}", cpu=cpu, group="new", priority=5) for number in range(count))
    return [build.group("new", count, priority=5), *pods]


def _nodes(*sizes: int) -> list[Node]:
    return [build.node(f"n{number}", cpu=cpu) for number, cpu in enumerate(sizes)]


def _pairs(*priorities: tuple[int, int]) -> list[object]:
    """Two pods on each node, of these priorities."""
    return [
        low(f"n{node}-{number}", on=f"n{node}", priority=priority)
        for node, pair in enumerate(priorities)
        for number, priority in enumerate(pair)
    ]


def test_two_who_make_the_room_together_leave_rather_than_somebody_more_important() -> None:
    state = state_of(
        *_nodes(2, 2),
        low("more", 2, on="n0", priority=1),
        *(low(f"less-{number}", on="n1") for number in range(2)),
        build.pod("new", cpu=2, priority=5),
    )
    assert leaving(searched(state)) == ["less-0", "less-1"]


def test_the_priorities_of_all_who_leave_a_node_count_where_the_highest_is_the_same() -> None:
    state = state_of(*_nodes(2, 2, 2), *_pairs((1, 2), (0, 2), (0, 2)), *_gang(2, cpu=2))
    assert leaving(searched(state)) == ["n1-0", "n1-1", "n2-0", "n2-1"]


def test_a_node_costs_the_highest_priority_on_it_first() -> None:
    state = state_of(
        *_nodes(2, 2, 2),
        *_pairs((0, 3), (1, 2)),
        low("alone", 2, on="n2", priority=3),
        *_gang(2, cpu=2),
    )
    assert leaving(searched(state)) == ["alone", "n1-0", "n1-1"]


def test_all_who_exceed_a_budget_on_a_node_count() -> None:
    state = state_of(
        *_nodes(2, 2, 2),
        *(low(f"guarded-0-{number}", on="n0") for number in range(2)),
        *(low(f"guarded-{node}", on=f"n{node}", priority=1) for node in (1, 2)),
        *(low(f"plain-{node}", on=f"n{node}", priority=1) for node in (1, 2)),
        *_gang(2, cpu=2),
    )
    guarded = spares("guarded-0-0", "guarded-0-1", "guarded-1", "guarded-2")
    found = searched(state, violators=guarded)
    assert leaving(found) == ["guarded-1", "guarded-2", "plain-1", "plain-2"]


def test_budgets_are_weighed_for_each_place() -> None:
    state = state_of(
        *_nodes(2, 4),
        *(low(f"small-{number}", on="n0") for number in range(2)),
        low("wide-0", 1, on="n1"),
        low("wide-1", 3, on="n1"),
        *_gang(2, cpu=2),
    )
    found = searched(state, violators=spares("small-0", "small-1", "wide-0", "wide-1"))
    assert leaving(found) == ["wide-0", "wide-1"]


@pytest.mark.parametrize(("one", "many"), [("n0", "n1"), ("n1", "n0")])
def test_one_who_opens_more_places_than_are_needed_leaves_rather_than_several(one: str, many: str) -> None:
    state = state_of(
        *_nodes(4, 4),
        low("one", 4, on=one),
        *(low(f"many-{number}", on=many) for number in range(4)),
        *_gang(3, cpu=1),
    )
    found = searched(state)
    assert leaving(found) == ["one"]
    assert isinstance(found, Candidate)
    assert {node for _, node in found.places} == {one}
