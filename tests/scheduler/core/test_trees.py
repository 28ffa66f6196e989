"""Trees of groups: as many whole groups as each level asks for start together, or nothing does."""

from collections.abc import Iterable

import pytest

from scheduler.algorithm.decision import Decision
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.plugins.gang_scheduling import validate_pod_group
from scheduler.plugins.messages import message
from scheduler.plugins.status import Code
from tests.scheduler.core.build import composite_key, group_key
from tests.scheduler.core.world import World

ZONE = "topology.kubernetes.io/zone"
RACK = "example.com/rack"


def started(world: World, groups: Iterable[str]) -> dict[str, int]:
    """How many pods of each group have a node; groups without one are left out."""
    return {name: count for name in groups if (count := len(world.bound(name)))}


def tree(
    world: World, need: int | None, groups: int, pods: int = 2, *, name: str = "tree", **more: object
) -> list[str]:
    """A composite of so many groups, all of whose pods are needed."""
    world.composite(name, need, **more)
    names = [f"{name}-{index}" for index in range(groups)]
    for index, group in enumerate(names):
        world.group(group, pods, parent=name, created=f"2026-01-01T00:00:{index:02}Z")
        world.pods(group, pods)
    return names


def refusals(decisions: list[Decision]) -> list[str]:
    return [message(decision.status) for decision in decisions if decision.result == "unschedulable"]


def test_all_groups_of_a_tree_start_in_one_decision() -> None:
    world = World()
    world.node("n1", cpu=6)
    groups = tree(world, 3, groups=3)
    (decision,) = world.run()
    assert decision.key == composite_key("tree")
    assert len(decision.bindings) == 6
    assert started(world, groups) == dict.fromkeys(groups, 2)


def test_nothing_of_a_tree_starts_while_one_group_of_it_has_no_room() -> None:
    world = World()
    world.node("n1", cpu=5)
    tree(world, 3, groups=3)
    assert refusals(world.run()) == [
        "minGroupCount (3) cannot be satisfied: 2 of 3 groups can start: 0/1 nodes are available: 1 Insufficient cpu."
    ]
    assert world.bound() == {}
    world.node("n2", cpu=1)
    world.run()
    assert len(world.bound()) == 6


def test_a_tree_starts_with_its_minimum_and_the_others_follow_when_there_is_room() -> None:
    world = World()
    world.node("n1", cpu=5)
    groups = tree(world, 2, groups=3)
    world.run()
    assert started(world, groups) == {"tree-0": 2, "tree-1": 2}
    world.node("n2", cpu=2)
    world.run()
    assert started(world, groups) == dict.fromkeys(groups, 2)


def test_a_group_that_is_too_large_is_passed_over_for_its_siblings() -> None:
    world = World()
    world.node("n1", cpu=4)
    world.composite("tree", 2)
    for name, pods in (("large", 3), ("one", 2), ("two", 2)):
        world.group(
            name, pods, parent="tree", created="2026-01-01T00:00:00Z" if name == "large" else "2026-01-02T00:00:00Z"
        )
        world.pods(name, pods)
    world.run()
    assert started(world, ("large", "one", "two")) == {"one": 2, "two": 2}


def test_pods_beyond_the_minimum_of_one_group_do_not_keep_a_sibling_from_starting() -> None:
    world = World()
    world.node("n1", cpu=4)
    world.composite("tree", 2)
    world.group("greedy", 2, parent="tree", created="2026-01-01T00:00:00Z")
    world.pods("greedy", 4)
    world.group("late", 2, parent="tree", created="2026-01-02T00:00:00Z")
    world.pods("late", 2)
    world.run()
    assert started(world, ("greedy", "late")) == {"greedy": 2, "late": 2}


