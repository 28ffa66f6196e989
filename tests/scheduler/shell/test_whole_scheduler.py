"""The whole scheduler, real core included, against a server in memory."""

from functools import partial

import pytest
from prometheus_client import generate_latest

from api.constants import CONDITION_POD_GROUP_SATISFIED
from kube.client.errors import Conflict, Forbidden, OutcomeUnknown
from scheduler import schedule_one
from scheduler.algorithm.decision import Decision
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.cluster import ClusterState
from scheduler.cache.records import EntityKey
from tests.scheduler.shell.cluster import Cluster
from tests.scheduler.shell.fake_api import always, once
from tests.scheduler.shell.manifests import gang, node, pod

TRUE = ("True", "Scheduled")
REFUSED = ("False", "Unschedulable")


@pytest.fixture
async def cluster() -> Cluster:
    return Cluster()


def _has_tried_more_often(cluster: Cluster, attempts: int) -> bool:
    return cluster.metrics.attempts > attempts


async def test_a_gang_with_room_starts_whole_and_says_so_once(cluster: Cluster) -> None:
    cluster.add_nodes(8)
    async with cluster.scheduler():
        cluster.add_gang("g", 8)
        await cluster.api.until(lambda: bool(cluster.events("Scheduled")))
        assert len(cluster.api.bound()) == 8
        assert cluster.group_says("g") == TRUE
        assert cluster.events("Scheduled")[0]["related"]["kind"] == "Job"
    assert len(cluster.events("Scheduled", "PodGroup")) == 1
    assert cluster.events("Scheduled", "Pod") == []


async def test_a_gang_of_eight_with_room_for_seven_binds_nothing_and_says_why(cluster: Cluster) -> None:
    cluster.add_nodes(7)
    async with cluster.scheduler():
        cluster.add_gang("g", 8)
        await cluster.api.until(lambda: len(cluster.events("FailedScheduling")) == 2)
        await cluster.api.until(lambda: all(cluster.pod_says(f"g-{i}") == "Unschedulable" for i in range(8)))
        assert cluster.api.bound() == {}
        assert cluster.group_says("g") == REFUSED
    message = cluster.group_message("g")
    assert "minCount (8) cannot be satisfied" in message
    assert "Insufficient nvidia.com/gpu" in message
    job, group = cluster.events("FailedScheduling", "Job")[0], cluster.events("FailedScheduling", "PodGroup")[0]
    assert "Insufficient nvidia.com/gpu" in job["note"]
    assert (job["type"], job["related"]["kind"]) == ("Warning", "PodGroup")
    assert group["related"]["kind"] == "Job"


async def test_a_new_node_starts_the_waiting_gang_whole(cluster: Cluster) -> None:
    cluster.add_nodes(7)
    async with cluster.scheduler(initial_backoff_seconds=600, max_backoff_seconds=600):
        cluster.add_gang("g", 8)
        await cluster.api.until(lambda: cluster.group_says("g") == REFUSED)
        cluster.add_nodes(1, first=7)
        await cluster.api.until(lambda: cluster.group_says("g") == TRUE)
        assert len(cluster.api.bound()) == 8


async def test_retries_that_change_nothing_write_nothing(cluster: Cluster) -> None:
    cluster.add_nodes(7)
    async with cluster.scheduler(initial_backoff_seconds=0.005, max_backoff_seconds=0.01) as scheduler:
        cluster.add_gang("g", 8)
        await cluster.api.until(lambda: all(cluster.pod_says(f"g-{i}") == "Unschedulable" for i in range(8)))
        await cluster.api.until(lambda: len(cluster.events("FailedScheduling")) == 2)
        await scheduler.dispatcher.idle()
        writes = len([verb for verb, _, _ in cluster.api.log if verb in {"create", "patch"}])
        # Room that is no help: the gang is tried again and nothing about it changes but counts.
        for number in range(3):
            tried = cluster.metrics.attempts
            cluster.api.put("nodes", node(f"tiny-{number}", gpus=0))
            await cluster.api.until(partial(_has_tried_more_often, cluster, tried))
        await scheduler.dispatcher.idle()
        assert cluster.api.bound() == {}
        changed = [entry for entry in cluster.api.log if entry[0] in {"create", "patch"}][writes:]
        assert [entry for entry in changed if entry[1] in {"pods/status", "events"}] == []


