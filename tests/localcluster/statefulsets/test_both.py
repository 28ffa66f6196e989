"""Whole lives of StatefulSets: the same with the stand-in on the embedded server and with the stock controller on a real one.

The latter needs KUBEBUILDER_ASSETS.
"""

import asyncio
from typing import Any

from kube.client.client import PatchKind
from kube.client.resources import PODS, STATEFUL_SETS
from tests.localcluster.leaderworkersets.groups import eventually
from tests.localcluster.statefulsets.play import NAME, NOWHERE, Play

LOOKS = 10
CLAIM: dict[str, Any] = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


def these(count: int, image: str = "x:1", *, first: int = 0) -> dict[str, str]:
    return {f"{NAME}-{number}": image for number in range(first, first + count)}


def rolling(**settings: Any) -> dict[str, Any]:
    return {"type": "RollingUpdate", "rollingUpdate": settings}


async def test_an_ordered_set_waits_for_each_pod(play: Play) -> None:
    await play.make(replicas=3, node_selector=NOWHERE)
    for _ in range(LOOKS):
        assert sorted(await play.pods()) in ([], ["web-0"])
        await asyncio.sleep(0.05)
    await play.use_image("x:2")
    await eventually(lambda: play.uid("web-0"))
    # As upstream: the pod that blocks is not replaced by itself.
    await play.delete_pod("web-0")
    await play.has(these(3, "x:2"))


async def test_a_parallel_set_waits_for_none(play: Play) -> None:
    await play.make(replicas=3, podManagementPolicy="Parallel", node_selector=NOWHERE)
    await play.has(these(3), ready=0)


async def test_pods_come_and_go_with_the_replicas(play: Play) -> None:
    await play.make(replicas=2)
    await play.has(these(2))
    first = await play.uid("web-0")
    await play.client.patch(STATEFUL_SETS, {"spec": {"replicas": 4}}, NAME, play.namespace, subresource="scale")
    await play.has(these(4))
    await play.change(replicas=1)
    await play.has(these(1))
    assert await play.uid("web-0") == first
    await play.change(replicas=0)
    await play.has({})


async def test_numbers_start_where_they_are_told_to(play: Play) -> None:
    await play.make(replicas=2, ordinals={"start": 5})
    await play.has(these(2, first=5))
    labels = (await play.pods())["web-6"]["metadata"]["labels"]
    assert (labels["apps.kubernetes.io/pod-index"], labels["statefulset.kubernetes.io/pod-name"]) == ("6", "web-6")


async def test_a_lost_or_failed_pod_is_made_again(play: Play) -> None:
    await play.make(replicas=2)
    await play.has(these(2))
    lost = await play.delete_pod("web-0")
    failed = await play.uid("web-1")
    await play.client.patch(
        PODS, {"status": {"phase": "Failed"}}, "web-1", play.namespace, subresource="status", kind=PatchKind.MERGE
    )

    async def both_new() -> bool:
        return await play.uid("web-0") not in {"", lost} and await play.uid("web-1") not in {"", failed}

    await eventually(both_new)
    await play.has(these(2))


async def test_an_update_leaves_one_current_revision(play: Play) -> None:
    await play.make(replicas=3)
    await play.has(these(3))
    before = await play.status()
    assert before["currentRevision"] == before["updateRevision"]
    await play.use_image("x:2")
    await play.has(these(3, "x:2"))

    async def settled() -> bool:
        status = await play.status()
        return bool(
            status["currentRevision"] == status["updateRevision"] != before["updateRevision"]
            and status["currentReplicas"] == status["updatedReplicas"] == 3
        )

    await eventually(settled)
    assert sorted((await play.revisions()).values()) == [1, 2]


async def test_pods_below_the_partition_stay_and_are_made_again_as_they_were(play: Play) -> None:
    await play.make(replicas=3, updateStrategy=rolling(partition=2))
    await play.has(these(3))
    await play.use_image("x:2")
    await play.has(these(2) | {"web-2": "x:2"})
    lost = await play.delete_pod("web-1")

    async def another() -> bool:
        return await play.uid("web-1") not in {"", lost}

    await eventually(another)
    await play.has(these(2) | {"web-2": "x:2"})
    status = await play.status()
    assert (status["currentReplicas"], status["updatedReplicas"]) == (2, 1)
    await play.change(updateStrategy=rolling(partition=0))
    await play.has(these(3, "x:2"))


async def test_going_back_takes_the_old_revision_up_again(play: Play) -> None:
    await play.make(replicas=1)
    await play.has(these(1))
    first = (await play.status())["updateRevision"]
    await play.use_image("x:2")
    await play.has(these(1, "x:2"))
    await play.use_image("x:1")
    await play.has(these(1))

    async def back() -> bool:
        return bool((await play.status())["updateRevision"] == first and (await play.revisions()).get(first) == 3)

    await eventually(back)
    assert len(await play.revisions()) == 2


async def test_old_revisions_are_forgotten_beyond_the_limit(play: Play) -> None:
    await play.make(replicas=1, revisionHistoryLimit=1)
    for number in range(1, 5):
        await play.use_image(f"x:{number}")
        await play.has(these(1, f"x:{number}"))

    async def two() -> bool:
        return sorted((await play.revisions()).values()) == [3, 4]

    await eventually(two)


async def test_unavailable_pods_of_a_parallel_set_do_not_stop_an_update(play: Play) -> None:
    await play.make(replicas=3, podManagementPolicy="Parallel", node_selector=NOWHERE)
    await play.has(these(3), ready=0)
    await play.use_image("x:2")
    await play.has(these(3, "x:2"))


async def test_on_delete_people_decide_when(play: Play) -> None:
    await play.make(replicas=2, updateStrategy={"type": "OnDelete"})
    await play.has(these(2))
    await play.use_image("x:2")
    await play.has(these(2))
    await play.delete_pod("web-1")
    await play.has(these(1) | {"web-1": "x:2"})


async def test_claims_outlive_their_pods(play: Play) -> None:
    await play.make(replicas=2, podManagementPolicy="Parallel", volumeClaimTemplates=[CLAIM], node_selector=NOWHERE)
    await play.has(these(2), ready=0)
    assert await play.claims() == ["data-web-0", "data-web-1"]
    await play.change(replicas=1)
    await play.has(these(1), ready=0)
    assert await play.claims() == ["data-web-0", "data-web-1"]
    (volume,) = [each for each in (await play.pods())["web-0"]["spec"]["volumes"] if each["name"] == "data"]
    assert volume["persistentVolumeClaim"] == {"claimName": "data-web-0"}


async def test_a_name_that_is_taken_is_waited_for(play: Play) -> None:
    stranger = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web-1", "labels": {"not": "mine"}},
        "spec": {"containers": [{"name": "main", "image": "z:9"}], "nodeSelector": NOWHERE},
    }
    made = await play.client.create(PODS, stranger, play.namespace)
    await play.make(replicas=2, podManagementPolicy="Parallel")
    await eventually(lambda: play.uid("web-0"))
    assert await play.uid("web-1") == made["metadata"]["uid"]
    await play.delete_pod("web-1")
    await play.has(these(2))
    assert sorted(await play.pods()) == ["web-0", "web-1"]


async def test_pods_of_a_deleted_set_go_with_it(play: Play) -> None:
    await play.make(replicas=2)
    await play.has(these(2))
    uid = (await play.now())["metadata"]["uid"]
    await play.client.delete(STATEFUL_SETS, NAME, play.namespace, uid=uid)

    async def nothing_left() -> bool:
        return not await play.pods() and not await play.revisions()

    await eventually(nothing_left)
