"""A tree of groups that was begun and lacks groups: it is completed or, after a minute, all of it leaves and starts together."""

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest

from api.constants import (
    CONDITION_DISRUPTION_TARGET,
    DEGRADED,
    EVENT_GANG_RESTARTED,
    MANAGED_BY,
    MANAGED_BY_TUTTI,
)
from kube.client.errors import Forbidden, OutcomeUnknown
from tests.scheduler.shell.cluster import Cluster
from tests.scheduler.shell.fake_api import always
from tests.scheduler.shell.manifests import composite, gang
from tests.scheduler.shell.virtual_time import run_virtually

CALM: dict[str, Any] = {
    "initial_backoff_seconds": 1.0,
    "max_backoff_seconds": 10.0,
    "preemption": False,
    "degraded_after_seconds": 60.0,
}
OURS = {MANAGED_BY: MANAGED_BY_TUTTI}
STARTED = ("True", "Scheduled")


def _cluster(*, nodes: int) -> Cluster:
    cluster = Cluster(clock=asyncio.get_running_loop().time)
    cluster.add_nodes(nodes)
    return cluster


async def _made(
    cluster: Cluster,
    bound: dict[str, int],
    *,
    parents: dict[str, str] | None = None,
    said: dict[str, str] | None = None,
) -> None:
    """A scheduler has ended in the middle of the binds of a tree, and left so many members of each gang of two with a place.

    Args:
        cluster: one pod has room on each of its nodes.
        bound: members with a place, by group.
        parents: of the groups, `tree` where nothing is said.
        said: annotations of the group `a`, those of one that Tutti made where nothing is said.
    """
    node = 0
    for name, number in bound.items():
        group = gang(name, 2, parent=(parents or {}).get(name, "tree"))
        group["metadata"]["annotations"] = said if said is not None and name == "a" else OURS
        cluster.api.put("podgroups", group)
        cluster.add_members(name, 2)
        for member in range(number):
            pod = cluster.api.peek("pods", "ns", f"{name}-{member}")
            pod["spec"]["nodeName"] = f"n{node}"
            cluster.api.put("pods", pod)
            node += 1


def _asked(cluster: Cluster, names: Iterable[str] = ("a", "b", "c")) -> set[str]:
    """The groups that are asked to leave."""
    found = {name: cluster.api.condition("podgroups", "ns", name, CONDITION_DISRUPTION_TARGET) for name in names}
    return {name for name, said in found.items() if said.get("status") == "True" and said["reason"] == "GangRestart"}


def test_groups_that_are_whole_leave_when_too_few_of_them_are_for_a_minute_and_the_tree_starts_together() -> None:
    async def story() -> None:
        cluster = _cluster(nodes=3)
        cluster.api.put("compositepodgroups", composite("tree", 2))
        await _made(cluster, {"a": 2, "b": 0})
        async with cluster.scheduler(**CALM):
            await asyncio.sleep(59)
            assert _asked(cluster, "ab") == set()
            await asyncio.sleep(2)
            assert _asked(cluster, "ab") == {"a"}
            for name in ("a", "b"):
                for member in range(2):
                    cluster.api.remove("pods", "ns", f"{name}-{member}")
                cluster.add_members(name, 2, first=10)
            await asyncio.sleep(200)
            assert cluster.api.bound() == {}, "three nodes for four pods"
            cluster.add_nodes(1, first=3)
            await cluster.api.until(lambda: cluster.tree_says("tree") == STARTED)
            await asyncio.sleep(200)
            assert len(cluster.api.bound()) == 4
            assert _asked(cluster, "ab") == set()
        (event,) = cluster.events(EVENT_GANG_RESTARTED, "CompositePodGroup")
        assert event["note"] == (
            "fewer groups are bound than must start together: all below composite pod group tree leaves and queues again"
        )

    run_virtually(story())


def test_a_group_that_is_partly_bound_leaves_with_the_others_and_once() -> None:
    async def story() -> None:
        cluster = _cluster(nodes=3)
        cluster.api.put("compositepodgroups", composite("tree", 2))
        await _made(cluster, {"a": 2, "b": 1})
        async with cluster.scheduler(**CALM):
            await asyncio.sleep(59)
            assert _asked(cluster, "ab") == set()
            await asyncio.sleep(2)
            assert _asked(cluster, "ab") == {"a", "b"}
            assert [event["regarding"]["name"] for event in cluster.events(EVENT_GANG_RESTARTED, "PodGroup")] == [
                "a",
                "b",
            ]

    run_virtually(story())


