"""A leader whose workers come later: placed only with room for all, and that room is kept."""

import gc
import json
import tracemalloc
from typing import Any

import pytest

from api.constants import MIN_RESOURCES
from scheduler.algorithm import future_pods
from scheduler.algorithm.decision import Decision
from scheduler.algorithm.future_pods import MOST_FUTURE_PODS, MOST_ROLES, ClusterWithFuturePods, PendingAndFutureUids
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.records import EntityKey
from scheduler.preemption.evaluator import Evaluator, PreemptionLimits
from scheduler.reservations.future_reservations import FutureReservations, of_existing_pods
from tests.scheduler.core import build
from tests.scheduler.core.world import World

KEEP_SECONDS = 600.0
LIMITS = PreemptionLimits(victim_deadline_seconds=60, initial_pause_seconds=1, max_pause_seconds=10)


class Stage(World):
    """A world whose cycles see the pods to come, as the scheduling loop does."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = ClusterWithFuturePods(self.state)
        self.start_keeping()

    def start_keeping(self) -> None:
        self.future = FutureReservations(
            self.state, clock=lambda: self.now, reserve_seconds=KEEP_SECONDS, apply=self.apply
        )

    def step(self) -> Decision | None:
        self.future.tick()
        key = self.queue.pop(self.seen.view)
        if key is None:
            return None
        decision, places = of_existing_pods(decide(self.seen.view, key, self.queue.aim(key, self.state)), self.seen)
        self.decisions.append(decision)
        for uid, node in decision.bindings:
            self.apply(self.state.assume(uid, node, self.now + 60))
        if decision.bindings:
            self.future.reserve(key, places)
        self.queue.done(key, decision, self.state)
        for uid, node in decision.bindings:
            self.confirm(uid, node)
        return decision

    def replica(self, name: str, workers: int, *, cpu: str = "1", **more: Any) -> None:
        """The group and the leader of a replica, which asks for one CPU itself."""
        placement = more.pop("placement", None)
        roles = [{"role": "leader", "count": 1, "requests": {"cpu": "1"}}]
        role = {"role": "worker", "count": workers, "requests": {"cpu": cpu}}
        roles.append(role | ({"placement": placement} if placement else {}))
        priority = more.get("priority", 0)
        self.group(
            name,
            1,
            owner=f"uid-of-{name}-leader",
            annotations={"tutti.scheduler/managed-by": "tutti", MIN_RESOURCES: json.dumps(roles)},
            **more,
        )
        self.pod(f"{name}-leader", group=name, priority=priority)

    def workers(self, name: str, count: int, *, cpu: int = 1) -> None:
        """Workers as their StatefulSet makes them."""
        self.apply(self.state.set_controller(f"uid-of-{name}-workers", f"uid-of-{name}-leader"))
        for number in range(1, count + 1):
            self.pod(f"{name}-{number}", group=name, cpu=cpu, controller=("StatefulSet", f"{name}-workers"))

    def kept(self) -> int:
        """Places that are kept for pods to come."""
        return sum(
            sum(demands.values()) for each in self.state.future_reservations for demands in each.demands.values()
        )


def nodes(stage: Stage, count: int, **more: Any) -> None:
    for number in range(count):
        stage.node(f"n{number}", cpu=1, **more)


def test_a_role_of_no_pods_announces_nothing() -> None:
    stage = Stage()
    stage.replica("r", 0)
    key = build.group_key("r")
    assert stage.seen.view.item(key) is stage.state.item(key)


def test_a_leader_with_room_for_itself_alone_waits_and_says_what_for() -> None:
    stage = Stage()
    nodes(stage, 3)
    stage.replica("r", workers=3)
    (decision,) = stage.run()
    assert decision.result == "unschedulable"
    assert [uid for uid, _ in decision.failures] == ["uid-of-r-leader"]
    assert "minCount (1) and room for the 3 pods that come later cannot be satisfied" in decision.condition_message
    assert stage.bound() == {}
    assert stage.kept() == 0


def test_it_is_woken_when_the_last_node_appears_and_the_room_of_its_workers_is_kept() -> None:
    stage = Stage()
    nodes(stage, 3)
    stage.replica("r", workers=3)
    stage.run()
    stage.node("n3", cpu=1)
    stage.run()
    assert set(stage.bound()) == {"r-leader"}
    assert stage.kept() == 3
    stage.pod("stranger")
    stage.run()
    assert "stranger" not in stage.bound()


def test_a_more_important_pod_takes_what_is_kept() -> None:
    stage = Stage()
    nodes(stage, 4)
    stage.replica("r", workers=3)
    stage.run()
    stage.pod("vip", priority=5)
    stage.run()
    assert "vip" in stage.bound()


def test_workers_take_their_places_and_nothing_stays_kept() -> None:
    stage = Stage()
    nodes(stage, 4)
    stage.replica("r", workers=3)
    stage.run()
    stage.pod("stranger")
    stage.workers("r", 3)
    stage.run()
    assert set(stage.bound()) == {"r-leader", "r-1", "r-2", "r-3"}
    assert stage.kept() == 0
    assert len(stage.state.future_reservations) in {0, 1}
    stage.run()
    assert len(stage.state.future_reservations) == 0


def test_workers_that_come_one_by_one_leave_the_others_places_kept() -> None:
    stage = Stage()
    nodes(stage, 4)
    stage.replica("r", workers=3)
    stage.run()
    stage.workers("r", 1)
    stage.run()
    assert stage.kept() == 2
    stage.pod("stranger")
    stage.run()
    assert "stranger" not in stage.bound()


def test_after_the_limit_the_room_is_given_back() -> None:
    stage = Stage()
    nodes(stage, 4)
    stage.replica("r", workers=3)
    stage.run()
    stage.pod("stranger")
    stage.wait(KEEP_SECONDS - 1)
    assert "stranger" not in stage.bound()
    stage.wait(1)
    stage.wait(30)
    assert "stranger" in stage.bound()


def test_a_leader_that_goes_gives_the_room_back() -> None:
    stage = Stage()
    nodes(stage, 4)
    stage.replica("r", workers=3)
    stage.run()
    stage.pod("stranger")
    stage.run()
    stage.pod_gone("r-leader")
    stage.wait(30)
    assert "stranger" in stage.bound()
    assert stage.kept() == 0


def test_of_two_replicas_with_room_for_one_one_starts_whole_and_the_other_follows() -> None:
    stage = Stage()
    nodes(stage, 5)
    stage.replica("a", workers=3)
    stage.replica("b", workers=3)
    stage.run()
    assert set(stage.bound()) == {"a-leader"}
    stage.workers("a", 3)
    stage.wait(60)
    assert set(stage.bound()) == {"a-leader", "a-1", "a-2", "a-3"}
    for name in ("a-leader", "a-1", "a-2", "a-3"):
        stage.pod_gone(name)
    stage.group_gone("a")
    stage.wait(60)
    assert set(stage.bound()) == {"b-leader"}


def test_leader_and_workers_are_placed_inside_one_value_of_the_topology_label() -> None:
    stage = Stage()
    for rack, count in (("small", 3), ("big", 4)):
        for number in range(count):
            stage.node(f"{rack}{number}", cpu=1, labels={"rack": rack})
    stage.replica("r", workers=3, topology="rack")
    stage.run()
    assert stage.bound()["r-leader"].startswith("big")
    (kept,) = stage.state.future_reservations
    assert {node[:3] for node in kept.demands} == {"big"}


def test_where_the_workers_may_run_decides_beforehand() -> None:
    stage = Stage()
    nodes(stage, 4)
    stage.replica("r", workers=2, placement={"nodeSelector": {"pool": "gpu"}})
    stage.run()
    assert stage.bound() == {}
    for number in range(2):
        stage.node(f"gpu{number}", cpu=1, labels={"pool": "gpu"})
    stage.wait(60)
    (kept,) = stage.state.future_reservations
    assert set(kept.demands) == {"gpu0", "gpu1"}


def test_after_a_restart_the_room_is_kept_again() -> None:
    stage = Stage()
    nodes(stage, 4)
    stage.replica("r", workers=3)
    stage.run()
    stage.state.future_reservations.drop(EntityKey("group", build.NAMESPACE, "r", "uid-of-r"))
    stage.start_keeping()
    stage.future.restore()
    assert stage.kept() == 3


def test_a_replica_that_is_complete_has_nothing_kept_after_a_restart() -> None:
    stage = Stage()
    nodes(stage, 8)
    stage.replica("r", workers=3)
    stage.run()
    stage.workers("r", 3)
    stage.run()
    stage.start_keeping()
    stage.future.restore()
    assert stage.kept() == 0


def test_an_announcement_that_cannot_be_read_announces_nothing() -> None:
    for text in (
        "[",
        '[{"role":"worker","count":3,"requests":{"cpu":1}}]',
        '"x"',
        '[{"role":"worker","count":-1,"requests":{}}]',
    ):
        stage = Stage()
        nodes(stage, 1)
        stage.group("r", 1, owner="uid-of-r-leader", annotations={MIN_RESOURCES: text})
        stage.pod("r-leader", group="r")
        stage.run()
        assert set(stage.bound()) == {"r-leader"}, text


def test_announced_pods_cost_one_record_for_a_role_however_many_they_are() -> None:
    stage = Stage()
    for number in range(20):
        stage.replica(f"r{number}", workers=MOST_FUTURE_PODS)
    tracemalloc.start()
    try:
        for number in range(20):
            members = stage.seen.item(build.group_key(f"r{number}"))
            assert members is not None
            assert members.min_count == members.pending_count == MOST_FUTURE_PODS + 1
        del members
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] < 20 * 8192
    finally:
        tracemalloc.stop()


def test_announcements_of_so_many_groups_are_remembered_and_others_are_read_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(future_pods, "MOST_ANNOUNCEMENTS", 2)
    stage = Stage()
    for number in range(5):
        stage.replica(f"r{number}", workers=3)
    for number in (*range(5), *range(5)):
        members = stage.seen.item(build.group_key(f"r{number}"))
        assert members is not None
        pods = [stage.seen.pod(uid) for waiting in members.pending.values() for uid in waiting.uids]
        assert sorted(pod.name for pod in pods if pod) == ["job-1", "job-2", "job-3", f"r{number}-leader"]


def test_the_announcement_that_nobody_asked_for_longest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(future_pods, "MOST_ANNOUNCEMENTS", 2)
    stage = Stage()
    to_come: dict[str, str] = {}
    for name in ("r0", "r1", "r2"):
        stage.replica(name, workers=1)
    for name in ("r0", "r1", "r0", "r2"):
        members = stage.seen.item(build.group_key(name))
        assert members is not None
        uids = [uid for waiting in members.pending.values() for uid in waiting.uids]
        (to_come[name],) = (uid for uid in uids if uid != f"uid-of-{name}-leader")
    assert [name for name, uid in to_come.items() if stage.seen.pod(uid) is not None] == ["r0", "r2"]


def test_once_the_leader_has_its_place_the_workers_there_are_are_all_that_wait() -> None:
    stage = Stage()
    stage.node("n0", cpu=1)
    stage.replica("r", workers=3)
    stage.pod("r-leader", group="r", on="n0")
    stage.workers("r", 1)
    key = build.group_key("r")
    members = stage.state.item(key)
    assert members is not None
    assert members.pending
    assert stage.seen.item(key) is members


def test_a_group_that_announces_more_than_can_be_looked_for_waits_and_says_so() -> None:
    stage = Stage()
    nodes(stage, 3)
    stage.replica("r", workers=MOST_FUTURE_PODS + 1)
    (decision,) = stage.run()
    assert decision.result == "error"
    assert decision.condition_message == (
        "its first pod starts only with room for the 10,001 pods that come later, "
        "and room is looked for 10,000 pods of a group at most"
    )
    assert decision.pod_messages == (("uid-of-r-leader", decision.condition_message),)
    assert stage.bound() == {}


def test_an_announcement_that_changes_is_read_again() -> None:
    stage = Stage()
    nodes(stage, 3)
    stage.replica("r", workers=5)
    stage.run()
    assert stage.bound() == {}
    stage.replica("r", workers=2)
    stage.run()
    assert set(stage.bound()) == {"r-leader"}
    assert stage.kept() == 2


@pytest.mark.parametrize("part", [slice(2), slice(1, 4), slice(5, None), slice(3, 3), slice(-2, None)])
def test_uids_of_pods_to_come_are_a_sequence_like_any_other(part: slice) -> None:
    uids = PendingAndFutureUids(["leader"], "g", [range(1, 4), range(5, 8)])
    listed = list(uids)
    assert listed == ["leader", *(f"to-come/g/{number}" for number in (1, 2, 3, 5, 6, 7))]
    assert [uids[index] for index in range(len(uids))] == listed
    assert list(uids[part]) == listed[part]
    with pytest.raises(IndexError):
        uids[7]


def test_less_important_pods_leave_for_the_leader_and_its_workers_together() -> None:
    stage = Stage()
    nodes(stage, 4)
    for number in range(4):
        stage.pod(f"low{number}", on=f"n{number}", priority=-1)
    stage.replica("r", workers=3)
    stage.run()
    verdict = Evaluator(stage.seen.view, LIMITS).preempt(
        EntityKey("group", build.NAMESPACE, "r", "uid-of-r"), stage.now
    )
    assert verdict.candidate is not None, verdict.message
    assert {pod.name for pod in verdict.candidate.pods} == {f"low{number}" for number in range(4)}


def test_workers_are_members_by_the_chain_of_their_controllers() -> None:
    stage = Stage()
    nodes(stage, 8)
    stage.group("r", 3, owner="uid-of-r-leader")
    stage.pod("r-leader", group="r")
    for number in (1, 2):
        stage.pod(f"r-{number}", group="r", controller=("StatefulSet", "r-workers"))
    stage.pod("intruder", group="r", controller=("StatefulSet", "somebody"))
    stage.run()
    assert stage.bound() == {}
    stage.apply(stage.state.set_controller("uid-of-r-workers", "uid-of-r-leader"))
    stage.run()
    assert set(stage.bound()) == {"r-leader", "r-1", "r-2"}


@pytest.mark.parametrize("leader_goes_first", [True, False])
def test_workers_whose_controller_is_gone_are_no_members_any_more(leader_goes_first: bool) -> None:
    """Who was a member only in the queue's eyes was tried again and again, without a pause."""
    stage = Stage()
    nodes(stage, 1)
    stage.replica("r", 2)
    stage.workers("r", 1)
    stage.run()
    if leader_goes_first:
        stage.pod_gone("r-leader")
    stage.apply(stage.state.set_controller("uid-of-r-workers", ""))
    if not leader_goes_first:
        stage.pod_gone("r-leader")
    assert stage.step() is None
    assert [pod.name for pod in stage.state.entities.barred(build.group_key("r"))] == ["r-1"]