def test_each_level_has_a_minimum_of_its_own() -> None:
    world = World()
    world.node("n1", cpu=6)
    world.composite("root", 1)
    for branch in ("left", "right"):
        world.composite(branch, 2, parent="root")
        for index in range(2):
            world.group(f"{branch}-{index}", 2, parent=branch)
            world.pods(f"{branch}-{index}", 2)
    world.run()
    names = ("left-0", "left-1", "right-0", "right-1")
    assert started(world, names) == {"left-0": 2, "left-1": 2}, "half of the right branch would be as good as none"
    world.node("n2", cpu=2)
    world.run()
    assert started(world, names) == dict.fromkeys(names, 2)


def test_a_branch_that_is_given_up_leaves_its_room_to_all_the_others() -> None:
    world = World()
    world.node("n1", cpu=6)
    world.composite("root", 1)
    for branch, need, pods in (("large", 2, 4), ("one", 1, 3), ("two", 1, 3)):
        day = {"large": 1, "one": 2, "two": 3}[branch]
        world.composite(branch, need, parent="root", created=f"2026-01-0{day}T00:00:00Z")
        for index in range(need):
            world.group(f"{branch}-{index}", pods, parent=branch, created=f"2026-01-0{day}T00:00:00Z")
            world.pods(f"{branch}-{index}", pods)
    first, *_ = world.run()
    assert len(first.bindings) == 6
    assert started(world, ("large-0", "large-1", "one-0", "two-0")) == {"one-0": 3, "two-0": 3}


def test_a_tree_waits_until_enough_of_its_groups_are_complete() -> None:
    world = World()
    world.node("n1", cpu=8)
    world.composite("tree", 2)
    world.group("a", 2, parent="tree")
    world.pods("a", 2)
    world.group("b", 2, parent="tree")
    world.pods("b", 1)
    assert world.run() == []
    assert world.held(composite_key("tree")) == (
        "WaitingForMembers",
        "waiting for minGroupCount (2) groups: 1 of 2 have all they need",
    )
    world.pods("b", 1, first=1)
    world.run()
    assert len(world.bound()) == 4


def test_groups_wait_for_a_root_that_is_only_named() -> None:
    world = World()
    world.node("n1", cpu=8)
    world.group("a", 2, parent="tree")
    world.pods("a", 2)
    assert world.run() == []
    assert world.held(composite_key("tree", "")) == ("WaitingForPodGroup", 'waiting for CompositePodGroup "tree"')
    world.composite("tree", 1)
    world.run()
    assert len(world.bound()) == 2


def test_a_root_that_gets_a_parent_is_a_root_no_longer() -> None:
    world = World()
    world.node("n1", cpu=8)
    world.composite("inner", 1, parent="outer")
    world.group("a", 2, parent="inner")
    world.pods("a", 2)
    assert world.run() == []
    assert world.held(composite_key("outer", ""))[0] == "WaitingForPodGroup"
    assert world.queue.status(composite_key("inner")) is None
    world.composite("outer", 1)
    world.run()
    assert len(world.bound()) == 2


@pytest.mark.parametrize(
    ("composites", "problem"),
    [
        ({"a": "b", "b": "a"}, "name each other in a circle: a, b"),
        ({"a": "", "b": "a", "c": "b", "d": "c"}, "more than 4 levels: d"),
    ],
)
def test_a_tree_that_is_none_says_so(composites: dict[str, str], problem: str) -> None:
    world = World()
    world.node("n1", cpu=8)
    for name, parent in composites.items():
        world.composite(name, 1, **({"parent": parent} if parent else {}))
    world.group("g", 1, parent=list(composites)[-1])
    world.pods("g", 1)
    assert world.run() == []
    reason, text = world.held(composite_key("a"))
    assert reason == "Invalid"
    assert text.endswith(problem)


def test_a_tree_that_is_none_is_refused_as_a_whole_before_any_node_is_looked_at() -> None:
    world = World()
    world.composite("a", 1, parent="b")
    world.composite("b", 1, parent="a")
    world.group("g", 1, parent="a")
    world.pods("g", 1)
    tree = world.state.item(composite_key("a"))
    assert tree is not None
    status = validate_pod_group(tree, {})
    assert status is not None
    assert (status.code, status.is_group_error) == (Code.ERROR, True)
    assert message(status).endswith("name each other in a circle: a, b")


