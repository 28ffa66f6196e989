"""Levels as a tree: which nodes are in one domain, in which order domains are numbered, where the level of slices stands."""

import pytest

from scheduler.algorithm import level_tree as module
from scheduler.algorithm.level_tree import LevelTree, level_tree_of
from tests.scheduler.core.world import World
from tests.scheduler.levels.build import BLOCK, RACK, SHELF, node, nodes


def codes(world: World, tree: LevelTree, level: int) -> dict[str, int]:
    return {name: int(tree.codes[level][slot]) for name, slot in sorted(world.state.nodes.slot_of.items())}


def test_domains_are_numbered_in_the_order_of_their_names_whichever_node_came_first() -> None:
    world = World()
    nodes(world, b_r1=[1], a_r2=[1], b_r0=[1], a_r1=[1, 1])
    tree = level_tree_of(world.state, (BLOCK, RACK))
    found = codes(world, tree, 1)
    assert found["a-r1-0"] == found["a-r1-1"]
    assert found["a-r1-0"] < found["a-r2-0"] < found["b-r0-0"] < found["b-r1-0"]
    blocks = codes(world, tree, 0)
    assert blocks["a-r1-0"] == blocks["a-r2-0"] < blocks["b-r0-0"] == blocks["b-r1-0"]


def test_a_domain_is_told_by_all_wider_levels() -> None:
    world = World()
    nodes(world, a_r1=[1], b_r1=[1])
    assert len(set(codes(world, level_tree_of(world.state, (BLOCK, RACK)), 1).values())) == 2
    assert len(set(codes(world, level_tree_of(world.state, (RACK,)), 0).values())) == 1


def test_a_node_without_the_label_is_a_domain_of_its_own_and_not_labelled() -> None:
    world = World()
    nodes(world, a_r1=[1])
    world.node("bare-0")
    world.node("bare-1")
    tree = level_tree_of(world.state, (BLOCK, RACK))
    slots = world.state.nodes.slot_of
    assert len(set(codes(world, tree, 0).values())) == 3
    assert [bool(tree.labelled[1][slots[name]]) for name in ("a-r1-0", "bare-0")] == [True, False]


def test_a_node_that_has_gone_is_in_no_domain() -> None:
    world = World()
    nodes(world, a_r1=[1], a_r2=[1])
    gone = world.state.nodes.slot_of["a-r2-0"]
    world.node_gone("a-r2-0")
    assert not level_tree_of(world.state, (RACK,)).labelled[0][gone]


def test_the_nodes_with_the_labels_of_all_levels_are_told() -> None:
    world = World()
    nodes(world, a_r1=[1], a=[1])
    tree = level_tree_of(world.state, (BLOCK, RACK))
    slots = world.state.nodes.slot_of
    for levels, expected in (((), [True, True]), ((0,), [True, True]), ((0, 1), [True, False]), ((1,), [True, False])):
        assert [bool(tree.has_all(levels)[slots[name]]) for name in ("a-r1-0", "a-0")] == expected


@pytest.mark.parametrize(
    ("keys", "more", "order"),
    [
        ((BLOCK, SHELF), RACK, (BLOCK, RACK, SHELF)),
        ((RACK, SHELF), BLOCK, (BLOCK, RACK, SHELF)),
        ((BLOCK, RACK), SHELF, (BLOCK, RACK, SHELF)),
        ((BLOCK, RACK), RACK, (BLOCK, RACK)),
        ((BLOCK,), "", (BLOCK,)),
    ],
)
def test_the_level_of_slices_stands_where_its_values_say(
    keys: tuple[str, ...], more: str, order: tuple[str, ...]
) -> None:
    world = World()
    for path in ("a/r1/s1", "a/r1/s2", "a/r2/s3", "a/r2/s4", "b/r3/s5", "b/r4/s6"):
        node(world, path)
    world.node("bare")
    assert level_tree_of(world.state, keys, more).keys == order


def test_racks_of_one_name_in_several_blocks_are_no_part_of_one() -> None:
    """The values of a shelf lie in several racks, so nothing says that racks are wider."""
    world = World()
    nodes(world, a_r1_s1=[1], a_r2_s1=[1])
    assert level_tree_of(world.state, (BLOCK, SHELF), RACK).keys == (BLOCK, SHELF, RACK)


def test_a_tree_is_kept_until_a_node_says_something_else() -> None:
    world = World()
    nodes(world, a_r1=[1])
    tree = level_tree_of(world.state, (BLOCK, RACK))
    assert level_tree_of(world.state, (BLOCK, RACK)) is tree
    node(world, "a/r2")
    other = level_tree_of(world.state, (BLOCK, RACK))
    assert other is not tree
    assert len(set(codes(world, other, 1).values())) == 2
    node(world, "c/r2")
    assert codes(world, level_tree_of(world.state, (BLOCK, RACK)), 0)["c-r2-0"] > codes(world, other, 0)["a-r1-0"]


def test_so_many_trees_are_kept_and_the_longest_known_goes_first() -> None:
    world = World()
    nodes(world, a_r1=[1])
    asked = [(f"example.com/level-{number}",) for number in range(module.MOST_TREES)]
    made = {keys: level_tree_of(world.state, keys) for keys in asked}
    assert all(level_tree_of(world.state, keys) is tree for keys, tree in made.items())
    level_tree_of(world.state, (BLOCK,))
    assert [level_tree_of(world.state, keys) is made[keys] for keys in asked[1:]] == [True] * (module.MOST_TREES - 1)
    assert level_tree_of(world.state, asked[0]) is not made[asked[0]]


def test_a_tree_that_is_made_anew_drives_out_no_other() -> None:
    world = World()
    nodes(world, a_r1=[1])
    asked = [(f"example.com/level-{number}",) for number in range(module.MOST_TREES)]
    for keys in asked:
        level_tree_of(world.state, keys)
    node(world, "a/r2")
    made = [level_tree_of(world.state, keys) for keys in asked]
    assert [level_tree_of(world.state, keys) for keys in asked] == made
