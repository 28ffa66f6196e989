"""A started gang that loses members: what people are told, and whose room it is until it is whole again."""

import asyncio
from typing import Any

import pytest
from prometheus_client import generate_latest

from api.constants import (
    CONDITION_DISRUPTION_TARGET,
    CONDITION_POD_GROUP_SATISFIED,
    CONDITION_PREEMPTED_BY,
    DEGRADED,
    EVENT_GANG_DEGRADED,
    EVENT_GANG_RESTARTED,
    MANAGED_BY,
    MANAGED_BY_TUTTI,
    REPAIR_TIMEOUT,
)
from kube.client.errors import Forbidden, Unreachable
from scheduler.cache.records import EntityKey
from scheduler.schedule_one import ItemScheduler
from tests.scheduler.shell.cluster import Cluster
from tests.scheduler.shell.fake_api import always
from tests.scheduler.shell.manifests import gang, node, pod
from tests.scheduler.shell.virtual_time import run_virtually

CALM: dict[str, Any] = {"initial_backoff_seconds": 1.0, "max_backoff_seconds": 10.0, "preemption": False}
SHORT = ("False", "BelowMinimum")
WHOLE_AGAIN = ("True", "Recovered")


def _cluster() -> Cluster:
    return Cluster(clock=asyncio.get_running_loop().time)


async def _start(cluster: Cluster, size: int) -> dict[str, str]:
    """A gang g starts; node names by pod."""
    cluster.add_gang("g", size)
    await cluster.api.until(lambda: cluster.group_says("g") == ("True", "Scheduled"))
    await asyncio.sleep(1)
    return cluster.api.bound()


def _fails(cluster: Cluster, name: str) -> None:
    failed = cluster.api.peek("pods", "ns", name)
    failed["status"]["phase"] = "Failed"
    cluster.api.put("pods", failed)


def _satisfied(cluster: Cluster) -> tuple[str, str]:
    return cluster.group_says("g", CONDITION_POD_GROUP_SATISFIED)


def _count(cluster: Cluster, sample: str) -> float:
    lines = generate_latest(cluster.metrics.registry).decode().splitlines()
    return next(float(line.rpartition(" ")[2]) for line in lines if line.startswith(f"{sample} "))


def test_it_says_who_is_missing_once_everywhere_and_when_it_is_whole_again() -> None:
    async def story() -> None:
        cluster = _cluster()
        cluster.add_nodes(4)
        async with cluster.scheduler(**CALM):
            places = await _start(cluster, 4)
            assert _satisfied(cluster) == ("", "")
            _fails(cluster, "g-1")
            await cluster.api.until(lambda: _satisfied(cluster) == SHORT)
            said = f"3 of at least 4 members are left; missing: g-1 (on {places['g-1']})"
            assert cluster.group_message("g", CONDITION_POD_GROUP_SATISFIED) == said
            await asyncio.sleep(30)
            assert len(cluster.events(EVENT_GANG_DEGRADED, "Job")) == 1
            assert said in cluster.events(EVENT_GANG_DEGRADED, "Job")[0]["note"]
            assert _count(cluster, "tutti_degraded_gangs_total") == 1
            cluster.api.put("pods", pod("g-1-again", group="g", owned=True))
            await cluster.api.until(lambda: _satisfied(cluster) == WHOLE_AGAIN)
            assert cluster.group_says("g") == ("True", "Scheduled")
            assert _count(cluster, "tutti_gang_repair_duration_seconds_count") == 1
            assert 30 <= _count(cluster, "tutti_gang_repair_duration_seconds_sum") <= 35

    run_virtually(story())


