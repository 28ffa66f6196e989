"""What people and controllers see of a gang that gives up, and of room that is kept for one that has waited too long."""

import asyncio
from typing import Any

from api.constants import CONDITION_SCHEDULED, CONDITION_TIMED_OUT, DESIRED_COUNT, SCHEDULING_TIMEOUT
from tests.scheduler.shell.cluster import Cluster
from tests.scheduler.shell.manifests import Object, gang, node, pod
from tests.scheduler.shell.virtual_time import run_virtually

TIMED_OUT = ("True", "SchedulingTimeout")
TRUE = ("True", "Scheduled")
CALM: dict[str, Any] = {"initial_backoff_seconds": 1.0, "max_backoff_seconds": 10.0, "preemption": False}
"""The usual pauses: ten minutes are many retries otherwise."""


def _cluster() -> Cluster:
    return Cluster(clock=asyncio.get_running_loop().time)


def _impatient(name: str, size: int, limit: str = "10m") -> Object:
    group = gang(name, size)
    group["metadata"]["annotations"] = {SCHEDULING_TIMEOUT: limit}
    return group


def test_a_gang_that_gives_up_says_so_once_everywhere() -> None:
    async def story() -> None:
        cluster = _cluster()
        cluster.add_nodes(1)
        async with cluster.scheduler(**CALM):
            cluster.api.put("podgroups", _impatient("g", 2))
            cluster.add_members("g", 2)
            await asyncio.sleep(590)
            assert cluster.group_says("g") == ("False", "Unschedulable")
            await asyncio.sleep(20)
            assert cluster.group_says("g", CONDITION_TIMED_OUT) == TIMED_OUT
            assert cluster.group_says("g", CONDITION_SCHEDULED) == ("False", "SchedulingTimeout")
            assert cluster.group_message("g").startswith("gave up after 10 min: minCount (2) cannot be satisfied")
            assert [cluster.pod_says(f"g-{number}") for number in range(2)] == ["SchedulingTimeout"] * 2
            assert len(cluster.events("SchedulingTimeout", "Job")) == 1
            assert len(cluster.events("SchedulingTimeout", "PodGroup")) == 1
            written = len(cluster.api.log)
            cluster.add_nodes(1, first=1)
            await asyncio.sleep(1000)
            assert cluster.api.log[written:] == []
            assert cluster.api.bound() == {}

    run_virtually(story())


def test_it_is_taken_back_when_its_pods_are_gone_and_new_ones_start() -> None:
    async def story() -> None:
        cluster = _cluster()
        cluster.add_nodes(1)
        async with cluster.scheduler(**CALM):
            cluster.api.put("podgroups", _impatient("g", 2))
            cluster.add_members("g", 2)
            await asyncio.sleep(610)
            for number in range(2):
                cluster.api.remove("pods", "ns", f"g-{number}")
            await asyncio.sleep(1)
            assert cluster.group_says("g", CONDITION_TIMED_OUT) == ("False", "WaitsAgain")
            cluster.add_nodes(1, first=1)
            for number in range(2, 4):
                late = pod(f"g-{number}", group="g", owned=True)
                late["metadata"]["creationTimestamp"] = "2026-01-01T00:10:11Z"
                cluster.api.put("pods", late)
            await cluster.api.until(lambda: cluster.group_says("g") == TRUE)

    run_virtually(story())


def test_a_restart_neither_forgets_nor_repeats_it() -> None:
    async def story() -> None:
        cluster = _cluster()
        cluster.add_nodes(1)
        async with cluster.scheduler(**CALM):
            cluster.api.put("podgroups", _impatient("g", 2))
            cluster.add_members("g", 2)
            await asyncio.sleep(610)
        written = len([entry for entry in cluster.api.log if entry[0] != "list"])
        async with cluster.scheduler(**CALM):
            cluster.add_nodes(1, first=1)
            await asyncio.sleep(100)
            assert cluster.api.bound() == {}
            assert [entry for entry in cluster.api.log if entry[0] != "list"][written:] == []
        for number in range(2):
            cluster.api.remove("pods", "ns", f"g-{number}")
        async with cluster.scheduler(**CALM):
            await cluster.api.until(lambda: cluster.group_says("g", CONDITION_TIMED_OUT) == ("False", "WaitsAgain"))

    run_virtually(story())


def test_a_gang_that_waits_too_long_gets_the_next_room_although_small_pods_keep_coming() -> None:
    async def story() -> None:
        cluster = _cluster()
        cluster.add_nodes(5)
        for number in range(4):
            cluster.api.put("pods", {**pod(f"small-{number}")})
        async with cluster.scheduler(reserve_after_seconds=30, **CALM):
            await cluster.api.until(lambda: len(cluster.api.bound()) == 4)
            cluster.add_gang("g", 3)
            for number in range(4, 200):
                await asyncio.sleep(2)
                first = next(name for name in cluster.api.bound() if name.startswith("small"))
                cluster.api.put("pods", pod(f"small-{number}"))
                await asyncio.sleep(1)
                cluster.api.remove("pods", "ns", first)
                if cluster.group_says("g") == TRUE:
                    break
            assert cluster.group_says("g") == TRUE
            assert sum(name.startswith("g-") for name in cluster.api.bound()) == 3

    run_virtually(story())


def test_gangs_that_wait_for_ever_write_nothing_while_room_is_kept_for_one_after_the_other() -> None:
    async def story() -> None:
        cluster = _cluster()
        cluster.add_nodes(4)
        async with cluster.scheduler(**CALM):
            cluster.add_gang("runs", 2)
            await cluster.api.until(lambda: cluster.group_says("runs") == TRUE)
            for name, size in (("a", 3), ("b", 4), ("c", 3), ("too-large", 5)):
                cluster.add_gang(name, size)
            await asyncio.sleep(50)
            written = len(cluster.api.log)
            said = [cluster.group_message(name) for name in ("a", "b", "c", "too-large")]
            await asyncio.sleep(3600)
            assert [write for write in cluster.api.log[written:] if write[1] != "events"] == []
            assert [text.split("; ")[0] for text in said] == [
                f"minCount ({size}) cannot be satisfied: 2 of {size} pods can be placed" for size in (3, 4, 3, 5)
            ]

    run_virtually(story())


def test_a_basic_group_starts_with_what_it_would_like_when_that_comes_in_time() -> None:
    async def story() -> None:
        cluster = _cluster()
        cluster.add_nodes(2)
        group = gang("g", 1)
        group["spec"] = {"schedulingPolicy": {"basic": {}}}
        group["metadata"]["annotations"] = {DESIRED_COUNT: "4"}
        cluster.api.put("podgroups", group)
        async with cluster.scheduler(desired_wait_seconds=5, **CALM):
            cluster.add_members("g", 4)
            await asyncio.sleep(2)
            assert cluster.api.bound() == {}
            cluster.api.put("nodes", node("large", gpus=2))
            await asyncio.sleep(0.5)
            assert len(cluster.api.bound()) == 4

    run_virtually(story())
