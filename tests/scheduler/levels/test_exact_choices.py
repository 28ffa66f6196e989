"""Which of several choices is taken where levels and slices leave one: figures that only an exact answer has."""

import numpy as np
import pytest

from scheduler.algorithm import fewest_domains as table
from scheduler.algorithm import rank_order
from scheduler.algorithm.fewest_domains import Leaves, fewest_domains
from scheduler.algorithm.levels import estimated_room
from scheduler.algorithm.slices import ANY, Need, fill
from scheduler.cache.pod_signature import PodSignature
from scheduler.cache.steps import Steps
from tests.scheduler.core.build import group_key
from tests.scheduler.core.world import World
from tests.scheduler.levels.build import BLOCK, RACK, SHELF, domains, gang, members, node, nodes, placed, told

ZONE = "topology.kubernetes.io/zone"


def _leaves(tops: list[int], room: list[int], used: list[bool] | None = None) -> Leaves:
    """Leaves of a wider level; tops that have a leaf in use are in use, too."""
    parents = [np.array(tops, dtype=np.int64), np.arange(len(tops), dtype=np.int64)]
    own = np.array(used or [False] * len(tops), dtype=np.bool_)
    return Leaves(parents, np.array(room, dtype=np.int64), [np.isin(one, one[own]) for one in parents], [True, True])


# --- the table of fewest domains ---------------------------------------------------------------------------------------


def test_a_table_is_charged_for_by_its_cells() -> None:
    steps = Steps()
    # The roomiest leaf is of the smaller top, so the table is asked.
    fewest_domains(_leaves([0, 1, 1, 1], [9, 4, 4, 4]), 12, steps)
    assert steps.spent == 10 * 4 * (12 + 1)
    free = Steps()
    fewest_domains(_leaves([0, 1], [9, 3]), 9, free)
    assert free.spent == 0


@pytest.mark.parametrize(("most", "is_exact"), [(4 * (12 + 1), True), (4 * (12 + 1) - 1, False)])
def test_a_table_has_so_many_cells_at_most(monkeypatch: pytest.MonkeyPatch, most: int, is_exact: bool) -> None:
    monkeypatch.setattr(table, "MOST_CELLS", most)
    assert fewest_domains(_leaves([0, 1, 1, 1], [9, 4, 4, 4]), 12, Steps()).is_exact is is_exact


def test_leaves_without_room_are_not_used_where_all_others_are() -> None:
    for wanted in (5, 9):
        assert fewest_domains(_leaves([0, 0, 1], [3, 0, 2]), wanted, Steps()).chosen.tolist() == [True, False, True]


def test_of_leaves_that_are_alike_the_table_takes_the_first() -> None:
    found = fewest_domains(_leaves([0, 0, 0, 1, 1], [6, 4, 4, 7, 1]), 10, Steps())
    assert found.chosen.tolist() == [True, True, False, False, False]


def test_in_the_table_too_what_is_in_use_costs_nothing() -> None:
    leaves = _leaves([0, 0, 0, 1, 1, 1], [3, 3, 3, 5, 5, 2], [True, False, True, False, False, False])
    found = fewest_domains(leaves, 9, Steps())
    assert found.added == (0, 1)
    assert found.chosen.tolist() == [True, True, True, False, False, False]


# --- how many of mixed members a node takes ----------------------------------------------------------------------------


def _kinds(count: int) -> list[PodSignature]:
    world, found = World(), []
    for number in range(count):
        signature = world.state.slim_pod(world.pod(f"p{number}", cpu=number + 1)).signature
        assert signature is not None
        found.append(signature)
    return found


@pytest.mark.parametrize(
    ("rooms", "counts", "expected"),
    [
        ((4,), (9,), 4),
        ((4,), (3,), 3),
        ((1,), (9,), 1),
        ((0,), (9,), 0),
        ((4, 2), (3, 3), 2),
        ((6, 3), (3, 3), 4),
        ((6, 3), (9, 3), 4),
        ((6, 3), (3, 9), 3),
        ((0, 3), (3, 3), 3),
        ((0, 1), (1, 9), 1),
        ((1, 0), (1, 9), 1),
        ((0, 0), (3, 3), 0),
        ((9, 9), (1, 1), 2),
        ((1, 10), (2, 2), 1),
    ],
)
def test_a_node_takes_about_as_many_mixed_members_as_its_room_for_each_kind_says(
    rooms: tuple[int, ...], counts: tuple[int, ...], expected: int
) -> None:
    kinds = _kinds(len(rooms))
    room = {kind: np.array([one, one], dtype=np.int64) for kind, one in zip(kinds, rooms, strict=True)}
    pending = dict(zip(kinds, counts, strict=True))
    assert estimated_room(pending, room, np.array([True, False])).tolist() == [expected, 0]


# --- slices ------------------------------------------------------------------------------------------------------------


def _need(*sizes: int, full: int = 4, wanted: int | None = None) -> Need:
    return Need(sizes, (ANY,) * len(sizes), sum(sizes) if wanted is None else wanted, full)


def test_a_further_smaller_slice_goes_where_the_rest_beside_usual_ones_is_just_enough() -> None:
    found = fill(_need(4, 4, 4, 3, 2), np.array([3, 7, 6, 6], dtype=np.int64), 0)
    assert (found.odd[3], found.odd[4]) == (0, 2)