def test_a_second_loss_is_told_again() -> None:
    async def story() -> None:
        cluster = _cluster()
        cluster.add_nodes(2)
        async with cluster.scheduler(**CALM):
            await _start(cluster, 2)
            for number in range(2):
                _fails(cluster, f"g-{number}")
                await cluster.api.until(lambda: _satisfied(cluster) == SHORT)
                await asyncio.sleep(10)
                cluster.api.put("pods", pod(f"g-{number}-again", group="g", owned=True))
                await cluster.api.until(lambda: _satisfied(cluster) == WHOLE_AGAIN)
                await asyncio.sleep(1)
            await asyncio.sleep(30)
            assert len(cluster.events(EVENT_GANG_DEGRADED, "Job")) == 2

    run_virtually(story())


def test_that_members_are_missing_is_taken_back_though_it_is_written_only_when_they_are_there_again() -> None:
    async def story() -> None:
        cluster = _cluster()
        cluster.add_nodes(2)
        async with cluster.scheduler(**CALM):
            await _start(cluster, 2)
            cluster.api.before.append(always("patch", "podgroups/status", Unreachable("no connection")))
            _fails(cluster, "g-1")
            await asyncio.sleep(5)
            cluster.api.put("pods", pod("g-1-again", group="g", owned=True))
            await cluster.api.until(lambda: "g-1-again" in cluster.api.bound())
            await asyncio.sleep(1)
            assert _satisfied(cluster) == ("", "")
            cluster.api.before.clear()
            await cluster.api.until(lambda: _satisfied(cluster) == WHOLE_AGAIN)
            await asyncio.sleep(60)
            assert _satisfied(cluster) == WHOLE_AGAIN

    run_virtually(story())


def test_of_a_gang_whose_pods_are_all_deleted_nothing_is_said() -> None:
    async def story() -> None:
        cluster = _cluster()
        cluster.add_nodes(4)
        async with cluster.scheduler(**CALM):
            await _start(cluster, 4)
            for number in range(4):
                cluster.api.remove("pods", "ns", f"g-{number}")
                await asyncio.sleep(0.2)
            await asyncio.sleep(60)
            assert _satisfied(cluster) == ("", "")
            assert cluster.events(EVENT_GANG_DEGRADED) == []

    run_virtually(story())


