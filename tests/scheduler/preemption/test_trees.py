"""Preemption by trees and of trees: room is made for what must start together, and what leaves as one leaves as one."""

from scheduler.preemption.dry_run import dry_run_preemption
from scheduler.preemption.evaluator import Evaluator, PreemptionLimits
from scheduler.preemption.victims import Candidate, Refusal
from tests.scheduler.core import build
from tests.scheduler.core.world import World


def searched(world: World, name: str = "tree") -> Candidate | Refusal:
    members = world.state.item(build.composite_key(name))
    assert members is not None
    return dry_run_preemption(world.state, members)


def leaving(found: Candidate | Refusal) -> list[str]:
    assert isinstance(found, Candidate), found
    return sorted(pod.name for pod in found.pods)


def tree(world: World, need: int, groups: int, *, priority: int = 5, **more: object) -> None:
    world.composite("tree", need, priority=priority, **more)
    for index in range(groups):
        world.group(f"g{index}", 2, parent="tree", priority=priority, created=f"2026-01-01T00:00:0{index}Z")
        world.pods(f"g{index}", 2, priority=priority)


def full(nodes: int, **more: object) -> World:
    world = World()
    for index in range(nodes):
        world.node(f"n{index}", cpu=1)
        world.pod(f"low-{index}", on=f"n{index}", **more)
    return world


def test_others_leave_for_the_minimum_of_a_tree_and_for_no_more() -> None:
    world = full(8)
    tree(world, 2, groups=3)
    found = searched(world)
    assert len(leaving(found)) == 4
    assert isinstance(found, Candidate)
    assert sorted({uid.split("-")[2] for uid, _ in found.places}) == ["g0", "g1"]


def test_nobody_leaves_for_part_of_a_tree() -> None:
    world = full(3)
    tree(world, 2, groups=2)
    found = searched(world)
    assert isinstance(found, Refusal)
    assert "cannot be satisfied" in found.message


def test_others_leave_for_a_younger_group_where_the_oldest_finds_no_room_whoever_leaves() -> None:
    world = full(2)
    world.composite("tree", 1, priority=5)
    for index, size in enumerate((3, 2)):
        world.group(f"g{index}", size, parent="tree", priority=5, created=f"2026-01-01T00:00:0{index}Z")
        world.pods(f"g{index}", size, priority=5)
    found = searched(world)
    assert leaving(found) == ["low-0", "low-1"]
    assert isinstance(found, Candidate)
    assert sorted(uid for uid, _ in found.places) == ["uid-of-g1-0", "uid-of-g1-1"]


def test_nobody_leaves_for_groups_beyond_the_minimum() -> None:
    world = full(2)
    world.node("free", cpu=4)
    tree(world, 2, groups=3)
    world.run()
    assert len(world.bound("g0")) + len(world.bound("g1")) == 4
    assert isinstance(searched(world), Refusal)


def test_a_preempting_tree_starts_in_the_room_that_was_made() -> None:
    world = full(4)
    tree(world, 2, groups=2)
    evaluator = Evaluator(world.state, PreemptionLimits())
    result = evaluator.preempt(build.composite_key("tree"), 0.0)
    assert result.candidate is not None
    assert result.message == "found a placement for compositepodgroup, preempting 4 victims"
    for pod in result.candidate.pods:
        world.pod_gone(pod.name)
    world.run()
    assert len(world.bound("g0")) == len(world.bound("g1")) == 2


def test_a_tree_that_leaves_whole_leaves_whole() -> None:
    world = World()
    for index in range(4):
        world.node(f"n{index}", cpu=1)
    tree(world, 2, groups=2, priority=0, leaves="all")
    world.run()
    world.pod("new", priority=9)
    members = world.state.item(build.pod_key("new"))
    assert members is not None
    assert leaving(dry_run_preemption(world.state, members)) == ["g0-0", "g0-1", "g1-0", "g1-1"]


def test_of_a_tree_whose_children_leave_alone_one_pod_leaves() -> None:
    world = World()
    for index in range(4):
        world.node(f"n{index}", cpu=1)
    tree(world, 2, groups=2, priority=0)
    world.run()
    world.pod("new", priority=9)
    members = world.state.item(build.pod_key("new"))
    assert members is not None
    assert len(leaving(dry_run_preemption(world.state, members))) == 1


def test_the_highest_level_that_leaves_whole_decides() -> None:
    world = World()
    for index in range(4):
        world.node(f"n{index}", cpu=1)
    world.composite("root", 1, priority=0)
    for branch in ("left", "right"):
        world.composite(branch, 1, parent="root", priority=0, leaves="all")
        world.group(f"{branch}-g", 2, parent=branch, priority=0, leaves="all")
        world.pods(f"{branch}-g", 2)
    world.run()
    world.pod("new", priority=9)
    members = world.state.item(build.pod_key("new"))
    assert members is not None
    gone = leaving(dry_run_preemption(world.state, members))
    assert gone in (["left-g-0", "left-g-1"], ["right-g-0", "right-g-1"])


def test_after_a_restart_a_tree_is_nominated_again_as_a_tree() -> None:
    world = World()
    for index in range(2):
        world.node(f"n{index}", cpu=1)
        world.pod(f"low-{index}", on=f"n{index}", deleted=True)
    world.composite("tree", 1, priority=5)
    world.group("g", 2, parent="tree", priority=5)
    for index in range(2):
        world.pod(f"g-{index}", group="g", priority=5, nominated=f"n{index}")
    Evaluator(world.state, PreemptionLimits()).restore(0.0)
    nomination = world.state.nominator.of(build.composite_key("tree"))
    assert nomination is not None
    assert sorted(nomination.places) == ["uid-of-g-0", "uid-of-g-1"]
