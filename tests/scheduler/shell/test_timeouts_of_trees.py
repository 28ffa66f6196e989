"""What people and controllers see of a tree of groups that gives up."""

import asyncio
from typing import Any

from api.constants import CONDITION_SCHEDULED, CONDITION_TIMED_OUT, SCHEDULING_TIMEOUT
from tests.scheduler.shell.cluster import Cluster
from tests.scheduler.shell.manifests import composite, gang, pod
from tests.scheduler.shell.virtual_time import run_virtually

CALM: dict[str, Any] = {"initial_backoff_seconds": 1.0, "max_backoff_seconds": 10.0, "preemption": False}
GROUPS = ("a", "b")
LEVELS = ("tree", "branch")
PODS = ("a-0", "a-1", "b-0", "b-1")
GAVE_UP = ("False", "SchedulingTimeout")
TIMED_OUT = ("True", "SchedulingTimeout")
WAITS_AGAIN = ("False", "WaitsAgain")
TRUE = ("True", "Scheduled")


def _cluster() -> Cluster:
    """Room for three of the four pods of a tree of two levels that gives up after ten minutes."""
    cluster = Cluster(clock=asyncio.get_running_loop().time)
    cluster.add_nodes(3)
    root = composite("tree", 1)
    root["metadata"]["annotations"] = {SCHEDULING_TIMEOUT: "10m"}
    cluster.api.put("compositepodgroups", root)
    cluster.api.put("compositepodgroups", composite("branch", 2, parent="tree"))
    for name in GROUPS:
        cluster.api.put("podgroups", gang(name, 2, owned=False, parent="branch"))
        cluster.add_members(name, 2)
    return cluster


def _timed_out(cluster: Cluster) -> set[tuple[str, str]]:
    """Status and reason of `SchedulingTimedOut` on all levels."""
    levels = [cluster.api.condition("compositepodgroups", "ns", name, CONDITION_TIMED_OUT) for name in LEVELS]
    said = {(found.get("status", ""), found.get("reason", "")) for found in levels}
    return said | {cluster.group_says(name, CONDITION_TIMED_OUT) for name in GROUPS}


def _says(cluster: Cluster) -> set[tuple[str, str]]:
    """Status and reason of the condition that each level and each group has of its start."""
    return {cluster.tree_says(name) for name in LEVELS} | {cluster.group_says(name) for name in GROUPS}


def _writes(cluster: Cluster) -> list[Any]:
    return [entry for entry in cluster.api.log if entry[0] != "list"]


def test_a_tree_that_gives_up_says_so_once_on_each_level_and_its_owner_hears_it() -> None:
    async def story() -> None:
        cluster = _cluster()
        async with cluster.scheduler(**CALM):
            await asyncio.sleep(590)
            assert _says(cluster) == {("False", "Unschedulable")}
            assert _timed_out(cluster) == {("", "")}
            await asyncio.sleep(20)
            assert _says(cluster) == {GAVE_UP}
            assert _timed_out(cluster) == {TIMED_OUT}
            said = cluster.api.condition("compositepodgroups", "ns", "tree", CONDITION_TIMED_OUT)["message"]
            assert said.startswith("gave up after 10 min: minGroupCount (1) cannot be satisfied")
            assert cluster.group_message("a") == f"composite pod group tree: {said}"
            assert {cluster.pod_says(name) for name in PODS} == {"SchedulingTimeout"}
            (told,) = cluster.events("SchedulingTimeout", "Job")
            assert told["note"] == f"composite pod group tree: {said}"
            assert len(cluster.events("SchedulingTimeout", "CompositePodGroup")) == 1
            assert cluster.events("SchedulingTimeout", "PodGroup") == []
            written = len(_writes(cluster))
            cluster.add_nodes(1, first=3)
            await asyncio.sleep(1000)
            assert _writes(cluster)[written:] == []
            assert cluster.api.bound() == {}

    run_virtually(story())


