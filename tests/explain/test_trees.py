"""A tree of groups that waits is answered for as one: what keeps it, which of its groups have room, and which do not."""

import random
from typing import Any

import pytest

from explain.answer import Answer, GroupState, Verdict
from explain.changed_tree import changed_members
from explain.hint import HintKind
from explain.item_change import Change, ChangedCluster, rules_with
from explain.reasons import Reason
from explain.targets import items_of, parse_target
from explain.text import screen
from explain.why import why
from scheduler.algorithm.schedule_pod_group import decide
from tests.explain.scenes import NOW_SECONDS
from tests.scheduler.core import build
from tests.scheduler.core.world import World

ZONE = "topology.kubernetes.io/zone"


def world(nodes: int, cpu: int = 4) -> World:
    made = World()
    for number in range(nodes):
        made.node(f"n{number}", cpu=cpu, labels={ZONE: "ab"[number % 2]})
    return made


def tree(there: World, need: int, groups: dict[str, tuple[int, int]], **more: Any) -> None:
    """A tree `all`, of whose groups `need` start together; a group is how many pods and how much cpu each."""
    there.composite("all", need, **more)
    for name, (size, cpu) in groups.items():
        there.group(name, size, parent="all")
        there.pods(name, size, cpu=cpu)


def asked(there: World, target: str = "compositepodgroup/all") -> Answer:
    (key,) = items_of(there.state, parse_target(target, build.NAMESPACE))
    return why(there.state, key, NOW_SECONDS)


def states(answer: Answer) -> dict[str, GroupState]:
    return {one.name: one.state for one in answer.groups}


def message_of(answer: Answer, name: str) -> str:
    return next(one.message for one in answer.groups if one.name == name)


def test_the_group_that_has_no_room_is_named_with_its_reason() -> None:
    there = world(4)
    tree(there, 2, {"small": (2, 3), "huge": (2, 5)})
    answer = asked(there)
    assert (answer.verdict, answer.reason) == (Verdict.NEVER, Reason.ROOM)
    assert states(answer) == {"small": GroupState.FITS, "huge": GroupState.WAITS}
    assert "Insufficient cpu" in message_of(answer, "huge")
    assert answer.min_group_count == 2
    assert answer.item.owner == "compositepodgroup/all"


def test_a_group_that_has_room_only_without_its_siblings_is_told_so_and_the_hint_is_enough() -> None:
    there = world(3)
    tree(there, 2, {"a": (2, 3), "b": (2, 3)})
    answer = asked(there)
    assert states(answer) == {"a": GroupState.FITS, "b": GroupState.WAITS}
    assert message_of(answer, "b").startswith("there is room for it by itself, but not beside the groups before it: ")
    assert answer.hint is not None
    assert (answer.hint.kind, answer.hint.amount) == (HintKind.LOWER_REQUEST, "2")
    less = world(3)
    tree(less, 2, {"a": (2, 2), "b": (2, 2)})
    assert asked(less).verdict is Verdict.STARTS


def test_as_many_nodes_as_a_whole_tree_needs_are_told_and_are_enough() -> None:
    there = world(1)
    tree(there, 2, {"a": (2, 3), "b": (2, 3)})
    hint = asked(there).hint
    assert hint is not None
    assert (hint.kind, hint.count, hint.like) == (HintKind.ADD_NODES, 3, "n0")
    for number in range(1, 4):
        there.node(f"n{number}", cpu=4)
    assert asked(there).verdict is Verdict.STARTS


def test_nobody_is_advised_to_lower_the_pods_of_a_tree() -> None:
    there = world(1)
    tree(there, 2, {"a": (1, 3), "b": (1, 3)})
    hint = asked(there).hint
    assert hint is None or hint.kind is not HintKind.LOWER_MIN_COUNT


def test_a_group_that_lacks_pods_says_what_the_tree_waits_for() -> None:
    there = world(4)
    tree(there, 2, {"a": (2, 1)})
    there.group("late", 2, parent="all")
    there.pods("late", 1)
    answer = asked(there)
    assert (answer.verdict, answer.reason) == (Verdict.WAITS, Reason.MEMBERS)
    assert answer.message == "waiting for minGroupCount (2) groups: 1 of 2 have all they need"
    assert states(answer) == {"a": GroupState.FITS, "late": GroupState.INCOMPLETE}
    assert message_of(answer, "late") == "waiting for minCount (2) pods: 1 of them exist"