async def test_a_gang_that_misses_members_says_how_many_and_starts_when_they_come(cluster: Cluster) -> None:
    cluster.add_nodes(8)
    async with cluster.scheduler():
        cluster.api.put("podgroups", gang("g", 8))
        cluster.add_members("g", 5)
        await cluster.api.until(lambda: cluster.group_says("g") == ("False", "WaitingForMembers"))
        await cluster.api.until(lambda: len(cluster.events("WaitingForMembers")) == 2)
        assert "5 of" in cluster.group_message("g")
        cluster.add_members("g", 1, first=5)
        await cluster.api.until(lambda: "6 of" in cluster.group_message("g"))
        cluster.add_members("g", 2, first=6)
        await cluster.api.until(lambda: cluster.group_says("g") == TRUE)
    assert len(cluster.api.bound()) == 8
    assert len(cluster.events("WaitingForMembers", "Job")) == 1


async def test_pods_whose_group_does_not_exist_are_held_and_their_job_is_told(cluster: Cluster) -> None:
    cluster.add_nodes(8)
    async with cluster.scheduler():
        cluster.add_members("g", 8)
        await cluster.api.until(lambda: bool(cluster.events("WaitingForPodGroup")))
        assert cluster.api.bound() == {}
        cluster.api.put("podgroups", gang("g", 8))
        await cluster.api.until(lambda: cluster.group_says("g") == TRUE)
    assert [event["regarding"]["kind"] for event in cluster.events("WaitingForPodGroup")] == ["Job"]


async def test_two_gangs_that_fit_one_at_a_time_are_never_both_started(cluster: Cluster) -> None:
    cluster.add_nodes(10)
    async with cluster.scheduler():
        cluster.api.put("podgroups", gang("a", 6))
        cluster.api.put("podgroups", gang("b", 6))
        for number in range(6):
            for name in ("a", "b"):
                cluster.add_members(name, 1, first=number)
        await cluster.api.until(lambda: sorted([cluster.group_says("a"), cluster.group_says("b")]) == [REFUSED, TRUE])
    assert len(cluster.api.bound()) == 6


async def test_a_lone_pod_is_bound_and_told(cluster: Cluster) -> None:
    cluster.add_nodes(1)
    async with cluster.scheduler():
        cluster.api.put("pods", pod("lone"))
        await cluster.api.until(lambda: bool(cluster.events("Scheduled", "Pod")))
    assert cluster.api.bound() == {"lone": "n0"}


async def test_a_lone_pod_without_room_says_why(cluster: Cluster) -> None:
    cluster.add_nodes(1)
    async with cluster.scheduler():
        cluster.api.put("pods", pod("big", gpus=2))
        await cluster.api.until(lambda: bool(cluster.events("FailedScheduling", "Pod")))
        await cluster.api.until(lambda: cluster.pod_says("big") == "Unschedulable")
    assert "Insufficient nvidia.com/gpu" in cluster.events("FailedScheduling", "Pod")[0]["note"]


async def test_pods_of_other_schedulers_are_left_alone_but_take_room(cluster: Cluster) -> None:
    cluster.add_nodes(8)
    foreign = pod("foreign", scheduler="default-scheduler")
    foreign["spec"]["nodeName"] = "n0"
    cluster.api.put("pods", foreign)
    cluster.api.put("pods", pod("other", scheduler="default-scheduler"))
    async with cluster.scheduler():
        cluster.add_gang("g", 8)
        await cluster.api.until(lambda: cluster.group_says("g") == REFUSED)
    assert cluster.api.bound() == {"foreign": "n0"}
    assert cluster.pod_says("other") == ""


async def test_a_lost_bind_answer_is_read_and_the_gang_is_whole(cluster: Cluster) -> None:
    cluster.add_nodes(8)
    cluster.api.after.append(once("create", "pods/binding", OutcomeUnknown("lost")))
    async with cluster.scheduler():
        cluster.add_gang("g", 8)
        await cluster.api.until(lambda: cluster.group_says("g") == TRUE)
    assert len(cluster.api.sent("create", "pods/binding")) == 8
    assert len(cluster.api.bound()) == 8


