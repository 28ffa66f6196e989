"""A waiting pod's labels change: its item is tried again where a rule looks at them, and nowhere else."""

from typing import Any

import pytest

from api.constants import JOB_COMPLETION_INDEX, JOBSET_UID
from tests.placement.case import HOSTNAME, apart, even, near, selector, spread, term
from tests.scheduler.core.build import group_key
from tests.scheduler.core.world import World

A, B, OWN = {"app": "a"}, {"app": "b"}, "example.com/own"


def refused_gang(world: World, **more: Any) -> None:
    """A gang of two on a node that has room for one of them."""
    world.node("n0", cpu=1)
    world.group("g", 2)
    world.pods("g", 2, **more)
    world.run()
    assert world.bound("g") == {}


def test_a_label_that_no_rule_looks_at_is_no_reason_to_try_a_refused_gang_again() -> None:
    world = World()
    refused_gang(world)
    for number in range(3):
        world.pod("g-0", group="g", labels={OWN: str(number)})
        assert world.run() == []
    world.pod("g-0", group="g")
    assert world.run() == []


def test_something_else_that_changes_together_with_a_label_is_one() -> None:
    world = World()
    refused_gang(world)
    world.pod("g-0", group="g", labels={OWN: "1"}, priority=5)
    assert len(world.run()) == 1


def test_a_label_that_a_running_pod_refuses_gives_room_when_it_goes() -> None:
    world = World()
    world.node("n0", cpu=8)
    world.pod("old", on="n0", labels=B, spec=apart(term(selector(**A), HOSTNAME)))
    world.pod("p", labels=A)
    world.run()
    world.pod("p", labels={**A, OWN: "1"})
    assert world.run() == []
    world.pod("p", labels=B)
    world.run()
    assert world.bound()["p"] == "n0"


def test_a_label_that_makes_a_pod_the_first_of_those_it_wants_to_be_near_to_is_looked_at() -> None:
    world = World()
    world.node("n0", cpu=8)
    world.pod("p", labels=B, spec=near(term(selector(**A), HOSTNAME)))
    world.run()
    assert world.bound() == {}
    world.pod("p", labels=A, spec=near(term(selector(**A), HOSTNAME)))
    world.run()
    assert world.bound() == {"p": "n0"}


APART, EVEN = apart(term(selector(**A), HOSTNAME)), spread(even(selector(**A), HOSTNAME, minDomains=3))


@pytest.mark.parametrize(("first", "second"), [(APART, {}), (EVEN, EVEN)])
def test_the_rules_of_one_member_look_at_the_labels_of_the_others(first: Any, second: Any) -> None:
    world = World()
    world.node("n0", cpu=8)
    world.group("g", 2)
    world.pod("g-0", group="g", labels=A, spec=first)
    world.pod("g-1", group="g", labels=A, spec=second)
    world.run()
    assert world.bound("g") == {}
    world.pod("g-1", group="g", labels={**A, OWN: "1"}, spec=second)
    assert world.run() == []
    world.pod("g-1", group="g", labels=B, spec=second)
    world.run()
    assert world.bound("g") == {"g-0": "n0", "g-1": "n0"}


def test_labels_that_changed_unnoticed_count_when_a_rule_comes_to_look_at_them() -> None:
    world = World()
    refused_gang(world, labels=A)
    for number in range(2):
        world.pod(f"g-{number}", group="g", labels=B)
    assert world.run() == []
    world.node("n1", cpu=8)
    world.pod("late", on="n1", cpu=0, labels=A, spec=apart(term(selector(**B), HOSTNAME)))
    world.run()
    assert world.bound("g") == {}
    world.pod_gone("late")
    world.wait(3600)
    assert len(world.bound("g")) == 2


def test_a_pod_that_gets_another_rank_is_placed_in_its_new_turn() -> None:
    world = World()
    world.group("g", 1)
    for number in range(2):
        world.pod(f"g-{number}", group="g", labels={JOB_COMPLETION_INDEX: str(number)})
    world.run()
    world.pod("g-0", group="g", labels={JOB_COMPLETION_INDEX: "7"})
    world.run()
    world.node("n0", cpu=1)
    world.run()
    assert world.bound("g") == {"g-1": "n0"}


def test_a_label_by_which_a_pod_becomes_a_member_starts_its_gang() -> None:
    world = World()
    world.node("n0", cpu=8)
    world.group("g", 1, owner="uid-of-set")
    world.pod("g-0", group="g", owner="uid-of-job")
    world.run()
    assert world.state.entities.counts(group_key("g")).barred == 1
    world.pod("g-0", group="g", owner="uid-of-job", labels={JOBSET_UID: "uid-of-set"})
    world.run()
    assert world.bound("g") == {"g-0": "n0"}


def test_a_pod_of_a_tree_is_a_reason_whatever_its_label_is() -> None:
    """Rules of another group of its tree may look at it."""
    world = World()
    world.node("n0", cpu=1)
    world.composite("root", 2)
    for name in ("left", "right"):
        world.group(name, 1, parent="root")
    world.pod("left-0", group="left", labels=A, spec=apart(term(selector(**A), HOSTNAME)))
    world.pod("right-0", group="right", labels=A)
    world.run()
    world.pod("right-0", group="right", labels=B)
    assert len(world.run()) == 1


def test_a_label_of_a_pod_that_has_its_place_helps_who_must_not_be_beside_it() -> None:
    world = World()
    world.node("n0", cpu=8)
    world.pod("old", on="n0", labels=A)
    world.pod("p", labels=B, spec=apart(term(selector(**A), HOSTNAME)))
    world.run()
    assert set(world.bound()) == {"old"}
    world.pod("old", on="n0", labels=B)
    world.run()
    assert world.bound()["p"] == "n0"
