"""The queue: waiting and waking; upstream's queueing scenarios as far as they need no preemption."""

import pytest

from scheduler.algorithm.decision import Decision
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.records import EntityKey
from scheduler.plugins.status import Code, Status
from scheduler.queue.active import Cause
from scheduler.queue.settings import QueueSettings, backoff_seconds
from tests.scheduler.core.build import group_key, pod_key
from tests.scheduler.core.world import World


def test_a_new_member_is_part_of_the_next_attempt_and_a_new_node_ends_the_wait() -> None:
    world = World()
    world.node("n1", cpu=2)
    world.group("g", 3)
    world.pods("g", 3)
    world.run()
    world.pods("g", 1, first=3)
    (decision,) = world.run()
    assert len(decision.failures) == 4
    world.node("n2", cpu=2)
    world.run()
    assert len(world.bound()) == 4


@pytest.mark.parametrize(
    "event", ["node added", "node uncordoned", "taint removed", "node grown", "pod gone", "pod done"]
)
def test_a_waiting_gang_is_tried_at_once_when_room_appears(event: str) -> None:
    world = World()
    world.node("n1", cpu=2)
    world.node("n2", cpu=2, unschedulable=True)
    world.node("n4", cpu=2, taints=[{"key": "example.com/kept", "effect": "NoSchedule"}])
    world.pod("blocker", cpu=1, on="n1", scheduler="default-scheduler")
    world.pod("assumed", cpu=0)
    world.run()
    world.group("g", 2)
    world.pods("g", 2)
    world.run()
    assert world.bound("g") == {}
    match event:
        case "node added":
            world.node("n3", cpu=1)
        case "node uncordoned":
            world.node("n2", cpu=2)
        case "taint removed":
            world.node("n4", cpu=2)
        case "node grown":
            world.node("n1", cpu=3)
        case "pod gone":
            world.pod_gone("blocker")
        case _:
            world.pod("blocker", cpu=1, on="n1", scheduler="default-scheduler", phase="Succeeded")
    world.run()
    assert len(world.bound("g")) == 2


def test_a_failed_bind_gives_its_room_to_the_gang_that_waits_for_it() -> None:
    world = World()
    world.node("n1", cpu=2)
    world.pod("p", cpu=1, priority=9)
    key = world.queue.pop(world.state)
    assert key == pod_key("p")
    decision = decide(world.state, key)
    ((uid, node),) = decision.bindings
    world.state.assume(uid, node, world.now + 60)
    world.queue.done(key, decision, world.state)
    world.group("g", 2)
    world.pods("g", 2)
    world.run()
    assert world.bound() == {}
    world.queue.bind_failed(key)
    world.apply(world.state.forget(uid))
    world.run()
    assert len(world.bound("g")) == 2


def test_room_that_cannot_be_enough_wakes_nobody() -> None:
    world = World()
    world.node("n1", cpu=1)
    world.group("g", 4)
    world.pods("g", 4)
    world.run()
    world.node("n2", cpu=2)
    assert world.run() == []
    world.node("n3", cpu=1)
    assert len(world.run()) == 1
    assert len(world.bound()) == 4


def test_heartbeats_and_status_updates_wake_nobody() -> None:
    world = World()
    world.node("n1", cpu=1)
    world.group("g", 2)
    world.pods("g", 2)
    world.run()
    assert not world.state.upsert_node(world.node("n1", cpu=1))
    world.pods("g", 2)
    world.group("g", 2)
    assert world.run() == []


def test_a_refused_group_is_tried_again_without_any_event_about_it_ever_less_often() -> None:
    world = World()
    world.node("n1", cpu=1)
    world.group("g", 4)
    world.pods("g", 4)
    world.run()
    waits = []
    for number in range(7):
        world.pod(f"elsewhere-{number}", cpu=0, on="n1", scheduler="other")
        due = world.queue.next_due_seconds()
        assert due is not None
        waits.append(due)
        assert len(world.wait(due)) == 1
    assert waits == [1, 2, 4, 8, 16, 20, 20]


def test_a_retry_that_would_end_alike_is_left_out_for_five_minutes() -> None:
    world = World()
    world.node("n1", cpu=1)
    world.pod("p", cpu=2)
    world.run()
    tried = 0
    for _ in range(299):
        tried += len(world.wait(1))
    # Once, for it might have room reserved from then on if it were a group.
    assert tried == 1
    assert len(world.wait(70)) == 1


def test_the_longest_wait_grows_with_the_root_of_the_group() -> None:
    settings = QueueSettings()
    assert [backoff_seconds(n, 1, settings) for n in (1, 2, 3, 4, 5, 50)] == [1, 2, 4, 8, 10, 10]
    assert backoff_seconds(50, 100, settings) == 100


