"""Preemption by trees whose groups ask for domains of their own: room is made inside these, and where that takes the fewest."""

from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scheduler.algorithm.attempts import MOST_DOMAINS
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.preemption.dry_run import dry_run_preemption
from scheduler.preemption.evaluator import Evaluator, PreemptionLimits
from scheduler.preemption.victims import Candidate, Refusal
from scheduler.reservations.starvation import demands_to_reserve
from tests.scheduler.core import build
from tests.scheduler.core.world import World
from tests.scheduler.levels.build import BLOCK, RACK, domains, gang, members, node, placed

TREE = build.composite_key("tree")


def racks(world: World, *paths: str, nodes: int = 2, **more: object) -> None:
    """Racks of nodes with one CPU each, each of which a pod of low priority has."""
    for path in paths:
        for index in range(nodes):
            name = node(world, path, index)
            world.pod(f"low-{name}", on=name, **more)


def groups(world: World, names: Sequence[str], size: int = 2, *, parent: str = "tree", topology: str = RACK) -> None:
    for day, name in enumerate(names, start=1):
        more = {"topology": topology} if topology else {}
        world.group(name, size, parent=parent, priority=5, created=f"2026-01-0{day}T00:00:00Z", **more)
        world.pods(name, size, priority=5)


def searched(world: World) -> Candidate | Refusal:
    tree = world.state.item(TREE)
    assert tree is not None
    return dry_run_preemption(world.state, tree)


def leaving(found: Candidate | Refusal) -> list[str]:
    assert isinstance(found, Candidate), found
    return sorted(pod.name for pod in found.pods)


def test_room_is_made_in_one_rack_for_each_group_and_the_tree_starts_there() -> None:
    world = World()
    racks(world, "a/r1", "a/r2", "a/r3")
    world.composite("tree", 2, priority=5)
    groups(world, ("g", "h"))
    result = Evaluator(world.state, PreemptionLimits()).preempt(TREE, 0.0)
    assert result.candidate is not None
    assert len(result.candidate.pods) == 4
    for pod in result.candidate.pods:
        world.pod_gone(pod.name)
    world.run()
    used = [domains(world, world.bound(group).values(), 1) for group in ("g", "h")]
    assert [len(one) for one in used] == [1, 1]
    assert used[0] != used[1]


def test_the_racks_are_taken_in_which_the_fewest_have_to_leave() -> None:
    world = World()
    racks(world, "a/r1", "a/r2", "a/r3", "a/r4")
    for free in ("low-a-r2-0", "low-a-r4-1"):
        world.pod_gone(free)
    world.composite("tree", 2, priority=5)
    groups(world, ("g", "h"))
    assert leaving(searched(world)) == ["low-a-r2-1", "low-a-r4-0"]


def test_of_those_in_a_rack_who_came_last_leave() -> None:
    world = World()
    for index in range(3):
        name = node(world, "a/r1", index)
        world.pod(f"low-{name}", on=name, created=f"2026-01-01T0{index}:00:00Z")
    world.composite("tree", 1, priority=5)
    groups(world, ("g",))
    assert leaving(searched(world)) == ["low-a-r1-1", "low-a-r1-2"]


@pytest.mark.parametrize("before", [0, 10**12])
@pytest.mark.parametrize(
    ("most", "gone"),
    [
        (8_270_177, ["low-a-r2-1", "low-a-r4-0"]),
        (8_270_176, ["low-a-r1-0", "low-a-r1-1", "low-a-r3-0", "low-a-r3-1"]),
    ],
)
def test_such_racks_are_looked_for_where_half_of_the_steps_that_are_left_suffice_whatever_was_spent_before(
    before: int, most: int, gone: list[str]
) -> None:
    world = World()
    racks(world, "a/r1", "a/r2", "a/r3", "a/r4")
    for free in ("low-a-r2-0", "low-a-r4-1"):
        world.pod_gone(free)
    world.composite("tree", 2, priority=5)
    groups(world, ("g", "h"))
    world.state.nodes.steps.spend(before)
    world.state.nodes.steps.most = most
    assert leaving(searched(world)) == gone


def test_nobody_leaves_while_no_rack_could_take_a_whole_group() -> None:
    world = World()
    racks(world, "a/r1", "a/r2", "a/r3")
    world.composite("tree", 1, priority=5)
    groups(world, ("g",), 3)
    found = searched(world)
    assert isinstance(found, Refusal)
    assert "cannot be satisfied" in found.message


def test_a_gang_that_leaves_whole_is_spared_where_single_pods_do() -> None:
    world = World()
    racks(world, "a/r1", "a/r2", "a/r3")
    for low in ("low-a-r1-0", "low-a-r1-1", "low-a-r2-0", "low-a-r3-0"):
        world.pod_gone(low)
    world.group("whole", 3, leaves="all", priority=0)
    for index, place in enumerate(("a-r1-0", "a-r1-1", "a-r2-0")):
        world.pod(f"whole-{index}", group="whole", on=place)
    world.composite("tree", 1, priority=5)
    groups(world, ("g",))
    assert leaving(searched(world)) == ["low-a-r3-1"]


def test_branches_are_confined_and_their_groups_inside_them() -> None:
    world = World()
    racks(world, "a/r1", "a/r2", "b/r3", "b/r4")
    world.composite("tree", 2, priority=5)
    for branch in ("left", "right"):
        world.composite(branch, 2, parent="tree", topology=BLOCK, priority=5)
        groups(world, (f"{branch}-g", f"{branch}-h"), parent=branch)
    found = searched(world)
    assert len(leaving(found)) == 8
    for name in leaving(found):
        world.pod_gone(name)
    world.run()
    for branch in ("left", "right"):
        used = [world.bound(f"{branch}-{group}").values() for group in "gh"]
        assert [len(domains(world, names, 1)) for names in used] == [1, 1]
        assert len(domains(world, [name for names in used for name in names], 0)) == 1