def test_a_root_that_does_not_exist_is_what_the_tree_waits_for() -> None:
    there = world(4)
    there.group("a", 2, parent="all")
    there.pods("a", 2)
    answer = asked(there)
    assert (answer.verdict, answer.reason) == (Verdict.WAITS, Reason.POD_GROUP)
    assert answer.message == 'waiting for CompositePodGroup "all"'


def test_parents_in_a_circle_never_start() -> None:
    there = world(4)
    tree(there, 1, {"a": (2, 1)}, parent="all")
    answer = asked(there)
    assert (answer.verdict, answer.reason) == (Verdict.NEVER, Reason.INVALID)
    assert "circle" in answer.message


def test_levels_that_differ_in_priority_never_start() -> None:
    there = world(4)
    there.composite("all", 1, priority=5)
    there.group("a", 2, parent="all", priority=9)
    there.pods("a", 2, priority=9)
    answer = asked(there)
    assert (answer.verdict, answer.reason) == (Verdict.NEVER, Reason.INVALID)
    assert "should have its priority" in answer.message


def test_groups_in_groups_are_told_with_the_group_they_are_in() -> None:
    there = world(1)
    there.composite("all", 2)
    there.composite("inner", 1, parent="all")
    for name, parent in (("a", "all"), ("b", "inner")):
        there.group(name, 2, parent=parent)
        there.pods(name, 2, cpu=2)
    answer = asked(there)
    assert {one.name: one.parent for one in answer.groups} == {"a": "all", "b": "inner"}
    assert "podgroup/b in inner (2 of 2 pods there): " in screen(answer)


def test_a_tree_that_has_room_starts_at_its_turn_and_one_that_has_started_says_so() -> None:
    there = world(4)
    tree(there, 2, {"a": (2, 3), "b": (2, 1)})
    assert (asked(there).verdict, asked(there).reason) == (Verdict.STARTS, Reason.TURN)
    there.run()
    assert asked(there).verdict is Verdict.STARTED


def test_what_is_less_important_leaves_for_a_tree() -> None:
    there = world(2)
    for node in ("n0", "n1"):
        there.pod(f"low-{node}", cpu=3, on=node, priority=0)
    there.composite("all", 2, priority=10)
    for name in "ab":
        there.group(name, 1, parent="all", priority=10)
        there.pods(name, 1, cpu=3, priority=10)
    answer = asked(there)
    assert (answer.verdict, answer.reason) == (Verdict.STARTS, Reason.LEAVING)
    assert answer.preemption is not None
    assert set(answer.preemption.victims) == {"pod/low-n0", "pod/low-n1"}


def test_a_topology_below_the_root_can_be_what_stands_in_the_way() -> None:
    there = world(4)
    there.composite("all", 2)
    for name in "ab":
        there.group(name, 2, parent="all", topology=ZONE)
        there.pods(name, 2, cpu=3)
    there.pod("other", cpu=3, on="n0")
    there.node("n4", cpu=4, labels={ZONE: "c"})
    answer = asked(there)
    assert [one.reason for one in answer.blocking][:1] == [Reason.TOPOLOGY]
    assert answer.blocking[0].message == "groups below it ask for a topology of their own"


@pytest.mark.parametrize("target", ["podgroup/a", "pod/a-0", "gangtree/all", "compositepodgroup/inner"])
def test_whatever_of_a_tree_is_asked_about_the_tree_is_answered_for(target: str) -> None:
    there = world(1)
    there.composite("all", 1)
    there.composite("inner", 1, parent="all")
    there.group("a", 2, parent="inner")
    there.pods("a", 2, cpu=3)
    assert asked(there, target).item == asked(there).item


def test_a_set_that_starts_as_a_whole_is_answered_for_once() -> None:
    there = world(1)
    there.composite("all", 2)
    labels = {"leaderworkerset.sigs.k8s.io/name": "serve"}
    for name in "ab":
        there.group(name, 2, parent="all")
        there.pods(name, 2, cpu=3, labels=labels)
    assert [key.name for key in items_of(there.state, parse_target("lws/serve", build.NAMESPACE))] == ["all"]