async def test_scheduled_is_said_only_when_enough_binds_are_answered(cluster: Cluster) -> None:
    cluster.add_nodes(3)
    too_early: list[str] = []
    async with cluster.scheduler(bind_concurrency=1):
        cluster.add_gang("g", 3)
        await cluster.api.until(lambda: len(cluster.api.bound()) == 1)
        too_early.append(cluster.group_says("g")[0])
        await cluster.api.until(lambda: cluster.group_says("g") == TRUE)
        order = [what for verb, what, _ in cluster.api.log if verb in {"create", "patch"} and what != "events"]
    assert too_early == [""]
    assert order == ["pods/binding"] * 3 + ["podgroups/status"]


async def test_the_answers_count_while_the_watch_lags(cluster: Cluster) -> None:
    cluster.add_nodes(3)
    async with cluster.scheduler() as scheduler:
        cluster.add_gang("g", 3)
        await cluster.api.until(lambda: scheduler.state.pods_total == 3)
        cluster.api.hold_watches = True
        await cluster.api.until(lambda: cluster.group_says("g") == TRUE)
        cluster.api.hold_watches = False


async def test_a_bind_refused_for_good_gives_the_room_back_and_the_member_is_tried_again(cluster: Cluster) -> None:
    cluster.add_nodes(3)
    cluster.api.before.append(once("create", "pods/binding", Conflict(409, "Conflict", "not now")))
    async with cluster.scheduler():
        cluster.add_gang("g", 3)
        await cluster.api.until(lambda: cluster.group_says("g") == TRUE)
        await cluster.api.until(lambda: len(cluster.api.bound()) == 3)
    assert sorted(cluster.api.bound().values()) == ["n0", "n1", "n2"]


async def test_a_rival_that_takes_a_member_away_does_not_keep_its_room_taken(cluster: Cluster) -> None:
    cluster.add_nodes(2)
    async with cluster.scheduler():

        def rival(verb: str, what: str, name: str) -> None:
            if (verb, what, name) == ("create", "pods/binding", "mine") and "mine" not in cluster.api.bound():
                taken = cluster.api.peek("pods", "ns", "mine")
                taken["spec"]["nodeName"] = "elsewhere"
                cluster.api.put("pods", taken)

        cluster.api.before.append(rival)
        cluster.api.put("pods", pod("mine"))
        await cluster.api.until(lambda: "mine" in cluster.api.bound())
        cluster.add_gang("g", 2)
        await cluster.api.until(lambda: cluster.group_says("g") == TRUE)
    assert cluster.api.bound()["mine"] == "elsewhere"


async def test_a_gang_that_stays_partly_bound_says_that_it_is_degraded_and_when_it_is_not(cluster: Cluster) -> None:
    cluster.add_nodes(3)
    stuck = always("create", "pods/binding", Conflict(409, "Conflict", "not now"))
    async with cluster.scheduler(bind_concurrency=1):
        cluster.add_gang("g", 3)
        await cluster.api.until(lambda: len(cluster.api.bound()) == 2)
        cluster.api.before.append(stuck)
        await cluster.api.until(
            lambda: cluster.group_says("g", CONDITION_POD_GROUP_SATISFIED) == ("False", "BelowMinimum")
        )
        assert "2 of at least 3" in cluster.group_message("g", CONDITION_POD_GROUP_SATISFIED)
        assert cluster.group_says("g")[0] != "True"
        cluster.api.before.remove(stuck)
        await cluster.api.until(lambda: cluster.group_says("g", CONDITION_POD_GROUP_SATISFIED) == ("True", "Recovered"))
        assert cluster.group_says("g") == TRUE


