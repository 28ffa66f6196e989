"""Slices of members that differ: which of them go together, and what is said when they do not fit."""

from collections.abc import Sequence

import pytest

from tests.scheduler.core.world import World
from tests.scheduler.levels.build import RANK, gang, members, nodes, placed


def _gang(world: World, *cpus: int, size: int = 2, need: int | None = None, running: Sequence[int] = ()) -> None:
    """Members by rank with so many CPUs each, but for those that run already."""
    gang(world, "g", len(cpus) if need is None else need, slice_size=size)
    for rank, cpu in enumerate(cpus):
        if rank not in running:
            members(world, "g", [rank], cpu=cpu)


def _racks(world: World) -> list[str]:
    """The rack of each member in the order of ranks."""
    return [node.split("-")[1] for _, node in sorted(placed(world, "g").items())]


def test_members_go_where_the_others_of_their_slice_go_whatever_they_ask_for() -> None:
    world = World()
    nodes(world, a_r1=[2], a_r2=[3])
    _gang(world, 2, 1, 1, 1)
    world.run()
    assert _racks(world) == ["r2", "r2", "r1", "r1"]


def test_the_rest_of_a_slice_follows_its_member_that_runs() -> None:
    world = World()
    nodes(world, a_r1=[4], a_r2=[9])
    world.pod("g-0", group="g", on="a-r1-0", cpu=2, labels={RANK: "0"})
    _gang(world, 2, 1, 2, 1, need=1, running=[0])
    world.run()
    assert _racks(world) == ["r1", "r1", "r2", "r2"]


def test_a_refusal_says_what_nodes_lack_beside_the_slices_that_fit() -> None:
    world = World()
    nodes(world, a_r1=[3])
    _gang(world, 2, 1, 2, 1)
    (decision,) = world.run()
    assert "2 of 4 pods can be placed in slices of 2" in decision.condition_message
    assert "0/1 nodes are available for the rest: 1 Insufficient cpu." in decision.condition_message


@pytest.mark.parametrize(("most", "expected"), [(1, []), (2, ["r1", "r1", "r2", "r2"])])
def test_no_more_than_so_many_attempts_are_made(
    monkeypatch: pytest.MonkeyPatch, most: int, expected: list[str]
) -> None:
    monkeypatch.setattr("scheduler.algorithm.mixed_slices.MOST_TRIES", most)
    world = World()
    nodes(world, a_r1=[3], a_r2=[3])
    _gang(world, 2, 1, 2, 1)
    world.run()
    assert _racks(world) == expected


def test_a_part_of_a_slice_makes_up_the_minimum_also_where_it_is_a_single_member() -> None:
    world = World()
    nodes(world, a_r1=[3], a_r2=[3], a_r3=[2])
    _gang(world, 2, 1, 2, 1, 2, 1, need=5)
    world.run()
    assert _racks(world) == ["r1", "r1", "r2", "r2", "r3"]