def test_a_composite_pod_group_without_groups_is_no_item() -> None:
    there = world(1)
    there.composite("all", 2)
    assert items_of(there.state, parse_target("gangtree/all", build.NAMESPACE)) == []


def test_a_tree_has_one_turn_among_all_that_wait() -> None:
    there = world(1)
    tree(there, 2, {"a": (1, 3), "b": (1, 3)})
    there.group("alone", 1, created="2026-01-01T00:00:01Z")
    there.pods("alone", 1, cpu=3)
    (key,) = items_of(there.state, parse_target("podgroup/alone", build.NAMESPACE))
    turn = why(there.state, key, NOW_SECONDS).turn
    assert (turn.position, turn.waiting) == (2, 2)


def test_equal_groups_are_decided_upon_once() -> None:
    there = world(2)
    tree(there, 40, {f"g{number:02}": (1, 5) for number in range(40)})
    few = asked(there)
    assert len(few.groups) == 40
    assert {one.state for one in few.groups} == {GroupState.WAITS}
    assert "and 28 more" in screen(few)
    assert few.decisions < len(few.groups)


SCREEN = """\
compositepodgroup/all in team-a: waits (room, for 1 min 40 s)
  because   minGroupCount (2) cannot be satisfied: 1 of 3 groups can start: 0/4 nodes are available: 4 Insufficient cpu.
  groups    2 must start together, 1 with room, 1 without room, 1 not complete
              podgroup/b (2 of 2 pods there): there is room for it by itself, but not beside the groups before it: \
0/4 nodes are available: 4 Insufficient cpu.
              podgroup/late (1 of 2 pods there): waiting for minCount (2) pods: 1 of them exist
              podgroup/a (2 of 2 pods there): there is room for it by itself
  pods      needs 4 together, 4 wait, 0 have a node, 1 in groups that may not start yet
  turn      1 of 1 that wait"""


def test_the_screen_says_it_group_by_group() -> None:
    there = world(4)
    there.pod("other", cpu=3, on="n3")
    tree(there, 2, {"a": (2, 3), "b": (2, 3)})
    there.group("late", 2, parent="all")
    there.pods("late", 1)
    told = screen(asked(there))
    assert told.startswith(SCREEN)


@pytest.mark.parametrize("seed", range(40))
def test_a_tree_in_which_nothing_is_changed_is_decided_as_it_is(seed: int) -> None:
    """Whatever is tried out for a hint goes through the same decision, with the same levels."""
    chance = random.Random(seed)
    there = world(chance.randint(1, 4))
    there.composite("all", chance.randint(1, 3), **({"topology": ZONE} if chance.random() < 0.3 else {}))
    there.composite(
        "inner", chance.randint(1, 2), parent="all", **({"topology": ZONE} if chance.random() < 0.3 else {})
    )
    for number in range(chance.randint(1, 4)):
        size = chance.randint(1, 3)
        there.group(f"g{number}", size, parent=chance.choice(["all", "inner"]))
        there.pods(f"g{number}", size - (chance.random() < 0.2), cpu=chance.randint(1, 4))
    forest = there.state.entities.forest
    for key in [one.key for one in forest.trees_of(there.state.entities.states())]:
        same = Change(rules=rules_with)
        view = ChangedCluster(there.state, key, [same], changed_members).view
        found, expected = decide(view, key), decide(there.state, key)
        assert (found.result, found.status) == (expected.result, expected.status)
        assert sorted(found.bindings) == sorted(expected.bindings)


def test_a_tree_that_has_given_up_says_so_and_hears_whether_there_is_room_by_now() -> None:
    told = [
        {"type": "SchedulingTimedOut", "status": "True", "reason": "SchedulingTimeout"},
        {"type": "CompositePodGroupInitiallyScheduled", "status": "False", "message": "gave up after 10 min"},
    ]
    there = world(4)
    tree(there, 1, {"one": (2, 3)}, conditions=told)
    answer = asked(there)
    assert (answer.verdict, answer.reason, answer.message) == (Verdict.WAITS, Reason.TIMED_OUT, "gave up after 10 min")
    assert answer.hint is not None
    assert answer.hint.kind is HintKind.REMOVE_TIMEOUT
