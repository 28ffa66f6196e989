"""What it takes to decide about trees of groups, in steps, as in `test_known_costs.py`."""

from collections.abc import Callable

import pytest

from scheduler.algorithm.decision import Decision
from scheduler.algorithm.schedule_pod_group import decide
from tests.scheduler.core.build import composite_key
from tests.scheduler.core.costs import steps_of, within
from tests.scheduler.core.world import World

ZONE = "topology.kubernetes.io/zone"
RACK = "example.com/rack"


def _world(cpu: int = 4) -> World:
    """Two zones of two racks with one node each."""
    world = World()
    for zone in "ab":
        for rack in (1, 2):
            world.node(f"{zone}{rack}", cpu=cpu, labels={ZONE: zone, RACK: f"{zone}{rack}"})
    return world


def _groups(world: World, *sizes: int, parent: str = "tree", topology: str = "", cpus: tuple[int, ...] = (1,)) -> None:
    for index, size in enumerate(sizes):
        name = f"{parent}-{index}"
        more = {"topology": topology} if topology else {}
        world.group(name, size, parent=parent, created=f"2026-01-01T00:00:{index:02}Z", **more)
        for pod in range(size):
            world.pod(f"{name}-{pod}", group=name, cpu=cpus[pod % len(cpus)])


def all_of_a_tree() -> World:
    world = _world()
    world.composite("tree", 3)
    _groups(world, 2, 2, 2)
    return world


def some_of_a_tree_of_equal_pods() -> World:
    world = _world(2)
    world.composite("tree", 2)
    _groups(world, 6, 4, 4)
    return world


def some_of_a_tree_of_pods_of_two_sizes() -> World:
    world = _world()
    world.composite("tree", 2)
    _groups(world, 6, 4, 4, cpus=(2, 1))
    return world


def a_tree_inside_a_zone() -> World:
    world = _world()
    world.composite("tree", 2, topology=ZONE)
    _groups(world, 3, 3)
    return world


def groups_inside_racks_inside_a_zone() -> World:
    world = _world()
    world.composite("tree", 2, topology=ZONE)
    _groups(world, 3, 3, topology=RACK)
    return world


def branches_inside_zones() -> World:
    world = _world()
    world.composite("tree", 2)
    for branch in ("left", "right"):
        world.composite(branch, 2, parent="tree", topology=ZONE)
        _groups(world, 3, 2, parent=branch)
    return world


def more_for_a_tree_that_has_started() -> World:
    world = _world()
    world.composite("tree", 1)
    world.group("there", 1, parent="tree")
    world.pods("there", 1, on="a1")
    _groups(world, 2, 2)
    return world


def _found(world: World) -> Decision:
    return decide(world.state, composite_key("tree"))


@pytest.mark.parametrize(
    ("case", "steps"),
    [
        (all_of_a_tree, 342_984),
        (some_of_a_tree_of_equal_pods, 569_248),
        (some_of_a_tree_of_pods_of_two_sizes, 2_284_310),
        (a_tree_inside_a_zone, 346_048),
        (groups_inside_racks_inside_a_zone, 517_224),
        (branches_inside_zones, 854_564),
        (more_for_a_tree_that_has_started, 299_200),
    ],
)
def test_so_many_steps_suffice_and_with_one_less_it_takes_too_long(case: Callable[[], World], steps: int) -> None:
    world = case()
    assert steps_of(world.state, lambda: _found(world)) == steps
    world = case()
    assert within(world.state, steps, lambda: _found(world)).result == "scheduled"
    world = case()
    assert within(world.state, steps - 1, lambda: _found(world)).is_over_budget