async def test_a_missing_right_to_bind_is_said_on_the_group(cluster: Cluster) -> None:
    cluster.add_nodes(2)
    cluster.api.before.append(always("create", "pods/binding", Forbidden(403, "Forbidden", "cannot create binding")))
    async with cluster.scheduler():
        cluster.add_gang("g", 2)
        await cluster.api.until(lambda: cluster.group_says("g") == ("False", "SchedulerError"))
        assert cluster.group_says("g", CONDITION_POD_GROUP_SATISFIED) == ("False", "BindForbidden")
    assert "cannot create binding" in cluster.group_message("g")
    assert cluster.api.bound() == {}


async def test_a_gang_whose_namespace_is_being_deleted_says_that_and_not_that_a_right_is_missing(
    cluster: Cluster,
) -> None:
    cluster.add_nodes(2)
    going = Forbidden(403, "Forbidden", "no", {"causes": [{"reason": "NamespaceTerminating"}]})
    cluster.api.before.append(always("create", "pods/binding", going))
    async with cluster.scheduler():
        cluster.add_gang("g", 2)
        await cluster.api.until(
            lambda: cluster.group_says("g", CONDITION_POD_GROUP_SATISFIED) == ("False", "NamespaceTerminating")
        )
        await cluster.api.until(lambda: "the namespace ns is being deleted" in cluster.group_message("g"))
    assert "may not bind" not in cluster.group_message("g")


async def test_nothing_is_written_without_the_lease(cluster: Cluster) -> None:
    cluster.holds_lease = False
    cluster.add_nodes(8)
    async with cluster.scheduler() as scheduler:
        cluster.add_gang("g", 8)
        await cluster.api.until(lambda: scheduler.state.pods_total == 8)
        await scheduler.dispatcher.idle()
    assert [verb for verb, what, _ in cluster.api.log if verb in {"create", "patch"} and what != "events"] == []
    assert cluster.api.bound() == {}


async def test_a_restart_in_the_middle_of_binding_ends_with_one_whole_gang(cluster: Cluster) -> None:
    cluster.add_nodes(8)
    async with cluster.scheduler(bind_concurrency=1):
        cluster.add_gang("g", 8)
        await cluster.api.until(lambda: len(cluster.api.bound()) >= 3)
    assert len(cluster.api.bound()) < 8
    async with cluster.scheduler():
        await cluster.api.until(lambda: cluster.group_says("g") == TRUE)
        await cluster.api.until(lambda: len(cluster.api.bound()) == 8)
    assert sorted(cluster.api.bound().values()) == [f"n{number}" for number in range(8)]


async def test_a_restart_says_what_its_predecessor_did_not_come_to_say(cluster: Cluster) -> None:
    cluster.add_nodes(2)
    cluster.add_gang("g", 2)
    for name in ("g-0", "g-1"):
        bound = cluster.api.peek("pods", "ns", name)
        bound["spec"]["nodeName"] = "n0" if name == "g-0" else "n1"
        cluster.api.put("pods", bound)
    async with cluster.scheduler():
        await cluster.api.until(lambda: cluster.group_says("g") == TRUE)


async def test_a_waiting_gang_is_not_written_again_after_a_restart(cluster: Cluster) -> None:
    cluster.add_nodes(7)
    async with cluster.scheduler() as scheduler:
        cluster.add_gang("g", 8)
        await cluster.api.until(lambda: all(cluster.pod_says(f"g-{i}") == "Unschedulable" for i in range(8)))
        await scheduler.dispatcher.idle()
    patches = len([verb for verb, _, _ in cluster.api.log if verb == "patch"])
    said = len(cluster.events("FailedScheduling"))
    async with cluster.scheduler() as scheduler:
        await cluster.api.until(lambda: len(cluster.events("FailedScheduling")) == said + 2)
        await scheduler.dispatcher.idle()
    assert len([verb for verb, _, _ in cluster.api.log if verb == "patch"]) == patches


async def test_a_minimum_that_finished_members_complete_counts_as_started(cluster: Cluster) -> None:
    cluster.add_nodes(3)
    async with cluster.scheduler():
        cluster.api.put("podgroups", gang("g", 3))
        done = pod("g-done", group="g", owned=True)
        done["spec"]["nodeName"] = "n0"
        done["status"]["phase"] = "Succeeded"
        cluster.api.put("pods", done)
        cluster.add_members("g", 2)
        await cluster.api.until(lambda: cluster.group_says("g") == TRUE)
    assert len(cluster.api.bound()) == 3


