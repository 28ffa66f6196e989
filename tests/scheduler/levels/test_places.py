"""Gangs that ask for several levels: inside one domain of each required one, in few of each preferred one."""

from itertools import pairwise

import pytest

from tests.placement.case import likes, selector, term
from tests.scheduler.core.build import group_key
from tests.scheduler.core.world import World
from tests.scheduler.levels.build import (
    BLOCK,
    LEVELS,
    RACK,
    SHELF,
    cut_edges,
    domains,
    gang,
    members,
    node,
    nodes,
    placed,
    told,
)

ALL_PREFERRED = ", ".join(f"preferred:{key}" for key in LEVELS)


def test_all_members_are_inside_one_domain_of_each_required_level() -> None:
    world = World()
    nodes(world, a_r1=[2], a_r2=[2], b_r1=[1], b_r2=[3])
    gang(world, "g", 3, f"{BLOCK}, {RACK}")
    members(world, "g", range(3))
    world.run()
    assert set(placed(world, "g").values()) == {"b-r2-0"}


def test_a_rack_of_another_block_with_the_same_name_is_another_rack() -> None:
    world = World()
    nodes(world, a_r1=[2], b_r1=[2])
    gang(world, "g", 3, f"{BLOCK}, {RACK}")
    members(world, "g", range(3))
    (decision,) = world.run()
    assert decision.result == "unschedulable"


def test_the_fewest_domains_of_the_widest_preferred_level_come_first() -> None:
    world = World()
    # Two racks of one block would do, and so would a large rack of another block and something else.
    nodes(world, a_r1=[2], a_r2=[2], a_r3=[1], b_r1=[4], c_r1=[4])
    gang(world, "g", 5, f"preferred:{BLOCK}, preferred:{RACK}")
    members(world, "g", range(5))
    world.run()
    assert domains(world, placed(world, "g").values(), 0) == {("a",)}


def test_inside_the_required_domain_the_fewest_of_the_preferred_ones_are_used() -> None:
    world = World()
    nodes(world, a_r1=[2], a_r2=[2], a_r3=[2], b_r1=[4], b_r2=[1, 1])
    gang(world, "g", 5, f"{BLOCK}, preferred:{RACK}")
    members(world, "g", range(5))
    world.run()
    assert domains(world, placed(world, "g").values(), 1) == {("b", "r1"), ("b", "r2")}


def test_a_preferred_level_makes_nobody_wait() -> None:
    world = World()
    nodes(world, a_r1=[1], a_r2=[1], b_r1=[1])
    gang(world, "g", 3, ALL_PREFERRED)
    members(world, "g", range(3))
    world.run()
    assert len(placed(world, "g")) == 3


def test_nodes_without_the_label_of_a_preferred_level_are_used_last() -> None:
    world = World()
    world.node("bare", cpu=4)
    nodes(world, a_r1=[1], a_r2=[1])
    gang(world, "g", 2, f"preferred:{BLOCK}")
    members(world, "g", range(2))
    gang(world, "h", 2, f"preferred:{BLOCK}")
    world.run()
    members(world, "h", range(2))
    world.run()
    assert len(set(placed(world, "h").values())) == 1


def test_of_domains_that_are_alike_the_one_with_least_room_left_over_is_taken() -> None:
    world = World()
    nodes(world, a_r1=[9], a_r2=[3], a_r3=[5])
    gang(world, "g", 3, f"preferred:{RACK}")
    members(world, "g", range(3))
    world.run()
    assert set(placed(world, "g").values()) == {"a-r2-0"}


def test_neighbouring_ranks_are_near_each_other_at_every_level() -> None:
    world = World()
    nodes(world, a_r1_s1=[2, 2], a_r1_s2=[2], a_r2_s1=[2], b_r1_s1=[2, 2], b_r1_s2=[2])
    gang(world, "g", 14, ALL_PREFERRED)
    members(world, "g", range(14))
    world.run()
    by_rank = placed(world, "g")
    assert [cut_edges(world, by_rank, level) for level in range(3)] == [1, 2, 4]
    assert sum(by_rank[rank] != by_rank[rank + 1] for rank in range(13)) == 6


def test_members_that_follow_are_near_those_that_got_their_places_just_before() -> None:
    world = World()
    nodes(world, a_r1=[1, 3])
    gang(world, "g", 1, RACK)
    members(world, "g", [5], on="a-r1-1")
    members(world, "g", (6, 7, 9))
    world.run()
    assert placed(world, "g") == {5: "a-r1-1", 6: "a-r1-1", 7: "a-r1-1", 9: "a-r1-0"}


def test_without_levels_neighbours_share_nodes_and_zones() -> None:
    world = World()
    zone = "topology.kubernetes.io/zone"
    for name, where in (("n1", "z2"), ("n2", "z1"), ("n3", "z2"), ("n4", "z1")):
        world.node(name, cpu=3, labels={zone: where})
    world.group("g", 12)
    members(world, "g", range(12))
    world.run()
    by_rank = placed(world, "g")
    zones = {"n1": 2, "n2": 1, "n3": 2, "n4": 1}
    assert [zones[by_rank[rank]] for rank in range(12)] == [1] * 6 + [2] * 6
    assert sum(by_rank[rank] != by_rank[rank + 1] for rank in range(11)) == 3


