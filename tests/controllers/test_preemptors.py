"""A Job gives way only to somebody who is there and needs its room."""

from typing import Any

import pytest

from api.constants import CONDITION_DISRUPTION_TARGET, CONDITION_PREEMPTED_BY, GATE
from api.meta import Condition
from api.podgroup import PodGroup, PodGroupStatus
from api.preemption import Preemptor, preemptor_of
from controllers.operator import _same_but_status
from kube.client.resources import JOBS, PODS
from kube.groups.group_api import OWN
from tests.controllers.builders import (
    GROUP_NAME,
    NAMESPACE,
    group,
    group_manifest,
    job_manifest,
    pod_manifest,
    workload_manifest,
)
from tests.controllers.fake_cluster import FakeCluster
from tests.controllers.world import World


def asking(preemptor: str, kind: str) -> list[dict[str, str]]:
    """The conditions of a group that is asked to leave; `preemptor` is `namespace/name/UID`, empty when nobody says."""
    asked = {
        "type": CONDITION_DISRUPTION_TARGET,
        "status": "True",
        "reason": "PreemptionByScheduler",
        "message": "leave",
    }
    whom = {"type": CONDITION_PREEMPTED_BY, "status": "True", "reason": kind, "message": preemptor}
    return [asked, whom] if preemptor else [asked]


def world_with(cluster: FakeCluster, *others: tuple[Any, dict[str, Any]], by: str, kind: str) -> World:
    """A running gang Job that is asked to leave, and these other objects."""
    running = job_manifest(group=GROUP_NAME, gated=False, started=True)
    victim = group_manifest() | {"status": {"conditions": asking(by, kind)}}
    for resource, manifest in (
        (JOBS, running),
        (OWN.workloads, workload_manifest()),
        (OWN.pod_groups, victim),
        *others,
    ):
        cluster.put(resource, manifest)
    return World(cluster)


def is_suspended(cluster: FakeCluster) -> bool:
    live = next(found for found in cluster.all(JOBS) if found["metadata"]["name"] == "train")
    return bool(live["spec"]["suspend"]) and GATE in live["metadata"]["annotations"]


BY_GROUP = f"{NAMESPACE}/urgent/uid-of-urgent"


@pytest.mark.parametrize(
    ("uid", "settings", "leaves"),
    [
        ("uid-of-urgent", {}, True),
        ("another", {}, False),
        ("uid-of-urgent", {"deleting": True}, False),
        ("", {}, False),
    ],
    ids=["there", "another of its name", "being deleted", "gone"],
)
async def test_a_job_gives_way_to_a_group_that_is_there(
    cluster: FakeCluster, uid: str, settings: dict[str, Any], leaves: bool
) -> None:
    there = [(OWN.pod_groups, group_manifest("urgent", uid=uid, job_uid="other", **settings))] if uid else []
    world = world_with(cluster, *there, by=BY_GROUP, kind="PodGroup")
    await world.settle()
    assert is_suspended(cluster) is leaves


@pytest.mark.parametrize(
    ("settings", "leaves"),
    [({}, True), ({"node": "n0"}, False), ({"deleting": True}, False), ({"phase": "Failed"}, False), (None, False)],
    ids=["waits", "has a place", "being deleted", "over", "gone"],
)
async def test_a_job_gives_way_to_a_lone_pod_that_waits(
    cluster: FakeCluster, settings: dict[str, Any] | None, leaves: bool
) -> None:
    there = [(PODS, pod_manifest("urgent", job_uid="other", **settings))] if settings is not None else []
    world = world_with(cluster, *there, by=f"{NAMESPACE}/urgent/uid-of-urgent", kind="Pod")
    await world.settle()
    assert is_suspended(cluster) is leaves


async def test_a_job_gives_way_where_nobody_says_for_whom(cluster: FakeCluster) -> None:
    world = world_with(cluster, by="", kind="")
    await world.settle()
    assert is_suspended(cluster)


async def test_a_job_that_is_suspended_for_somebody_waits_for_the_schedulers_word(cluster: FakeCluster) -> None:
    world = world_with(
        cluster,
        (OWN.pod_groups, group_manifest("urgent", uid="uid-of-urgent", job_uid="o")),
        by=BY_GROUP,
        kind="PodGroup",
    )
    await world.settle()
    cluster.remove(OWN.pod_groups, "urgent")
    await world.settle()
    assert is_suspended(cluster)


def asked(*conditions: Condition) -> PodGroup:
    return PodGroup(group().metadata, group().spec, PodGroupStatus(conditions))


def test_another_preemptor_is_news() -> None:
    target = Condition(CONDITION_DISRUPTION_TARGET, "True", "PreemptionByScheduler", "leave")
    first, second = (Condition(CONDITION_PREEMPTED_BY, "True", "PodGroup", f"ns/{name}/uid") for name in ("a", "b"))
    assert not _same_but_status(asked(target, first), asked(target, second))
    assert _same_but_status(asked(target, first), asked(target, first))


@pytest.mark.parametrize("message", ["", "a/b", "a/b/c/d", "somebody more important"])
def test_what_cannot_be_read_names_nobody(message: str) -> None:
    target = Condition(CONDITION_DISRUPTION_TARGET, "True", "PreemptionByScheduler")
    assert preemptor_of((target, Condition(CONDITION_PREEMPTED_BY, "True", "PodGroup", message))) is None


def test_for_whom_a_group_leaves_is_read_as_it_is_written() -> None:
    preemptor = Preemptor("PodGroup", "ns", "urgent", "uid")
    target = Condition(CONDITION_DISRUPTION_TARGET, "True", "PreemptionByScheduler")
    said = Condition(CONDITION_PREEMPTED_BY, "True", preemptor.kind, preemptor.reference)
    assert preemptor_of((target, said)) == preemptor
    assert preemptor_of((said,)) is None