async def test_the_cache_equals_a_recount_and_a_difference_is_found(cluster: Cluster) -> None:
    cluster.add_nodes(8)
    async with cluster.scheduler() as scheduler:
        cluster.add_gang("g", 8)
        await cluster.api.until(lambda: cluster.group_says("g") == TRUE)
        assert not await scheduler.cache_comparer.check()
        scheduler.state.remove_pod("ns", "g-0", cluster.api.peek("pods", "ns", "g-0")["metadata"]["uid"])
        scheduler.cache_comparer.confirm_seconds = 0.0
        drift = await scheduler.cache_comparer.check()
    assert len(drift.missing) == 1
    value = cluster.metrics.registry.get_sample_value("tutti_cache_drift", {"kind": "missing"})
    assert value == 1


async def test_members_beyond_the_minimum_wait_without_taking_the_start_back(cluster: Cluster) -> None:
    cluster.add_nodes(3)
    async with cluster.scheduler() as scheduler:
        cluster.add_gang("g", 4, min_count=3)
        await cluster.api.until(lambda: cluster.group_says("g") == TRUE)
        await cluster.api.until(lambda: len(cluster.api.bound()) == 3)
        late = next(f"g-{number}" for number in range(4) if f"g-{number}" not in cluster.api.bound())
        await cluster.api.until(lambda: cluster.pod_says(late) == "Unschedulable")
        await scheduler.dispatcher.idle()
        assert cluster.group_says("g") == TRUE
        cluster.add_nodes(1, first=3)
        await cluster.api.until(lambda: len(cluster.api.bound()) == 4)


async def test_a_decided_pod_that_the_watch_never_shows_is_read(cluster: Cluster) -> None:
    cluster.add_nodes(1)
    async with cluster.scheduler(assume_seconds=0.05) as scheduler:
        cluster.api.put("pods", pod("lone"))
        await cluster.api.until(lambda: scheduler.state.pods_total == 1)
        uid = cluster.api.peek("pods", "ns", "lone")["metadata"]["uid"]
        cluster.api.hold_watches = True
        await cluster.api.until(lambda: bool(cluster.api.sent("get", "pods")))
        await scheduler.dispatcher.idle()
        found = scheduler.state.pod(uid)
        assert found is not None
        assert found.node_name == "n0"
        cluster.api.hold_watches = False


async def test_an_unexpected_error_in_one_decision_is_that_groups_error_only(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fragile(state: ClusterState, key: EntityKey, aim: int) -> Decision:
        if key.name == "bad":
            raise ZeroDivisionError
        return decide(state, key, aim)

    monkeypatch.setattr(schedule_one, "decide", fragile)
    cluster.add_nodes(4)
    async with cluster.scheduler():
        cluster.add_gang("bad", 2)
        cluster.add_gang("good", 2)
        await cluster.api.until(lambda: cluster.group_says("good") == TRUE)
        await cluster.api.until(lambda: cluster.group_says("bad") == ("False", "SchedulerError"))
    assert "ZeroDivisionError" in cluster.group_message("bad")


async def test_metrics_carry_no_names_of_objects(cluster: Cluster) -> None:
    cluster.add_nodes(1)
    async with cluster.scheduler():
        cluster.add_gang("first-gang", 1)
        cluster.add_gang("second-gang", 1)
        await cluster.api.until(lambda: cluster.group_says("first-gang") == TRUE)
        await cluster.api.until(lambda: cluster.group_says("second-gang") == REFUSED)
        shown = generate_latest(cluster.metrics.registry).decode()
    assert "first-gang" not in shown
    assert "second-gang" not in shown
    assert 'namespace="' not in shown
    assert 'tutti_podgroup_schedule_attempts_total{result="scheduled",type="group"} 1.0' in shown
    assert 'tutti_writes_total{lane="bind",outcome="bound"} 1.0' in shown
    assert 'tutti_cache_objects{kind="nodes"} 1.0' in shown