def test_ranks_are_numbers_and_not_names() -> None:
    world = World()
    world.node("n1", cpu=6)
    world.node("n2", cpu=6)
    world.group("g", 12)
    members(world, "g", range(12))
    world.run()
    by_rank = placed(world, "g")
    assert len({by_rank[rank] for rank in range(6)}) == len({by_rank[rank] for rank in range(6, 12)}) == 1


def test_the_leader_and_workers_of_a_replica_are_in_the_order_of_their_indices() -> None:
    world = World()
    world.node("n1", cpu=6)
    world.node("n2", cpu=6)
    world.group("g", 12)
    label = "leaderworkerset.sigs.k8s.io/worker-index"
    for index in range(12):
        name = "g-0" if index == 0 else f"g-0-{index}"
        world.pod(name, group="g", labels={label: str(index)}, controller=("StatefulSet", "g" if index == 0 else "g-0"))
    world.run()
    bound = world.bound("g")
    by_rank = [bound["g-0"], *(bound[f"g-0-{index}"] for index in range(1, 12))]
    assert sum(one != other for one, other in pairwise(by_rank)) == 1


def test_workers_share_zones_although_their_leader_differs_from_them() -> None:
    world = World()
    zone = "topology.kubernetes.io/zone"
    zones = {"n1": "z1", "n2": "z2", "n3": "z1", "n4": "z2"}
    for name, where in zones.items():
        world.node(name, cpu=3, labels={zone: where})
    world.group("g", 9)
    members(world, "g", [0], cpu=2)
    members(world, "g", range(1, 9))
    world.run()
    by_rank = placed(world, "g")
    of_workers = [zones[by_rank[rank]] for rank in range(1, 9)]
    assert of_workers == sorted(of_workers)


def test_a_replacement_comes_to_the_domain_of_its_neighbours() -> None:
    world = World()
    nodes(world, a_r1=[4, 4], a_r2=[4, 4], a_r3=[8])
    gang(world, "g", 6, f"preferred:{RACK}")
    for rank, name in enumerate(["a-r1-0", "a-r1-0", "", "a-r2-0", "a-r2-0", "a-r2-0", "", "a-r2-0"]):
        if name:
            members(world, "g", [rank], on=name)
    members(world, "g", [6])
    world.run()
    assert placed(world, "g")[6].startswith("a-r2")
    members(world, "g", [2])
    world.run()
    assert placed(world, "g")[2].startswith("a-r1")


def test_several_replacements_in_a_row_come_to_the_domain_of_who_runs_after_them() -> None:
    world = World()
    nodes(world, a_r1=[3], a_r2=[8])
    gang(world, "g", 4, f"preferred:{RACK}")
    members(world, "g", [0], on="a-r1-0")
    members(world, "g", [5], on="a-r2-0")
    members(world, "g", [3, 4])
    world.run()
    assert {placed(world, "g")[rank] for rank in (3, 4)} == {"a-r2-0"}


def test_replacements_stay_in_the_domains_in_use_while_there_is_room_in_them() -> None:
    world = World()
    nodes(world, a_r1=[3], a_r2=[8], a_r3=[8])
    world.pod("filler", on="a-r1-0", scheduler="other")
    gang(world, "g", 1, f"preferred:{RACK}")
    members(world, "g", [0], on="a-r1-0")
    members(world, "g", [5], on="a-r3-0")
    members(world, "g", [1, 2, 3])
    world.run()
    assert domains(world, placed(world, "g").values(), 1) == {("a", "r1"), ("a", "r3")}


def test_where_a_replacement_would_like_to_be_is_asked_of_the_domains_that_are_used_alone() -> None:
    world = World()
    for path, index in (("a/r1/s0", 0), ("a/r1/s1", 0), ("a/r2/s2", 0)):
        node(world, path, index, cpu=16)
    # Ten it likes are in the other rack: measured by those, one in its own would be next to nothing.
    for number, on in enumerate(["a-r1-s0-0", *["a-r2-s2-0"] * 10]):
        world.pod(f"liked-{number}", on=on, cpu=1, scheduler="other", labels={"app": "x"})
    gang(world, "g", 2, f"preferred:{RACK}")
    members(world, "g", [0], on="a-r1-s0-0", cpu=12)
    members(world, "g", [1], spec=likes((5, term(selector(app="x"), SHELF))))
    world.run()
    assert placed(world, "g")[1] == "a-r1-s0-0"


def test_members_that_run_pin_the_required_domains() -> None:
    world = World()
    nodes(world, a_r1=[2], a_r2=[9], b_r1=[9])
    gang(world, "g", 1, f"{BLOCK}, preferred:{RACK}")
    members(world, "g", [0], on="a-r1-0")
    members(world, "g", range(1, 4))
    world.run()
    assert domains(world, placed(world, "g").values(), 0) == {("a",)}
    assert len(placed(world, "g")) == 4


