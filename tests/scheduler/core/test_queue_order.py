"""Whose turn it is: by priority, then by age; what blocks nobody."""

import pytest

from tests.scheduler.core.build import group_key, pod_key
from tests.scheduler.core.world import World


def test_a_higher_priority_pod_goes_before_an_older_gang() -> None:
    world = World()
    world.node("n1", cpu=4)
    world.group("g", 3, priority=10)
    world.pods("g", 3, priority=10)
    world.pod("p", cpu=2, priority=100)
    world.run()
    assert set(world.bound()) == {"p"}
    assert world.held(group_key("g"))[0] == "Unschedulable"


def test_a_higher_priority_gang_goes_before_older_pods() -> None:
    world = World()
    world.node("n1", cpu=4)
    world.pod("p", priority=10)
    world.pod("q", priority=10)
    world.group("g", 3, priority=100)
    world.pods("g", 3, priority=100)
    world.run()
    assert set(world.bound()) == {"g-0", "g-1", "g-2", "p"}


def test_a_group_that_states_no_priority_goes_by_its_least_important_member() -> None:
    world = World()
    world.group("g", 2)
    world.pod("g-0", group="g", priority=100)
    world.pod("g-1", group="g", priority=0)
    world.pod("p", priority=50)
    assert world.queue.pop(world.state) == pod_key("p")
    assert world.queue.pop(world.state) == group_key("g")


def test_of_equal_priority_the_older_goes_first() -> None:
    world = World()
    world.node("n1", cpu=4)
    world.group("g", 3, created="2026-01-01T00:00:05Z")
    world.pods("g", 3)
    world.pod("p", cpu=2, created="2026-01-01T00:00:04Z")
    world.run()
    assert set(world.bound()) == {"p"}


def test_an_older_gang_goes_before_newer_pods() -> None:
    world = World()
    world.node("n1", cpu=4)
    world.group("g", 3)
    world.pods("g", 3)
    world.pod("p")
    world.pod("q")
    world.run()
    assert set(world.bound()) == {"g-0", "g-1", "g-2", "p"}


def test_a_gang_that_is_not_complete_blocks_nobody() -> None:
    world = World()
    world.node("n1", cpu=4)
    world.group("g", 3)
    world.pods("g", 2)
    world.pod("p", cpu=2)
    world.run()
    assert set(world.bound()) == {"p"}
    world.pods("g", 1, first=2)
    world.run()
    assert set(world.bound()) == {"p"}


def test_a_gang_refused_as_a_whole_holds_nothing() -> None:
    world = World()
    world.node("n1", cpu=2)
    world.group("g", 3)
    world.pods("g", 3)
    world.pod("p")
    world.run()
    assert set(world.bound()) == {"p"}


def test_a_head_that_cannot_be_placed_blocks_nobody() -> None:
    world = World()
    world.node("n1", cpu=3)
    world.pod("p", cpu=4, priority=100)
    world.group("g", 3, priority=10)
    world.pods("g", 3, priority=10)
    world.run()
    assert len(world.bound("g")) == 3


def test_what_a_group_could_not_place_keeps_its_age() -> None:
    world = World()
    world.node("n1", cpu=4)
    world.pod("s1", created="2026-01-01T00:00:01Z")
    world.group("g", created="2026-01-01T00:00:02Z")
    world.pods("g", 3, cpu=2)
    world.pod("s2", created="2026-01-01T00:00:03Z")
    world.run()
    assert set(world.bound()) == {"s1", "g-0", "s2"}
    world.pod("s3", cpu=2, created="2026-01-01T00:00:04Z")
    world.run()
    world.pod_gone("s1")
    world.pod_gone("s2")
    world.run()
    assert "g-1" in world.bound()
    assert "s3" not in world.bound()


@pytest.mark.parametrize("need", [None, 2], ids=["basic group", "gang"])
def test_what_joins_a_group_that_runs_has_its_own_age(need: int | None) -> None:
    world = World()
    world.node("n1", cpu=3)
    world.group("old", need)
    world.pods("old", 2, created="2026-01-01T00:00:00Z")
    world.run()
    assert len(world.bound("old")) == 2
    world.pods("old", 1, first=2, created="2026-01-01T09:00:00Z")
    world.pod("before-it", created="2026-01-01T08:00:00Z")
    world.run()
    assert "before-it" in world.bound()
    assert len(world.bound("old")) == 2


def test_a_basic_group_that_keeps_adding_pods_lets_others_in() -> None:
    world = World()
    world.node("n1", cpu=10)
    world.group("grows")
    for hour in range(10):
        world.pod(f"grows-{hour}", group="grows", created=f"2026-01-02T{hour:02}:30:00Z")
        world.pod(f"lone-{hour}", created=f"2026-01-02T{hour:02}:00:00Z")
        world.step()
    assert len([name for name in world.bound() if name.startswith("lone")]) == 5


def test_a_gang_that_waits_or_has_lost_its_minimum_keeps_the_age_of_its_group() -> None:
    world = World()
    world.node("n1", cpu=2)
    world.group("g", 2)
    world.pods("g", 2, created="2026-01-01T00:00:00Z")
    world.run()
    world.pod_gone("g-1")
    world.pod("before-it", created="2026-01-01T08:00:00Z")
    world.pods("g", 1, first=2, created="2026-01-01T09:00:00Z")
    world.run()
    assert set(world.bound()) == {"g-0", "g-2"}


def test_of_those_that_joined_the_oldest_decides_and_then_the_next() -> None:
    world = World()
    world.node("n1", cpu=2)
    world.group("g")
    world.pods("g", 1)
    world.run()
    for hour in (9, 5, 7):
        world.pod(f"g-at-{hour}", cpu=4, group="g", created=f"2026-01-01T{hour:02}:00:00Z")
    members = world.state.item(group_key("g"))
    assert members is not None
    seen = []
    for name in ("g-at-5", "g-at-7", "g-at-9"):
        seen.append(members.waits_since_seconds % 86400 / 3600)
        world.pod_gone(name)
    assert seen == [5, 7, 9]


def test_a_gated_lone_pod_blocks_nobody_whatever_its_priority() -> None:
    world = World()
    world.node("n1", cpu=2)
    world.pod("p", cpu=2, priority=100, gates=["wait"])
    world.group("g", 2)
    world.pods("g", 2)
    world.run()
    assert len(world.bound("g")) == 2
    assert world.held(pod_key("p"))[0] == "SchedulingGated"
    world.pod("p", cpu=2, priority=100)
    world.run()
    assert world.held(pod_key("p"))[0] == "Unschedulable"