def test_a_tree_that_can_be_completed_is() -> None:
    async def story() -> None:
        cluster = _cluster(nodes=4)
        cluster.api.put("compositepodgroups", composite("tree", 2))
        await _made(cluster, {"a": 2, "b": 0})
        async with cluster.scheduler(**CALM):
            await cluster.api.until(lambda: cluster.tree_says("tree") == STARTED)
            await asyncio.sleep(200)
            assert _asked(cluster, "ab") == set()

    run_virtually(story())


async def _loses(cluster: Cluster, group: str) -> None:
    for member in range(2):
        cluster.api.remove("nodes", "", cluster.api.bound()[f"{group}-{member}"])
        cluster.api.remove("pods", "ns", f"{group}-{member}")


def test_a_tree_that_has_started_keeps_its_groups_when_it_loses_one() -> None:
    async def story() -> None:
        cluster = _cluster(nodes=4)
        cluster.api.put("compositepodgroups", composite("tree", 2))
        await _made(cluster, {"a": 0, "b": 0})
        async with cluster.scheduler(**CALM):
            await cluster.api.until(lambda: cluster.tree_says("tree") == STARTED)
            await asyncio.sleep(10)
            await _loses(cluster, "b")
            await asyncio.sleep(200)
        async with cluster.scheduler(**CALM):
            await asyncio.sleep(200)
            assert _asked(cluster, "ab") == set()

    run_virtually(story())


def test_of_a_tree_that_has_its_minimum_a_group_that_is_partly_bound_leaves_alone() -> None:
    async def story() -> None:
        cluster = _cluster(nodes=5)
        cluster.api.put("compositepodgroups", composite("tree", 2))
        await _made(cluster, {"a": 2, "b": 2, "c": 1})
        cluster.api.remove("nodes", "", "n4")
        async with cluster.scheduler(**CALM):
            await asyncio.sleep(100)
            assert cluster.tree_says("tree") == STARTED
            assert _asked(cluster) == {"c"}

    run_virtually(story())


@pytest.mark.parametrize("loses_its_minimum", [False, True])
def test_a_level_inside_a_tree_that_has_started_leaves_without_the_rest(loses_its_minimum: bool) -> None:
    async def story() -> None:
        cluster = _cluster(nodes=4)
        cluster.api.put("compositepodgroups", composite("tree", 1))
        cluster.api.put("compositepodgroups", composite("inner", 2, parent="tree"))
        await _made(cluster, {"a": 2, "b": 2, "c": 0}, parents={"b": "inner", "c": "inner"})
        async with cluster.scheduler(**CALM):
            await cluster.api.until(lambda: cluster.tree_says("tree") == STARTED)
            await asyncio.sleep(10)
            if loses_its_minimum:
                await _loses(cluster, "a")
            await asyncio.sleep(60)
            assert _asked(cluster) == {"b"}

    run_virtually(story())


def test_of_levels_that_have_not_started_the_highest_leaves() -> None:
    async def story() -> None:
        cluster = _cluster(nodes=4)
        cluster.api.put("compositepodgroups", composite("tree", 2))
        cluster.api.put("compositepodgroups", composite("inner", 2, parent="tree"))
        await _made(cluster, {"a": 2, "b": 2, "c": 0}, parents={"b": "inner", "c": "inner"})
        async with cluster.scheduler(**CALM):
            await asyncio.sleep(100)
            assert _asked(cluster) == {"a", "b"}
            assert {
                event["regarding"]["name"] for event in cluster.events(EVENT_GANG_RESTARTED, "CompositePodGroup")
            } == {"tree"}

    run_virtually(story())


@pytest.mark.parametrize("said", [{}, {**OURS, DEGRADED: "report"}], ids=["made by hand", "only to be reported"])
def test_no_group_leaves_when_one_may_not(said: dict[str, str]) -> None:
    async def story() -> None:
        cluster = _cluster(nodes=5)
        cluster.api.put("compositepodgroups", composite("tree", 3))
        await _made(cluster, {"a": 2, "b": 2, "c": 0}, said=said)
        async with cluster.scheduler(**CALM):
            await asyncio.sleep(200)
            assert _asked(cluster) == set()
            assert cluster.api.sent("delete", "pods") == []

    run_virtually(story())


def test_no_group_leaves_when_somebody_has_succeeded() -> None:
    async def story() -> None:
        cluster = _cluster(nodes=3)
        cluster.api.put("compositepodgroups", composite("tree", 2))
        await _made(cluster, {"a": 2, "b": 0})
        done = cluster.api.peek("pods", "ns", "a-0")
        done["status"] = {"phase": "Succeeded"}
        cluster.api.put("pods", done)
        cluster.api.remove("nodes", "", "n2")
        async with cluster.scheduler(**CALM):
            await asyncio.sleep(200)
            assert _asked(cluster, "ab") == set()

    run_virtually(story())