def test_a_chain_that_leads_elsewhere_makes_no_member() -> None:
    stage = Stage()
    nodes(stage, 8)
    stage.group("r", 2, owner="uid-of-r-leader")
    stage.pod("r-leader", group="r")
    stage.pod("r-1", group="r", controller=("StatefulSet", "r-workers"))
    stage.apply(stage.state.set_controller("uid-of-r-workers", "uid-of-another-leader"))
    stage.run()
    assert stage.bound() == {}


def test_room_that_is_cleared_for_a_leader_and_its_workers_is_claimed_again_after_a_restart() -> None:
    stage = Stage()
    for number in range(2):
        stage.node(f"n{number}", cpu=1)
        stage.pod(f"low-{number}", on=f"n{number}", deleted=True)
    stage.replica("r", 1, priority=5)
    stage.pod("r-leader", group="r", priority=5, nominated="n0")
    key = build.group_key("r")
    evaluator = Evaluator(stage.seen.view, LIMITS)
    assert evaluator.restore(0.0) == ()
    verdict = evaluator.preempt(key, 0.0)
    claim = stage.state.nominator.of(key)
    assert (verdict.result, verdict.nomination) == ("waiting", claim)
    assert claim is not None
    assert {node for node, _ in claim.places.values()} == {"n0", "n1"}
    # Asked again, it goes on waiting for the same.
    assert evaluator.preempt(key, 1.0).result == "waiting"
    assert stage.state.nominator.of(key) is claim


