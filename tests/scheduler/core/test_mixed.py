"""Members that differ: several orders are tried. What is done when none is enough: `test_exact_search`."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.algorithm.schedule_pod_group import decide
from tests.scheduler.core import build
from tests.scheduler.core.reference import machines
from tests.scheduler.core.world import World


def _mixed(world: World, sizes: list[int], need: int | None = None) -> None:
    world.group("g", len(sizes) if need is None else need)
    for index, size in enumerate(sizes):
        world.pod(f"g-{index:02}", group="g", cpu=size)


def test_the_hardest_members_choose_first() -> None:
    world = World()
    world.node("small", cpu=2)
    world.node("large", cpu=4)
    _mixed(world, [1, 1, 4])
    world.run()
    assert world.bound() == {"g-00": "small", "g-01": "small", "g-02": "large"}


def test_packing_is_tried_when_spreading_leaves_no_hole_large_enough() -> None:
    world = World()
    world.node("n1", cpu=6)
    world.node("n2", cpu=6)
    world.group("g", 5)
    for index in range(4):
        world.pod(f"a-{index}", group="g", requests={"cpu": "1500m"})
    world.pod("b-0", group="g", requests={"cpu": "1500m", "memory": "60Gi"})
    (decision,) = world.run()
    assert decision.result == "scheduled"


def test_equal_pods_among_many_kinds_are_bound_once_each() -> None:
    world = World()
    for index in range(4):
        world.node(f"n{index}", cpu=20)
    _mixed(world, [1, 2, 3, 4, 5, 6, 7, 8, 3, 3, 8])
    (decision,) = world.run()
    assert sorted(uid for uid, _ in decision.bindings) == [f"uid-of-g-{index:02}" for index in range(11)]


def test_a_refusal_that_is_proven_does_not_hedge() -> None:
    world = World()
    world.node("n1", cpu=2)
    _mixed(world, [1, 3])
    (decision,) = world.run()
    assert decision.condition_message == (
        "minCount (2) cannot be satisfied: 1 of 2 pods can be placed; "
        "0/1 nodes are available for the rest: 1 Insufficient cpu."
    )


def test_above_the_minimum_as_many_as_possible_are_placed() -> None:
    world = World()
    world.node("n1", cpu=4)
    _mixed(world, [4, 1, 1, 1, 1], need=2)
    (decision,) = world.run()
    assert len(decision.bindings) == 4
    assert len(decision.failures) == 1


@settings(max_examples=100, deadline=None)
@given(
    nodes=st.lists(st.integers(1, 9), max_size=5),
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=10),
    need=st.integers(1, 10),
)
def test_a_decision_is_whole_and_fits_whatever_the_members(nodes: list[int], sizes: list[int], need: int) -> None:
    world = World()
    for index, cpu in enumerate(nodes):
        world.node(f"n{index}", cpu=cpu)
    need = min(need, len(sizes))
    _mixed(world, sizes, need)
    decision = decide(world.state, build.group_key("g"))
    assert len(decision.bindings) + len(decision.failures) == len(sizes)
    assert not decision.bindings or len(decision.bindings) >= need
    assert (decision.result == "scheduled") is bool(decision.bindings)
    taken: Counter[str] = Counter()
    for uid, node in decision.bindings:
        pod = world.state.pod(uid)
        assert pod is not None
        taken[node] += pod.demand.amounts["cpu"]
    assert all(taken[machine.name] <= machine.free["cpu"] for machine in machines(world.state.nodes))
    if decision.result == "unschedulable" and " impossible" not in decision.condition_message:
        assert sum(min(sizes.count(size), sum(cpu // size for cpu in nodes)) for size in set(sizes)) < need


def test_of_two_members_with_room_for_either_the_one_that_asks_for_the_larger_share_has_it() -> None:
    world = World()
    world.node("n1", cpu=4, resources={"example.com/gpu": "64"})
    world.group("g", 2)
    world.pod("g-0", group="g", requests={"cpu": "2", "example.com/gpu": "33"})
    world.pod("g-1", group="g", requests={"cpu": "1", "example.com/gpu": "48"})
    (decision,) = world.run()
    assert [uid for uid, status in decision.failures if status is not None] == ["uid-of-g-0"]