def test_four_levels_are_a_tree() -> None:
    world = World()
    world.node("n1", cpu=8)
    for name, parent in {"a": "", "b": "a", "c": "b"}.items():
        world.composite(name, 1, **({"parent": parent} if parent else {}))
    world.group("g", 1, parent="c")
    world.pods("g", 1)
    world.run()
    assert len(world.bound()) == 1


@pytest.mark.parametrize("level", ["branch", "group", "pods"])
def test_another_priority_anywhere_in_a_tree_is_an_error_of_the_tree(level: str) -> None:
    world = World()
    world.node("n1", cpu=8)
    world.composite("tree", 1, priority=5)
    world.composite("branch", 1, parent="tree", priority=7 if level == "branch" else 5)
    world.group("g", 1, parent="branch", priority=7 if level == "group" else 5)
    world.pods("g", 1, priority=7 if level in ("group", "pods") else 5)
    (decision,) = world.run()
    assert decision.status.code is Code.ERROR
    assert decision.status.is_group_error
    assert "priority" in message(decision.status)
    assert world.bound() == {}


def test_of_four_trees_of_sixty_percent_each_one_runs() -> None:
    world = World()
    for index in range(10):
        world.node(f"n{index}", cpu=2)
    trees = {f"t{index}": tree(world, 3, groups=3, pods=4, name=f"t{index}") for index in range(4)}
    world.run()
    running = [name for name, groups in trees.items() if started(world, groups)]
    assert len(running) == 1
    assert started(world, trees[running[0]]) == dict.fromkeys(trees[running[0]], 4)


def test_a_tree_queues_as_one_item_and_its_groups_do_not() -> None:
    world = World()
    groups = tree(world, 2, groups=3)
    world.run()
    assert [entity.key for entity in world.queue] == [composite_key("tree")]
    assert all(world.queue.status(group_key(name)) is None for name in groups)


def test_the_domain_of_a_root_confines_all_its_groups() -> None:
    world = World()
    for zone, nodes in (("a", 2), ("b", 3)):
        for index in range(nodes):
            world.node(f"{zone}{index}", cpu=2, labels={ZONE: zone})
    tree(world, 3, groups=3, topology=ZONE)
    world.run()
    assert {node[0] for node in world.bound().values()} == {"b"}
    assert len(world.bound()) == 6


def test_each_group_has_its_rack_inside_the_zone_of_the_tree() -> None:
    world = World()
    for zone, racks in (("a", 1), ("b", 2)):
        for rack in range(racks):
            for index in range(2):
                labels = {ZONE: zone, RACK: f"{zone}{rack}"}
                world.node(f"{zone}{rack}-{index}", cpu=1, labels=labels)
    world.composite("tree", 2, topology=ZONE)
    for name in ("one", "two"):
        world.group(name, 2, parent="tree", topology=RACK)
        world.pods(name, 2)
    world.run()
    found = {name: {node.split("-")[0] for node in world.bound(name).values()} for name in ("one", "two")}
    assert sorted(map(sorted, found.values())) == [["b0"], ["b1"]]


def test_a_tree_whose_groups_fit_in_no_common_domain_does_not_start() -> None:
    world = World()
    for zone in ("a", "b"):
        world.node(zone, cpu=3, labels={ZONE: zone})
    tree(world, 2, groups=2, topology=ZONE)
    (text,) = refusals(world.run())
    assert text.startswith("minGroupCount (2) cannot be satisfied: 1 of 2 groups can start")
    assert world.bound() == {}


def test_a_pod_whose_bind_failed_is_tried_again_as_part_of_its_tree() -> None:
    world = World()
    world.node("n1", cpu=4)
    groups = tree(world, 2, groups=2)
    key = world.queue.pop(world.state)
    assert key == composite_key("tree")
    decision = decide(world.state, key)
    for uid, node in decision.bindings:
        world.apply(world.state.assume(uid, node, world.now + 60))
    world.queue.done(key, decision, world.state)
    (failed, _), *others = decision.bindings
    for uid, node in others:
        world.confirm(uid, node)
    world.apply(world.state.forget(failed))
    (again,) = world.run()
    assert again.key == composite_key("tree")
    assert [uid for uid, _ in again.bindings] == [failed]
    assert started(world, groups) == dict.fromkeys(groups, 2)


