"""What becomes of candidates over time: one at a time, nominated, given up, ever more rarely."""

import msgspec
import pytest

from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.disruption_budgets import Budget, Budgets, BudgetSpec, BudgetStatus
from scheduler.cache.selectors import RawRequirement, RawSelector
from scheduler.preemption.evaluator import Evaluator, PreemptionLimits
from scheduler.preemption.result import PreemptionResult, with_post_filter
from scheduler.preemption.victims import Candidate, Refusal, RefusalCode
from tests.scheduler.core import build
from tests.scheduler.core.world import World

LIMITS = PreemptionLimits(victim_deadline_seconds=60.0, initial_pause_seconds=10.0, max_pause_seconds=40.0)


def full_world() -> tuple[World, Evaluator]:
    """Two nodes with a low pod each; `new` wants one of them."""
    world = World()
    for number in range(2):
        world.node(f"n{number}", cpu=1)
        world.pod(f"low-{number}", on=f"n{number}", created=f"2026-01-01T00:00:0{number}Z")
    world.pod("new", priority=5)
    return world, Evaluator(world.state, LIMITS)


def test_52_the_nominated_node_is_taken_even_if_another_becomes_free() -> None:
    world, evaluator = full_world()
    evaluator.preempt(build.pod_key("new"), 0.0)
    world.node("n9", cpu=64)
    world.pod_gone("low-1")
    assert decide(world.state, build.pod_key("new")).bindings == (("uid-of-new", "n1"),)


def test_a_free_place_is_taken_while_the_victim_still_leaves() -> None:
    world, evaluator = full_world()
    evaluator.preempt(build.pod_key("new"), 0.0)
    world.node("n9", cpu=64)
    assert decide(world.state, build.pod_key("new")).bindings == (("uid-of-new", "n9"),)


def test_one_plan_at_a_time() -> None:
    world, evaluator = full_world()
    first = evaluator.preempt(build.pod_key("new"), 0.0)
    assert first.candidate is not None
    again = evaluator.preempt(build.pod_key("new"), 30.0)
    assert (again.candidate, again.result) == (None, "waiting")
    assert world.state.nominator.of(build.pod_key("new")) is first.nomination


def test_victims_are_awaited_until_they_have_gone() -> None:
    world, evaluator = full_world()
    key = build.pod_key("new")
    assert evaluator.awaited(key) == ()
    evaluator.preempt(key, 0.0)
    assert evaluator.awaited(key) == ("uid-of-low-1",)
    world.pod("low-1", on="n1", deleted=True)
    assert evaluator.awaited(key) == ("uid-of-low-1",)
    world.pod_gone("low-1")
    assert evaluator.awaited(key) == ()


def test_after_the_deadline_another_victim_is_found_and_the_first_is_not_asked_again() -> None:
    world, evaluator = full_world()
    first = evaluator.preempt(build.pod_key("new"), 0.0)
    assert first.candidate is not None
    world.pod("low-1", on="n1", deleted=True)
    second = evaluator.preempt(build.pod_key("new"), 61.0)
    assert second.candidate is not None
    assert [pod.name for pod in second.candidate.pods] == ["low-0"]
    assert second.given_up == (first.nomination,)


@pytest.mark.parametrize(("now_seconds", "result"), [(59.9, "waiting"), (60.0, "victims")])
def test_a_victim_is_late_from_its_deadline_on(now_seconds: float, result: str) -> None:
    world, evaluator = full_world()
    evaluator.preempt(build.pod_key("new"), 0.0)
    world.pod("low-1", on="n1", deleted=True)
    assert evaluator.preempt(build.pod_key("new"), now_seconds).result == result


def test_in_a_pause_nothing_is_nominated_any_more_once_the_victims_have_gone() -> None:
    world, evaluator = full_world()
    key = build.pod_key("new")
    first = evaluator.preempt(key, 0.0)
    world.pod_gone("low-1")
    world.pod("boss", on="n1", priority=9)
    again = evaluator.preempt(key, 5.0)
    assert (again.result, again.given_up) == ("paused", (first.nomination,))
    assert again.refusal == Refusal(RefusalCode.PAUSED, pause_seconds=5.0)
    assert world.state.nominator.of(key) is None


