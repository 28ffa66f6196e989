"""Gang and basic groups: upstream's integration scenarios, as far as they need no preemption."""

import pytest

from scheduler.algorithm.schedule_pod_group import decide
from tests.scheduler.core.build import group_key, pod_key
from tests.scheduler.core.world import World


def test_a_gang_that_fits_is_bound_whole() -> None:
    world = World()
    world.node("n1")
    world.group("g", 3)
    world.pods("g", 3)
    world.run()
    assert len(world.bound()) == 3
    assert world.queue.status(group_key("g")) is None
    assert world.state.entities.counts(group_key("g")).confirmed == 3


def test_a_gang_short_of_a_member_is_held_and_says_so() -> None:
    world = World()
    world.node("n1")
    world.group("g", 3)
    world.pods("g", 2)
    assert world.run() == []
    assert world.held(group_key("g")) == ("WaitingForMembers", "waiting for minCount (3) pods: 2 of them exist")
    world.pods("g", 1, first=2)
    world.run()
    assert len(world.bound()) == 3


def test_pods_before_their_group_are_held_then_refused_then_bound_when_the_blocker_goes() -> None:
    world = World()
    world.node("n1", cpu=3)
    world.pod("blocker", cpu=3, on="n1", scheduler="default-scheduler")
    world.pods("g", 3)
    assert world.run() == []
    assert world.held(group_key("g", "")) == ("WaitingForPodGroup", 'waiting for PodGroup "g"')
    world.group("g", 3)
    assert [decision.result for decision in world.run()] == ["unschedulable"]
    reason, message = world.held(group_key("g"))
    assert reason == "Unschedulable"
    assert message == (
        "minCount (3) cannot be satisfied: 0 of 3 pods can be placed; 0/1 nodes are available: 1 Insufficient cpu."
    )
    world.pod_gone("blocker")
    world.run()
    assert len(world.bound("g")) == 3


def test_members_beyond_the_minimum_wait_for_room() -> None:
    world = World()
    world.node("n1", cpu=4)
    world.pod("blocker", cpu=1, on="n1", scheduler="default-scheduler")
    world.group("g", 3)
    world.pods("g", 4)
    (decision,) = world.run()
    assert decision.result == "scheduled"
    assert len(decision.bindings) == 3
    assert decision.pod_messages == (("uid-of-g-3", "0/1 nodes are available: 1 Insufficient cpu."),)
    world.pod_gone("blocker")
    world.run()
    assert len(world.bound("g")) == 4


@pytest.mark.parametrize("first", ["a", "b"])
def test_of_two_gangs_that_fit_one_at_a_time_the_older_runs_and_the_other_binds_nothing(first: str) -> None:
    world = World()
    world.node("n1", cpu=4)
    second = "b" if first == "a" else "a"
    for name in (first, second):
        world.group(name, 3)
    for index in range(3):
        for name in ("a", "b"):
            world.pods(name, 1, first=index)
    world.run()
    assert len(world.bound(first)) == 3
    assert world.bound(second) == {}


def test_interleaved_members_of_two_gangs_stay_apart() -> None:
    world = World()
    world.node("n1", cpu=4)
    for name in ("a", "b"):
        world.group(name, 2)
    for index in range(2):
        for name in ("a", "b"):
            world.pods(name, 1, first=index)
    world.run()
    assert len(world.bound("a")) == len(world.bound("b")) == 2


def test_three_gangs_of_two_created_in_any_interleaving_all_run() -> None:
    world = World()
    world.node("n1", cpu=3)
    world.node("n2", cpu=3)
    for index in range(2):
        for name in ("c", "a", "b"):
            world.pods(name, 1, first=index)
    for name in ("b", "c", "a"):
        world.group(name, 2)
    world.run()
    assert len(world.bound()) == 6


def test_a_basic_group_places_what_fits_and_what_comes_later() -> None:
    world = World()
    world.node("n1", cpu=2)
    world.pods("g", 3)
    assert world.run() == []
    world.group("g")
    (decision,) = world.run()
    assert (decision.result, len(decision.bindings), len(decision.failures)) == ("scheduled", 2, 1)
    world.node("n2", cpu=2)
    world.pods("g", 1, first=3)
    world.run()
    assert len(world.bound()) == 4


def test_a_basic_group_without_room_is_refused_in_upstreams_words() -> None:
    world = World()
    world.node("n1", cpu=1)
    world.group("g")
    world.pods("g", 2, cpu=2)
    world.run()
    assert world.held(group_key("g"))[1].startswith("minCount (1) cannot be satisfied")


