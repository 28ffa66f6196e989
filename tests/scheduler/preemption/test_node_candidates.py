"""Which nodes are cleared: what leaves a node is weighed as a whole, and for each place that it opens."""

import pytest

from api.node import Node
from scheduler.preemption.victims import Candidate, Refusal, RefusalCode
from tests.placement.case import near, selector, term
from tests.scheduler.core import build
from tests.scheduler.core.world import World
from tests.scheduler.levels.build import BLOCK, RACK, gang, members
from tests.scheduler.preemption.test_victims import PORT, leaving, low, searched, spares, state_of

X = {"app": "x"}


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


@pytest.mark.parametrize("kind", ["group", "pod"])
def test_nobody_leaves_a_node_that_refuses_the_pod(kind: str) -> None:
    state = state_of(
        build.node("closed", cpu=1, unschedulable=True),
        build.node("open", cpu=1),
        low("least", on="closed"),
        low("more", on="open", priority=1),
        *(_gang(1, cpu=1) if kind == "group" else [build.pod("new", priority=5)]),
    )
    found = searched(state)
    assert leaving(found) == ["more"]
    assert isinstance(found, Candidate)
    assert [node for _, node in found.places] == ["open"]


@pytest.mark.parametrize("first", ["all", "one"])
def test_what_leaves_for_the_largest_pods_makes_room_for_the_smaller_ones_too(first: str) -> None:
    others = [build.node("wide", cpu=4), build.node("small", cpu=1)]
    state = state_of(
        *(others if first == "all" else others[::-1]),
        low("all", 4, on="wide"),
        low("one", 1, on="small"),
        build.group("new", 2, priority=5),
        build.pod("new-0", cpu=3, group="new", priority=5),
        build.pod("new-1", cpu=1, group="new", priority=5),
    )
    assert leaving(searched(state)) == ["all"]


@pytest.mark.parametrize("slices", [{}, {"slice_size": 1}])
def test_nobody_leaves_nodes_outside_of_the_domains_that_a_gang_asks_for(slices: dict[str, int]) -> None:
    world = World()
    for number in range(2):
        world.node(f"outside-{number}", cpu=1)
        world.pod(f"least-{number}", on=f"outside-{number}")
        world.node(f"inside-{number}", cpu=1, labels={BLOCK: "a", RACK: "r"})
        world.pod(f"more-{number}", on=f"inside-{number}", priority=1)
    gang(world, "new", 2, "" if slices else RACK, priority=5, **slices)
    members(world, "new", range(2), priority=5)
    assert leaving(searched(world.state)) == ["more-0", "more-1"]


def test_whoever_affinity_speaks_of_may_leave_where_that_takes_no_place_away() -> None:
    labels = {"zone": "a"}
    state = state_of(
        build.node("n0", cpu=2, labels=labels),
        build.node("n1", cpu=1, labels=labels),
        low("wanted", on="n0", labels=X),
        low("more", on="n0", priority=1),
        low("stays", on="n1", labels=X, priority=9),
        build.group("new", 1, priority=5),
        *(
            build.pod(
                f"new-{number}", cpu=1, group="new", priority=5, ports=PORT, spec=near(term(selector(**X), "zone"))
            )
            for number in range(2)
        ),
    )
    assert leaving(searched(state)) == ["wanted"]


def test_where_no_node_has_the_label_of_a_gangs_domain_none_of_its_pods_fits() -> None:
    state = state_of(
        *_nodes(1, 1),
        *(low(f"low-{number}", on=f"n{number}") for number in range(2)),
        build.group("new", 2, priority=5, topology="rack"),
        *(build.pod(f"new-{number}", cpu=1, group="new", priority=5) for number in range(2)),
    )
    assert searched(state) == Refusal(RefusalCode.TOO_FEW, need=2, scheduled=0, remaining=2)