def test_in_a_pause_the_nomination_stands_while_a_victim_stays() -> None:
    world, evaluator = full_world()
    key = build.pod_key("new")
    first = evaluator.preempt(key, 0.0)
    world.pod("boss", priority=9)
    world.state.assume("uid-of-boss", "n1", 1e9)
    again = evaluator.preempt(key, 5.0)
    assert (again.result, again.given_up) == ("paused", ())
    assert world.state.nominator.of(key) is first.nomination


def test_when_the_pause_is_over_a_nomination_that_makes_no_sense_any_more_is_given_up() -> None:
    world, evaluator = full_world()
    key = build.pod_key("new")
    first = evaluator.preempt(key, 0.0)
    for number in range(2):
        world.pod(f"boss-{number}", priority=9)
        world.state.assume(f"uid-of-boss-{number}", f"n{number}", 1e9)
    again = evaluator.preempt(key, 10.0)
    assert (again.result, again.given_up) == ("none", (first.nomination,))
    assert world.state.nominator.of(key) is None


@pytest.mark.parametrize("kind", ["pod", "group"])
def test_what_preemption_found_out_is_said_of_a_lone_pod_itself_and_else_of_the_group(kind: str) -> None:
    world, evaluator = full_world()
    key = build.pod_key("new")
    if kind == "group":
        world.group("g", 1, priority=6)
        world.pods("g", 1, priority=6)
        key = build.group_key("g")
    decision = decide(world.state, key)
    result = evaluator.preempt(key, 0.0)
    with_it = with_post_filter(decision, result)
    assert with_it.status is not None
    assert with_it.status.post_filter == result.message
    said = [status.post_filter if status is not None else "" for _, status in with_it.failures]
    assert said == [result.message if kind == "pod" else ""]
    assert with_it.depends_on_time is False
    assert with_post_filter(decision, PreemptionResult("paused")).depends_on_time is True


def test_of_an_item_that_is_gone_the_decision_says_what_it_said() -> None:
    world, evaluator = full_world()
    decision = decide(world.state, build.pod_key("new"))
    assert with_post_filter(decision, evaluator.preempt(build.pod_key("nobody"), 0.0)) is decision


@pytest.mark.parametrize(
    ("priority", "node", "is_victim"), [(0, "n1", True), (5, "n1", False), (9, "n1", False), (0, "n0", False)]
)
def test_after_a_restart_who_leaves_the_nominated_node_with_a_lower_priority_is_a_victim(
    priority: int, node: str, *, is_victim: bool
) -> None:
    world = World()
    for name in ("n0", "n1"):
        world.node(name, cpu=2)
    world.pod("old", on=node, priority=priority, deleted=True)
    world.pod("new", priority=5, nominated="n1")
    Evaluator(world.state, LIMITS).restore(100.0)
    nomination = world.state.nominator.of(build.pod_key("new"))
    assert nomination is not None
    assert nomination.victims == ({"uid-of-old"} if is_victim else set())
    assert nomination.deadline_seconds == 160.0


def test_where_nobody_else_could_leave_the_victim_that_is_late_is_waited_for() -> None:
    world = World()
    world.node("n0", cpu=1)
    world.pod("low", on="n0")
    world.pod("new", priority=5)
    evaluator = Evaluator(world.state, LIMITS)
    first = evaluator.preempt(build.pod_key("new"), 0.0)
    world.pod("low", on="n0", deleted=True)
    late = evaluator.preempt(build.pod_key("new"), 61.0)
    assert (late.result, late.candidate, late.given_up) == ("waiting", None, ())
    assert world.state.nominator.of(build.pod_key("new")) is first.nomination


def test_who_would_leave_can_be_asked_without_any_change() -> None:
    world, evaluator = full_world()
    key = build.pod_key("new")
    nomination = evaluator.preempt(key, 0.0).nomination
    found = evaluator.dry_run(key)
    assert isinstance(found, Candidate)
    assert [pod.name for pod in found.pods] == ["low-1"]
    assert world.state.nominator.of(key) is nomination
    assert evaluator.dry_run(build.pod_key("nobody")) == Refusal(RefusalCode.ITEM_GONE)


