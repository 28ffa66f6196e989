"""What a gang does, why, and since when, as it follows from its objects."""

import pytest

from api.podgroup import PodGroup
from tests.views.builders import CREATED, LATER, condition, gang, group, job, pod, refused, scheduled
from views.model.gang import Counts, State
from views.model.records import Member, Owner

LEAVES = condition("DisruptionTarget", "True", "PreemptionByScheduler", "tutti: preempting")
TIMED_OUT = condition("SchedulingTimedOut", "True", "SchedulingTimeout")
TWO_BOUND = [pod("a", "Pending", node="n"), pod("b", "Running", node="n")]
TWO_RUN = [pod("a", "Running", node="n"), pod("b", "Running", node="n")]


@pytest.mark.parametrize(
    ("given", "pods", "owner", "state", "reason"),
    [
        (group(), [], None, State.HELD, ""),
        (group("g", refused("WaitingForMembers")), [pod("a")], None, State.HELD, "WaitingForMembers"),
        (group(), [pod("a"), pod("b", gated=True)], None, State.HELD, ""),
        (group(), [pod("a"), pod("b")], None, State.WAITING, ""),
        (group("g", refused()), [pod("a"), pod("b")], None, State.WAITING, "Unschedulable"),
        (group("g", refused("SchedulerError")), [pod("a"), pod("b")], None, State.WAITING, "SchedulerError"),
        (group("g", refused()), [pod("a", nominated="n"), pod("b")], None, State.WAITING, "Preempting"),
        (group("g", refused("SchedulingTimeout"), TIMED_OUT), [pod("a")], None, State.GAVE_UP, "SchedulingTimeout"),
        (group("g", scheduled(), need=2), TWO_BOUND, None, State.STARTING, ""),
        (group("g", scheduled()), TWO_RUN, None, State.RUNNING, ""),
        (group("g", scheduled()), [*TWO_RUN, pod("c")], None, State.RUNNING, ""),
        (group("g", scheduled()), [TWO_RUN[0], pod("b", "Succeeded", node="n")], None, State.RUNNING, ""),
        (group("g", scheduled()), [pod("a", "Running", LEAVES, node="n")], None, State.PREEMPTED, ""),
        (group("g", scheduled(), LEAVES), TWO_RUN, None, State.PREEMPTED, ""),
        (group("g", scheduled()), [pod("a", "Succeeded", node="n")], None, State.DONE, ""),
        (group("g", scheduled(), job="j"), [], job(suspend=True), State.SUSPENDED, ""),
        (group("g", scheduled(), job="j"), [], job(ended="Complete"), State.DONE, ""),
        (group("g", scheduled(), job="j"), TWO_RUN, job(ended="Failed"), State.FAILED, ""),
    ],
)
def test_the_state_follows_from_what_the_pods_do(
    given: PodGroup, pods: list[Member], owner: Owner | None, state: State, reason: str
) -> None:
    found = gang(given, *pods, job=owner)
    assert (found.state, found.reason) == (state, reason)


def test_a_gang_that_had_to_leave_waits_again_and_its_pods_say_why() -> None:
    """`PodGroupInitiallyScheduled` stays True for good, so the group itself says nothing any more."""
    told = condition("PodScheduled", "False", "Unschedulable", "no room now")
    found = gang(group("g", scheduled()), pod("a", "Pending", told, created=LATER), pod("b", created=LATER))
    assert (found.state, found.reason, found.message) == (State.WAITING, "Unschedulable", "no room now")
    assert found.since == LATER


def test_a_gang_that_never_ran_waits_since_its_group_was_made() -> None:
    assert gang(group("g", refused()), pod("a", created=LATER), pod("b", created=LATER)).since == CREATED
    assert gang(group("g", scheduled()), *TWO_RUN).since == ""


def test_pods_are_counted_by_what_counts_for_the_minimum() -> None:
    pods = [pod("a"), pod("b", node="n"), pod("c", "Running", node="m"), pod("d", "Succeeded", node="m")]
    found = gang(group("g", scheduled()), *pods, pod("e", "Failed", node="m"))
    assert found.counts == Counts(pending=1, bound=2, running=1, succeeded=1, failed=1)
    assert (found.counts.started, found.counts.all, found.nodes) == (3, 4, ("m", "n"))


def test_for_whom_a_gang_leaves_is_read_from_its_condition() -> None:
    whom = condition("PreemptedBy", "True", "PodGroup", "other/big/uid-1")
    assert gang(group("g", scheduled(), LEAVES, whom), *TWO_RUN).preempted_by == "other/big"


def test_a_gang_goes_by_its_owner_and_replica() -> None:
    assert gang(group(job="j")).title == "job/j"
    assert gang(group(lws="serve", replica="1")).title == "lws/serve:1"
    assert gang(group("alone")).title == "podgroup/alone"


def test_a_group_without_a_priority_has_the_lowest_of_its_pods() -> None:
    assert gang(group(priority=None), pod("a", priority=7), pod("b", priority=5)).priority == 5
    assert gang(group(priority=9), pod("a", priority=7)).priority == 9
