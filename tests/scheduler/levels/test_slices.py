"""Slices: so many members with consecutive ranks, each inside one domain of their level."""

from tests.scheduler.core.build import group_key
from tests.scheduler.core.world import World
from tests.scheduler.levels.build import (
    BLOCK,
    SHELF,
    cut_edges,
    domain,
    domains,
    gang,
    members,
    nodes,
    placed,
    told,
)


def _slices(world: World, group: str, size: int, level: int = 1) -> list[set[tuple[str, ...]]]:
    """The domains of each slice."""
    by_rank = placed(world, group)
    return [
        domains(world, [node for rank, node in by_rank.items() if rank // size == number], level)
        for number in sorted({rank // size for rank in by_rank})
    ]


def test_each_slice_is_inside_one_domain() -> None:
    world = World()
    nodes(world, a_r1=[3, 3], a_r2=[4], b_r3=[5])
    gang(world, "g", 12, slice_size=4)
    members(world, "g", range(12))
    world.run()
    assert len(placed(world, "g")) == 12
    assert all(len(racks) == 1 for racks in _slices(world, "g", 4))


def test_room_in_sum_is_not_enough_for_slices() -> None:
    world = World()
    nodes(world, a_r1=[3], a_r2=[3], b_r3=[3])
    gang(world, "g", 8, slice_size=4)
    members(world, "g", range(8))
    (decision,) = world.run()
    assert "6 of 8 pods can be placed in slices of 4, each inside one example.com/rack;" in decision.condition_message
    nodes(world, a_r4=[8])
    world.run()
    assert len(placed(world, "g")) == 8


def test_slices_stay_inside_the_required_domain_of_the_gang() -> None:
    world = World()
    nodes(world, a_r1=[5], b_r1=[4], b_r2=[4])
    gang(world, "g", 8, BLOCK, slice_size=4)
    members(world, "g", range(8))
    world.run()
    assert domains(world, placed(world, "g").values(), 0) == {("b",)}
    assert all(len(racks) == 1 for racks in _slices(world, "g", 4))


def test_slices_go_to_few_domains_of_a_preferred_level_and_neighbours_are_near() -> None:
    world = World()
    nodes(world, a_r1=[4], b_r1=[4], b_r2=[9], c_r1=[4])
    gang(world, "g", 12, f"preferred:{BLOCK}", slice_size=4)
    members(world, "g", range(12))
    world.run()
    by_rank = placed(world, "g")
    assert domains(world, by_rank.values(), 0) == {("b",)}
    assert cut_edges(world, by_rank, 1) == 1


def test_inside_the_domain_of_a_slice_preferred_levels_count_too() -> None:
    world = World()
    nodes(world, a_r1_s1=[2], a_r1_s2=[4], a_r1_s3=[2])
    gang(world, "g", 4, f"preferred:{SHELF}", slice_size=4)
    members(world, "g", range(4))
    world.run()
    assert set(placed(world, "g").values()) == {"a-r1-s2-0"}


def test_a_member_that_runs_pins_the_domain_of_its_slice() -> None:
    world = World()
    nodes(world, a_r1=[4], a_r2=[4], a_r3=[9])
    gang(world, "g", 1, slice_size=4)
    members(world, "g", [1], on="a-r1-0")
    members(world, "g", [6], on="a-r2-0")
    members(world, "g", [0, 2, 3, 4, 5, 7])
    world.run()
    by_rank = placed(world, "g")
    assert {by_rank[rank] for rank in range(4)} == {"a-r1-0"}
    assert {by_rank[rank] for rank in range(4, 8)} == {"a-r2-0"}


def test_a_replacement_waits_for_room_in_the_domain_of_its_slice() -> None:
    world = World()
    nodes(world, a_r1=[2], a_r2=[9])
    world.pod("filler", on="a-r1-0", scheduler="other")
    gang(world, "g", 1, slice_size=2)
    members(world, "g", [0], on="a-r1-0")
    members(world, "g", [1])
    world.run()
    assert placed(world, "g") == {0: "a-r1-0"}
    world.pod_gone("filler")
    world.run()
    assert placed(world, "g") == {0: "a-r1-0", 1: "a-r1-0"}


def test_a_gang_that_starts_with_fewer_starts_with_whole_slices() -> None:
    world = World()
    nodes(world, a_r1=[5], a_r2=[7])
    gang(world, "g", 8, slice_size=4)
    members(world, "g", range(12))
    world.run()
    assert sorted(placed(world, "g")) == list(range(8))


def test_half_a_slice_starts_only_where_the_minimum_needs_it() -> None:
    world = World()
    nodes(world, a_r1=[5], a_r2=[7])
    gang(world, "g", 10, slice_size=4)
    members(world, "g", range(12))
    world.run()
    by_rank = placed(world, "g")
    assert len(by_rank) == 10
    assert all(len(racks) == 1 for racks in _slices(world, "g", 4))
    assert sorted(by_rank) == list(range(10))


def test_a_last_slice_that_is_smaller_goes_where_no_whole_one_is_lost() -> None:
    world = World()
    nodes(world, a_r1=[4], a_r2=[6])
    gang(world, "g", 10, slice_size=4)
    members(world, "g", range(10))
    world.run()
    by_rank = placed(world, "g")
    assert len(by_rank) == 10
    assert {by_rank[8], by_rank[9]} == {"a-r2-0"}


def test_members_that_differ_are_in_whole_slices_too() -> None:
    world = World()
    nodes(world, a_r1=[4, 3], a_r2=[6], a_r3=[2, 2, 2], a_r4=[6])
    gang(world, "g", 8, slice_size=4)
    for rank in range(8):
        members(world, "g", [rank], cpu=3 if rank % 4 == 0 else 1)
    world.run()
    assert len(placed(world, "g")) == 8
    assert all(len(racks) == 1 for racks in _slices(world, "g", 4))


def test_members_apart_from_each_other_are_in_whole_slices_too() -> None:
    world = World()
    nodes(world, a_r1=[4, 4], a_r2=[4, 4, 4], b_r3=[4, 4, 4, 4])
    apart = {
        "affinity": {
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"labelSelector": {"matchLabels": {"app": "g"}}, "topologyKey": "kubernetes.io/hostname"}
                ]
            }
        }
    }
    gang(world, "g", 6, slice_size=3)
    for rank in range(6):
        labels = {"app": "g", "batch.kubernetes.io/job-completion-index": str(rank)}
        world.pod(f"g-{rank}", group="g", labels=labels, spec=apart)
    world.run()
    by_rank = placed(world, "g")
    assert len(set(by_rank.values())) == 6
    assert all(len(racks) == 1 for racks in _slices(world, "g", 3))


def test_a_pod_without_a_rank_is_told_so() -> None:
    world = World()
    nodes(world, a_r1=[4])
    gang(world, "g", 2, slice_size=2)
    world.pods("g", 2)
    world.run()
    _, message = world.held(group_key("g"))
    assert message.startswith("pod g-0 has no rank, and slices are made of ranks")


def test_a_slice_that_is_torn_already_is_told() -> None:
    world = World()
    nodes(world, a_r1=[4], a_r2=[4])
    gang(world, "g", 1, slice_size=4)
    members(world, "g", [0], on="a-r1-0")
    members(world, "g", [1], on="a-r2-0")
    members(world, "g", [2])
    assert told(world, "g").condition_message == (
        "members with the ranks 0 to 3 already run in more than one example.com/rack"
    )


def test_nodes_without_the_label_of_slices_get_none() -> None:
    world = World()
    world.node("bare", cpu=9)
    nodes(world, a_r1=[4])
    gang(world, "g", 4, slice_size=4)
    members(world, "g", range(8))
    world.run()
    assert set(placed(world, "g").values()) == {"a-r1-0"}
    assert domain(world, "a-r1-0", 1) == ("a", "r1")


def test_the_pods_of_several_jobs_in_one_group_are_slices_apart() -> None:
    world = World()
    nodes(world, a_r1=[2], a_r2=[2])
    gang(world, "g", 4, slice_size=2)
    label = "batch.kubernetes.io/job-completion-index"
    for job in ("x", "y"):
        for rank in range(2):
            world.pod(f"{job}-{rank}", group="g", labels={label: str(rank)}, controller=("Job", job))
    world.run()
    bound = world.bound("g")
    assert bound["x-0"] == bound["x-1"] != bound["y-0"] == bound["y-1"]