def test_a_node_that_is_not_ready_for_a_while_changes_nothing() -> None:
    async def story() -> None:
        cluster = _cluster()
        cluster.add_nodes(4)
        async with cluster.scheduler(**CALM):
            await _start(cluster, 4)
            written = len(cluster.api.log)
            sick = node("n0")
            sick["metadata"]["uid"] = cluster.api.peek("nodes", "", "n0")["metadata"]["uid"]
            sick["spec"]["taints"] = [{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]
            cluster.api.put("nodes", sick)
            await asyncio.sleep(30)
            sick["spec"]["taints"] = []
            cluster.api.put("nodes", sick)
            await asyncio.sleep(30)
            assert cluster.api.log[written:] == []

    run_virtually(story())


def test_when_a_node_dies_the_replacements_come_first_and_survivors_stay_where_they_are() -> None:
    async def story() -> None:
        cluster = _cluster()
        cluster.add_nodes(10)
        async with cluster.scheduler(**CALM):
            before = await _start(cluster, 8)
            free = {f"n{number}" for number in range(10)} - set(before.values())
            lost = ["g-2", "g-5"]
            for name in lost:
                cluster.api.remove("nodes", "", before[name])
                _fails(cluster, name)
            # Room for two is left, and the Job controller makes its replacements a while later.
            cluster.api.put("podgroups", gang("young", 2))
            cluster.add_members("young", 2)
            await asyncio.sleep(10)
            assert not any(name.startswith("young") for name in cluster.api.bound())
            for name in lost:
                cluster.api.put("pods", pod(f"{name}-again", group="g", owned=True))
            await cluster.api.until(lambda: _satisfied(cluster) == WHOLE_AGAIN)
            await asyncio.sleep(30)
            after = cluster.api.bound()
            assert {after["g-2-again"], after["g-5-again"]} == free
            survivors = set(before) - set(lost)
            assert {name: after[name] for name in survivors} == {name: before[name] for name in survivors}
            assert not any(name.startswith("young") for name in after)
            cluster.add_nodes(2, first=10)
            await cluster.api.until(lambda: cluster.group_says("young") == ("True", "Scheduled"))

    run_virtually(story())


def test_a_scheduler_that_starts_in_the_middle_keeps_the_room_too() -> None:
    async def story() -> None:
        cluster = _cluster()
        cluster.add_nodes(4)
        async with cluster.scheduler(**CALM):
            await _start(cluster, 4)
            _fails(cluster, "g-1")
            await cluster.api.until(lambda: _satisfied(cluster) == SHORT)
        cluster.api.remove("pods", "ns", "g-1")
        cluster.api.put("podgroups", gang("young", 1))
        cluster.add_members("young", 1)
        async with cluster.scheduler(**CALM):
            await asyncio.sleep(10)
            assert "young-0" not in cluster.api.bound()
            cluster.api.put("pods", pod("g-1-again", group="g", owned=True))
            await cluster.api.until(lambda: _satisfied(cluster) == WHOLE_AGAIN)
            assert "young-0" not in cluster.api.bound()

    run_virtually(story())


@pytest.mark.parametrize("left", [3, 2, 0], ids=["whole", "short of a member", "without pods"])
def test_what_a_scheduler_of_an_earlier_version_has_left_is_taken_away(left: int) -> None:
    async def story() -> None:
        cluster = _cluster()
        cluster.add_nodes(3)
        async with cluster.scheduler(**CALM):
            await _start(cluster, 3)
        for number in range(left, 3):
            cluster.api.remove("pods", "ns", f"g-{number}")
        group = cluster.api.peek("podgroups", "ns", "g")
        earlier = {"type": "Degraded", "status": "True", "reason": "BelowMinimum", "message": "2 of at least 3"}
        group["status"]["conditions"].append(earlier)
        cluster.api.put("podgroups", group)
        async with cluster.scheduler(**CALM):
            await cluster.api.until(lambda: cluster.group_says("g", "Degraded") == ("", ""))
            assert cluster.group_says("g") == ("True", "Scheduled")
            await asyncio.sleep(10)
            assert _satisfied(cluster) == (SHORT if left == 2 else ("", ""))
            assert cluster.group_says("g", "Degraded") == ("", "")

    run_virtually(story())


def test_of_a_group_that_is_being_deleted_nothing_is_said() -> None:
    async def story() -> None:
        cluster = _cluster()
        cluster.add_nodes(3)
        async with cluster.scheduler(**CALM):
            await _start(cluster, 3)
            going = cluster.api.peek("podgroups", "ns", "g")
            going["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["example.com/hold"]}
            cluster.api.put("podgroups", going)
            cluster.api.remove("pods", "ns", "g-1")
            await asyncio.sleep(60)
            assert _satisfied(cluster) == ("", "")
            assert cluster.events(EVENT_GANG_DEGRADED) == []

    run_virtually(story())


def test_a_gang_that_is_asked_to_leave_says_nothing_until_the_request_is_taken_back() -> None:
    async def story() -> None:
        cluster = _cluster()
        cluster.add_nodes(3)
        async with cluster.scheduler(**CALM):
            await _start(cluster, 3)
            asked = cluster.api.peek("podgroups", "ns", "g")
            before = list(asked["status"]["conditions"])
            asked["status"]["conditions"] += [
                {"type": CONDITION_DISRUPTION_TARGET, "status": "True", "reason": "PreemptionByScheduler"},
                {"type": CONDITION_PREEMPTED_BY, "status": "True", "reason": "PodGroup", "message": "ns/vip/uid"},
            ]
            cluster.api.put("podgroups", asked)
            _fails(cluster, "g-1")
            await asyncio.sleep(60)
            assert _satisfied(cluster) == ("", "")
            asked["status"]["conditions"] = before
            cluster.api.put("podgroups", asked)
            await cluster.api.until(lambda: _satisfied(cluster) == SHORT)

    run_virtually(story())


def test_members_that_are_lost_while_somebody_is_decided_on_have_their_room_before_the_next_one_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story() -> None:
        cluster = _cluster()
        cluster.add_nodes(3)
        decide = ItemScheduler.schedule_one

        async def takes_a_moment(self: ItemScheduler, key: EntityKey) -> None:
            await decide(self, key)
            if key.name == "first":
                _fails(cluster, "g-1")
                await asyncio.sleep(0.001)

        async with cluster.scheduler(**CALM):
            await _start(cluster, 2)
            monkeypatch.setattr(ItemScheduler, "schedule_one", takes_a_moment)
            for name in ("first", "young"):
                cluster.api.put("podgroups", gang(name, 1))
                cluster.add_members(name, 1)
            await asyncio.sleep(30)
            assert "first-0" in cluster.api.bound()
            assert "young-0" not in cluster.api.bound()

    run_virtually(story())


def test_with_the_policy_report_people_are_told_and_the_room_is_anybodys() -> None:
    async def story() -> None:
        cluster = _cluster()
        cluster.add_nodes(2)
        async with cluster.scheduler(**CALM):
            group = gang("g", 2)
            group["metadata"]["annotations"] = {DEGRADED: "report"}
            cluster.api.put("podgroups", group)
            cluster.add_members("g", 2)
            await cluster.api.until(lambda: cluster.group_says("g") == ("True", "Scheduled"))
            await asyncio.sleep(1)
            _fails(cluster, "g-1")
            cluster.api.put("podgroups", gang("young", 1))
            cluster.add_members("young", 1)
            await cluster.api.until(lambda: cluster.group_says("young") == ("True", "Scheduled"))
            await cluster.api.until(lambda: _satisfied(cluster) == SHORT)

    run_virtually(story())


RESTART = {DEGRADED: "restart", REPAIR_TIMEOUT: "5m"}


async def _stranded(cluster: Cluster, annotations: dict[str, str], size: int = 4) -> None:
    """A gang that asks to be restarted has lost a node, and there is no room for its replacement."""
    group = gang("g", size)
    group["metadata"]["annotations"] = annotations
    cluster.api.put("podgroups", group)
    cluster.add_members("g", size)
    await cluster.api.until(lambda: cluster.group_says("g") == ("True", "Scheduled"))
    await asyncio.sleep(1)
    cluster.api.remove("nodes", "", cluster.api.bound()["g-0"])
    _fails(cluster, "g-0")
    await asyncio.sleep(10)
    cluster.api.put("pods", pod("g-0-again", group="g", owned=True))


@pytest.mark.parametrize("dies", [False, True], ids=["one scheduler", "another one in the middle"])
def test_the_gang_of_a_job_is_asked_to_leave_once_and_starts_anew_before_a_younger_one(dies: bool) -> None:
    async def story() -> None:
        cluster = _cluster()
        cluster.add_nodes(4)
        running = {f"g-{number}" for number in range(1, 4)}

        def target() -> dict[str, Any]:
            return cluster.api.condition("podgroups", "ns", "g", CONDITION_DISRUPTION_TARGET)

        async with cluster.scheduler(**CALM):
            await _stranded(cluster, {**RESTART, MANAGED_BY: MANAGED_BY_TUTTI})
            cluster.api.put("podgroups", gang("young", 4))
            cluster.add_members("young", 4)
            await asyncio.sleep(280)
            assert target() == {}
            await cluster.api.until(lambda: target().get("status") == "True")
            assert target()["reason"] == "GangRestart"
            assert running <= cluster.api.bound().keys(), "the controllers suspend the Job, nobody deletes its pods"
            if not dies:
                await _leaves(cluster, running)
                await cluster.api.until(lambda: target().get("status") == "False")
        if dies:
            async with cluster.scheduler(**CALM):
                await asyncio.sleep(10)
                assert target()["status"] == "True"
                await _leaves(cluster, running)
                await cluster.api.until(lambda: target().get("status") == "False")
        async with cluster.scheduler(**CALM):
            cluster.add_members("g", 4, first=10)
            await asyncio.sleep(10)
            assert not any(name.startswith(("g-", "young")) for name in cluster.api.bound())
            cluster.api.put("nodes", node("n9"))
            await cluster.api.until(lambda: _satisfied(cluster) == WHOLE_AGAIN)
            await asyncio.sleep(1000)
            assert sorted(cluster.api.bound()) == [f"g-{number}" for number in range(10, 14)]
            assert target()["status"] == "False"
        assert len(cluster.events(EVENT_GANG_RESTARTED, "Job")) == 1

    run_virtually(story())


async def _leaves(cluster: Cluster, running: set[str]) -> None:
    """Pods of a Job that is suspended go, one after the other, the one that waits too."""
    for name in sorted({*running, "g-0", "g-0-again"}):
        cluster.api.remove("pods", "ns", name)
        await asyncio.sleep(0.1)


def test_of_a_group_made_by_hand_the_pods_that_run_are_marked_and_deleted() -> None:
    async def story() -> None:
        cluster = _cluster()
        cluster.add_nodes(4)
        async with cluster.scheduler(**CALM):
            await _stranded(cluster, RESTART)
            await asyncio.sleep(280)
            assert cluster.api.sent("delete", "pods") == []
            await cluster.api.until(lambda: len(cluster.api.sent("delete", "pods")) == 3)
            await asyncio.sleep(1000)
            assert sorted(cluster.api.sent("delete", "pods")) == ["g-1", "g-2", "g-3"]
            marked = [name for name in cluster.api.sent("patch", "pods/status") if name in {"g-1", "g-2", "g-3"}]
            assert sorted(marked) == ["g-1", "g-2", "g-3"]
            assert len(cluster.events(EVENT_GANG_RESTARTED, "PodGroup")) == 1
            assert _count(cluster, "tutti_gang_restarts_total") == 1

    run_virtually(story())


def test_pods_that_their_job_left_behind_run_on_and_no_room_is_kept_for_more_of_them() -> None:
    async def story() -> None:
        cluster = _cluster()
        cluster.add_nodes(4)
        async with cluster.scheduler(**CALM):
            group = gang("g", 4)
            group["metadata"]["annotations"] = {**RESTART, MANAGED_BY: MANAGED_BY_TUTTI}
            cluster.api.put("podgroups", group)
            cluster.add_members("g", 4)
            await cluster.api.until(lambda: cluster.group_says("g") == ("True", "Scheduled"))
            _fails(cluster, "g-0")
            await cluster.api.until(lambda: _satisfied(cluster) == SHORT)
            cluster.api.put("podgroups", gang("young", 1))
            cluster.add_members("young", 1)
            await asyncio.sleep(10)
            assert "young-0" not in cluster.api.bound(), "the room of a gang that may be repaired is kept"
            cluster.leave_behind("g")
            await cluster.api.until(lambda: cluster.group_says("young") == ("True", "Scheduled"))
            await asyncio.sleep(1000)
            assert cluster.api.sent("delete", "pods") == []
            assert cluster.events(EVENT_GANG_RESTARTED) == []

    run_virtually(story())


def test_a_gang_starts_anew_although_its_pods_must_not_be_marked() -> None:
    """Marks are only for the Job's count of failures; who may delete pods may be without the right to write their status."""

    async def story() -> None:
        cluster = _cluster()
        cluster.add_nodes(4)
        cluster.api.before.append(
            always("patch", "pods/status", Forbidden(403, "Forbidden", "cannot patch pods/status"))
        )
        async with cluster.scheduler(**CALM):
            await _stranded(cluster, RESTART)
            await asyncio.sleep(1000)
            assert sorted(cluster.api.sent("delete", "pods")) == ["g-1", "g-2", "g-3"]
            assert not {"g-1", "g-2", "g-3"} & cluster.api.bound().keys()

    run_virtually(story())
