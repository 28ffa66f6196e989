"""Volumes come before binds: in order, whole gangs at a time, and whatever goes wrong on the way."""

from typing import Any

import pytest

from api.constants import BOUND_BY_CONTROLLER, SELECTED_NODE
from kube.client.errors import Conflict, Forbidden, KubeError, OutcomeUnknown, Unreachable
from tests.scheduler.shell.fake_api import FakeApi, always, once
from tests.scheduler.shell.manifests import gang, node, pod
from tests.scheduler.shell.stored import Stored

Object = dict[str, Any]

PATIENT: Object = {"initial_backoff_seconds": 600, "max_backoff_seconds": 600}
"""Nothing is tried again because time passed."""


@pytest.fixture
async def cluster() -> Stored:
    return Stored()


async def test_a_volume_is_given_first_and_the_pod_is_bound_when_the_claim_is(cluster: Stored) -> None:
    cluster.add_node("n0")
    cluster.add_volume("pv", "n0")
    cluster.add_claim("c")
    async with cluster.scheduler(**PATIENT):
        cluster.add_pod("p", "c")
        await cluster.api.until(lambda: cluster.given() == {"c": "pv"})
        given = cluster.volume("pv")
        assert given["spec"]["claimRef"]["uid"] == cluster.claim("c")["metadata"]["uid"]
        assert given["metadata"]["annotations"] == {BOUND_BY_CONTROLLER: "yes"}
        assert cluster.api.sent("create", "pods/binding") == []
        cluster.bind("c", "pv")
        await cluster.api.until(lambda: cluster.api.bound() == {"p": "n0"})


async def test_a_volume_that_is_to_be_made_is_asked_for_on_the_claim(cluster: Stored) -> None:
    cluster.add_node("n0")
    cluster.add_claim("c")
    async with cluster.scheduler(**PATIENT):
        cluster.add_pod("p", "c")
        await cluster.api.until(lambda: bool(cluster.api.sent("patch", "persistentvolumeclaims")))
        assert cluster.claim("c")["metadata"]["annotations"] == {SELECTED_NODE: "n0"}
        assert cluster.api.bound() == {}
        cluster.make("c", "n0")
        await cluster.api.until(lambda: cluster.api.bound() == {"p": "n0"})


async def test_no_member_of_a_gang_is_bound_before_all_have_their_volumes(cluster: Stored) -> None:
    cluster.add_gang_with_volumes(3)
    async with cluster.scheduler(**PATIENT):
        await cluster.api.until(lambda: len(cluster.given()) == 3)
        given = cluster.given()
        for name in ("c0", "c1"):
            cluster.bind(name, given[name])
        await cluster.api.until(lambda: cluster.metrics.attempts > 0)
        assert cluster.api.sent("create", "pods/binding") == []
        cluster.bind("c2", given["c2"])
        await cluster.api.until(lambda: len(cluster.api.bound()) == 3)


async def test_a_volume_that_somebody_else_took_is_replaced_by_another(cluster: Stored) -> None:
    cluster.add_node("n0")
    cluster.add_volume("a", "n0")
    cluster.add_volume("b", "n0")
    cluster.add_claim("c")
    cluster.api.before.append(_taken_first(cluster.api))
    async with cluster.scheduler():
        cluster.add_pod("p", "c")
        await cluster.api.until(lambda: "c" in cluster.given())
        assert cluster.given()["c"] == "b"
        cluster.bind("c", "b")
        await cluster.api.until(lambda: cluster.api.bound() == {"p": "n0"})


def _taken_first(api: FakeApi) -> Any:
    """Volume `a` is given to another claim right before our first patch of it."""
    left = [True]

    def fault(verb: str, what: str, name: str) -> Conflict | None:
        if left and (verb, what, name) == ("patch", "persistentvolumes", "a"):
            left.clear()
            volume = api.peek("persistentvolumes", "", "a")
            volume["spec"]["claimRef"] = {"namespace": "ns", "name": "theirs", "uid": "theirs"}
            api.put("persistentvolumes", volume)
            return Conflict(409, "Conflict", "the object has been modified")
        return None

    return fault


async def test_a_volume_that_merely_changed_is_given_all_the_same(cluster: Stored) -> None:
    cluster.add_node("n0")
    cluster.add_volume("pv", "n0")
    cluster.add_claim("c")
    cluster.api.before.append(once("patch", "persistentvolumes", Conflict(409, "Conflict", "modified")))
    async with cluster.scheduler(**PATIENT):
        cluster.add_pod("p", "c")
        await cluster.api.until(lambda: cluster.given() == {"c": "pv"})


async def test_a_lost_answer_is_read_and_not_sent_again(cluster: Stored) -> None:
    cluster.add_node("n0")
    cluster.add_volume("pv", "n0")
    cluster.add_claim("c")
    cluster.api.after.append(once("patch", "persistentvolumes", OutcomeUnknown("the answer was lost")))
    async with cluster.scheduler(**PATIENT):
        cluster.add_pod("p", "c")
        await cluster.api.until(lambda: bool(cluster.api.sent("get", "persistentvolumes")))
        cluster.bind("c", "pv")
        await cluster.api.until(lambda: cluster.api.bound() == {"p": "n0"})
    assert cluster.api.sent("patch", "persistentvolumes") == ["pv"]


