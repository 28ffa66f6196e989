"""Levels and slices where others have to leave, where members were lost, and when a gang is tried again."""

from typing import Any

from scheduler.preemption.dry_run import dry_run_preemption
from scheduler.preemption.victims import Candidate, Refusal
from tests.scheduler.core.build import group_key
from tests.scheduler.core.stage import Stage
from tests.scheduler.core.world import World
from tests.scheduler.levels.build import BLOCK, LEVELS, RACK, RANK, gang, members, nodes, placed


def _searched(world: World) -> Candidate | Refusal:
    state = world.state.item(group_key("g"))
    assert state is not None
    return dry_run_preemption(world.state, state)


def _leaving(world: World) -> list[str]:
    found = _searched(world)
    assert isinstance(found, Candidate), found
    return sorted(pod.name for pod in found.pods)


def _full(world: World, **on: str) -> None:
    """Pods of others that fill a node of two CPUs each."""
    for name, node in on.items():
        world.pod(name, on=node, cpu=2)


def test_who_leaves_for_a_gang_makes_room_inside_one_domain_of_each_required_level() -> None:
    world = World()
    nodes(world, a_r1=[2, 2], b_r1=[2], b_r2=[2])
    _full(world, one="a-r1-0", two="a-r1-1", three="b-r1-0", four="b-r2-0")
    gang(world, "g", 4, f"{BLOCK}, {RACK}", priority=5)
    members(world, "g", range(4), priority=5)
    assert _leaving(world) == ["one", "two"]


def test_whole_slices_fit_where_others_have_left() -> None:
    world = World()
    nodes(world, a_r1=[2, 1], a_r2=[2, 2], a_r3=[2])
    _full(world, one="a-r1-0", two="a-r2-0", three="a-r2-1", four="a-r3-0")
    gang(world, "g", 4, slice_size=4, priority=5)
    members(world, "g", range(4), priority=5)
    assert _leaving(world) == ["three", "two"]
    found = _searched(world)
    assert isinstance(found, Candidate)
    assert {node for _, node in found.places} == {"a-r2-0", "a-r2-1"}


def test_nobody_leaves_where_slices_would_be_torn_all_the_same() -> None:
    world = World()
    nodes(world, a_r1=[2], a_r2=[2])
    _full(world, one="a-r1-0", two="a-r2-0")
    gang(world, "g", 4, slice_size=4, priority=5)
    members(world, "g", range(4), priority=5)
    assert isinstance(_searched(world), Refusal)


def test_a_replacement_of_a_slice_evicts_in_the_domain_of_its_slice_only() -> None:
    world = World()
    nodes(world, a_r1=[1, 2], a_r2=[2])
    _full(world, one="a-r1-1", two="a-r2-0")
    gang(world, "g", 1, slice_size=2, priority=5)
    members(world, "g", [0], on="a-r1-0", priority=5)
    members(world, "g", [1], priority=5)
    assert _leaving(world) == ["one"]


def test_nobody_leaves_for_a_preferred_level() -> None:
    world = World()
    nodes(world, a_r1=[2], a_r2=[1], a_r3=[1])
    _full(world, one="a-r1-0")
    gang(world, "g", 2, f"preferred:{RACK}", priority=5)
    members(world, "g", range(2), priority=5)
    world.run()
    assert set(placed(world, "g").values()) == {"a-r2-0", "a-r3-0"}


def test_slices_on_nodes_that_were_cleared_for_them_are_whole() -> None:
    world = World()
    nodes(world, a_r1=[2, 2], a_r2=[4], a_r3=[4])
    gang(world, "g", 8, slice_size=4, priority=5)
    members(world, "g", range(8), priority=5)
    state = world.state
    uids = [f"uid-of-g-{rank}" for rank in range(8)]
    on = ["a-r1-0", "a-r1-0", "a-r1-1", "a-r1-1", *["a-r2-0"] * 4]
    places: dict[str, Any] = {}
    # Who was nominated for which node is not how they are dealt.
    for uid, node in zip(uids[::-1], on, strict=True):
        pod = state.pod(uid)
        assert pod is not None
        places[uid] = (node, pod.demand)
    state.nominator.nominate(group_key("g"), 5, places, frozenset(), 1e9)
    world.run()
    by_rank = placed(world, "g")
    racks = [{by_rank[rank][:4] for rank in range(first, first + 4)} for first in (0, 4)]
    assert sorted(map(sorted, racks)) == [["a-r1"], ["a-r2"]]


def _stage_with_gang(topology: dict[str, str], size: int) -> Stage:
    stage = Stage()
    for path, count in (("a-r1", 2), ("a-r2", 2), ("a-r3", 2)):
        for index in range(count):
            stage.node(f"{path}-{index}", cpu=2, labels=dict(zip(LEVELS, path.split("-"), strict=False)))
    stage.group("g", size, annotations=topology)
    for rank in range(size):
        stage.pod(f"g-{rank}", group="g", labels={RANK: str(rank)})
    stage.run()
    return stage


def test_room_for_a_lost_member_of_a_slice_is_kept_in_the_domain_of_its_slice() -> None:
    slices = {"tutti.scheduler/slice-size": "4", "tutti.scheduler/slice-topology": RACK}
    stage = _stage_with_gang(slices, 8)
    bound = stage.bound("g")
    assert len(bound) == 8
    rack = bound["g-5"].rpartition("-")[0]
    stage.lose("g-5")
    stage.run()
    kept = stage.state.future_reservations.of(group_key("g"))
    assert kept is not None
    assert {node.rpartition("-")[0] for node in kept.demands} == {rack}


def test_room_for_a_lost_member_is_kept_near_its_neighbours() -> None:
    stage = _stage_with_gang({"tutti.scheduler/topology": f"preferred:{RACK}"}, 8)
    bound = stage.bound("g")
    rack = bound["g-6"].rpartition("-")[0]
    assert bound["g-5"].rpartition("-")[0] == bound["g-7"].rpartition("-")[0] == rack
    stage.lose("g-6")
    stage.run()
    kept = stage.state.future_reservations.of(group_key("g"))
    assert kept is not None
    assert {node.rpartition("-")[0] for node in kept.demands} == {rack}


def test_room_somewhere_wakes_a_gang_with_slices_and_may_do_so_in_vain() -> None:
    world = World()
    nodes(world, a_r1=[2], a_r2=[2])
    gang(world, "g", 4, slice_size=4)
    members(world, "g", range(4))
    assert world.run()[0].result == "unschedulable"
    nodes(world, a_r3=[4])
    world.run()
    assert set(placed(world, "g").values()) == {"a-r3-0"}


def test_racks_of_one_name_are_told_apart_where_others_leave_too() -> None:
    world = World()
    nodes(world, a_r1=[2], b_r1=[2], c_r1=[2, 2], c_r2=[1])
    _full(world, one="a-r1-0", two="b-r1-0", three="c-r1-0", four="c-r1-1")
    gang(world, "g", 4, f"preferred:{BLOCK}", slice_size=4, priority=5)
    members(world, "g", range(4), priority=5)
    assert _leaving(world) == ["four", "three"]
