"""Members that come later are bound with the minimum of their gang or after it, or not at all."""

import asyncio
from typing import Any

from kube.client.errors import Forbidden, OutcomeUnknown, Unreachable
from tests.devices.test_writes import WithDevices
from tests.scheduler.shell.fake_api import always
from tests.scheduler.shell.manifests import composite, gang, pod
from tests.scheduler.shell.stored import Stored
from tests.scheduler.shell.virtual_time import run_virtually

CALM: dict[str, Any] = {"initial_backoff_seconds": 1.0, "max_backoff_seconds": 10.0, "preemption": False}
FIRST = {"g-0", "g-1"}
LATER = "g-2"


def _stored() -> Stored:
    return Stored(clock=asyncio.get_running_loop().time)


async def _later_member(cluster: Stored) -> None:
    """Two members, the minimum, wait for their volumes; one without any comes later, for whom there is room."""
    cluster.add_gang_with_volumes(2)
    cluster.add_node("n2")
    await cluster.api.until(lambda: len(cluster.given()) == 2)
    cluster.api.put("pods", pod(LATER, group="g", owned=True))
    await asyncio.sleep(100)


def test_a_later_member_is_not_bound_before_the_minimum_that_waits_for_its_volumes() -> None:
    async def story() -> None:
        cluster = _stored()
        async with cluster.scheduler(**CALM):
            await _later_member(cluster)
            assert cluster.api.bound() == {}
            cluster.bind("c0", cluster.given()["c0"])
            await asyncio.sleep(1)
            assert cluster.api.bound() == {}
            cluster.bind("c1", cluster.given()["c1"])
            await cluster.api.until(lambda: cluster.api.bound().keys() == FIRST | {LATER})

    run_virtually(story())


def test_a_later_member_is_given_back_when_the_minimum_gets_no_volumes() -> None:
    async def story() -> None:
        cluster = _stored()
        async with cluster.scheduler(**CALM, volume_bind_seconds=200.0, degraded_after_seconds=3600.0) as scheduler:
            await _later_member(cluster)
            uid = cluster.api.peek("pods", "ns", LATER)["metadata"]["uid"]
            assert scheduler.state.assumption(uid) is not None
            await asyncio.sleep(100.5)
            assert scheduler.state.assumption(uid) is None
            assert cluster.api.bound() == {}

    run_virtually(story())


def test_a_later_member_whose_volume_comes_first_waits_for_the_others() -> None:
    async def story() -> None:
        cluster = _stored()
        cluster.add_node("n2")
        cluster.add_volume("pv2", "n2")
        cluster.add_claim("c2")
        async with cluster.scheduler(**CALM):
            cluster.add_gang_with_volumes(2)
            await cluster.api.until(lambda: {"c0", "c1"} <= cluster.given().keys())
            cluster.add_pod(LATER, "c2", group="g")
            await cluster.api.until(lambda: len(cluster.given()) == 3)
            cluster.bind("c2", cluster.given()["c2"])
            await asyncio.sleep(100)
            assert cluster.api.bound() == {}
            for claim in ("c0", "c1"):
                cluster.bind(claim, cluster.given()[claim])
            await cluster.api.until(lambda: cluster.api.bound().keys() == FIRST | {LATER})

    run_virtually(story())


def test_members_beyond_the_minimum_of_one_decision_wait_for_nobody_but_their_own_volumes() -> None:
    async def story() -> None:
        cluster = _stored()
        cluster.api.put("podgroups", gang("g", 2))
        for number in range(3):
            cluster.add_node(f"n{number}")
            cluster.add_volume(f"pv{number}", f"n{number}")
            cluster.add_claim(f"c{number}")
            cluster.add_pod(f"g-{number}", f"c{number}", group="g")
        async with cluster.scheduler(**CALM):
            await cluster.api.until(lambda: len(cluster.given()) == 3)
            for claim in ("c0", "c2"):
                cluster.bind(claim, cluster.given()[claim])
            await cluster.api.until(lambda: cluster.api.bound().keys() == {"g-0", "g-2"})
            cluster.bind("c1", cluster.given()["c1"])
            await cluster.api.until(lambda: len(cluster.api.bound()) == 3)

    run_virtually(story())


def test_a_later_member_of_a_gang_that_runs_waits_for_nobody() -> None:
    async def story() -> None:
        cluster = _stored()
        cluster.add_gang("g", 2)
        for number in range(4):
            cluster.add_node(f"n{number}")
        cluster.add_volume("pv", "n2")
        cluster.add_claim("c")
        async with cluster.scheduler(**CALM):
            await cluster.api.until(lambda: cluster.api.bound().keys() == FIRST)
            cluster.add_pod(LATER, "c", group="g")
            await cluster.api.until(lambda: len(cluster.given()) == 1)
            cluster.api.put("pods", pod("g-3", group="g", owned=True))
            await cluster.api.until(lambda: "g-3" in cluster.api.bound())

    run_virtually(story())


