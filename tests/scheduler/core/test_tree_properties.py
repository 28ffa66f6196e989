"""Generated trees: what starts is whole on every level, and a tree that counting says can start does."""

from math import inf
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.scheduler.core.world import World

Group = tuple[int, int]
"""(minimum, pods)."""

Tree = tuple[int, list[Any]]
"""(minimum, children), children being trees or groups of `st_group`."""

st_group = st.tuples(st.integers(1, 3), st.integers(1, 4)).map(lambda found: ("group", found))


def _trees(levels: int) -> st.SearchStrategy[Any]:
    children = st_group if levels == 1 else st.one_of(st_group, _trees(levels - 1))
    return st.tuples(st.integers(1, 3), st.lists(children, min_size=1, max_size=3)).map(lambda found: ("tree", found))


def grown(world: World, name: str, node: Any, parent: str = "") -> None:
    kind, (minimum, below) = node
    above = {"parent": parent} if parent else {}
    if kind == "group":
        world.group(name, minimum, **above)
        world.pods(name, below)
        return
    world.composite(name, minimum, **above)
    for index, child in enumerate(below):
        grown(world, f"{name}-c{index}", child, name)


def needed(node: Any) -> float:
    """Pods without which it cannot start."""
    kind, (minimum, below) = node
    if kind == "group":
        return minimum if below >= minimum else inf
    parts = sorted(map(needed, below))
    return sum(parts[:minimum]) if len(parts) >= minimum else inf


def is_whole(world: World, name: str, node: Any) -> bool:
    """Whether it has its minimum; raises where something runs below a level that has not."""
    kind, (minimum, below) = node
    if kind == "group":
        running = len(world.bound(name))
        assert running == 0 or running >= minimum, f"{name} runs with {running} of {minimum}"
        return bool(running >= minimum)
    whole = sum(is_whole(world, f"{name}-c{index}", child) for index, child in enumerate(below))
    pods = [pod for pod in world.bound() if pod.startswith(f"{name}-")]
    assert whole >= minimum or not pods, f"{name} has {whole} of {minimum}, and these run: {pods}"
    return bool(whole >= minimum)


@given(root=_trees(3), cpu=st.integers(0, 12))
def test_a_tree_starts_exactly_when_its_minimum_fits_and_is_whole_on_every_level(root: Any, cpu: int) -> None:
    world = World()
    world.node("n1", cpu=cpu)
    grown(world, "r", root)
    world.run()
    assert is_whole(world, "r", root) is (needed(root) <= cpu)


@given(root=_trees(3), sizes=st.lists(st.integers(0, 4), min_size=1, max_size=4))
def test_room_that_comes_bit_by_bit_never_leaves_a_level_in_part(root: Any, sizes: list[int]) -> None:
    world = World()
    grown(world, "r", root)
    for index, cpu in enumerate(sizes):
        world.node(f"n{index}", cpu=cpu)
        world.run()
        is_whole(world, "r", root)
        world.wait(400)
        is_whole(world, "r", root)