def test_lowering_the_minimum_of_a_held_gang_starts_it_at_once() -> None:
    world = World()
    world.node("n1")
    world.group("g", 3)
    world.pods("g", 2)
    world.run()
    world.group("g", 2)
    world.run()
    assert len(world.bound()) == 2


def test_raising_the_minimum_of_a_waiting_gang_holds_it() -> None:
    world = World()
    world.node("n1", cpu=1)
    world.group("g", 2)
    world.pods("g", 2)
    world.run()
    world.group("g", 3)
    assert world.held(group_key("g"))[0] == "WaitingForMembers"


def test_the_message_of_a_refused_gang_carries_counts_and_the_reason() -> None:
    world = World()
    for index in range(7):
        world.node(f"n{index}", resources={"nvidia.com/gpu": "1"})
    world.group("g", 8)
    world.pods("g", 8, requests={"nvidia.com/gpu": "1"})
    (decision,) = world.run()
    assert decision.condition_message == (
        "minCount (8) cannot be satisfied: 7 of 8 pods can be placed; "
        "0/7 nodes are available for the rest: 7 Insufficient nvidia.com/gpu."
    )
    assert decision.bindings == ()
    messages = dict(decision.pod_messages)
    assert len(messages) == 8
    assert messages["uid-of-g-7"] == "0/7 nodes are available: 7 Insufficient nvidia.com/gpu."
    assert messages["uid-of-g-0"] == f"pod group is unschedulable, {decision.condition_message}"


def test_a_late_member_of_a_running_gang_goes_through_its_own_cycle() -> None:
    world = World()
    world.node("n1", cpu=4)
    world.group("g", 3)
    world.pods("g", 3)
    world.run()
    world.pods("g", 1, first=3)
    (decision,) = world.run()
    assert decision.scheduled_so_far == 3
    assert len(world.bound()) == 4


def test_succeeded_members_count_and_failed_ones_do_not() -> None:
    world = World()
    world.node("n1", cpu=4)
    world.group("g", 3)
    world.pod("g-0", group="g", on="n1", phase="Succeeded")
    world.pod("g-1", group="g", on="n1", phase="Failed")
    world.pod("g-2", group="g", on="n1")
    assert world.held(group_key("g"))[0] == "WaitingForMembers"
    world.pod("g-3", group="g")
    world.run()
    assert "g-3" in world.bound()


def test_members_that_are_being_deleted_do_not_help_a_replacement_to_start() -> None:
    world = World()
    world.node("n1", cpu=8)
    world.group("g", 3)
    world.pods("g", 3)
    world.run()
    for index in range(3):
        world.pod(f"g-{index}", group="g", on="n1", deleted=True)
    world.pods("g", 1, first=3)
    assert world.run() == []
    assert world.held(group_key("g"))[0] == "WaitingForMembers"
    world.pods("g", 2, first=4)
    world.run()
    assert {"g-3", "g-4", "g-5"} <= set(world.bound())


def test_one_gated_member_holds_the_whole_group_until_it_is_free() -> None:
    world = World()
    world.node("n1", cpu=8)
    world.group("g", 2)
    world.pods("g", 2)
    world.pod("g-2", group="g", gates=["wait"])
    assert world.run() == []
    assert world.held(group_key("g")) == (
        "SchedulingGated",
        "1 pod has scheduling gates, which hold the whole group",
    )
    world.pod("g-1", group="g", gates=["wait"])
    assert world.held(group_key("g"))[1] == "2 pods have scheduling gates, which hold the whole group"
    world.pods("g", 2, first=1)
    world.run()
    assert len(world.bound()) == 3


def test_a_gated_member_added_to_a_refused_group_gates_it() -> None:
    world = World()
    world.node("n1", cpu=1)
    world.group("g", 2)
    world.pods("g", 2)
    world.run()
    world.pod("g-2", group="g", gates=["wait"])
    assert world.held(group_key("g"))[0] == "SchedulingGated"
    assert world.queue.depths()["gated"] == 1


def test_pods_of_another_owner_do_not_fill_a_quorum() -> None:
    world = World()
    world.node("n1", cpu=8)
    world.group("g", 2, owner="job-1")
    world.pod("g-0", group="g", owner="job-1")
    world.pod("g-1", group="g", owner="somebody-else")
    assert world.run() == []
    assert "1 more name this group but belong to another owner" in world.held(group_key("g"))[1]
    world.pod("g-2", group="g", owner="job-1")
    world.run()
    assert set(world.bound()) == {"g-0", "g-2"}
    assert [pod.name for pod in world.state.entities.barred(group_key("g"))] == ["g-1"]


