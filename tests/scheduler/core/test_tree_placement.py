"""Which groups of a tree are tried, and in which order: no more than can change the outcome."""

from collections.abc import Sequence

import pytest

from scheduler.algorithm import tree_placement
from scheduler.algorithm.attempt import Attempt
from scheduler.algorithm.exact.members import SearchBudget
from scheduler.algorithm.free_after_nominations import snapshot_for
from scheduler.algorithm.partition import MemberPartition, partition_by_signature
from scheduler.algorithm.schedule_pod_group import attempt_to_place
from scheduler.algorithm.schedule_tree import attempt_to_place_tree
from scheduler.algorithm.snapshot import NewSnapshot
from scheduler.algorithm.tree_placement import ORDERS, OneByOne
from scheduler.algorithm.tree_selections import required_pods
from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.pod_group_tree import TreeState
from scheduler.plugins.status import Status
from tests.scheduler.core.build import composite_key
from tests.scheduler.core.world import World

WHOLE, LEAST, SMALL_FIRST, LARGE_FIRST = range(len(ORDERS))


class Tried:
    """Places groups as the scheduler does, and keeps their names."""

    def __init__(self, world: World, tree: TreeState | None = None) -> None:
        found = world.state.item(composite_key("tree"))
        assert isinstance(found, TreeState)
        self.tree = tree or found
        self.state = world.state
        self.names: list[str] = []

    def place(
        self,
        state: ClusterState,
        leaf: PodGroupState,
        found: MemberPartition,
        need: int,
        new_snapshot: NewSnapshot,
        search: SearchBudget | None,
    ) -> Attempt | Status:
        self.names.append(leaf.key.name)
        return attempt_to_place(state, leaf, found, need, new_snapshot, search)

    def in_order(self, order: int) -> list[str]:
        assert self.tree.branch is not None
        found, new_snapshot = self._parts()
        OneByOne(self.state, self.tree, found, new_snapshot, self.place, ORDERS[order]).place(self.tree.branch)
        return self.names

    def in_all_orders(self) -> list[str]:
        found, new_snapshot = self._parts()
        attempt_to_place_tree(self.state, self.tree, found, new_snapshot, self.place)
        return self.names

    def _parts(self) -> tuple[MemberPartition, NewSnapshot]:
        found = partition_by_signature(self.state, self.tree)
        return found, lambda allowed, why: snapshot_for(self.state, self.tree, allowed, why, found.topology)


def _world(cpu: int, need: int, **groups: tuple[int, int]) -> World:
    """A tree of groups in the order of their age, each with its minimum and its pods."""
    world = World()
    world.node("n1", cpu=cpu)
    world.composite("tree", need)
    for day, (name, (least, pods)) in enumerate(groups.items(), start=1):
        world.group(name, least, parent="tree", created=f"2026-01-0{day}T00:00:00Z")
        world.pods(name, pods)
    return world


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (WHOLE, ["two", "three", "one"]),
        (LEAST, ["two", "three"]),
        (SMALL_FIRST, ["one", "two"]),
        (LARGE_FIRST, ["three", "two"]),
    ],
)
def test_once_as_many_groups_have_a_place_as_must_start_together_no_other_is_tried(
    order: int, expected: Sequence[str]
) -> None:
    assert Tried(_world(9, 2, two=(2, 2), three=(3, 3), one=(1, 1))).in_order(order) == expected


@pytest.mark.parametrize(("need", "expected"), [(3, ["b", "c"]), (1, ["there", "b", "c"])])
def test_pods_beyond_the_minimum_of_a_group_that_runs_wait_until_its_tree_has_started(
    need: int, expected: Sequence[str]
) -> None:
    world = _world(9, need, there=(1, 2), b=(1, 1), c=(1, 1))
    world.pod("there-0", group="there", on="n1")
    assert Tried(world).in_order(LEAST) == expected


def test_a_tree_of_different_pods_for_which_counting_is_enough_is_tried_once_as_a_whole() -> None:
    world = _world(2, 2, a=(2, 2))
    world.group("b", 1, parent="tree")
    world.pod("b-0", group="b", cpu=2)
    assert Tried(world).in_all_orders() == ["tree"]


@pytest.mark.parametrize(
    ("cpu", "expected"),
    [
        pytest.param(6, ["b", "c"], id="all fit"),
        pytest.param(2, ["b"], id="the first does not, which settles it"),
    ],
)
def test_where_others_would_leave_for_all_pods_the_first_group_without_a_place_is_the_last_that_is_tried(
    cpu: int, expected: Sequence[str]
) -> None:
    world = _world(cpu, 3, incomplete=(2, 1), there=(1, 1), b=(2, 2), c=(2, 2))
    world.pod("there-0", group="there", on="n1")
    first = next(iter(required_pods(Tried(world).tree)))
    assert Tried(world, first).in_order(WHOLE) == expected


def test_a_group_that_lacks_one_pod_settles_it_too() -> None:
    world = _world(0, 2, b=(1, 1), c=(2, 2))
    first = next(iter(required_pods(Tried(world).tree)))
    assert Tried(world, first).in_order(WHOLE) == ["b"]


def test_of_many_domains_the_roomiest_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_placement, "MOST_DOMAINS", 1)
    world = World()
    for rack, cpu in (("r1", 1), ("r2", 3)):
        world.node(rack, cpu=cpu, labels={"rack": rack})
    world.composite("tree", 1, topology="rack")
    world.group("g", 2, parent="tree")
    world.pods("g", 2)
    assert Tried(world).in_order(WHOLE) == ["g"]
