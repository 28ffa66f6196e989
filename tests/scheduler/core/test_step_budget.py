"""Nothing that a user writes keeps the scheduler busy for long: what is the same is computed once, and the rest has a limit."""

from math import isfinite
from typing import Any

import pytest

from scheduler.algorithm.decision import Decision
from scheduler.algorithm.free_after_nominations import snapshot_for
from scheduler.algorithm.heterogeneous import HeterogeneousMembers
from scheduler.algorithm.partition import partition_by_signature
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.steps import OverBudgetError, Steps
from scheduler.plugins.gang_scheduling import over_budget
from scheduler.plugins.messages import message
from scheduler.preemption.evaluator import Evaluator, PreemptionLimits
from scheduler.queue.settings import QueueSettings
from scheduler.reservations.starvation import demands_to_reserve
from tests.placement.case import HOSTNAME, apart, near, selector, term
from tests.scheduler.core.build import group_key
from tests.scheduler.core.world import World

INDEX = "batch.kubernetes.io/job-completion-index"
RACK = "rack"
SETTINGS = QueueSettings()
LIMITS = PreemptionLimits(victim_deadline_seconds=60.0, initial_pause_seconds=10.0, max_pause_seconds=600.0)
ENOUGH = 10**12


def _nodes(world: World, count: int) -> None:
    for index in range(count):
        world.node(f"n{index}", cpu=8, labels={RACK: f"r{index // 50}"})


def _beside_the_first(world: World, members: int, *, group: str = "g") -> None:
    """An Indexed Job whose pods want a node each, in the rack of the first of them: labels tell all of them apart."""
    first = term(selector(app=group, **{INDEX: "0"}), RACK)
    affinity = {**near(first)["affinity"], **apart(term(selector(app=group), HOSTNAME))["affinity"]}
    world.group(group, members)
    for index in range(members):
        world.pod(
            f"{group}-{index}", group=group, labels={"app": group, INDEX: str(index)}, spec={"affinity": affinity}
        )


def _all_different(world: World, members: int, *, group: str = "g", **more: Any) -> None:
    """Pods of which each keeps away from another one that its own rule names: nothing can be computed once."""
    world.group(group, members, **more)
    for index in range(members):
        rule = apart(term(selector(number=str((index + 1) % members)), HOSTNAME))
        world.pod(f"{group}-{index}", group=group, labels={"number": str(index)}, spec=rule, **more)


def _steps_of_a_decision(nodes: int, members: int) -> int:
    world = World()
    _nodes(world, nodes)
    _beside_the_first(world, members)
    world.state.nodes.steps.most = ENOUGH
    decide(world.state, group_key("g"))
    before = world.state.nodes.steps.spent
    decide(world.state, group_key("g"))
    return world.state.nodes.steps.spent - before


def _over_budget(world: World) -> Decision:
    world.state.nodes.steps.most = 1000
    (decision,) = world.run()
    return decision


def test_members_that_their_labels_but_no_rule_tells_apart_are_of_one_shape() -> None:
    world = World()
    _nodes(world, 10)
    _beside_the_first(world, 8)
    members = world.state.item(group_key("g"))
    assert members is not None
    parts = sorted(partition_by_signature(world.state, members).uids.values(), key=len)
    assert parts == [["uid-of-g-0"], [f"uid-of-g-{index}" for index in range(1, 8)]]


def test_twice_the_members_of_such_a_job_are_twice_the_work() -> None:
    assert _steps_of_a_decision(100, 40) < 2.5 * _steps_of_a_decision(100, 20)