@pytest.mark.parametrize(
    "levels", [["inner"], []], ids=["a level below it is there", "nothing above the groups is there"]
)
def test_without_its_root_nothing_of_a_tree_leaves(levels: list[str]) -> None:
    async def story() -> None:
        cluster = _cluster(nodes=3)
        for name in levels:
            cluster.api.put("compositepodgroups", composite(name, 2, parent="tree"))
        parent = (*levels, "tree")[0]
        await _made(cluster, {"a": 2, "b": 1}, parents={"a": parent, "b": parent})
        async with cluster.scheduler(**CALM):
            await asyncio.sleep(200)
            assert _asked(cluster, "ab") == set()
            cluster.api.put("compositepodgroups", composite("tree", 1 if levels else 2))
            for name in ("a", "b"):
                # Nothing of the groups themselves changes by this: it is at their next news that they are looked at.
                pod = cluster.api.peek("pods", "ns", f"{name}-0")
                pod["metadata"]["labels"] = {"news": "1"}
                cluster.api.put("pods", pod)
            await asyncio.sleep(61)
            assert _asked(cluster, "ab") == {"a", "b"}

    run_virtually(story())


def test_a_level_does_not_leave_alone_where_all_of_the_tree_leaves_together() -> None:
    async def story() -> None:
        cluster = _cluster(nodes=4)
        root = composite("tree", 1)
        root["spec"]["disruptionMode"] = {"all": {}}
        cluster.api.put("compositepodgroups", root)
        cluster.api.put("compositepodgroups", composite("inner", 2, parent="tree"))
        await _made(cluster, {"a": 2, "b": 2, "c": 0}, parents={"b": "inner", "c": "inner"})
        async with cluster.scheduler(**CALM):
            await asyncio.sleep(200)
            assert _asked(cluster) == set()

    run_virtually(story())


def test_while_binds_are_under_way_a_tree_is_not_given_up() -> None:
    async def story() -> None:
        cluster = _cluster(nodes=6)
        slow = always("create", "pods/binding", OutcomeUnknown("the answer was lost"))
        cluster.api.put("compositepodgroups", composite("tree", 3))
        async with cluster.scheduler(**CALM, bind_give_up_seconds=300.0):
            cluster.api.before.append(slow)
            await _made(cluster, {"a": 2, "b": 0, "c": 0})
            await asyncio.sleep(10)
            cluster.api.remove("pods", "ns", "c-0")
            await asyncio.sleep(200)
            assert _asked(cluster) == set()
            cluster.api.before.remove(slow)
            await asyncio.sleep(130)
            assert _asked(cluster) >= {"a", "b"}

    run_virtually(story())


def test_a_tree_of_which_binds_are_forbidden_is_given_up_once_they_are_not_and_there_is_no_room() -> None:
    async def story() -> None:
        cluster = _cluster(nodes=4)
        refused = always("create", "pods/binding", Forbidden(403, "Forbidden", "not by me"))
        cluster.api.put("compositepodgroups", composite("tree", 2))
        async with cluster.scheduler(**CALM):
            cluster.api.before.append(refused)
            await _made(cluster, {"a": 2, "b": 0})
            await asyncio.sleep(300)
            assert _asked(cluster, "ab") == set()
            for name in ("n2", "n3"):
                cluster.api.remove("nodes", "", name)
            cluster.api.before.remove(refused)
            await asyncio.sleep(130)
            assert _asked(cluster, "ab") == {"a"}

    run_virtually(story())


def test_a_tree_that_is_begun_again_has_its_whole_minute() -> None:
    async def story() -> None:
        cluster = _cluster(nodes=3)
        cluster.api.put("compositepodgroups", composite("tree", 2))
        await _made(cluster, {"a": 2, "b": 0})
        async with cluster.scheduler(**CALM):
            await asyncio.sleep(50)
            for member in range(2):
                cluster.api.remove("pods", "ns", f"a-{member}")
            await asyncio.sleep(1)
            cluster.add_members("a", 2, first=10)
            for member, node in ((10, "n0"), (11, "n1")):
                again = cluster.api.peek("pods", "ns", f"a-{member}")
                again["spec"]["nodeName"] = node
                cluster.api.put("pods", again)
            await asyncio.sleep(50)
            assert _asked(cluster, "ab") == set()
            await asyncio.sleep(11)
            assert _asked(cluster, "ab") == {"a"}

    run_virtually(story())
