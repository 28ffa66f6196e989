"""Which pods of a tree others would leave for: just enough for it to start, the oldest groups or else the smallest."""

from collections import Counter

from scheduler.algorithm.tree_selections import required_pods
from scheduler.cache.pod_group_state import MemberState, PodGroupState
from scheduler.cache.pod_group_tree import TreeState
from tests.scheduler.core.build import composite_key
from tests.scheduler.core.world import World
from tests.scheduler.levels.build import gang, members


def choices(world: World) -> list[PodGroupState]:
    tree = world.state.item(composite_key("tree"))
    assert isinstance(tree, TreeState)
    return list(required_pods(tree))


def chosen(world: World) -> list[dict[str, int]]:
    """How many pods of which groups, choice by choice."""
    return [
        dict(Counter(uid.removeprefix("uid-of-")[:-2] for waiting in one.pending.values() for uid in waiting.uids))
        for one in choices(world)
    ]


def groups(world: World, parent: str = "tree", **sizes: int) -> None:
    """Groups in the order of their age, all of whose pods are needed."""
    for day, (name, size) in enumerate(sizes.items(), start=1):
        world.group(name, size, parent=parent, created=f"2026-01-0{day}T00:00:00Z")
        world.pods(name, size)


def test_the_oldest_groups_are_asked_about_first_and_then_the_smallest() -> None:
    world = World()
    world.composite("tree", 2)
    groups(world, old=4, large=3, small=1)
    assert chosen(world) == [{"old": 4, "large": 3}, {"small": 1, "large": 3}]


def test_a_choice_is_asked_about_once() -> None:
    world = World()
    world.composite("tree", 2)
    groups(world, first=1, second=2, third=3)
    assert chosen(world) == [{"first": 1, "second": 2}]


def test_a_tree_that_lacks_a_place_for_one_pod_asks_for_that() -> None:
    world = World()
    world.composite("tree", 1)
    groups(world, single=1)
    assert chosen(world) == [{"single": 1}]


def test_no_more_of_a_group_than_its_minimum_is_chosen() -> None:
    world = World()
    world.composite("tree", 1)
    groups(world, only=2)
    world.pods("only", 3, first=2)
    (one,) = choices(world)
    assert one.pending_count == one.count(MemberState.PENDING) == 2
    assert one.group is not None
    assert one.group.min_count == 2


def test_each_level_chooses_as_many_children_as_it_must_have() -> None:
    world = World()
    world.composite("tree", 1)
    world.composite("left", 2, parent="tree", created="2026-01-01T00:00:00Z")
    world.composite("right", 1, parent="tree", created="2026-01-02T00:00:00Z")
    groups(world, "left", a=1, b=2, c=3)
    groups(world, "right", d=2, e=2)
    assert chosen(world) == [{"a": 1, "b": 2}, {"d": 2}]


def test_pods_of_two_kinds_are_counted_together() -> None:
    world = World()
    world.composite("tree", 1)
    world.group("mixed", 3, parent="tree")
    for number, cpu in enumerate((1, 2, 1, 2)):
        world.pod(f"mixed-{number}", group="mixed", cpu=cpu)
    (one,) = choices(world)
    assert sum(len(waiting) for waiting in one.pending.values()) == one.pending_count == 3


def test_what_has_its_place_counts_and_is_no_part_of_what_is_asked_for() -> None:
    world = World()
    world.node("n1", cpu=9)
    world.composite("tree", 2)
    groups(world, there=2, waits=3)
    world.pods("there", 2, on="n1")
    (one,) = choices(world)
    assert chosen(world) == [{"waits": 3}]
    assert (one.scheduled_count, one.count(MemberState.BOUND), one.pending_count) == (2, 2, 3)
    assert one.group is not None
    assert one.group.min_count == 5


def test_nothing_is_chosen_of_a_tree_that_has_started() -> None:
    world = World()
    world.node("n1", cpu=9)
    world.composite("tree", 1)
    groups(world, there=2, waits=3)
    world.pods("there", 2, on="n1")
    assert choices(world) == []


def test_nothing_is_chosen_of_a_tree_that_lacks_pods() -> None:
    world = World()
    world.composite("tree", 2)
    groups(world, first=2)
    world.group("second", 2, parent="tree")
    world.pods("second", 1)
    assert choices(world) == []


def test_groups_that_lack_pods_are_passed_over() -> None:
    world = World()
    world.composite("tree", 1)
    world.group("oldest", 2, parent="tree", created="2025-01-01T00:00:00Z")
    world.pods("oldest", 1)
    groups(world, complete=2)
    assert chosen(world) == [{"complete": 2}]


def test_what_is_chosen_is_confined_as_its_groups_are() -> None:
    world = World()
    world.composite("tree", 2)
    world.composite("branch", 1, parent="tree", topology="zone")
    world.group("anywhere", 1, parent="tree")
    world.group("beyond", 2, parent="branch")
    world.group("inside", 1, parent="branch", topology="rack", created="2025-01-01T00:00:00Z")
    for group, pods in (("inside", 2), ("anywhere", 1), ("beyond", 2)):
        world.pods(group, pods)
    (one,) = choices(world)
    assert isinstance(one, TreeState)
    assert one.branch is not None
    assert (one.pending_count, one.branch.missing, one.inner_keys()) == (2, 2, {"zone", "rack"})


def test_of_a_group_with_slices_the_first_ranks_are_chosen_whatever_their_pods_need() -> None:
    world = World()
    world.composite("tree", 1)
    gang(world, "g", 2, slice_size=2, parent="tree")
    members(world, "g", [0, 2], cpu=1)
    members(world, "g", [1, 3], cpu=2)
    (one,) = choices(world)
    assert sorted(uid for waiting in one.pending.values() for uid in waiting.uids) == ["uid-of-g-0", "uid-of-g-1"]


def test_of_a_tree_some_of_whose_groups_have_their_places_only_as_many_are_chosen_as_are_lacking() -> None:
    world = World()
    world.node("n1", cpu=9)
    world.composite("tree", 2)
    groups(world, there=2, first=3, second=3)
    world.pods("there", 2, on="n1")
    assert chosen(world) == [{"first": 3}]


def test_what_is_chosen_has_the_profiles_of_its_tree() -> None:
    world = World()
    world.composite("tree", 1)
    groups(world, only=2)
    tree = world.state.item(composite_key("tree"))
    (one,) = choices(world)
    assert tree is not None
    assert one.profiles == tree.profiles
    assert sum(one.profiles.values()) == 2
