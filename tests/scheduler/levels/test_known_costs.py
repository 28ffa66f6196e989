"""What it takes to decide about gangs with several levels or slices, in steps, as in `tests/scheduler/core/test_known_costs.py`."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.scheduler.core.costs import steps_of, within
from tests.scheduler.core.world import World
from tests.scheduler.levels.build import BLOCK, LEVELS, RACK, RANK, SHELF, gang, members, nodes, told

APART: dict[str, Any] = {
    "affinity": {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"app": "g"}}, "topologyKey": "kubernetes.io/hostname"}
            ]
        }
    }
}


def _world() -> World:
    """Three blocks of two racks with two shelves each; a node of 4 CPUs on each shelf."""
    world = World()
    paths = [f"{block}_r{rack}_s{shelf}" for block in "abc" for rack in (1, 2) for shelf in (1, 2)]
    nodes(world, **{path: [4] for path in paths})
    return world


def _gang(count: int, topology: str = "", *, cpus: tuple[int, ...] = (1,), **more: Any) -> World:
    world = _world()
    gang(world, "g", count, topology, **more)
    for rank in range(count):
        members(world, "g", [rank], cpu=cpus[rank % len(cpus)])
    return world


def equal_pods_in_required_levels() -> World:
    return _gang(6, f"{BLOCK}, {RACK}")


def equal_pods_in_preferred_levels() -> World:
    return _gang(20, ", ".join(f"preferred:{key}" for key in LEVELS))


def equal_pods_of_which_the_roomiest_domains_are_not_the_fewest() -> World:
    world = World()
    nodes(world, a_r1=[7], a_r2=[3], b_r1=[6], b_r2=[4])
    gang(world, "g", 10, f"preferred:{BLOCK}, preferred:{RACK}")
    members(world, "g", range(10))
    return world


def equal_pods_in_slices() -> World:
    return _gang(12, f"preferred:{BLOCK}", slice_size=4)


def equal_pods_in_slices_of_a_preferred_level() -> World:
    return _gang(12, f"preferred:{BLOCK}, preferred:{RACK}", slice_size=4)


def equal_pods_in_slices_with_a_level_inside() -> World:
    return _gang(12, f"preferred:{SHELF}", slice_size=6)


def equal_pods_with_a_smaller_slice() -> World:
    return _gang(10, f"{BLOCK}", slice_size=4)


def pods_of_two_sizes_in_levels() -> World:
    return _gang(6, f"{BLOCK}, preferred:{RACK}", cpus=(2, 1))


def pods_of_two_sizes_in_slices() -> World:
    return _gang(8, slice_size=4, cpus=(3, 1, 1, 1))


def pods_of_two_sizes_in_required_levels_alone() -> World:
    return _gang(4, f"{BLOCK}, {RACK}", cpus=(2, 1))


def pods_that_keep_apart_in_levels() -> World:
    world = _world()
    gang(world, "g", 4, f"preferred:{BLOCK}, preferred:{RACK}")
    for rank in range(4):
        world.pod(f"g-{rank}", group="g", labels={"app": "g", RANK: str(rank)}, spec=APART)
    return world


def half_a_slice_of_pods_of_two_sizes() -> World:
    world = World()
    nodes(world, a_r1=[5], a_r2=[3])
    gang(world, "g", 6, slice_size=4)
    for rank in range(8):
        members(world, "g", [rank], cpu=2 if rank % 4 == 0 else 1)
    return world


def replacements_beside_neighbours() -> World:
    world = _world()
    gang(world, "g", 2, f"preferred:{RACK}")
    for rank, node in enumerate(("a-r1-s1-0", "", "a-r1-s1-0", "b-r1-s1-0", "", "b-r1-s1-0")):
        if node:
            members(world, "g", [rank], on=node)
    members(world, "g", [1, 4])
    return world


def replacements_of_slices_that_have_begun() -> World:
    world = _world()
    gang(world, "g", 2, slice_size=3)
    members(world, "g", [0, 1], on="a-r1-s1-0")
    members(world, "g", [3], on="b-r1-s1-0")
    members(world, "g", [2, 4, 5])
    return world


def replacements_without_levels() -> World:
    world = _world()
    gang(world, "g", 2)
    members(world, "g", [0, 2], on="a-r1-s1-0")
    members(world, "g", range(3, 9))
    return world


@pytest.mark.parametrize(
    ("case", "steps"),
    [
        (equal_pods_in_required_levels, 413_760),
        (equal_pods_in_preferred_levels, 458_968),
        (equal_pods_of_which_the_roomiest_domains_are_not_the_fewest, 388_972),
        (equal_pods_in_slices, 478_196),
        (equal_pods_in_slices_of_a_preferred_level, 478_196),
        (equal_pods_in_slices_with_a_level_inside, 418_196),
        (equal_pods_with_a_smaller_slice, 485_476),
        (pods_of_two_sizes_in_levels, 847_890),
        (pods_of_two_sizes_in_required_levels_alone, 805_484),
        (pods_of_two_sizes_in_slices, 840_804),
        (pods_that_keep_apart_in_levels, 719_731),
        (replacements_beside_neighbours, 370_104),
        (replacements_of_slices_that_have_begun, 391_704),
        (replacements_without_levels, 322_040),
    ],
)
def test_so_many_steps_suffice_and_with_one_less_it_takes_too_long(case: Callable[[], World], steps: int) -> None:
    world = case()
    assert steps_of(world.state, lambda: told(world, "g")) == steps
    world = case()
    assert within(world.state, steps, lambda: told(world, "g")).result == "scheduled"
    world = case()
    assert within(world.state, steps - 1, lambda: told(world, "g")).is_over_budget


def test_parts_of_slices_are_tried_only_while_the_budget_is_sure_to_be_enough() -> None:
    """As for other ways of placing: what was found is worth more than a decision that ends without an answer."""
    world = half_a_slice_of_pods_of_two_sizes()
    steps = steps_of(world.state, lambda: told(world, "g"))
    assert steps == 2_621_756
    enough = half_a_slice_of_pods_of_two_sizes()
    assert within(enough.state, 2 * steps, lambda: told(enough, "g")).result == "scheduled"
    less = half_a_slice_of_pods_of_two_sizes()
    decision = within(less.state, steps, lambda: told(less, "g"))
    assert decision.result == "unschedulable"
    assert not decision.is_over_budget


def test_a_tree_of_levels_is_made_once_and_kept_until_a_node_says_something_else() -> None:
    world = equal_pods_in_required_levels()
    first, again = (steps_of(world.state, lambda: told(world, "g")) for _ in range(2))
    assert again < first
    assert steps_of(world.state, lambda: told(world, "g")) == again
    world.node("new", cpu=4)
    assert steps_of(world.state, lambda: told(world, "g")) > again