async def test_a_lost_answer_whose_read_fails_as_well_takes_no_volume_from_somebody_else(cluster: Stored) -> None:
    cluster.add_node("n0")
    cluster.add_volume("pv", "n0")
    cluster.add_claim("c")
    cluster.api.before.append(_lost_and_taken(cluster.api))
    cluster.api.before.append(once("get", "persistentvolumes", Unreachable("no route")))
    async with cluster.scheduler(**PATIENT):
        cluster.add_pod("p", "c")
        await cluster.api.until(lambda: sum(what == "persistentvolumes" for _, what, _ in cluster.api.log) == 4)
        assert cluster.api.sent("patch", "persistentvolumes") == ["pv"]
        await cluster.api.until(lambda: cluster.waits_for("p", "somebody else changed it at the same time"))
    assert cluster.given() == {"theirs": "pv"}


def _lost_and_taken(api: FakeApi) -> Any:
    """Our patch never arrives, and nobody tells us; the volume goes to another claim, which our watch does not show yet."""
    lost = once("patch", "persistentvolumes", OutcomeUnknown("the answer was lost"))

    def fault(verb: str, what: str, name: str) -> KubeError | None:
        error = lost(verb, what, name)
        if error is not None:
            volume = api.peek("persistentvolumes", "", "pv")
            volume["spec"]["claimRef"] = {"namespace": "ns", "name": "theirs", "uid": "theirs"}
            api.hold_watches = True
            api.put("persistentvolumes", volume)
        return error

    return fault


async def test_a_gang_whose_volumes_do_not_come_is_given_back_whole_and_says_so(cluster: Stored) -> None:
    cluster.add_gang_with_volumes(2)
    async with cluster.scheduler(**PATIENT, volume_bind_seconds=0.2) as scheduler:
        await cluster.api.until(lambda: len(cluster.given()) == 2)
        cluster.bind("c0", cluster.given()["c0"])
        await cluster.api.until(lambda: "binding volumes: not done after" in cluster.group_message("g"))
        assert cluster.api.bound() == {}
        uids = [cluster.api.peek("pods", "ns", f"g-{number}")["metadata"]["uid"] for number in range(2)]
        assert [scheduler.state.assumption(uid) for uid in uids] == [None, None]


async def test_no_right_to_give_volumes_is_said_and_binds_nobody(cluster: Stored) -> None:
    cluster.add_gang_with_volumes(2)
    cluster.api.before.append(always("patch", "persistentvolumes", Forbidden(403, "Forbidden", "not allowed")))
    async with cluster.scheduler(**PATIENT):
        await cluster.api.until(lambda: "not allowed" in cluster.group_message("g"))
        assert cluster.api.bound() == {}


async def test_a_provisioner_that_gives_up_sends_the_pod_through_another_cycle(cluster: Stored) -> None:
    cluster.add_node("n0")
    cluster.add_claim("c")
    async with cluster.scheduler():
        cluster.add_pod("p", "c")
        await cluster.api.until(lambda: cluster.claim("c")["metadata"].get("annotations") == {SELECTED_NODE: "n0"})
        refused = cluster.claim("c")
        refused["metadata"]["annotations"] = {}
        cluster.api.put("persistentvolumeclaims", refused)
        cluster.add_node("n1")
        await cluster.api.until(lambda: len(cluster.api.sent("patch", "persistentvolumeclaims")) == 2)
        cluster.make("c", cluster.claim("c")["metadata"]["annotations"][SELECTED_NODE])
        await cluster.api.until(lambda: "p" in cluster.api.bound())


async def test_a_member_that_is_deleted_meanwhile_gives_the_others_back(cluster: Stored) -> None:
    cluster.add_gang_with_volumes(2)
    async with cluster.scheduler(**PATIENT):
        await cluster.api.until(lambda: len(cluster.given()) == 2)
        given = cluster.given()
        cluster.api.remove("pods", "ns", "g-0")
        for name, volume in given.items():
            cluster.bind(name, volume)
        await cluster.api.until(lambda: cluster.group_says("g")[1] == "WaitingForMembers")
        assert cluster.api.bound() == {}


async def test_a_shared_volume_that_turns_out_to_be_elsewhere_moves_the_gang(cluster: Stored) -> None:
    for name in ("n0", "n1", "n2"):
        cluster.api.put(
            "nodes",
            {**node(name, gpus=2), "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}},
        )
    cluster.add_claim("c", modes="ReadWriteMany")
    cluster.api.put("podgroups", gang("g", 2))
    async with cluster.scheduler():
        for number in range(2):
            cluster.add_pod(f"g-{number}", "c", group="g")
        await cluster.api.until(lambda: bool(cluster.api.sent("patch", "persistentvolumeclaims")))
        chosen = cluster.claim("c")["metadata"]["annotations"][SELECTED_NODE]
        cluster.make("c", chosen)
        await cluster.api.until(lambda: len(cluster.api.bound()) == 2)
        assert set(cluster.api.bound().values()) == {chosen}


async def test_pods_that_wait_for_volumes_do_not_hold_up_the_others(cluster: Stored) -> None:
    cluster.add_gang_with_volumes(2)
    cluster.add_node("free")
    async with cluster.scheduler(**PATIENT, bind_backlog=1):
        await cluster.api.until(lambda: len(cluster.given()) == 2)
        cluster.api.put("pods", pod("plain"))
        await cluster.api.until(lambda: "plain" in cluster.api.bound())