def test_it_is_taken_back_when_its_pods_are_gone_and_new_ones_start() -> None:
    async def story() -> None:
        cluster = _cluster()
        async with cluster.scheduler(**CALM):
            await asyncio.sleep(610)
            for name in PODS:
                cluster.api.remove("pods", "ns", name)
            await asyncio.sleep(1)
            assert _timed_out(cluster) == {WAITS_AGAIN}
            cluster.add_nodes(1, first=3)
            for name in PODS:
                late = pod(f"{name}-again", group=name[0])
                late["metadata"]["creationTimestamp"] = "2026-01-01T00:10:11Z"
                cluster.api.put("pods", late)
            await cluster.api.until(lambda: _says(cluster) == {TRUE})
            assert _timed_out(cluster) == {WAITS_AGAIN}

    run_virtually(story())


def test_a_longer_limit_at_the_root_lets_it_try_again() -> None:
    async def story() -> None:
        cluster = _cluster()
        async with cluster.scheduler(**CALM):
            await asyncio.sleep(610)
            root = cluster.api.peek("compositepodgroups", "ns", "tree")
            root["metadata"]["annotations"] = {SCHEDULING_TIMEOUT: "1h"}
            cluster.api.put("compositepodgroups", root)
            await asyncio.sleep(15)
            assert _timed_out(cluster) == {WAITS_AGAIN}
            assert _says(cluster) == {("False", "Unschedulable")}
            cluster.add_nodes(1, first=3)
            await cluster.api.until(lambda: _says(cluster) == {TRUE})

    run_virtually(story())


def test_a_restart_neither_forgets_nor_repeats_it() -> None:
    async def story() -> None:
        cluster = _cluster()
        async with cluster.scheduler(**CALM):
            await asyncio.sleep(610)
        written = len(_writes(cluster))
        async with cluster.scheduler(**CALM):
            cluster.add_nodes(1, first=3)
            await asyncio.sleep(100)
            assert cluster.api.bound() == {}
            assert _writes(cluster)[written:] == []
        for name in PODS:
            cluster.api.remove("pods", "ns", name)
        async with cluster.scheduler(**CALM):
            await cluster.api.until(lambda: _timed_out(cluster) == {WAITS_AGAIN})

    run_virtually(story())


def test_a_scheduler_that_takes_over_says_what_its_predecessor_did_not_come_to_say() -> None:
    async def story() -> None:
        cluster = _cluster()
        async with cluster.scheduler(**CALM):
            await asyncio.sleep(610)
        for kind, name, type_ in (
            ("podgroups", "b", CONDITION_SCHEDULED),
            ("compositepodgroups", "branch", "CompositePodGroupInitiallyScheduled"),
        ):
            stored = cluster.api.peek(kind, "ns", name)
            stored["status"]["conditions"] = [{"type": type_, "status": "False", "reason": "Unschedulable"}]
            cluster.api.put(kind, stored)
        async with cluster.scheduler(**CALM):
            await cluster.api.until(lambda: _timed_out(cluster) == {TIMED_OUT})
            await cluster.api.until(lambda: _says(cluster) == {GAVE_UP})
            await asyncio.sleep(10)
            assert len(cluster.events("SchedulingTimeout", "CompositePodGroup")) == 1

    run_virtually(story())


def test_what_one_level_says_of_a_tree_that_has_not_given_up_is_taken_back() -> None:
    async def story() -> None:
        cluster = _cluster()
        stored = cluster.api.peek("podgroups", "ns", "b")
        stored["status"] = {
            "conditions": [{"type": CONDITION_TIMED_OUT, "status": "True", "reason": "SchedulingTimeout"}]
        }
        cluster.api.put("podgroups", stored)
        async with cluster.scheduler(**CALM):
            await cluster.api.until(lambda: cluster.group_says("b", CONDITION_TIMED_OUT) == WAITS_AGAIN)
            assert cluster.group_says("a", CONDITION_TIMED_OUT) == ("", "")

    run_virtually(story())