def test_pods_of_another_scheduler_are_invisible_to_the_group() -> None:
    world = World()
    world.node("n1", cpu=8)
    world.group("g", 2)
    world.pods("g", 1)
    world.pod("g-9", group="g", scheduler="default-scheduler")
    assert world.run() == []
    world.pods("g", 1, first=1)
    world.run()
    assert set(world.bound()) == {"g-0", "g-1"}


def test_a_pod_bound_by_hand_counts_as_a_member() -> None:
    world = World()
    world.node("n1", cpu=8)
    world.group("g", 3)
    world.pods("g", 2)
    world.pod("g-2", group="g", on="n1")
    world.run()
    assert len(world.bound()) == 3


def test_members_must_have_the_priority_of_their_group() -> None:
    world = World()
    world.node("n1")
    world.group("g", 2, priority=0)
    world.pods("g", 1)
    world.pods("g", 1, first=1, priority=1000)
    (decision,) = world.run()
    assert decision.result == "error"
    assert decision.condition_message == (
        "all pods in a single pod group should have the same priority as the pod group's priority, got 1000 and 0"
    )
    assert world.held(group_key("g"))[0] == "SchedulerError"


def test_a_running_member_of_another_priority_blocks_later_ones() -> None:
    world = World()
    world.node("n1")
    world.group("g", 1, priority=0)
    world.pod("g-0", group="g", priority=7, on="n1")
    world.pods("g", 1, first=1)
    (decision,) = world.run()
    assert decision.result == "error"


def test_members_of_two_of_our_schedulers_are_refused() -> None:
    world = World("tutti", "other")
    world.node("n1")
    world.group("g", 2)
    world.pods("g", 1)
    world.pods("g", 1, first=1, scheduler="other")
    (decision,) = world.run()
    assert decision.condition_message == (
        'all pods in a single pod group should have the same .spec.schedulerName set, got: "other" and "tutti"'
    )


def test_members_must_agree_on_the_preemption_policy() -> None:
    world = World()
    world.node("n1")
    world.group("g", 2)
    world.pods("g", 1)
    world.pods("g", 1, first=1, preemption_policy="Never")
    (decision,) = world.run()
    assert decision.condition_message == (
        "all pods in a single pod group should have the same preemption policy, got Never and PreemptLowerPriority"
    )


def test_members_must_have_the_preemption_policy_of_their_group() -> None:
    world = World()
    world.node("n1")
    world.group("g", 1, preemption_policy="Never")
    world.pods("g", 1)
    (decision,) = world.run()
    assert decision.condition_message == (
        "all pods in a single pod group should have the same preemption policy, got PreemptLowerPriority and Never"
    )


def test_the_priority_of_a_group_without_one_is_its_members() -> None:
    world = World()
    world.node("n1", cpu=1)
    world.group("low", 1)
    world.pods("low", 1, priority=1)
    world.group("high", 1)
    world.pods("high", 1, priority=5)
    world.run()
    assert set(world.bound()) == {"high-0"}


def test_a_lone_pod_is_a_group_of_one() -> None:
    world = World()
    world.node("n1", cpu=1)
    world.pod("a")
    world.pod("b")
    world.run()
    assert world.bound() == {"a": "n1"}
    assert world.held(pod_key("b")) == ("Unschedulable", "0/1 nodes are available: 1 Insufficient cpu.")


def test_without_nodes_the_message_says_that_there_are_none() -> None:
    world = World()
    world.pod("a")
    (decision,) = world.run()
    assert decision.condition_message == "no nodes available to schedule pods"


def test_a_managed_pod_without_a_group_is_never_placed_alone() -> None:
    world = World()
    world.node("n1")
    world.pod("a", managed=True)
    assert world.run() == []
    assert world.held(pod_key("a")) == ("WaitingForPodGroup", "waiting for its pod group annotation")
    world.group("g", 1)
    world.pod("a", managed=True, group="g")
    world.run()
    assert world.bound() == {"a": "n1"}
    assert decide(world.state, pod_key("a")).result == "nothing"


def test_a_group_without_a_priority_has_the_lowest_of_those_of_its_pods_that_are_left() -> None:
    world = World()
    world.group("g", 1)
    for name, priority in (("g-0", 3), ("g-1", 3), ("g-2", 8)):
        world.pod(name, group="g", priority=priority)
    priorities = []
    for gone in ("g-0", "g-1", "g-2"):
        members = world.state.item(group_key("g"))
        assert members is not None
        priorities.append((members.priority, sum(members.profiles.values())))
        world.pod_gone(gone)
    assert priorities == [(3, 3), (3, 2), (8, 1)]
