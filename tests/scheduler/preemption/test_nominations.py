"""Nominations: when one is void, what becomes of it in the next evaluation, and which are made again after a restart."""

import pytest

from api.constants import CONDITION_DISRUPTION_TARGET, CONDITION_PREEMPTED_BY
from scheduler.cache.disruption_budgets import Budget, BudgetSpec, BudgetStatus
from scheduler.cache.nominator import Nomination
from scheduler.cache.selectors import RawSelector
from scheduler.preemption.evaluator import Evaluator
from scheduler.preemption.victims import Refusal, RefusalCode
from tests.scheduler.core import build
from tests.scheduler.core.world import World
from tests.scheduler.preemption.test_evaluator import LIMITS, full_world

NEW = build.pod_key("new")
GANG = build.group_key("g")


def _nominated() -> tuple[World, Evaluator, Nomination]:
    """`new` is nominated to n1, which `low-1` is to leave."""
    world, evaluator = full_world()
    nomination = evaluator.preempt(NEW, 0.0).nomination
    assert nomination is not None
    return world, evaluator, nomination


def _gang_nominated() -> tuple[World, Evaluator, Nomination]:
    """Both pods of a gang are nominated."""
    world, evaluator = full_world()
    world.group("g", 2, priority=5)
    world.pods("g", 2, priority=5)
    nomination = evaluator.preempt(GANG, 0.0).nomination
    assert nomination is not None
    return world, evaluator, nomination


def test_the_nomination_of_an_item_that_is_gone_is_neither_in_force_nor_wanted() -> None:
    world, evaluator, nomination = _nominated()
    assert evaluator.is_current(nomination)
    assert evaluator.is_wanted(nomination)
    world.pod_gone("new")
    assert not evaluator.is_current(nomination)
    assert not evaluator.is_wanted(nomination)


def test_a_nomination_that_was_withdrawn_is_not_in_force() -> None:
    _, evaluator, nomination = _nominated()
    assert evaluator.unresolvable(NEW) is nomination
    assert not evaluator.is_current(nomination)
    assert evaluator.obstacle(nomination) == "the plan was overtaken"
    assert evaluator.obstacle(nomination, is_current=False) is None


def test_somebody_more_important_who_runs_in_the_room_is_no_victim() -> None:
    world, evaluator, nomination = _nominated()
    world.pod("boss", on="n1", priority=9)
    assert evaluator.obstacle(nomination) == "the room on node n1 was taken (cpu)"


def test_pods_that_are_nominated_to_no_node_do_not_stand_in_for_those_that_were() -> None:
    world, evaluator, nomination = _gang_nominated()
    assert evaluator.is_wanted(nomination)
    assert not evaluator.is_wanted(nomination, {"uid-of-g-0"})
    world.pod_gone("g-0")
    world.pod("g-2", group="g", priority=5)
    assert evaluator.obstacle(nomination) == "the preemptor does not need the room any more"


def test_victims_are_waited_for_as_long_as_the_nomination_stands() -> None:
    _, evaluator, _ = _nominated()
    waited = evaluator.preempt(NEW, 1.0)
    assert waited.refusal == Refusal(RefusalCode.ONGOING, waits=True, victims=1, kind="pod")
    assert (waited.result, waited.given_up) == ("waiting", ())


def test_an_item_that_was_nominated_before_is_nominated_again_to_room_that_others_are_leaving() -> None:
    world, evaluator, first = _nominated()
    world.pod_gone("low-1")
    world.pod("boss", on="n1", priority=9)
    world.pod("low-0", on="n0", deleted=True)
    again = evaluator.preempt(NEW, 10.0)
    assert (again.result, again.given_up) == ("waiting", (first,))
    assert again.nomination is not None
    assert {uid: node for uid, (node, _) in again.nomination.places.items()} == {"uid-of-new": "n0"}
    assert again.nomination.deadline_seconds == 70.0
    assert world.state.nominator.of(NEW) is again.nomination


def test_an_item_for_which_nobody_was_to_leave_is_not_nominated_because_others_are_leaving() -> None:
    world, evaluator = full_world()
    world.pod("low-0", on="n0", deleted=True)
    found = evaluator.preempt(NEW, 0.0)
    assert (found.result, found.nomination) == ("waiting", None)
    assert evaluator.dry_run(NEW) == found.refusal == Refusal(RefusalCode.ONGOING, waits=True)


def test_budgets_of_the_cluster_spare_whom_they_protect() -> None:
    world, evaluator = full_world()
    world.pod("low-1", on="n1", labels={"app": "web"}, created="2026-01-01T00:00:01Z")
    selector = RawSelector(match_labels={"app": "web"})
    metadata = build.pod("x").metadata
    world.state.budgets.upsert(Budget(metadata, BudgetSpec(selector), BudgetStatus(disruptions_allowed=0)))
    found = evaluator.preempt(NEW, 0.0).candidate
    assert found is not None
    assert [pod.name for pod in found.pods] == ["low-0"]