def test_a_group_that_leaves_its_tree_is_scheduled_by_itself() -> None:
    world = World()
    world.node("n1", cpu=2)
    tree(world, 2, groups=2)
    world.run()
    assert world.bound() == {}
    world.group("tree-0", 2, created="2026-01-01T00:00:00Z")
    world.run()
    assert started(world, ("tree-0", "tree-1")) == {"tree-0": 2}


def test_a_tree_whose_root_goes_is_held_and_its_item_is_gone() -> None:
    world = World()
    world.node("n1", cpu=1)
    tree(world, 2, groups=2)
    world.run()
    world.composite_gone("tree")
    assert world.queue.status(composite_key("tree")) is None
    assert world.held(composite_key("tree", ""))[0] == "WaitingForPodGroup"
    assert world.state.entities.get(composite_key("tree")) is None


def test_a_tree_of_different_pods_with_images_that_keep_apart_starts_once_there_are_enough_nodes() -> None:
    apart = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "a"}}}
            ]
        }
    }
    world = World()
    for index in range(3):
        world.node(f"n{index}", labels={"kubernetes.io/hostname": f"n{index}"})
    world.composite("tree", 2)
    for name in ("a", "b", "c"):
        world.group(name, 2, parent="tree")
        for index, image in enumerate(("leader", "worker")):
            container = {"name": "main", "image": image, "resources": {"requests": {"cpu": "1"}}}
            spec = {"affinity": apart, "containers": [container]}
            world.pod(f"{name}-{index}", group=name, labels={"app": "a"}, spec=spec)
    (refusal,) = refusals(world.run())
    assert refusal.startswith("minGroupCount (2) cannot be satisfied: 1 of 3 groups can start")
    world.node("n3", labels={"kubernetes.io/hostname": "n3"})
    world.run()
    assert len(world.bound()) == 4


def test_a_branch_of_a_tree_that_has_started_starts_with_its_minimum_where_there_is_no_room_for_more() -> None:
    world = World()
    world.node("n1", cpu=3)
    world.composite("tree", 1)
    world.group("there", 1, parent="tree")
    world.pod("there-0", group="there", on="n1")
    world.composite("branch", 2, parent="tree")
    for day, (name, pods) in enumerate((("large", 3), ("small", 1)), start=1):
        world.group(name, 1, parent="branch", created=f"2026-01-0{day}T00:00:00Z")
        world.pods(name, pods)
    world.run()
    assert started(world, ("large", "small")) == {"large": 1, "small": 1}


@pytest.mark.parametrize(("cpu", "expected"), [(5, {"a": 3, "b": 2}), (3, {"a": 1, "b": 2})])
def test_pods_beyond_the_minimum_are_placed_at_once_where_that_leaves_room_for_all_groups(
    cpu: int, expected: dict[str, int]
) -> None:
    world = World()
    world.node("n1", cpu=cpu, labels={RACK: "r1"})
    world.composite("tree", 2)
    for day, (name, need, pods) in enumerate((("a", 1, 3), ("b", 2, 2)), start=1):
        world.group(name, need, parent="tree", topology=RACK, created=f"2026-01-0{day}T00:00:00Z")
        world.pods(name, pods)
    world.step()
    assert started(world, ("a", "b")) == expected


def test_what_was_tried_in_a_domain_takes_no_room_of_what_comes_after_it() -> None:
    world = World()
    world.node("n1", cpu=4, labels={RACK: "r1"})
    world.composite("root", 2)
    for branch in ("left", "right"):
        world.composite(branch, 1, parent="root", topology=RACK)
        world.group(f"{branch}-0", 2, parent=branch)
        world.pods(f"{branch}-0", 2)
    world.run()
    assert started(world, ("left-0", "right-0")) == {"left-0": 2, "right-0": 2}
