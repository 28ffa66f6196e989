"""Levels, slices and ranks of the groups of a tree: each group has its own."""

import pytest

from tests.scheduler.core.world import World
from tests.scheduler.levels.build import BLOCK, RACK, cut_edges, domains, gang, members, node, nodes, placed


def _racks(world: World, group: str, ranks: range) -> set[tuple[str, ...]]:
    by_rank = placed(world, group)
    return domains(world, [by_rank[rank] for rank in ranks], 1)


@pytest.mark.parametrize("need", [1, 2])
def test_slices_of_each_group_are_whole(need: int) -> None:
    world = World()
    nodes(world, a_r1=[2], a_r2=[3], b_r3=[2], b_r4=[3])
    world.composite("tree", need)
    for group in ("g", "h"):
        gang(world, group, 5, BLOCK, slice_size=3, parent="tree")
        members(world, group, range(5))
    world.run()
    for group in ("g", "h"):
        assert len(placed(world, group)) == 5
        assert len(_racks(world, group, range(3))) == 1
        assert len(_racks(world, group, range(3, 5))) == 1


def test_of_a_group_that_starts_with_its_least_slices_are_whole_although_their_pods_differ() -> None:
    world = World()
    nodes(world, a_r1=[6])
    world.composite("tree", 2)
    for group in ("g", "h"):
        gang(world, group, 2, slice_size=2, parent="tree")
        members(world, group, [0, 2], cpu=1)
        members(world, group, [1, 3], cpu=2)
    world.run()
    assert [sorted(placed(world, group)) for group in ("g", "h")] == [[0, 1], [0, 1]]


def test_groups_whose_slices_have_no_room_do_not_start() -> None:
    world = World()
    nodes(world, a_r1=[3], a_r2=[3], b_r3=[3], b_r4=[3])
    world.composite("tree", 2)
    for group in ("g", "h"):
        gang(world, group, 4, slice_size=4, parent="tree")
        members(world, group, range(4))
    world.run()
    assert world.bound() == {}


def test_a_preferred_level_gathers_each_group_and_makes_none_wait() -> None:
    world = World()
    nodes(world, a_r1=[1, 1, 1, 1], a_r2=[1, 1, 1, 1], b_r3=[1, 1, 1])
    world.composite("tree", 3)
    for group in ("g", "h", "i"):
        gang(world, group, 3, f"preferred:{RACK}", parent="tree")
        members(world, group, range(3))
    world.run()
    assert [len(_racks(world, group, range(3))) for group in ("g", "h", "i")] == [1, 1, 1]
    gang(world, "j", 2, f"preferred:{RACK}", parent="tree")
    members(world, "j", range(2))
    world.run()
    assert len(_racks(world, "j", range(2))) == 2


def test_ranks_of_each_group_are_dealt_as_if_it_were_alone() -> None:
    world = World()
    nodes(world, a_r1=[1, 1, 1], a_r2=[1, 1, 1], b_r1=[1, 1, 1], b_r2=[1, 1, 1])
    world.composite("tree", 2)
    for group in ("g", "h"):
        gang(world, group, 6, f"{BLOCK},preferred:{RACK}", parent="tree")
        members(world, group, [3, 1, 5, 0, 2, 4])
    world.run()
    for group in ("g", "h"):
        assert len(placed(world, group)) == 6
        assert cut_edges(world, placed(world, group), 1) == 1


def test_ranks_that_several_groups_have_are_not_mixed_up_by_late_groups() -> None:
    world = World()
    first, second = (node(world, rack, cpu=4) for rack in ("a/r1", "a/r2"))
    world.composite("tree", 1)
    gang(world, "g", 2, parent="tree")
    members(world, "g", [1], on=second)
    members(world, "g", [2], on=first)
    gang(world, "h", 6, parent="tree")
    members(world, "h", range(6))
    world.run()
    assert len(placed(world, "h")) == 6
    assert cut_edges(world, placed(world, "h"), 1) == 1