def test_nothing_to_do_means_no_alarm() -> None:
    world = World()
    world.node("n1")
    world.group("g", 2)
    world.pods("g", 1)
    world.run()
    assert world.queue.next_due_seconds() is None


def test_the_first_alarm_after_a_refusal_is_the_end_of_its_backoff() -> None:
    world = World()
    world.pod("p")
    world.step()
    assert world.queue.next_due_seconds() == QueueSettings().initial_backoff_seconds


def test_a_pod_that_is_deleted_before_its_turn_is_not_tried() -> None:
    world = World()
    world.node("n1")
    world.pod("p")
    world.pod_gone("p")
    assert world.queue.next_due_seconds() is None
    assert world.queue.pop(world.state) is None


def test_what_has_never_waited_may_go() -> None:
    world = World()
    world.queue.remove(pod_key("never-seen"))
    assert world.queue.changed_statuses() == []


def test_a_deleted_group_leaves_its_pods_held_until_it_exists_again() -> None:
    world = World()
    world.node("n1", cpu=3)
    world.group("g", 3)
    world.pods("g", 3)
    world.run()
    world.group_gone("g")
    world.pods("g", 1, first=3)
    assert world.run() == []
    assert world.held(group_key("g", ""))[0] == "WaitingForPodGroup"
    assert world.queue.status(group_key("g")) is None
    world.node("n2", cpu=1)
    world.group("g", 3, uid="second")
    world.run()
    assert len(world.bound()) == 4


def test_a_refused_gang_whose_group_is_deleted_is_not_tried() -> None:
    world = World()
    world.node("n1", cpu=1)
    world.group("g", 2)
    world.pods("g", 2)
    world.run()
    world.group_gone("g")
    world.node("n2")
    assert world.run() == []
    assert world.bound() == {}


def test_a_member_that_comes_while_its_group_is_in_a_cycle_is_tried_right_after() -> None:
    world = World()
    world.node("n1", cpu=1)
    world.group("g", 2)
    world.pods("g", 2)
    key = world.queue.pop(world.state)
    assert key is not None
    decision = decide(world.state, key)
    world.pods("g", 1, first=2)
    world.queue.done(key, decision, world.state)
    assert world.queue.pop(world.state) == key


def test_freed_room_wakes_as_many_waiting_pods_as_it_can_take() -> None:
    world = World()
    world.node("n1", cpu=2)
    for index in range(20):
        world.pod(f"p{index:02}", cpu=1)
    world.run()
    world.pod_gone("p00")
    decisions = world.run()
    assert [decision.key.name for decision in decisions] == ["p02"]


def test_waiting_pods_of_many_sizes_are_woken_a_few_at_a_time() -> None:
    world = World()
    world.node("n1", cpu=100)
    world.pod("blocker", cpu=100, on="n1", scheduler="other")
    for index in range(40):
        world.pod(f"p{index:02}", cpu=f"{1000 + index}m")
    world.run()
    world.pod("blocker", cpu=99, on="n1", scheduler="other")
    decisions = world.run()
    assert [decision.key.name for decision in decisions if decision.bindings] == ["p00"]
    assert len(decisions) < 20
    world.pod_gone("blocker")
    for index in range(5):
        world.node(f"tiny-{index}", cpu=0)
        assert world.queue.pop(world.state) is not None
        assert world.queue.depths()["active"] < 16


def test_every_waiting_pod_of_many_sizes_gets_room_that_is_enough_for_all() -> None:
    world = World()
    world.node("n1", cpu=100)
    world.pod("blocker", cpu=100, on="n1", scheduler="other")
    for index in range(40):
        world.pod(f"p{index:02}", cpu=f"{1000 + index}m")
    world.run()
    world.pod_gone("blocker")
    world.run()
    assert len(world.bound()) == 40


def test_an_item_woken_in_vain_lets_others_use_the_room() -> None:
    world = World()
    world.node("n1", cpu=3)
    world.pod("blocker", cpu=3, on="n1", scheduler="default-scheduler")
    world.group("mixed", 2, priority=5)
    world.pod("mixed-0", cpu=2, group="mixed", priority=5)
    world.pod("mixed-1", cpu=3, group="mixed", priority=5)
    world.pod("p", cpu=3)
    world.run()
    world.pod_gone("blocker")
    assert [decision.key.name for decision in world.run()] == ["mixed", "p"]
    assert set(world.bound()) == {"p"}


def test_a_bind_that_always_fails_is_tried_ever_less_often() -> None:
    world = World()
    world.node("n1", cpu=3)
    world.pod("p")
    waits = []
    for _ in range(6):
        key = world.queue.pop(world.state)
        assert key is not None
        decision = decide(world.state, key)
        ((uid, node),) = decision.bindings
        world.state.assume(uid, node, world.now + 60)
        world.queue.done(key, decision, world.state)
        world.queue.bind_failed(key)
        world.apply(world.state.forget(uid))
        assert world.queue.pop(world.state) is None
        due = world.queue.next_due_seconds()
        assert due is not None
        waits.append(due)
        world.now += due
    assert waits == [1, 2, 4, 8, 10, 10]


