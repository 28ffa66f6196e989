"""Of several domains that would do: the one that is fuller afterwards; and what is said where none does."""

from tests.scheduler.core.build import group_key
from tests.scheduler.core.world import World
from tests.scheduler.levels.build import BLOCK, RACK, SHELF, domains, gang, members, node, nodes, placed, told

BOTH = f"{BLOCK}, {RACK}"


def _rack_of(world: World, group: str = "g") -> set[tuple[str, ...]]:
    return domains(world, placed(world, group).values(), 1)


def test_of_racks_that_take_the_whole_gang_the_one_that_is_fuller_afterwards_is_taken() -> None:
    world = World()
    nodes(world, a_r1=[8], a_r2=[4], b_r3=[6])
    gang(world, "g", 3, BOTH)
    members(world, "g", range(3))
    world.run()
    assert _rack_of(world) == {("a", "r2")}


def test_what_runs_in_a_rack_makes_it_fuller() -> None:
    world = World()
    nodes(world, a_r1=[8], a_r2=[8])
    world.pod("there", on="a-r2-0", cpu=4, scheduler="other")
    gang(world, "g", 3, BOTH)
    members(world, "g", range(3))
    world.run()
    assert _rack_of(world) == {("a", "r2")}


def test_fullness_is_that_of_all_resources_that_are_asked_for_and_of_no_other() -> None:
    world = World()
    node(world, "a/r1", cpu=8, memory="8Gi", resources={"example.com/gpu": "8"})
    node(world, "a/r2", cpu=6, memory="64Gi", resources={"example.com/gpu": "2"})
    gang(world, "g", 2, BOTH)
    # Of CPU a quarter and a third, of memory all and an eighth. GPUs nobody asks for.
    members(world, "g", range(2), requests={"cpu": "1", "memory": "4Gi"})
    world.run()
    assert _rack_of(world) == {("a", "r1")}


def test_the_number_of_pods_on_a_node_makes_no_rack_fuller() -> None:
    world = World()
    node(world, "a/r1", cpu=8, pods=3)
    node(world, "a/r2", cpu=6, pods=110)
    gang(world, "g", 2, BOTH)
    members(world, "g", range(2))
    world.run()
    assert _rack_of(world) == {("a", "r2")}


def test_of_racks_that_are_equally_full_the_first_by_name_is_taken() -> None:
    world = World()
    nodes(world, b_r2=[4], a_r9=[4], b_r1=[4])
    gang(world, "g", 3, BOTH)
    members(world, "g", range(3))
    world.run()
    assert _rack_of(world) == {("b", "r1")}


def test_more_members_count_more_than_a_fuller_rack() -> None:
    world = World()
    nodes(world, a_r1=[3], a_r2=[9])
    gang(world, "g", 2, BOTH)
    members(world, "g", range(5))
    world.run()
    assert len(placed(world, "g")) == 5


def test_of_racks_that_take_all_the_one_with_fewer_shelves_is_taken() -> None:
    world = World()
    nodes(world, a_r1_s1=[2], a_r1_s2=[2], a_r2_s1=[6], a_r3_s1=[1], a_r3_s2=[3])
    gang(world, "g", 4, f"{RACK}, preferred:{SHELF}")
    members(world, "g", range(4))
    world.run()
    assert set(placed(world, "g").values()) == {"a-r2-s1-0"}


def test_a_member_on_a_node_that_is_gone_is_nobodys_neighbour() -> None:
    world = World()
    nodes(world, a_r1=[4], a_r2=[4], a_r3=[4])
    gang(world, "g", 1, f"preferred:{RACK}")
    members(world, "g", [0], on="a-r1-0")
    members(world, "g", [2], on="a-r3-0")
    world.node_gone("a-r1-0")
    members(world, "g", [1])
    world.run()
    assert placed(world, "g")[1] == "a-r3-0"


def test_members_without_ranks_are_placed_beside_each_other_all_the_same() -> None:
    world = World()
    nodes(world, a_r1=[4], a_r2=[4])
    gang(world, "g", 1, f"preferred:{RACK}")
    world.pods("g", 1, on="a-r2-0")
    world.pods("g", 2, first=1)
    world.run()
    assert set(world.bound("g").values()) == {"a-r2-0"}


# --- members that differ -----------------------------------------------------------------------------------------------


def test_no_more_of_a_torn_slice_starts_than_the_minimum_asks_for() -> None:
    world = World()
    nodes(world, a_r1=[5], a_r2=[3])
    gang(world, "g", 5, slice_size=4)
    for rank in range(8):
        members(world, "g", [rank], cpu=2 if rank % 4 == 0 else 1)
    (decision,) = world.run()[:1]
    assert len(decision.bindings) == 5


def _mixed_sizes(world: World, *cpus: int, group: str = "g") -> None:
    for rank, cpu in enumerate(cpus):
        members(world, group, [rank], cpu=cpu)


def test_a_refusal_of_slices_of_members_that_differ_says_why_it_may_be_wrong() -> None:
    world = World()
    nodes(world, a_r1=[4, 4], a_r2=[4])
    gang(world, "g", 4, slice_size=2)
    _mixed_sizes(world, 3, 2, 3, 2)
    assert "the pods of a slice differ in what they need, or limit each other." in told(world, "g").condition_message


def test_where_the_fewest_racks_that_could_do_do_not_a_few_more_are_tried_before_all_of_them() -> None:
    world = World()
    # By count four in each of the first racks; by size just three, as two pods need a node of their own.
    nodes(world, a_r1=[3, 3], a_r2=[3, 3], a_r3=[1, 1], a_r4=[1, 1], a_r5=[1, 1])
    gang(world, "g", 8, f"preferred:{RACK}")
    _mixed_sizes(world, 2, 1, 2, 1, 2, 1, 2, 1)
    world.run()
    assert len(_rack_of(world)) == 2


def test_a_node_that_takes_none_of_one_kind_counts_for_the_others() -> None:
    world = World()
    nodes(world, a_r1=[4, 3], a_r2=[3], a_r3=[3])
    gang(world, "g", 4, f"preferred:{RACK}")
    _mixed_sizes(world, 4, 1, 1, 1)
    world.run()
    assert _rack_of(world) == {("a", "r1")}


def test_a_candidate_that_takes_too_few_is_not_tried_while_others_may_take_all() -> None:
    world = World()
    nodes(world, a_r1=[3], b_r1=[4, 4])
    gang(world, "g", 4, BOTH)
    _mixed_sizes(world, 3, 1, 3, 1)
    world.run()
    assert _rack_of(world) == {("b", "r1")}
    assert world.queue.status(group_key("g")) is None


def test_the_next_rack_is_tried_where_members_that_differ_do_not_fit_together_as_each_kind_does_by_itself() -> None:
    world = World()
    nodes(world, a_r1=[3], a_r2=[4])
    gang(world, "g", 3, BOTH)
    members(world, "g", [0], cpu=2)
    members(world, "g", [1, 2])
    world.run()
    assert _rack_of(world) == {("a", "r2")}