def test_candidates_that_do_not_help_come_ever_more_rarely() -> None:
    world, evaluator = full_world()
    now, planned = 0.0, []
    for step in range(2000):
        now = step / 10
        result = evaluator.preempt(build.pod_key("new"), now)
        if result.candidate is not None:
            planned.append(now)
            # Somebody else puts another pod on the node at once.
            [victim] = result.candidate.pods
            world.pod_gone(victim.name)
            world.pod(f"again-{step}", on=victim.node_name, created="2026-01-01T01:00:00Z")
    assert planned == [0.0, 10.0, 30.0, 70.0, 110.0, 150.0, 190.0]


def test_a_claim_whose_room_was_taken_by_somebody_more_important_is_void() -> None:
    world, evaluator = full_world()
    nomination = evaluator.preempt(build.pod_key("new"), 0.0).nomination
    assert nomination is not None
    assert evaluator.obstacle(nomination) is None
    world.pod("boss", priority=9)
    world.state.assume("uid-of-boss", "n1", 1e9)
    assert "was taken" in str(evaluator.obstacle(nomination))


def test_a_claim_on_a_node_that_is_gone_is_void() -> None:
    world, evaluator = full_world()
    nomination = evaluator.preempt(build.pod_key("new"), 0.0).nomination
    world.node_gone("n1")
    assert nomination is not None
    assert evaluator.obstacle(nomination) == "node n1 is gone"


def test_a_claim_of_somebody_who_is_gone_is_void() -> None:
    world, evaluator = full_world()
    nomination = evaluator.preempt(build.pod_key("new"), 0.0).nomination
    world.pod_gone("new")
    assert nomination is not None
    assert evaluator.obstacle(nomination) == "the preemptor is gone"


def test_room_is_held_against_equals_and_not_against_those_above() -> None:
    world, evaluator = full_world()
    evaluator.preempt(build.pod_key("new"), 0.0)
    world.pod_gone("low-1")
    for name, priority, is_placed in (("below", 1, False), ("equal", 5, False), ("above", 9, True)):
        world.pod(name, priority=priority)
        decision = decide(world.state, build.pod_key(name))
        assert bool(decision.bindings) is is_placed, name
        assert decision.room_is_held is not is_placed


def test_a_budget_is_spent_on_the_least_important_and_not_twice() -> None:
    world = World()
    pods = []
    for number in range(3):
        world.pod(f"low-{number}", on="n0")
        record = world.state.pod(f"uid-of-low-{number}")
        assert record is not None
        pods.append(record)
    budgets = Budgets()
    selector = RawSelector(match_labels={"app": "web"})
    metadata = build.pod("x").metadata
    budgets.upsert(Budget(metadata, BudgetSpec(selector), BudgetStatus(disruptions_allowed=2)))
    assert budgets.violators([(pod,) for pod in pods], []) == [False, False, False]
    labelled = [msgspec.structs.replace(pod, labels={"app": "web"}) for pod in pods]
    assert budgets.violators([(pod,) for pod in labelled], []) == [False, False, True]
    assert budgets.violators([(pod,) for pod in labelled[1:]], labelled[:1]) == [False, True]


def test_a_budget_whose_selector_cannot_be_read_protects_nobody() -> None:
    world = World()
    world.pod("low", on="n0")
    record = world.state.pod("uid-of-low")
    assert record is not None
    budgets = Budgets()
    selector = RawSelector(match_expressions=(RawRequirement("app", "Like", ("web",)),))
    budgets.upsert(Budget(build.pod("x").metadata, BudgetSpec(selector), BudgetStatus()))
    assert budgets.violators([(msgspec.structs.replace(record, labels={"app": "web"}),)], []) == [False]


def test_nobody_leaves_for_an_item_that_is_gone() -> None:
    _, evaluator = full_world()
    result = evaluator.preempt(build.pod_key("nobody"), 0.0)
    assert (result.candidate, result.refusal) == (None, Refusal(RefusalCode.ITEM_GONE))
