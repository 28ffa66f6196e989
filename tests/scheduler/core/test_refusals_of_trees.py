"""What the refusal of a tree says: how many of its groups could start, and which pods have no place for which reason."""

import pytest

from scheduler.plugins.messages import message
from tests.scheduler.core.test_trees import RACK, ZONE, refusals
from tests.scheduler.core.world import World


def test_a_refusal_counts_the_groups_of_the_order_that_came_closest() -> None:
    world = World()
    for name in ("n1", "n2"):
        world.node(name, cpu=3)
    world.composite("tree", 3)
    for day, (name, pods, cpu) in enumerate((("a", 2, 3), ("b", 1, 1), ("c", 1, 2), ("d", 3, 3)), start=1):
        world.group(name, pods, parent="tree", created=f"2026-01-0{day}T00:00:00Z")
        world.pods(name, pods, cpu=cpu)
    (said,) = refusals(world.run())
    assert said.startswith("minGroupCount (3) cannot be satisfied: 2 of 4 groups can start")


@pytest.mark.parametrize(
    ("is_running", "cpu", "said"),
    [
        pytest.param(False, 3, "2 of 3 groups can start", id="two of three fit"),
        pytest.param(True, 3, "2 of 3 groups can start", id="one has started, one fits"),
        pytest.param(False, 1, "1 of 3 groups can start", id="the smallest fits"),
    ],
)
def test_where_counting_says_that_a_tree_of_different_pods_cannot_start_groups_are_counted_as_far_as_pods_fit(
    is_running: bool, cpu: int, said: str
) -> None:
    world = World()
    world.node("n1", cpu=cpu)
    world.composite("tree", 3)
    for day, (name, pods, each) in enumerate((("a", 2, 1), ("b", 1, 1), ("c", 1, 2)), start=1):
        world.group(name, pods, parent="tree", created=f"2026-01-0{day}T00:00:00Z")
        world.pods(name, pods, cpu=each, on="n1" if is_running and name == "a" else "")
    (decision,) = world.run()
    assert message(decision.status) == (
        f"minGroupCount (3) cannot be satisfied: {said}: 0/1 nodes are available: 1 Insufficient cpu."
    )
    refused = {uid.removeprefix("uid-of-") for uid, status in decision.failures if status is not None}
    assert refused == ({"c-0"} if cpu == 3 else {"a-1", "b-0"})


def test_where_there_is_too_little_room_for_all_groups_that_must_start_each_is_counted_with_its_minimum() -> None:
    world = World()
    world.node("n1", cpu=3)
    world.composite("tree", 3)
    for day, (name, need, pods) in enumerate((("a", 1, 3), ("b", 1, 1), ("c", 5, 5)), start=1):
        world.group(name, need, parent="tree", created=f"2026-01-0{day}T00:00:00Z")
        world.pods(name, pods)
    (said,) = refusals(world.run())
    assert said.startswith("minGroupCount (3) cannot be satisfied: 2 of 3 groups can start")


def test_of_orders_that_come_as_close_the_first_one_says_which_pods_have_no_place() -> None:
    world = World()
    world.node("n1", cpu=3, labels={RACK: "r1"})
    world.composite("tree", 1)
    for day, (name, pods) in enumerate((("old", 1), ("large", 2)), start=1):
        world.group(name, pods, parent="tree", topology=RACK, created=f"2026-01-0{day}T00:00:00Z")
        world.pods(name, pods, cpu=9)
    (decision,) = world.run()
    assert [uid for uid, status in decision.failures if status is not None] == ["uid-of-old-0"]


@pytest.mark.parametrize(
    ("is_running", "said"),
    [
        (False, "minGroupCount (1) cannot be satisfied: 0 of 2 groups can start"),
        (True, "none of the groups that wait beside the 1 that have started can start"),
    ],
)
def test_a_refusal_tells_a_tree_that_has_not_started_from_one_that_cannot_grow(is_running: bool, said: str) -> None:
    world = World()
    world.node("n1", cpu=1)
    world.composite("tree", 1)
    for name in ("a", "b"):
        world.group(name, 1, parent="tree")
    world.pod("a-0", group="a", on="n1" if is_running else "", cpu=1 if is_running else 9)
    world.pod("b-0", group="b", cpu=9)
    (refusal,) = refusals(world.run())
    assert refusal == f"{said}: 0/1 nodes are available: 1 Insufficient cpu."


def test_an_incomplete_group_does_not_count_as_one_that_can_start() -> None:
    world = World()
    world.node("n1", cpu=2, labels={RACK: "r1"})
    world.composite("tree", 2)
    for name, pods in (("incomplete", 1), ("fits", 2), ("too-large", 3)):
        world.group(name, max(pods, 2), parent="tree", topology=RACK)
        world.pods(name, pods)
    (said,) = refusals(world.run())
    assert said.startswith("minGroupCount (2) cannot be satisfied: 1 of 3 groups can start")
    assert world.bound() == {}


@pytest.mark.parametrize(
    ("of_branch", "of_group", "said"),
    [
        pytest.param(ZONE, "", f"1 node(s) were in another {ZONE}", id="a domain of the branch"),
        pytest.param("", RACK, f"1 node(s) were in another {RACK}", id="a domain of the group"),
        pytest.param(ZONE, RACK, f"1 node(s) were in another {RACK}", id="one of each"),
    ],
)
def test_a_refusal_names_the_narrowest_domain_outside_of_which_nodes_are(
    of_branch: str, of_group: str, said: str
) -> None:
    world = World()
    for zone in ("a", "b"):
        world.node(zone, cpu=2, labels={ZONE: zone, RACK: zone})
    world.composite("tree", 1)
    world.composite("branch", 3, parent="tree", **({"topology": of_branch} if of_branch else {}))
    for index in range(3):
        world.group(f"g{index}", 2, parent="branch", **({"topology": of_group} if of_group else {}))
        world.pods(f"g{index}", 2, cpu=f"{1000 - index}m")
    (refusal,) = refusals(world.run())
    assert said in refusal
