"""A group of a tree that could not be repaired in time: who is deleted, who is asked to leave, and who is told."""

import asyncio
from typing import Any

import pytest
from prometheus_client import generate_latest

from api.constants import (
    CONDITION_DISRUPTION_TARGET,
    DEGRADED,
    EVENT_GANG_RESTARTED,
    MANAGED_BY,
    MANAGED_BY_TUTTI,
    REPAIR_TIMEOUT,
)
from tests.scheduler.shell.cluster import Cluster
from tests.scheduler.shell.manifests import Object, composite, gang, pod
from tests.scheduler.shell.virtual_time import run_virtually

CALM: dict[str, Any] = {"initial_backoff_seconds": 1.0, "max_backoff_seconds": 10.0, "preemption": False}
ANEW = {DEGRADED: "restart", REPAIR_TIMEOUT: "5m"}
OF_JOB = {**ANEW, MANAGED_BY: MANAGED_BY_TUTTI}
REST_OF_A = {"a-1", "a-2"}
ALL_OF_B = {"b-0", "b-1", "b-2"}
STARTED = ("True", "Scheduled")


def _cluster() -> Cluster:
    return Cluster(clock=asyncio.get_running_loop().time)


def _group(name: str, annotations: dict[str, str]) -> Object:
    made = gang(name, 3, parent="tree", owned=MANAGED_BY in annotations)
    made["metadata"]["annotations"] = annotations
    return made


async def _short(cluster: Cluster, mode: str, said: dict[str, dict[str, str]] | None = None) -> None:
    """A tree of two gangs of three has started, and a node of the first one is gone with its pod.

    Args:
        cluster: with a scheduler.
        mode: disruption mode of the root.
        said: annotations of the groups, `ANEW` where nothing is said.
    """
    cluster.add_nodes(6)
    root = composite("tree", 2)
    root["spec"]["disruptionMode"] = {mode: {}}
    cluster.api.put("compositepodgroups", root)
    for name in ("a", "b"):
        cluster.api.put("podgroups", _group(name, (said or {}).get(name, ANEW)))
        cluster.add_members(name, 3)
    await cluster.api.until(lambda: cluster.tree_says("tree") == STARTED)
    await asyncio.sleep(1)
    cluster.api.remove("nodes", "", cluster.api.bound()["a-0"])
    cluster.api.remove("pods", "ns", "a-0")


def _deleted(cluster: Cluster) -> set[str]:
    return set(cluster.api.sent("delete", "pods"))


def _target(cluster: Cluster, name: str) -> dict[str, Any]:
    return cluster.api.condition("podgroups", "ns", name, CONDITION_DISRUPTION_TARGET)


def _restarts(cluster: Cluster) -> float:
    lines = generate_latest(cluster.metrics.registry).decode().splitlines()
    return next(float(line.rpartition(" ")[2]) for line in lines if line.startswith("tutti_gang_restarts_total "))


@pytest.mark.parametrize(
    ("mode", "gone", "told"),
    [("single", REST_OF_A, {"a"}), ("all", REST_OF_A | ALL_OF_B, {"a", "b", "tree"})],
)
def test_of_groups_made_by_hand_all_pods_that_leave_are_deleted_once(mode: str, gone: set[str], told: set[str]) -> None:
    async def story() -> None:
        cluster = _cluster()
        async with cluster.scheduler(**CALM):
            await _short(cluster, mode)
            await asyncio.sleep(290)
            assert _deleted(cluster) == set()
            await cluster.api.until(lambda: _deleted(cluster) == gone)
            await asyncio.sleep(1000)
            assert sorted(cluster.api.sent("delete", "pods")) == sorted(gone)
            assert gone <= set(cluster.api.sent("patch", "pods/status")), "they are marked as disrupted before"
            events = [event["regarding"] for event in cluster.events(EVENT_GANG_RESTARTED)]
            assert {one["name"] for one in events if one["kind"] != "Job"} == told
            assert _restarts(cluster) == len(told - {"tree"})

    run_virtually(story())


def test_who_leaves_with_its_tree_reads_whose_members_were_missing() -> None:
    async def story() -> None:
        cluster = _cluster()
        async with cluster.scheduler(**CALM):
            await _short(cluster, "all")
            await asyncio.sleep(290)
            await cluster.api.until(lambda: bool(cluster.events(EVENT_GANG_RESTARTED, "CompositePodGroup")))
            await asyncio.sleep(10)
            said = (
                "members of pod group a were missing for too long: all below composite pod group tree leaves and "
                "queues again"
            )
            assert {event["note"] for event in cluster.events(EVENT_GANG_RESTARTED, "PodGroup")} == {said}
            assert cluster.events(EVENT_GANG_RESTARTED, "Job")[0]["note"] == f"composite pod group tree: {said}"

    run_virtually(story())