def test_a_later_member_waits_while_nobody_knows_how_the_binds_of_the_minimum_ended() -> None:
    async def story() -> None:
        cluster = _stored()
        for number in range(3):
            cluster.add_node(f"n{number}")
        slow = always("create", "pods/binding", OutcomeUnknown("the answer was lost"))
        cluster.api.before.append(slow)
        cluster.add_gang("g", 2)
        async with cluster.scheduler(**CALM, bind_give_up_seconds=300.0):
            await asyncio.sleep(20)
            cluster.api.put("pods", pod(LATER, group="g", owned=True))
            await asyncio.sleep(20)
            assert set(cluster.api.sent("create", "pods/binding")) == FIRST
            cluster.api.before.remove(slow)
            await cluster.api.until(lambda: len(cluster.api.bound()) == 3)

    run_virtually(story())


def test_members_that_wait_for_others_do_not_hold_up_other_gangs() -> None:
    async def story() -> None:
        cluster = _stored()
        async with cluster.scheduler(**CALM, bind_backlog=1):
            await _later_member(cluster)
            cluster.add_node("free")
            cluster.api.put("pods", pod("plain"))
            await cluster.api.until(lambda: "plain" in cluster.api.bound())
            assert cluster.api.bound().keys() == {"plain"}

    run_virtually(story())


def _add_group(cluster: Stored, name: str, *, claim: str = "") -> None:
    """A group of one below the tree, a node that has room for it and, where one is named, its claim and a volume."""
    cluster.add_node(f"for-{name}")
    cluster.api.put("podgroups", gang(name, 1, parent="tree"))
    if not claim:
        cluster.api.put("pods", pod(f"{name}-0", group=name, owned=True))
        return
    cluster.add_volume(f"pv-{claim}", f"for-{name}")
    cluster.add_claim(claim)
    cluster.add_pod(f"{name}-0", claim, group=name)


def test_a_later_group_of_a_tree_is_not_bound_before_the_minimum_of_the_tree() -> None:
    async def story() -> None:
        cluster = _stored()
        cluster.api.put("compositepodgroups", composite("tree", 2))
        async with cluster.scheduler(**CALM):
            _add_group(cluster, "a", claim="c")
            _add_group(cluster, "b")
            await cluster.api.until(lambda: len(cluster.given()) == 1)
            _add_group(cluster, "later")
            await asyncio.sleep(100)
            assert cluster.api.bound() == {}
            cluster.bind("c", cluster.given()["c"])
            await cluster.api.until(lambda: len(cluster.api.bound()) == 3)

    run_virtually(story())


def test_a_group_of_a_tree_that_has_started_does_not_wait_for_another_one() -> None:
    async def story() -> None:
        cluster = _stored()
        cluster.api.put("compositepodgroups", composite("tree", 1))
        async with cluster.scheduler(**CALM):
            _add_group(cluster, "a")
            await cluster.api.until(lambda: cluster.api.bound().keys() == {"a-0"})
            _add_group(cluster, "b", claim="c")
            await cluster.api.until(lambda: len(cluster.given()) == 1)
            _add_group(cluster, "later")
            await cluster.api.until(lambda: cluster.api.bound().keys() == {"a-0", "later-0"})

    run_virtually(story())


def test_a_later_member_is_given_back_when_the_claims_of_the_minimum_cannot_be_written() -> None:
    async def story() -> None:
        cluster = WithDevices(clock=asyncio.get_running_loop().time)
        for number in range(2):
            cluster.add_node(f"n{number}", 1)
        cluster.add_node("n2", 0)
        away = always("patch", "resourceclaims", Unreachable("no route"))
        cluster.api.before.append(away)
        cluster.add_gang_with_claims("g", 2)
        async with cluster.scheduler(**CALM) as scheduler:
            await asyncio.sleep(5)
            uid = cluster.api.put("pods", pod(LATER, group="g", owned=True))["metadata"]["uid"]
            await asyncio.sleep(5)
            assert scheduler.state.assumption(uid) is not None
            assert cluster.api.bound() == {}
            cluster.api.before.remove(away)
            cluster.api.before.append(always("patch", "resourceclaims", Forbidden(403, "Forbidden", "not allowed")))
            await cluster.api.until(lambda: scheduler.state.assumption(uid) is None)
            assert cluster.api.bound() == {}

    run_virtually(story())