@pytest.mark.parametrize(("is_asked", "victim"), [(False, "mid"), (True, "low-0")])
def test_what_a_budget_allows_is_spent_on_victims_that_nobody_has_asked_yet(is_asked: bool, victim: str) -> None:
    # Of those who are leaving the budget itself takes note.
    world, evaluator = full_world()
    world.node("n2", cpu=1)
    world.pod("mid", on="n2", priority=1)
    for number in range(2):
        world.pod(f"low-{number}", on=f"n{number}", labels={"app": "web"}, created=f"2026-01-01T00:00:0{number}Z")
    selector = RawSelector(match_labels={"app": "web"})
    metadata = build.pod("x").metadata
    world.state.budgets.upsert(Budget(metadata, BudgetSpec(selector), BudgetStatus(disruptions_allowed=1)))
    assert evaluator.preempt(NEW, 0.0).candidate is not None
    if is_asked:
        world.pod("low-1", on="n1", labels={"app": "web"}, created="2026-01-01T00:00:01Z", deleted=True)
    world.pod("other", priority=4)
    found = evaluator.preempt(build.pod_key("other"), 0.0).candidate
    assert found is not None
    assert [pod.name for pod in found.pods] == [victim]


def test_an_item_that_has_started_is_nominated_no_longer_and_one_of_which_pods_wait_still_is() -> None:
    world, evaluator, nomination = _gang_nominated()
    world.pod("g-0", group="g", priority=5, on="n1")
    assert evaluator.started(GANG) is None
    assert GANG in evaluator.history
    world.pod("g-1", group="g", priority=5, on="n0")
    assert evaluator.started(GANG) is nomination
    assert GANG not in evaluator.history
    assert world.state.nominator.of(GANG) is None


# --- after a restart -----------------------------------------------------------------------------------------------------


def _restarted(world: World, *, may_evict: bool = True) -> list[str]:
    """The names of the pods whose nomination is to be cleared."""
    return sorted(pod.name for pod in Evaluator(world.state, LIMITS).restore(0.0, may_evict=may_evict))


def _half_nominated(node: str, *, need: int = 2, pods: int = 2) -> World:
    """A gang of which the first pod is nominated to this node."""
    world = World()
    world.node("n0", cpu=1)
    world.group("g", need, priority=5)
    for number in range(pods):
        world.pod(f"g-{number}", group="g", priority=5, nominated="" if number else node)
    return world


def test_a_nomination_to_a_node_that_is_gone_is_cleared_and_none_that_there_never_was() -> None:
    world = _half_nominated("gone")
    assert _restarted(world) == ["g-0"]
    assert world.state.nominator.of(GANG) is None


def test_a_nomination_of_a_gang_that_lacks_pods_is_cleared() -> None:
    world = _half_nominated("n0", pods=1)
    assert _restarted(world) == ["g-0"]
    assert world.state.nominator.of(GANG) is None


def test_a_nomination_that_may_be_meant_is_made_again() -> None:
    world = _half_nominated("n0")
    assert _restarted(world) == []
    nomination = world.state.nominator.of(GANG)
    assert nomination is not None
    assert list(nomination.places) == ["uid-of-g-0"]


def test_a_scheduler_that_evicts_nobody_clears_all_nominations() -> None:
    world = _half_nominated("n0")
    assert _restarted(world, may_evict=False) == ["g-0"]
    assert world.state.nominator.of(GANG) is None


@pytest.mark.parametrize(("by", "is_victim"), [("uid-of-new", True), ("uid-of-other", False)])
def test_pods_of_a_group_that_was_asked_to_leave_for_the_item_are_victims(by: str, *, is_victim: bool) -> None:
    world = World()
    world.node("n0", cpu=1)
    conditions = [
        {"type": CONDITION_DISRUPTION_TARGET, "status": "True"},
        {"type": CONDITION_PREEMPTED_BY, "status": "True", "reason": "Pod", "message": f"ns/new/{by}"},
    ]
    world.group("asked", 1, priority=0, leaves="all", conditions=conditions)
    world.pod("asked-0", on="n0", group="asked")
    world.pod("asked-1", on="n0", group="asked", phase="Succeeded")
    world.pod("asked-2", group="asked")
    world.pod("new", priority=5, nominated="n0")
    assert _restarted(world) == []
    nomination = world.state.nominator.of(NEW)
    assert nomination is not None
    assert nomination.victims == ({"uid-of-asked-0"} if is_victim else set())
