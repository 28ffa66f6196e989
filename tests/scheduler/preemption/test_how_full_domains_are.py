"""Of domains whose victims cost the same, the one that is fuller afterwards is taken, so that whole domains stay free."""

import pytest

from tests.scheduler.core import build
from tests.scheduler.preemption.test_victims import leaving, low, searched, state_of


@pytest.mark.parametrize(("fuller", "other"), [("rack-a", "rack-b"), ("rack-b", "rack-a")])
def test_of_domains_that_cost_equal_victims_the_one_that_is_fuller_afterwards_is_taken(fuller: str, other: str) -> None:
    state = state_of(
        *(
            build.node(f"{rack}-{number}", cpu=2, labels={"rack": rack})
            for rack in (fuller, other)
            for number in (0, 1)
        ),
        build.node(f"{other}-2", cpu=2, labels={"rack": other}, unschedulable=True),
        # When the victims started decides only where all else is equal.
        low(f"low-{fuller}", 2, on=f"{fuller}-0", created="2026-01-01T00:00:00Z"),
        low(f"low-{other}", 2, on=f"{other}-0", created="2026-01-01T09:00:00Z"),
        build.group("new", 3, priority=5, topology="rack"),
        *(build.pod(f"new-{number}", group="new", priority=5) for number in range(3)),
    )
    assert leaving(searched(state)) == [f"low-{fuller}"]


@pytest.mark.parametrize(("fuller", "other"), [("rack-a", "rack-b"), ("rack-b", "rack-a")])
def test_how_full_a_domain_is_afterwards_counts_the_room_that_its_victims_leave(fuller: str, other: str) -> None:
    state = state_of(
        *(build.node(f"{rack}-0", cpu=4, labels={"rack": rack}) for rack in (fuller, other)),
        low(f"low-{fuller}", 2, on=f"{fuller}-0", created="2026-01-01T00:00:00Z"),
        low("boss", 2, on=f"{fuller}-0", priority=9),
        low(f"low-{other}", 4, on=f"{other}-0", created="2026-01-01T09:00:00Z"),
        build.group("new", 1, priority=5, topology="rack"),
        build.pod("new-0", cpu=2, group="new", priority=5),
    )
    assert leaving(searched(state)) == [f"low-{fuller}"]


def test_how_full_a_domain_is_afterwards_counts_only_those_of_a_group_that_leave_the_domain() -> None:
    early, late = "2026-01-01T00:00:00Z", "2026-01-01T09:00:00Z"
    state = state_of(
        build.node("else", cpu=2),
        *(build.node(name, cpu=4, labels={"rack": name}) for name in ("fuller", "emptier")),
        build.group("v", 2, priority=0, leaves="all", created=early),
        low("v-0", 2, on="fuller", group="v", created=early),
        low("v-1", 2, on="else", group="v", created=early),
        low("boss", 2, on="fuller", priority=9),
        build.group("w", 2, priority=0, leaves="all", created=late),
        low("w-0", 2, on="emptier", group="w", created=late),
        low("w-1", 0, on="else", group="w", created=late),
        low("boss-too", 1, on="emptier", priority=9),
        build.group("new", 1, priority=5, topology="rack"),
        build.pod("new-0", cpu=2, group="new", priority=5),
    )
    assert leaving(searched(state)) == ["v-0", "v-1"]


def test_how_full_a_domain_is_afterwards_counts_every_member_that_is_placed() -> None:
    state = state_of(
        build.node("small", cpu=3, labels={"rack": "a"}),
        build.node("large", cpu=8, labels={"rack": "b"}),
        low("low-small", 2, on="small", created="2026-01-01T00:00:00Z"),
        low("boss", 1, on="small", priority=9),
        low("low-large", 2, on="large", created="2026-01-01T09:00:00Z"),
        low("boss-too", 5, on="large", priority=9),
        build.group("new", 2, priority=5, topology="rack"),
        *(build.pod(f"new-{number}", group="new", priority=5) for number in range(2)),
    )
    assert leaving(searched(state)) == ["low-small"]


def test_a_domain_with_one_device_that_is_used_is_fuller_than_one_with_three_of_which_two_are() -> None:
    gpu = "example.com/gpu"
    state = state_of(
        build.node("one", cpu=4, resources={gpu: "1"}, labels={"rack": "a"}),
        build.node("three", cpu=4, resources={gpu: "3"}, labels={"rack": "b"}),
        build.pod("low-one", on="one", requests={gpu: "1"}, created="2026-01-01T00:00:00Z"),
        build.pod("low-three", on="three", requests={gpu: "2"}, created="2026-01-01T09:00:00Z"),
        build.pod("boss", on="three", requests={gpu: "1"}, priority=9),
        build.group("new", 1, priority=5, topology="rack"),
        build.pod("new-0", group="new", priority=5, requests={gpu: "1"}),
    )
    assert leaving(searched(state)) == ["low-one"]


@pytest.mark.parametrize("crowded", ["rack-a", "rack-b"])
def test_how_many_pods_a_node_may_have_does_not_make_its_domain_fuller(crowded: str) -> None:
    state = state_of(
        *(
            build.node(f"{rack}-0", cpu=4, pods=4 if rack == crowded else 110, labels={"rack": rack})
            for rack in ("rack-a", "rack-b")
        ),
        *(
            low(rack, 4, on=f"{rack}-0", created=f"2026-01-01T0{1 if rack == crowded else 9}:00:00Z")
            for rack in ("rack-a", "rack-b")
        ),
        build.group("new", 1, priority=5, topology="rack"),
        build.pod("new-0", cpu=2, group="new", priority=5),
    )
    assert crowded not in leaving(searched(state))