def test_just_enough_members_for_the_minimum_are_enough() -> None:
    # All five in whole slices leave the minimum unmet by one; with the smaller slice first it is met exactly.
    found = fill(_need(4, 3, wanted=7), np.array([4, 3], dtype=np.int64), 0)
    assert (found.fulls.tolist(), found.odd) == ([1, 0], {1: 1})
    found = fill(_need(4, 4, 3, wanted=8), np.array([4, 4], dtype=np.int64), 0)
    assert (found.fulls.tolist(), found.odd) == ([1, 1], {})


def test_of_ways_to_place_a_smaller_slice_the_one_with_fewer_domains_is_taken() -> None:
    world = World()
    # The smaller slice fits beside the two others in r2, and alone in r1.
    nodes(world, a_r1=[3], a_r2=[10])
    gang(world, "g", 10, f"preferred:{BLOCK}, preferred:{RACK}", slice_size=4)
    members(world, "g", range(10))
    world.run()
    assert domains(world, placed(world, "g").values(), 1) == {("a", "r2")}


def test_the_domain_of_a_smaller_slice_counts_as_one() -> None:
    world = World()
    # Block a takes the usual slice and the smaller one in two racks, block b in one.
    nodes(world, a_r1=[4], a_r2=[2], b_r1=[6])
    gang(world, "g", 6, f"{BLOCK}, preferred:{RACK}", slice_size=4)
    members(world, "g", range(6))
    world.run()
    assert domains(world, placed(world, "g").values(), 1) == {("b", "r1")}


def test_a_part_of_a_slice_of_members_that_differ_goes_to_the_roomiest_of_many_domains() -> None:
    world = World()
    for rack in range(9):
        node(world, f"a/r{rack}", cpu=1)
    node(world, "a/r9", cpu=3)
    gang(world, "g", 2, slice_size=4)
    members(world, "g", [0], cpu=2)
    members(world, "g", range(1, 4))
    world.run()
    assert set(placed(world, "g").values()) == {"a-r9-0"}


# --- what is said ------------------------------------------------------------------------------------------------------


def test_nodes_of_other_domains_are_named_by_the_required_level() -> None:
    world = World()
    nodes(world, a_r1=[1], a_r2=[1])
    gang(world, "g", 2, f"{RACK}, preferred:{SHELF}")
    members(world, "g", range(2))
    assert f"1 node(s) were in another {RACK}" in told(world, "g").condition_message


def test_without_a_required_level_no_node_is_in_another_domain() -> None:
    world = World()
    nodes(world, a_r1=[1], a_r2=[1])
    gang(world, "g", 4, f"preferred:{RACK}", slice_size=2)
    members(world, "g", [0, 1, 2, 3])
    assert "in another" not in told(world, "g").condition_message
    assert world.queue.status(group_key("g")) is None


# --- who goes where ----------------------------------------------------------------------------------------------------


def _zoned(world: World, **zones: str) -> None:
    for name, zone in zones.items():
        world.node(name, cpu=1, labels={ZONE: zone})


def test_a_replacement_gets_the_place_in_the_zone_of_its_neighbour() -> None:
    world = World()
    world.node("full", cpu=1, labels={ZONE: "z2"})
    _zoned(world, n1="z1", n2="z2")
    world.group("g", 1)
    members(world, "g", [0], on="full")
    members(world, "g", [1, 9])
    world.run()
    assert (placed(world, "g")[1], placed(world, "g")[9]) == ("n2", "n1")


def test_a_replacement_gets_the_place_on_the_node_of_its_neighbour() -> None:
    world = World()
    for name, cpu in (("n1", 1), ("n2", 2)):
        world.node(name, cpu=cpu, labels={ZONE: "z"})
    world.group("g", 1)
    members(world, "g", [0], on="n2")
    members(world, "g", [1, 9])
    world.run()
    assert (placed(world, "g")[1], placed(world, "g")[9]) == ("n2", "n1")


# --- slices, mixed members, ranks --------------------------------------------------------------------------------------


def test_whole_slices_go_where_the_one_that_is_not_whole_has_room_too() -> None:
    world = World()
    nodes(world, a_r1=[4], b_r1=[4], b_r2=[1])
    gang(world, "g", 5, f"preferred:{BLOCK}", slice_size=2)
    members(world, "g", range(5))
    world.run()
    assert domains(world, placed(world, "g").values(), 0) == {("b",)}


def test_where_counting_was_too_hopeful_mixed_members_are_tried_in_a_domain_with_more_room() -> None:
    world = World()
    # The first rack has seven processors for the seven that are asked for, but no node for the larger member.
    nodes(world, a_r1=[4, 3], a_r2=[6, 4, 3])
    gang(world, "g", 2, f"preferred:{RACK}")
    members(world, "g", [0], cpu=2)
    members(world, "g", [1], cpu=5)
    world.run()
    assert domains(world, placed(world, "g").values(), 1) == {("a", "r2")}


@pytest.mark.parametrize(("most", "expected"), [(4, ("b1", "a1")), (3, ("a1", "b1"))], ids=["compared", "in order"])
def test_of_few_members_and_nodes_places_beside_neighbours_are_compared(
    monkeypatch: pytest.MonkeyPatch, most: int, expected: tuple[str, str]
) -> None:
    monkeypatch.setattr(rank_order, "MOST_COMPARED", most)
    world = World()
    for name in ("a0", "a1", "b0", "b1"):
        world.node(name, cpu=1, labels={ZONE: name[0]})
    gang(world, "g", 2)
    members(world, "g", [0], on="b0")
    members(world, "g", [3], on="a0")
    members(world, "g", [1, 2])
    world.run()
    found = placed(world, "g")
    assert (found[1], found[2]) == expected
