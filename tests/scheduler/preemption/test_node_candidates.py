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


@pytest.mark.parametrize("slice_size", [0, 1])
def test_nobody_leaves_nodes_outside_of_the_domains_that_a_gang_asks_for(slice_size: int) -> None:
    world = World()
    for number in range(2):
        world.node(f"outside-{number}", cpu=1)
        world.pod(f"least-{number}", on=f"outside-{number}")
        world.node(f"inside-{number}", cpu=1, labels={BLOCK: "a", RACK: "r"})
        world.pod(f"more-{number}", on=f"inside-{number}", priority=1)
    gang(world, "new", 2, "" if slice_size else RACK, slice_size=slice_size, priority=5)
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


def _whole(name: str, *nodes: str, cpu: int = 1, priority: int = 0) -> list[object]:
    """A group that leaves as one, with a pod on each of these nodes."""
    pods = (low(f"{name}-{number}", cpu, on=node, group=name) for number, node in enumerate(nodes))
    return [build.group(name, len(nodes), priority=priority, leaves="all"), *pods]


def test_a_whole_group_costs_all_its_pods_wherever_they_are() -> None:
    state = state_of(
        build.node("closed", cpu=1, unschedulable=True),
        *_nodes(1, 1, 1, 1),
        *_whole("whole", "closed", "n0", "n1"),
        *(low(f"single-{node}", on=f"n{node}") for node in (2, 3)),
        *_gang(2, cpu=1),
    )
    assert leaving(searched(state)) == ["single-2", "single-3"]


def test_a_whole_group_costs_its_pods_once_for_all_the_places_that_it_opens() -> None:
    state = state_of(
        *_nodes(2, 2, 2, 2),
        *(low(f"single-{node}-{number}", on=f"n{node}") for node in (0, 1) for number in range(2)),
        *_whole("whole", "n2", "n3", cpu=2),
        *_gang(2, cpu=2),
    )
    assert leaving(searched(state)) == ["whole-0", "whole-1"]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_pods_of_a_whole_group_on_one_node_are_counted_once(place: int) -> None:
    singles = [node for node in range(3) if node != place]
    state = state_of(
        *_nodes(4, 4, 4),
        build.group("whole", 3, priority=0, leaves="all"),
        *(low(f"whole-{number}", cpu, on=f"n{place}", group="whole") for number, cpu in enumerate((2, 1, 1))),
        *(low(f"single-{node}-{number}", on=f"n{node}") for node in singles for number in range(4)),
        *_gang(2, cpu=4),
    )
    assert {name for name in leaving(searched(state)) if name.startswith("whole")} == {f"whole-{i}" for i in range(3)}


def test_of_groups_of_which_one_is_not_needed_in_the_end_the_most_important_stays() -> None:
    state = state_of(
        build.node("shared", cpu=4),
        *(build.node(name, cpu=2) for name in ("large-1", "large-2", "least")),
        *_whole("least", "least", cpu=2),
        *_whole("middle", "shared", cpu=2, priority=1),
        *_whole("large", "shared", "large-1", "large-2", cpu=2, priority=2),
        *_gang(4, cpu=2),
    )
    assert leaving(searched(state)) == ["large-0", "large-1", "large-2", "least-0"]


def test_a_group_does_not_stay_for_room_on_a_node_that_refuses_the_gang() -> None:
    state = state_of(
        *_nodes(1, 1),
        build.node("closed", cpu=2, unschedulable=True),
        *_whole("whole", "n0", "closed"),
        low("single", on="n1"),
        *_gang(2, cpu=1),
    )
    found = searched(state)
    assert leaving(found) == ["single", "whole-0", "whole-1"]
    assert isinstance(found, Candidate)
    assert sorted(node for _, node in found.places) == ["n0", "n1"]


def test_a_group_stays_that_takes_no_place_away_on_one_of_its_nodes_and_one_too_many_on_another() -> None:
    state = state_of(
        build.node("roomy", cpu=3),
        *_nodes(2, 2, 2),
        build.group("beside", 2, priority=0, leaves="all"),
        low("beside-0", 1, on="roomy", group="beside"),
        low("beside-1", 2, on="n0", group="beside"),
        *_whole("large", "n1", "n2", cpu=2, priority=2),
        *_gang(3, cpu=2),
    )
    assert leaving(searched(state)) == ["large-0", "large-1"]


def test_another_group_does_not_leave_while_who_is_left_beside_the_first_one_costs_less() -> None:
    state = state_of(
        *_nodes(2, 2, 2),
        build.node("closed", cpu=2, unschedulable=True),
        build.group("large", 3, priority=1, leaves="all"),
        low("large-0", 2, on="n0", group="large"),
        *(low(f"large-{number}", 1, on="closed", group="large") for number in (1, 2)),
        build.group("first", 2, priority=0, leaves="all"),
        low("first-0", 2, on="n1", group="first"),
        low("first-1", 1, on="n2", group="first"),
        low("beside", 1, on="n2", priority=1),
        *_gang(2, cpu=2),
    )
    assert leaving(searched(state)) == ["beside", "first-0", "first-1"]


def test_a_group_stays_whose_place_is_not_needed_once_two_larger_ones_leave() -> None:
    state = state_of(
        *_nodes(2, 2, 2, 2, 2),
        *_whole("single", "n0", cpu=2),
        *_whole("left", "n1", "n1", "n2", "n2"),
        *_whole("right", "n3", "n3", "n4", "n4"),
        *_gang(4, cpu=2),
    )
    found = searched(state)
    assert {name.rsplit("-", 1)[0] for name in leaving(found)} == {"left", "right"}
    assert isinstance(found, Candidate)
    assert sorted(node for _, node in found.places) == ["n1", "n2", "n3", "n4"]
