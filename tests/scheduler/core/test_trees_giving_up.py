"""A tree of groups with a scheduling timeout: when it gives up, when it does not, and how it comes back."""

import pytest

from api.constants import REASON_SCHEDULING_TIMEOUT, SCHEDULING_TIMEOUT
from scheduler.queue.queue_state import PatienceState
from tests.scheduler.core.build import composite_key, group_key
from tests.scheduler.core.world import World

TEN_MINUTES = {SCHEDULING_TIMEOUT: "10m"}
TREE = composite_key("tree")
GAVE_UP = (REASON_SCHEDULING_TIMEOUT, "gave up after 10 min: minGroupCount (2) cannot be satisfied: ")


def _tree(world: World, *, need: int = 2, groups: str = "gh", annotations: dict[str, str] | None = None) -> None:
    """Gangs of two below a root that gives up after ten minutes, if it says nothing else."""
    world.composite("tree", need, annotations=TEN_MINUTES if annotations is None else annotations)
    for group in groups:
        world.group(group, 2, parent="tree")
        world.pods(group, 2)
    world.run()


def _later(world: World, seconds: float) -> None:
    """Time passes the way the loop lives through it: from alarm to alarm."""
    end = world.now + seconds
    while (due := world.queue.next_due_seconds()) is not None and world.now + due <= end:
        world.now += max(due, 0.001)
        world.run()
    world.now = end


def _says(world: World) -> tuple[str, str]:
    reason, message = world.held(TREE)
    return reason, message


def test_a_tree_without_room_gives_up_as_one_and_says_what_was_missing() -> None:
    world = World()
    world.node("n1", cpu=3)
    _tree(world)
    _later(world, 599)
    assert _says(world)[0] == "Unschedulable"
    _later(world, 1)
    reason, message = _says(world)
    assert reason == GAVE_UP[0]
    assert message.startswith(GAVE_UP[1])
    assert world.queue.next_due_seconds() is None


def test_room_that_appears_later_starts_nothing_of_it() -> None:
    world = World()
    world.node("n1", cpu=3)
    _tree(world)
    _later(world, 601)
    world.node("n2", cpu=8)
    assert world.run() == []
    assert world.bound() == {}


def test_a_tree_that_never_has_its_groups_gives_up_too() -> None:
    world = World()
    world.node("n1", cpu=8)
    _tree(world, groups="g")
    _later(world, 601)
    reason, message = _says(world)
    assert (reason, message) == (
        REASON_SCHEDULING_TIMEOUT,
        "gave up after 10 min: waiting for minGroupCount (2) groups: 1 of 1 have all they need",
    )
    world.group("h", 2, parent="tree")
    world.pods("h", 2)
    assert world.run() == []


def test_it_counts_from_the_oldest_pod_that_waits_in_any_of_its_groups() -> None:
    world = World()
    world.node("n1", cpu=3)
    world.composite("tree", 2, annotations=TEN_MINUTES)
    for group, created in (("g", "2026-01-01T00:05:00Z"), ("h", "2026-01-01T00:02:00Z")):
        world.group(group, 2, parent="tree")
        world.pods(group, 2, created=created)
    world.run()
    _later(world, 719)
    assert _says(world)[0] == "Unschedulable"
    _later(world, 1)
    assert _says(world)[0] == REASON_SCHEDULING_TIMEOUT


def test_a_tree_of_which_anything_runs_does_not_give_up() -> None:
    world = World()
    world.node("n1", cpu=3)
    _tree(world, need=1)
    assert len(world.bound()) == 2
    _later(world, 1200)
    assert _says(world)[0] == "Unschedulable"
    world.node("n2", cpu=8)
    world.run()
    assert len(world.bound()) == 4


def test_what_a_group_or_a_branch_says_does_not_count_for_the_tree_waits_as_one() -> None:
    world = World()
    world.node("n1", cpu=3)
    world.composite("tree", 1)
    world.composite("branch", 2, parent="tree", annotations=TEN_MINUTES)
    for group in "gh":
        world.group(group, 2, parent="branch", annotations=TEN_MINUTES)
        world.pods(group, 2)
    world.run()
    _later(world, 1200)
    assert _says(world)[0] == "Unschedulable"
    assert world.queue.status(group_key("g")) is None


def test_new_pods_wait_anew() -> None:
    world = World()
    world.node("n1", cpu=3)
    _tree(world)
    _later(world, 601)
    for group in "gh":
        for number in range(2):
            world.pod_gone(f"{group}-{number}")
    assert _says(world)[0] == "WaitingForMembers"
    for group in "gh":
        world.pods(group, 2, created="2026-01-01T00:10:02Z")
    world.run()
    assert _says(world)[0] == "Unschedulable"
    world.node("n2", cpu=1)
    world.run()
    assert len(world.bound()) == 4


@pytest.mark.parametrize("annotations", [{}, {SCHEDULING_TIMEOUT: "1h"}])
def test_a_limit_that_is_taken_back_or_raised_lets_it_try_again(annotations: dict[str, str]) -> None:
    world = World()
    world.node("n1", cpu=3)
    _tree(world)
    _later(world, 601)
    world.composite("tree", 2, annotations=annotations)
    world.run()
    assert _says(world)[0] == "Unschedulable"


def test_a_restart_does_not_begin_anew() -> None:
    world = World()
    world.node("n1", cpu=8)
    world.now += 3600
    _tree(world)
    assert _says(world) == (REASON_SCHEDULING_TIMEOUT, "gave up after 10 min")
    assert world.decisions == []


def test_a_tree_for_which_others_leave_is_waited_for() -> None:
    world = World()
    world.node("n1", cpu=3)
    _tree(world)
    world.state.nominator.nominate(TREE, 0, {}, frozenset(), world.now + 5000)
    _later(world, 700)
    assert _says(world)[0] == "Unschedulable"
    world.state.nominator.withdraw(TREE)
    _later(world, 2)
    assert _says(world)[0] == REASON_SCHEDULING_TIMEOUT


def test_what_it_is_told_about_itself_does_not_try_it_again() -> None:
    world = World()
    world.node("n1", cpu=3)
    _tree(world)
    _later(world, 601)
    said = [
        {"type": "SchedulingTimedOut", "status": "True", "reason": "SchedulingTimeout"},
        {"type": "CompositePodGroupInitiallyScheduled", "status": "False", "message": "gave up"},
    ]
    tried = len(world.decisions)
    world.composite("tree", 2, annotations=TEN_MINUTES, conditions=said)
    world.run()
    assert len(world.decisions) == tried
    tree = world.state.item(TREE)
    assert tree is not None
    assert tree.group is not None
    assert (tree.group.has_timed_out, tree.group.condition_message) == (True, "gave up")


def test_nothing_is_remembered_of_a_tree_that_is_gone() -> None:
    world = World()
    world.node("n1", cpu=3)
    _tree(world)
    assert world.queue.taken(world.state).patience != PatienceState()
    for group in "gh":
        for number in range(2):
            world.pod_gone(f"{group}-{number}")
        world.group_gone(group)
    assert world.queue.taken(world.state).patience == PatienceState()
    assert world.queue.next_due_seconds() is None