def test_they_are_placed_where_their_rules_want_them() -> None:
    world = World()
    _nodes(world, 100)
    _beside_the_first(world, 20)
    world.run()
    found = world.bound("g")
    assert len(set(found.values())) == len(found) == 20
    assert {int(node.removeprefix("n")) // 50 for node in found.values()} == {0}


def test_a_thousand_members_that_all_ask_for_other_amounts_are_within_the_budget_on_five_thousand_nodes() -> None:
    world = World()
    _nodes(world, 5000)
    world.group("g", 1000)
    for index in range(1000):
        world.pod(f"g-{index}", cpu=f"{100 + index}m", group="g")
    assert len(decide(world.state, group_key("g")).bindings) == 1000


def test_counting_room_for_different_members_on_different_nodes_is_work_by_member_and_node() -> None:
    world = World()
    for index in range(40):
        world.node(f"n{index}", cpu=8 + index)
    world.group("g", 50)
    for index in range(50):
        world.pod(f"g-{index}", cpu=f"{100 + index}m", group="g")
    members = world.state.item(group_key("g"))
    assert members is not None
    different = HeterogeneousMembers(snapshot_for(world.state, members), list(members.pending))
    before = world.state.nodes.steps.spent
    different.room()
    assert world.state.nodes.steps.spent - before >= 50 * 40


def test_made_up_topology_keys_cost_no_column_each() -> None:
    world = World()
    _nodes(world, 10)
    terms = [term(selector(app="x"), f"made-up-{number}") for number in range(400)]
    world.group("g", 2)
    world.pods("g", 2, labels={"app": "x"}, spec=apart(*terms))
    columns = {id(world.state.nodes.label_column(f"made-up-{number}")) for number in range(400)}
    assert len(columns) == 1
    assert [decision.result for decision in world.run()] == ["scheduled"]


def test_a_label_that_the_first_node_gets_later_counts_from_then_on() -> None:
    world = World()
    world.node("n0", cpu=8)
    world.node("n1", cpu=8)
    world.group("g", 2)
    world.pods("g", 2, labels={"app": "x"}, spec={"nodeSelector": {"new": "yes"}})
    assert [decision.result for decision in world.run()] == ["unschedulable"]
    world.node("n1", cpu=8, labels={"new": "yes"})
    world.run()
    assert set(world.bound("g").values()) == {"n1"}
    world.node("n1", cpu=8)
    assert not world.state.nodes.label_column("new").codes.any()


def test_what_takes_too_many_steps_is_refused_with_what_would_help() -> None:
    world = World()
    _nodes(world, 5)
    _all_different(world, 4)
    decision = _over_budget(world)
    assert (decision.result, decision.is_over_budget, decision.bindings) == ("error", True, ())
    reason, message = world.held(group_key("g"))
    assert reason == "SchedulerError"
    assert message == (
        "finding a place would take longer than one decision may, so it is tried only every few minutes: "
        "4 pods of 4 kinds with 4 pod affinity or spread terms and 0 node requirements; "
        "fewer pods, fewer kinds of pods or fewer terms would help"
    )
    assert {uid for uid, _ in decision.failures} == {f"uid-of-g-{index}" for index in range(4)}


def test_nobody_else_waits_for_it() -> None:
    world = World()
    _nodes(world, 5)
    _all_different(world, 4, priority=100)
    decision = _over_budget(world)
    assert decision.is_over_budget
    world.state.nodes.steps.most = ENOUGH
    world.group("small", 1)
    world.pods("small", 1)
    assert [done.key.name for done in world.run()] == ["small"]


def test_it_is_tried_again_after_minutes_and_not_because_there_is_room() -> None:
    world = World()
    _nodes(world, 5)
    _all_different(world, 4)
    _over_budget(world)
    world.state.nodes.steps.most = ENOUGH
    world.node("more", cpu=64)
    assert world.wait(SETTINGS.over_budget_seconds - 1) == []
    assert [decision.result for decision in world.wait(1)] == ["scheduled"]


def test_its_own_change_is_looked_at_a_little_later() -> None:
    world = World()
    _nodes(world, 5)
    _all_different(world, 4)
    _over_budget(world)
    world.state.nodes.steps.most = ENOUGH
    world.pod("g-0", group="g", labels={"number": "0"}, spec={})
    assert world.run() == []
    assert [decision.result for decision in world.wait(SETTINGS.over_budget_pause_seconds)] == ["scheduled"]


def test_the_same_decision_ends_the_same_way_after_the_same_steps() -> None:
    spent = []
    for _ in range(2):
        world = World()
        _nodes(world, 20)
        _all_different(world, 10)
        world.run()
        spent.append(world.state.nodes.steps.spent)
    assert spent[0] == spent[1]


def test_a_decision_that_was_ended_anywhere_leaves_nothing_half_done() -> None:
    calm, world = World(), World()
    for one in (calm, world):
        _nodes(one, 20)
        _all_different(one, 10)
    expected = decide(calm.state, group_key("g"))
    most, ended = calm.state.nodes.steps.spent, 0
    for part in range(60):
        world.state.nodes.steps.most = most * part // 60
        ended += decide(world.state, group_key("g")).is_over_budget
        if part % 7 == 0:
            # So that what is remembered of nodes has something to catch up with.
            world.node("n3", cpu=8 - part % 2, labels={RACK: "r0"})
    world.node("n3", cpu=8, labels={RACK: "r0"})
    assert ended
    world.state.nodes.steps.most = ENOUGH
    assert decide(world.state, group_key("g")) == expected


def test_a_search_for_victims_that_takes_too_long_evicts_nobody_and_is_rare() -> None:
    world = World()
    for index in range(4):
        world.node(f"n{index}", cpu=1)
        world.pod(f"low-{index}", on=f"n{index}", priority=-5)
    _all_different(world, 4)
    evaluator = Evaluator(world.state, LIMITS)
    world.state.nodes.steps.most = 1000
    verdicts = [evaluator.preempt(group_key("g"), now) for now in (0.0, 1.0, LIMITS.max_pause_seconds - 1)]
    assert [verdict.candidate for verdict in verdicts] == [None, None, None]
    assert {verdict.message for verdict in verdicts} == {
        "finding out who would have to leave takes longer than one decision may"
    }
    assert [verdict.result for verdict in verdicts] == ["none", "paused", "paused"]
    world.state.nodes.steps.most = ENOUGH
    assert evaluator.preempt(group_key("g"), LIMITS.max_pause_seconds).candidate is not None


@pytest.mark.parametrize(("share", "is_kept"), [(0.01, False), (0.7, True), (1.0, True)])
def test_a_search_for_room_to_reserve_keeps_what_it_found_in_time(share: float, is_kept: bool) -> None:
    world = World()
    _nodes(world, 40)
    for index in range(40):
        world.pod(f"busy-{index}", on=f"n{index}", cpu=8)
    _all_different(world, 10)
    members = world.state.item(group_key("g"))
    assert members is not None
    steps = world.state.nodes.steps
    steps.most = ENOUGH
    demands_to_reserve(world.state, members)
    before = steps.spent
    assert demands_to_reserve(world.state, members) is not None
    steps.most = int(share * (steps.spent - before))
    found = demands_to_reserve(world.state, members)
    assert (found is not None) is is_kept
    if found is not None:
        assert sum(sum(demands.values()) for demands in found.values()) == 10


def test_steps_without_a_limit_only_count() -> None:
    steps = Steps(most=10)
    steps.spend(1000)
    exceeded: list[str] = []
    steps.exceeded = exceeded.append
    with pytest.raises(OverBudgetError), steps.limited("decision"):
        steps.spend(11)
    assert exceeded == ["decision"]
    steps.spend(1000)


def test_after_a_limit_inside_another_the_outer_one_holds_again() -> None:
    steps = Steps(most=10)
    with steps.limited("preemption"):
        steps.spend(8)
        with steps.limited("decision"):
            steps.spend(10)
        with pytest.raises(OverBudgetError):
            steps.spend(1)
    assert not isfinite(steps.left)


def test_what_else_goes_wrong_below_a_limit_is_not_taken_for_too_many_steps() -> None:
    steps = Steps(most=10)
    exceeded: list[str] = []
    steps.exceeded = exceeded.append
    with pytest.raises(ValueError, match="something else"), steps.limited("decision"):
        raise ValueError("something else")
    assert not exceeded
    assert not isfinite(steps.left)


def test_what_makes_a_decision_long_is_counted_for_whoever_wrote_the_pods() -> None:
    world = World()
    labels = {"matchLabels": {"app": "a"}}
    around = [{"topologyKey": "rack", "labelSelector": labels}]
    spread = {"maxSkew": 1, "topologyKey": "rack", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": labels}
    rules: dict[str, Any] = {
        "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": around}},
        "topologySpreadConstraints": [spread, {**spread, "topologyKey": "zone"}],
    }
    world.group("g", 2)
    for number in range(2):
        world.pod(f"g-{number}", group="g", labels={"app": "a"}, spec=rules)
    members = world.state.item(group_key("g"))
    assert members is not None

    assert ": 2 pods of 1 kind with 3 pod affinity or spread terms and " in message(over_budget(members))