def test_a_job_of_a_tree_that_leaves_whole_is_suspended_and_the_pods_of_others_are_deleted() -> None:
    async def story() -> None:
        cluster = _cluster()
        async with cluster.scheduler(**CALM):
            await _short(cluster, "all", {"b": OF_JOB})
            await asyncio.sleep(290)
            await cluster.api.until(lambda: _target(cluster, "b").get("status") == "True")
            assert _target(cluster, "b")["reason"] == "GangRestart"
            await asyncio.sleep(10)
            assert _deleted(cluster) == REST_OF_A
            for name in sorted(ALL_OF_B):
                cluster.api.remove("pods", "ns", name)
            await cluster.api.until(lambda: _target(cluster, "b").get("status") == "False")

    run_virtually(story())


def test_a_tree_that_has_left_starts_whole_when_there_is_room_for_all_of_it() -> None:
    async def story() -> None:
        cluster = _cluster()
        async with cluster.scheduler(**CALM):
            await _short(cluster, "all")
            await asyncio.sleep(290)
            await cluster.api.until(lambda: _deleted(cluster) == REST_OF_A | ALL_OF_B)
            for name in ("a", "b"):
                cluster.add_members(name, 3, first=10)
            await asyncio.sleep(30)
            assert cluster.api.bound() == {}, "five nodes are left for six pods"
            cluster.add_nodes(1, first=6)
            await cluster.api.until(lambda: len(cluster.api.bound()) == 6)
            await asyncio.sleep(1000)
            assert len(cluster.api.sent("delete", "pods")) == 5
            assert cluster.tree_says("tree") == STARTED

    run_virtually(story())


def test_a_group_whose_siblings_stay_starts_anew_beside_them_before_a_younger_gang() -> None:
    async def story() -> None:
        cluster = _cluster()
        async with cluster.scheduler(**CALM):
            await _short(cluster, "single")
            await asyncio.sleep(290)
            await cluster.api.until(lambda: _deleted(cluster) == REST_OF_A)
            places = {name: cluster.api.bound()[name] for name in ALL_OF_B}
            cluster.add_members("a", 3, first=10)
            young = gang("young", 3)
            young["metadata"]["creationTimestamp"] = "2026-01-01T00:05:00Z"
            cluster.api.put("podgroups", young)
            cluster.add_members("young", 3)
            await asyncio.sleep(30)
            assert cluster.api.bound() == places
            cluster.add_nodes(1, first=6)
            await cluster.api.until(lambda: len(cluster.api.bound()) == 6)
            await asyncio.sleep(100)
            assert cluster.api.bound().keys() == ALL_OF_B | {f"a-{number}" for number in range(10, 13)}

    run_virtually(story())


def test_a_scheduler_that_takes_over_while_a_tree_leaves_has_the_rest_leave() -> None:
    async def story() -> None:
        cluster = _cluster()
        async with cluster.scheduler(**CALM):
            await _short(cluster, "all")
            await asyncio.sleep(290)
        # The group that is short is the last to leave: this is what a scheduler leaves behind that dies before it has.
        for name in sorted(ALL_OF_B - {"b-2"}):
            cluster.api.remove("pods", "ns", name)
        async with cluster.scheduler(**CALM):
            await asyncio.sleep(290)
            await cluster.api.until(lambda: _deleted(cluster) == REST_OF_A | {"b-2"})

    run_virtually(story())


def test_of_a_replica_the_leader_is_deleted() -> None:
    async def story() -> None:
        cluster = _cluster()
        async with cluster.scheduler(**CALM):
            await _short(cluster, "single")
            leader = cluster.api.peek("pods", "ns", "a-1")
            replica = _group("a", OF_JOB)
            owner = {"apiVersion": "v1", "kind": "Pod", "name": "a-1", "uid": leader["metadata"]["uid"]}
            replica["metadata"]["ownerReferences"] = [{**owner, "controller": True}]
            replica["metadata"]["uid"] = cluster.api.peek("podgroups", "ns", "a")["metadata"]["uid"]
            replica["status"] = cluster.api.peek("podgroups", "ns", "a")["status"]
            worker = cluster.api.peek("pods", "ns", "a-2")
            worker["metadata"]["ownerReferences"] = [{**owner, "controller": True}]
            cluster.api.put("pods", worker)
            cluster.api.put("podgroups", replica)
            await asyncio.sleep(1000)
            assert cluster.api.sent("delete", "pods") == ["a-1"]

    run_virtually(story())


def test_a_member_of_a_tree_that_joins_while_it_runs_changes_nothing_of_that() -> None:
    async def story() -> None:
        cluster = _cluster()
        async with cluster.scheduler(**CALM):
            await _short(cluster, "all")
            cluster.api.put("pods", pod("a-0-again", group="a"))
            await asyncio.sleep(290)
            assert _deleted(cluster) == set()
            await cluster.api.until(lambda: _deleted(cluster) == REST_OF_A | ALL_OF_B)
            assert cluster.api.sent("delete", "pods").count("a-0-again") == 0

    run_virtually(story())


def test_nobody_leaves_with_a_group_that_its_owner_left_behind() -> None:
    async def story() -> None:
        cluster = _cluster()
        async with cluster.scheduler(**CALM):
            await _short(cluster, "all", {"b": OF_JOB})
            cluster.leave_behind("b")
            await asyncio.sleep(1000)
            assert _deleted(cluster) == set()
            assert _restarts(cluster) == 0

    run_virtually(story())