def test_news_tells_each_reason_once_and_counts_are_no_news() -> None:
    world = World()
    world.group("g", 3)
    world.pods("g", 1)
    ((key, held),) = world.queue.changed_statuses()
    assert key == group_key("g")
    assert held is not None
    assert held.reason == "WaitingForMembers"
    world.pods("g", 1, first=1)
    assert world.queue.changed_statuses() == []
    world.pods("g", 1, first=2)
    world.run()
    ((_, held),) = world.queue.changed_statuses()
    assert held is not None
    assert held.reason == "Unschedulable"
    world.node("n1")
    world.run()
    assert world.queue.changed_statuses() == [(group_key("g"), None)]


def test_a_refused_group_whose_pods_somebody_else_binds_is_said_to_wait_no_more() -> None:
    world = World()
    world.group("g", 2)
    world.pods("g", 2)
    world.run()
    assert [(key, status is not None) for key, status in world.queue.changed_statuses()] == [(group_key("g"), True)]
    world.node("n1")
    world.pods("g", 2, on="n1")
    assert world.queue.changed_statuses() == [(group_key("g"), None)]
    assert world.queue.status(group_key("g")) is None


def test_a_refused_group_that_is_deleted_is_said_to_wait_no_more() -> None:
    world = World()
    world.group("g", 2)
    world.pods("g", 2)
    world.run()
    world.queue.changed_statuses()
    for name in ("g-0", "g-1"):
        world.pod_gone(name)
    world.group_gone("g")
    assert world.queue.changed_statuses() == [(group_key("g"), None)]


def test_depths_count_items_by_place() -> None:
    world = World()
    world.group("g", 3)
    world.pods("g", 1)
    world.pod("p")
    assert world.queue.depths() == {"idle": 0, "gated": 1, "waiting": 0, "active": 1, "running": 0}
    world.run()
    assert world.queue.depths()["waiting"] == 1


def _woken_in_vain(world: World, key: EntityKey, *, taken: str) -> None:
    """Room wakes the item, and before it is decided upon somebody else has that room."""
    assert world.queue.pop(world.state) == key
    world.pod("faster", cpu=2, on=taken, scheduler="other")
    world.queue.done(key, decide(world.state, key), world.state)


def test_room_that_others_took_meanwhile_is_no_reason_to_leave_the_next_to_others() -> None:
    world = World()
    world.group("g", 2)
    world.pods("g", 2)
    world.run()
    world.node("n0", cpu=2)
    _woken_in_vain(world, group_key("g"), taken="n0")
    world.node("n1", cpu=2)
    world.run()
    assert set(world.bound("g").values()) == {"n1"}


def test_an_item_that_may_have_looked_as_if_it_fitted_leaves_the_next_room_to_others_for_a_moment() -> None:
    world = World()
    world.group("g", 2)
    world.pod("g-0", group="g", cpu=1)
    world.pod("g-1", group="g", cpu="900m")
    world.run()
    world.node("n0", cpu=2)
    _woken_in_vain(world, group_key("g"), taken="n0")
    world.node("n1", cpu=2)
    assert world.run() == []
    world.now += QueueSettings().wake_pause_seconds
    world.run()
    assert set(world.bound("g").values()) == {"n1"}


def test_an_attempt_that_ends_when_its_item_is_gone_or_twice_changes_nothing() -> None:
    world = World()
    world.pod("gone")
    gone = world.queue.pop(world.state)
    assert gone == pod_key("gone")
    world.pod_gone("gone")
    refused = Decision(gone, Status(Code.UNSCHEDULABLE))
    assert world.queue.done(gone, refused, world.state) is None

    world.pod("p")
    world.run()
    due_seconds = world.queue.next_due_seconds()
    assert world.queue.done(pod_key("p"), Decision(pod_key("p"), Status(Code.UNSCHEDULABLE)), world.state) is None
    assert world.queue.next_due_seconds() == due_seconds


@pytest.mark.parametrize(("spent_seconds", "first"), [(0.0, "large"), (1000.0, "small")])
def test_new_items_without_room_let_others_go_first_once_too_much_time_was_spent_in_vain(
    spent_seconds: float, first: str
) -> None:
    world = World()
    world.node("n0", cpu=2)
    world.queue.charge(Cause.DOUBT, spent_seconds)
    world.pod("large", cpu=64, priority=5)
    world.pod("small")
    assert world.queue.pop(world.state) == pod_key(first)