def test_whole_slices_find_room() -> None:
    world = World()
    racks(world, "a/r1", "a/r2", nodes=3)
    world.composite("tree", 1, priority=5)
    gang(world, "g", 4, slice_size=2, parent="tree", priority=5)
    members(world, "g", range(4), priority=5)
    found = searched(world)
    assert isinstance(found, Candidate)
    for pod in found.pods:
        world.pod_gone(pod.name)
    world.run()
    by_rank = placed(world, "g")
    assert [len(domains(world, (by_rank[one], by_rank[one + 1]), 1)) for one in (0, 2)] == [1, 1]


def test_a_group_that_runs_in_part_is_completed_where_it_runs() -> None:
    world = World()
    racks(world, "a/r1", "a/r2")
    world.pod_gone("low-a-r1-0")
    world.composite("tree", 1, priority=5)
    world.group("g", 2, parent="tree", priority=5, topology=RACK)
    world.pod("g-0", group="g", priority=5, on="a-r1-0")
    world.pod("g-1", group="g", priority=5)
    assert leaving(searched(world)) == ["low-a-r1-1"]


def test_others_leave_for_a_tree_that_would_only_rather_be_near_as_if_it_had_said_nothing() -> None:
    world = World()
    racks(world, "a/r1", "a/r2")
    world.composite("tree", 1, priority=5)
    gang(world, "g", 3, f"preferred:{RACK}", parent="tree", priority=5)
    members(world, "g", range(3), priority=5)
    assert len(leaving(searched(world))) == 3


def test_what_was_cleared_is_used_where_it_is_not_among_the_domains_that_are_tried() -> None:
    world = World()
    for block in range(MOST_DOMAINS):
        for rack in range(3):
            node(world, f"b{block}/r{block}-{rack}")
    cleared = [node(world, "last/r", index) for index in range(2)]
    world.composite("tree", 1, priority=5)
    world.composite("branch", 1, parent="tree", topology=BLOCK, priority=5)
    groups(world, ("g",), parent="branch")
    assert decide(world.state, TREE).result == "unschedulable"
    pods = [pod for pod in world.state.pods.values() if pod.group == "g"]
    places = {pod.uid: (name, pod.demand) for pod, name in zip(pods, cleared, strict=True)}
    world.state.nominator.nominate(TREE, 5, places, frozenset(), 1e9)
    assert {name for _, name in decide(world.state, TREE).bindings} == set(cleared)


def test_room_is_reserved_inside_the_racks_of_each_group() -> None:
    world = World()
    racks(world, "a/r1", "a/r2", "a/r3", nodes=3, priority=9)
    world.composite("tree", 2, priority=5)
    groups(world, ("g", "h"), 3)
    tree = world.state.item(TREE)
    assert tree is not None
    demands = demands_to_reserve(world.state, tree)
    assert demands is not None
    assert sum(sum(kept.values()) for kept in demands.values()) == 6
    assert len(domains(world, demands, 1)) == 2


def test_no_room_is_reserved_where_no_rack_could_ever_take_a_group() -> None:
    world = World()
    racks(world, "a/r1", "a/r2", priority=9)
    world.composite("tree", 1, priority=5)
    groups(world, ("g",), 3)
    tree = world.state.item(TREE)
    assert tree is not None
    assert demands_to_reserve(world.state, tree) is None


def test_the_places_of_a_trees_own_pods_are_not_reserved_for_its_others() -> None:
    world = World()
    world.node("own", cpu=3)
    world.composite("tree", 2, priority=5)
    for name in ("there", "missing"):
        world.group(name, 3, parent="tree")
    world.pods("there", 3, on="own")
    world.pods("missing", 3)
    tree = world.state.item(TREE)
    assert tree is not None
    assert demands_to_reserve(world.state, tree) is None
    world.node("another", cpu=3)
    demands = demands_to_reserve(world.state, tree)
    assert demands is not None
    assert sum(sum(kept.values()) for kept in demands.values()) == 3


st_rack = st.lists(st.tuples(st.integers(1, 2), st.integers(0, 6)), min_size=1, max_size=3)
"""Of each node the CPUs, and the priority of the pod on it."""


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st_rack, min_size=1, max_size=4), st.lists(st.integers(1, 3), min_size=1, max_size=3), st.integers(1, 3)
)
@example([[(1, 0), (1, 0)], [(1, 6), (1, 0)]], [2], 1)
def test_with_its_victims_gone_a_tree_starts_and_it_is_refused_only_where_nobody_who_could_leave_would_help(
    layout: list[list[tuple[int, int]]], sizes: list[int], need: int
) -> None:
    world = World()
    for number, rack in enumerate(layout):
        for index, (cpu, priority) in enumerate(rack):
            name = node(world, f"a/r{number}", index, cpu=cpu)
            world.pod(f"low-{name}", on=name, cpu=cpu, priority=priority)
    world.composite("tree", min(need, len(sizes)), priority=5)
    for index, size in enumerate(sizes):
        groups(world, (f"g{index}",), size)
    found = searched(world)
    low = [pod for pod in world.state.pods.values() if not pod.group and pod.profile.priority < 5]
    for pod in found.pods if isinstance(found, Candidate) else low:
        assert pod in low
        world.pod_gone(pod.name)
    assert decide(world.state, TREE).result == ("scheduled" if isinstance(found, Candidate) else "unschedulable")
    if isinstance(found, Candidate):
        assert {pod.node_name for pod in found.pods} <= {name for _, name in found.places}
