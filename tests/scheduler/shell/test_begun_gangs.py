"""A gang that was begun and is not whole: it is completed or, after a minute, leaves and starts whole."""

import asyncio
from typing import Any

import pytest

from api.constants import (
    CONDITION_DISRUPTION_TARGET,
    CONDITION_POD_GROUP_SATISFIED,
    DEGRADED,
    EVENT_GANG_RESTARTED,
    MANAGED_BY,
    MANAGED_BY_TUTTI,
)
from kube.client.errors import Forbidden, OutcomeUnknown
from tests.scheduler.shell.cluster import Cluster
from tests.scheduler.shell.fake_api import always
from tests.scheduler.shell.manifests import gang, node, pod
from tests.scheduler.shell.virtual_time import run_virtually

CALM: dict[str, Any] = {"initial_backoff_seconds": 1.0, "max_backoff_seconds": 10.0, "preemption": False}
SHORT = ("False", "BelowMinimum")
WHOLE_AGAIN = ("True", "Recovered")


def _cluster() -> Cluster:
    return Cluster(clock=asyncio.get_running_loop().time)


def _satisfied(cluster: Cluster) -> tuple[str, str]:
    return cluster.group_says("g", CONDITION_POD_GROUP_SATISFIED)


async def _begun(cluster: Cluster, annotations: dict[str, str], *, bound: int = 2) -> None:
    """A scheduler has ended in the middle of the binds of a gang of four, and the room for the others has gone since."""
    group = gang("g", 4)
    group["metadata"]["annotations"] = annotations
    cluster.api.put("podgroups", group)
    cluster.add_members("g", 4)
    for number in range(bound):
        member = cluster.api.peek("pods", "ns", f"g-{number}")
        member["spec"]["nodeName"] = f"n{number}"
        cluster.api.put("pods", member)


def _target(cluster: Cluster) -> dict[str, Any]:
    return cluster.api.condition("podgroups", "ns", "g", CONDITION_DISRUPTION_TARGET)


def test_a_gang_that_was_begun_and_cannot_be_completed_leaves_after_a_minute_and_starts_whole() -> None:
    async def story() -> None:
        cluster = _cluster()
        cluster.add_nodes(2)
        await _begun(cluster, {MANAGED_BY: MANAGED_BY_TUTTI})
        async with cluster.scheduler(**CALM, degraded_after_seconds=60.0):
            await asyncio.sleep(59)
            assert _target(cluster) == {}
            await asyncio.sleep(2)
            assert _satisfied(cluster) == SHORT
            assert _target(cluster)["reason"] == "GangRestart"
            for number in range(4):
                cluster.api.remove("pods", "ns", f"g-{number}")
            cluster.add_members("g", 4, first=10)
            await asyncio.sleep(100)
            assert cluster.api.bound() == {}
            for name in ("n8", "n9"):
                cluster.api.put("nodes", node(name))
            await cluster.api.until(lambda: cluster.group_says("g") == ("True", "Scheduled"))
            assert sorted(cluster.api.bound()) == [f"g-{number}" for number in range(10, 14)]
        assert len(cluster.events(EVENT_GANG_RESTARTED, "Job")) == 1

    run_virtually(story())


def test_a_gang_that_is_begun_again_has_its_whole_minute() -> None:
    async def story() -> None:
        cluster = _cluster()
        cluster.add_nodes(2)
        await _begun(cluster, {MANAGED_BY: MANAGED_BY_TUTTI})
        async with cluster.scheduler(**CALM, degraded_after_seconds=60.0):
            await asyncio.sleep(50)
            for number in range(2):
                cluster.api.remove("pods", "ns", f"g-{number}")
            await asyncio.sleep(1)
            again = pod("g-4", group="g", owned=True)
            again["spec"]["nodeName"] = "n0"
            cluster.api.put("pods", again)
            await asyncio.sleep(50)
            assert _target(cluster) == {}
            await asyncio.sleep(11)
            assert _target(cluster)["reason"] == "GangRestart"

    run_virtually(story())