def test_a_leader_whose_workers_will_have_resource_claims_is_refused_where_nobody_follows_devices() -> None:
    stage = Stage()
    stage.node("n1")
    claims = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
    stage.replica("g", 2, placement={"resourceClaims": claims})
    decision = stage.step()
    assert decision is not None
    assert (decision.result, decision.bindings) == ("error", ())
    assert "it has resource claims, and the API server does not serve resource.k8s.io/v1" in decision.condition_message


def test_pods_of_several_roles_are_numbered_from_role_to_role() -> None:
    stage = Stage()
    nodes(stage, 1)
    roles = [
        {"role": name, "count": count, "requests": {"cpu": cpu}} for name, count, cpu in (("a", 2, "1"), ("b", 3, "2"))
    ]
    stage.group("r", 1, annotations={"tutti.scheduler/managed-by": "tutti", MIN_RESOURCES: json.dumps(roles)})
    stage.pod("r-leader", group="r")
    members = stage.seen.item(build.group_key("r"))
    assert members is not None
    uids = [uid for waiting in members.pending.values() for uid in waiting.uids]
    assert len(uids) == len(set(uids)) == 1 + 2 + 3
    cpus = [record.demand.amounts["cpu"] for uid in uids if (record := stage.seen.pod(uid)) is not None]
    assert sorted(cpus) == [1000] * 3 + [2000] * 3


def test_a_group_that_announces_pods_of_too_many_roles_waits_and_says_so() -> None:
    stage = Stage()
    nodes(stage, 3)
    roles = ",".join(
        f'{{"role":"worker-{number}","count":1,"requests":{{"cpu":"1m"}}}}' for number in range(MOST_ROLES + 1)
    )
    stage.group("r", 1, owner="uid-of-r-leader", annotations={MIN_RESOURCES: f"[{roles}]"})
    stage.pod("r-leader", group="r")
    (decision,) = stage.run()
    assert decision.result == "error"
    assert decision.condition_message == "it announces pods of 17 roles, and 16 are possible"
    assert stage.bound() == {}


def test_a_group_all_of_whose_pods_have_ended_is_what_it_is() -> None:
    stage = Stage()
    stage.node("n0", cpu=4)
    stage.replica("g", 2)
    stage.pod("g-leader", group="g", on="n0", phase="Succeeded")
    key = build.group_key("g")
    members = stage.state.item(key)
    assert members is not None
    assert ClusterWithFuturePods(stage.state, beside=True).item(key) is members