def test_where_members_are_pinned_to_a_full_domain_that_one_is_what_is_said() -> None:
    world = World()
    nodes(world, a_r0=[1], a_r1=[1, 1])
    for name in ("a-r0-0", "a-r1-1"):
        world.pod(f"filler-{name}", on=name, scheduler="other")
    gang(world, "g", 2, f"{BLOCK}, {RACK}")
    members(world, "g", [0], on="a-r1-0")
    members(world, "g", [1])
    (decision,) = world.run()
    assert "1 node(s) were in another example.com/rack, 2 Insufficient cpu." in decision.condition_message


def test_members_in_two_domains_of_a_required_level_are_an_error() -> None:
    world = World()
    nodes(world, a_r1=[3], b_r1=[3])
    gang(world, "g", 1, f"{BLOCK}, preferred:{RACK}")
    members(world, "g", [0], on="a-r1-0")
    members(world, "g", [1], on="b-r1-0")
    members(world, "g", [2])
    (decision,) = world.run()
    assert decision.condition_message == f"members already run in more than one {BLOCK}: a, b"


@pytest.mark.parametrize("levels", [f"{BLOCK}, {RACK}", f"{BLOCK}, preferred:{RACK}"])
def test_labels_that_no_node_has_are_named(levels: str) -> None:
    world = World()
    world.node("n1")
    gang(world, "g", 1, levels)
    members(world, "g", [0])
    world.run()
    said = f"labels {BLOCK} and {RACK}" if "preferred" not in levels else f"label {BLOCK}"
    assert world.held(group_key("g")) == ("Unschedulable", f"no node has the {said}")


def test_of_members_that_differ_all_are_in_few_domains_where_tries_find_them_there() -> None:
    world = World()
    nodes(world, a_r1=[4], a_r2=[2, 1], a_r3=[8], b_r1=[4], b_r2=[4])
    gang(world, "g", 3, f"preferred:{BLOCK}, preferred:{RACK}")
    members(world, "g", [0], cpu=4)
    members(world, "g", [1, 2], cpu=2)
    world.run()
    assert domains(world, placed(world, "g").values(), 1) == {("a", "r3")}


def test_members_apart_from_each_other_are_in_few_domains_too() -> None:
    world = World()
    nodes(world, a_r1=[4, 4], a_r2=[4, 4, 4], b_r1=[4] * 2)
    apart = {
        "affinity": {
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"labelSelector": {"matchLabels": {"app": "g"}}, "topologyKey": "kubernetes.io/hostname"}
                ]
            }
        }
    }
    gang(world, "g", 3, f"preferred:{RACK}")
    for rank in range(3):
        world.pod(
            f"g-{rank}",
            group="g",
            labels={"app": "g", "batch.kubernetes.io/job-completion-index": str(rank)},
            spec=apart,
        )
    world.run()
    assert domains(world, placed(world, "g").values(), 1) == {("a", "r2")}
    assert len(set(placed(world, "g").values())) == 3


def test_the_level_that_stands_in_the_way_is_named() -> None:
    world = World()
    nodes(world, a_r1=[2], a_r2=[2], b_r1=[1])
    gang(world, "g", 3, f"{BLOCK}, {RACK}")
    members(world, "g", range(3))
    assert f"can be placed inside one {RACK} (best: r1);" in told(world, "g").condition_message
    gang(world, "h", 5, f"{BLOCK}, {RACK}")
    members(world, "h", range(5))
    assert (
        "inside one example.com/rack (best: r1) and at most 4 inside one example.com/block;"
        in told(world, "h").condition_message
    )


def test_one_required_level_in_the_annotation_is_the_same_as_in_the_field() -> None:
    world = World()
    nodes(world, a_r1=[2], a_r2=[3])
    gang(world, "g", 3, RACK)
    members(world, "g", range(3))
    node(world, "b/r9/s1")
    world.run()
    assert set(placed(world, "g").values()) == {"a-r2-0"}


def test_shelves_racks_and_blocks_together() -> None:
    world = World()
    nodes(world, a_r1_s1=[2], a_r1_s2=[2], a_r2_s1=[4], b_r1_s1=[3], b_r1_s2=[3], b_r2_s1=[2])
    gang(world, "g", 4, f"{BLOCK}, {RACK}, preferred:{SHELF}")
    members(world, "g", range(4))
    world.run()
    assert set(placed(world, "g").values()) == {"a-r2-s1-0"}


@pytest.mark.parametrize(("beside", "far"), [(1, 5), (3, 7)])
def test_of_two_places_the_one_with_a_neighbour_goes_to_who_comes_just_before_or_after(beside: int, far: int) -> None:
    world = World()
    world.node("n1", cpu=1)
    world.node("n2", cpu=2)
    gang(world, "g", 1)
    members(world, "g", [2], on="n2")
    members(world, "g", [beside, far])
    world.run()
    assert placed(world, "g") == {beside: "n2", 2: "n2", far: "n1"}