def test_a_gang_that_was_begun_is_completed_where_there_is_room() -> None:
    async def story() -> None:
        cluster = _cluster()
        cluster.add_nodes(4)
        await _begun(cluster, {MANAGED_BY: MANAGED_BY_TUTTI})
        async with cluster.scheduler(**CALM):
            await cluster.api.until(lambda: cluster.group_says("g") == ("True", "Scheduled"))
            await asyncio.sleep(200)
            assert _target(cluster) == {}

    run_virtually(story())


@pytest.mark.parametrize(
    "annotations", [{}, {MANAGED_BY: MANAGED_BY_TUTTI, DEGRADED: "report"}], ids=["made by hand", "only to be reported"]
)
def test_nobody_is_taken_back_whom_nobody_makes_anew_or_who_is_only_to_be_reported(annotations: dict[str, str]) -> None:
    async def story() -> None:
        cluster = _cluster()
        cluster.add_nodes(2)
        await _begun(cluster, annotations)
        async with cluster.scheduler(**CALM):
            await asyncio.sleep(200)
            assert _satisfied(cluster) == SHORT
            assert _target(cluster) == {}
            assert cluster.api.sent("delete", "pods") == []

    run_virtually(story())


def test_while_binds_are_under_way_a_gang_is_not_given_up() -> None:
    async def story() -> None:
        cluster = _cluster()
        cluster.add_nodes(4)
        slow = always("create", "pods/binding", OutcomeUnknown("the answer was lost"))
        async with cluster.scheduler(**CALM, bind_give_up_seconds=300.0):
            await _begun(cluster, {MANAGED_BY: MANAGED_BY_TUTTI})
            cluster.api.before.append(slow)
            await asyncio.sleep(200)
            assert _satisfied(cluster) == SHORT
            assert _target(cluster) == {}
            cluster.api.before.remove(slow)
            await cluster.api.until(lambda: cluster.group_says("g") == ("True", "Scheduled"))
            assert _satisfied(cluster) == WHOLE_AGAIN

    run_virtually(story())


def test_a_gang_of_which_binds_are_forbidden_is_given_up_once_they_are_not_and_there_is_no_room() -> None:
    async def story() -> None:
        cluster = _cluster()
        cluster.add_nodes(4)
        refused = always("create", "pods/binding", Forbidden(403, "Forbidden", "not by me"))
        async with cluster.scheduler(**CALM, degraded_after_seconds=60.0):
            await _begun(cluster, {MANAGED_BY: MANAGED_BY_TUTTI})
            cluster.api.before.append(refused)
            await asyncio.sleep(300)
            assert _satisfied(cluster) == ("False", "BindForbidden")
            assert _target(cluster) == {}
            for name in ("n2", "n3"):
                cluster.api.remove("nodes", "", name)
            cluster.api.before.remove(refused)
            await asyncio.sleep(130)
            assert _target(cluster)["reason"] == "GangRestart"

    run_virtually(story())


def test_a_gang_whose_members_have_all_failed_before_it_was_whole_is_not_asked_to_leave() -> None:
    async def story() -> None:
        cluster = _cluster()
        cluster.add_nodes(4)

        def lost(verb: str, what: str, name: str) -> None:
            if (verb, what, name) == ("create", "pods/binding", "g-3"):
                raise OutcomeUnknown("the answer was lost")

        cluster.api.before.append(lost)
        group = gang("g", 4)
        group["metadata"]["annotations"] = {MANAGED_BY: MANAGED_BY_TUTTI}
        cluster.api.put("podgroups", group)
        async with cluster.scheduler(**CALM, degraded_after_seconds=60.0, bind_give_up_seconds=300.0):
            cluster.add_members("g", 4)
            await cluster.api.until(lambda: len(cluster.api.bound()) == 3)
            await asyncio.sleep(5)
            for number in range(4):
                if number == 3:
                    cluster.api.before.remove(lost)
                    await cluster.api.until(lambda: len(cluster.api.bound()) == 4)
                    await asyncio.sleep(5)
                failed = cluster.api.peek("pods", "ns", f"g-{number}")
                failed["status"] = {"phase": "Failed"}
                cluster.api.put("pods", failed)
            await asyncio.sleep(200)
            assert _target(cluster) == {}
            assert _satisfied(cluster) != SHORT

    run_virtually(story())
