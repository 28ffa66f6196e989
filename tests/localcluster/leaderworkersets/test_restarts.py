"""What becomes of a group one of whose pods restarts or goes, on the embedded server."""

import asyncio
import contextlib
import random

import pytest

from api.constants import LWS_REVISION
from kube.client.client import PatchKind
from kube.client.errors import Conflict, NotFound
from kube.client.resources import EVENTS, PODS
from tests.localcluster.leaderworkersets.conftest import Cluster
from tests.localcluster.leaderworkersets.groups import NAMESPACE, Groups, eventually, lws, playing, pods, rolling

DELETIONS = 30
LOOKS = 20
RESTARTED = {
    "status": {
        "containerStatuses": [
            {"name": "main", "image": "x:1", "imageID": "", "ready": True, "restartCount": 1, "state": {}}
        ]
    }
}


async def delete_pod(groups: Groups, name: str, *, propagation: str = "Background") -> str:
    """Deletes a pod; its UID."""
    uid = await groups.uid(name)
    await groups.client.delete(PODS, name, NAMESPACE, uid=uid, propagation=propagation)
    return uid


async def is_another(groups: Groups, name: str, before: str) -> bool:
    return (await groups.uid(name)) not in {"", before}


async def stays(groups: Groups, name: str, uid: str) -> None:
    """The pod is the same at every one of some looks."""
    for _ in range(LOOKS):
        assert await groups.uid(name) == uid
        await asyncio.sleep(0.05)


async def test_a_lost_worker_takes_its_whole_group_along_and_no_other(cluster: Cluster) -> None:
    async with playing(cluster, lws(replicas=2, size=3)) as groups:
        await groups.available()
        before = {name: await groups.uid(name) for name in await groups.pod_names()}
        await delete_pod(groups, "g-0-2")
        for name in ("g-0", "g-0-1", "g-0-2"):
            await eventually(lambda name=name: is_another(groups, name, before[name]))  # type: ignore[misc]
        await groups.available()
        assert await groups.uid("g-1") == before["g-1"]
        assert await groups.uid("g-1-1") == before["g-1-1"]
        # Once: a dying worker of the old group does not bring the new leader down.
        await stays(groups, "g-0", await groups.uid("g-0"))

        async def told() -> bool:
            events = (await groups.client.list(EVENTS, NAMESPACE))["items"]
            return [each["reason"] for each in events].count("RecreateGroup") == 1

        await eventually(told)


async def test_a_restarted_container_takes_the_group_along(cluster: Cluster) -> None:
    async with playing(cluster, lws(replicas=1)) as groups:
        await groups.available()
        leader, worker = await groups.uid("g-0"), await groups.uid("g-0-1")
        await groups.client.patch(PODS, RESTARTED, "g-0-1", NAMESPACE, subresource="status", kind=PatchKind.STRATEGIC)
        await eventually(lambda: is_another(groups, "g-0", leader))
        await eventually(lambda: is_another(groups, "g-0-1", worker))
        await groups.available()


@pytest.mark.parametrize("propagation", ["Background", "Foreground"])
async def test_a_deleted_leader_is_made_again_once(cluster: Cluster, propagation: str) -> None:
    async with playing(cluster, lws(replicas=1, size=3)) as groups:
        await groups.available()
        workers = await groups.uid("g-0-1")
        leader = await delete_pod(groups, "g-0", propagation=propagation)
        await eventually(lambda: is_another(groups, "g-0", leader))
        again = await groups.uid("g-0")
        await eventually(lambda: is_another(groups, "g-0-1", workers))
        await groups.has_pods("g-0", "g-0-1", "g-0-2")
        await groups.available()
        await stays(groups, "g-0", again)


async def test_without_a_policy_only_the_lost_pod_is_made_again(cluster: Cluster) -> None:
    async with playing(cluster, lws(replicas=1, size=3, template={"restartPolicy": "None"})) as groups:
        await groups.available()
        leader, sibling = await groups.uid("g-0"), await groups.uid("g-0-2")
        lost = await delete_pod(groups, "g-0-1")
        await eventually(lambda: is_another(groups, "g-0-1", lost))
        await groups.available()
        assert (await groups.uid("g-0"), await groups.uid("g-0-2")) == (leader, sibling)


async def test_a_group_that_has_not_started_yet_stays_when_its_policy_waits(cluster: Cluster) -> None:
    waits = lws(replicas=1, size=3, template={"restartPolicy": "RecreateGroupAfterStart"})
    waits["spec"]["leaderWorkerTemplate"]["leaderTemplate"] = pods("x:1")
    waits["spec"]["leaderWorkerTemplate"]["workerTemplate"] = pods("x:1", nodeSelector={"no": "node"})
    async with playing(cluster, waits) as groups:
        await groups.has_pods("g-0", "g-0-1", "g-0-2")
        leader = await groups.uid("g-0")
        lost = await delete_pod(groups, "g-0-1")
        await eventually(lambda: is_another(groups, "g-0-1", lost))
        await stays(groups, "g-0", leader)


async def test_a_group_that_has_started_goes_when_its_policy_waits(cluster: Cluster) -> None:
    async with playing(
        cluster, lws(replicas=1, size=2, template={"restartPolicy": "RecreateGroupAfterStart"})
    ) as groups:
        await groups.available()
        leader = await groups.uid("g-0")
        await delete_pod(groups, "g-0-1")
        await eventually(lambda: is_another(groups, "g-0", leader))
        await groups.available()


async def test_a_group_that_restarts_below_the_partition_is_what_it_was(cluster: Cluster) -> None:
    manifest = lws(replicas=2, size=3, rolloutStrategy=rolling(partition=1))
    async with playing(cluster, manifest) as groups:
        await groups.available()
        old = (await groups.leaders())[0]["metadata"]["labels"][LWS_REVISION]
        await groups.change({"leaderWorkerTemplate": {"size": 2, "workerTemplate": pods("x:2")}})
        await groups.has_pods("g-0", "g-0-1", "g-0-2", "g-1", "g-1-1")
        await eventually(groups.is_available)
        leader = await groups.uid("g-0")
        await delete_pod(groups, "g-0-2")
        await eventually(lambda: is_another(groups, "g-0", leader))
        await groups.has_pods("g-0", "g-0-1", "g-0-2", "g-1", "g-1-1")
        images = await groups.images()
        assert {images[name] for name in ("g-0", "g-0-1", "g-0-2")} == {"x:1"}
        assert {images[name] for name in ("g-1", "g-1-1")} == {"x:2"}
        assert (await groups.leaders())[0]["metadata"]["labels"][LWS_REVISION] == old


async def test_whatever_is_deleted_all_groups_are_whole_in_the_end(cluster: Cluster) -> None:
    source = random.Random(7)
    async with playing(cluster, lws(replicas=3, size=3)) as groups:
        await groups.available()
        for _ in range(DELETIONS):
            pod = source.choice(await groups.all(PODS) or [None])
            if pod is not None:
                with contextlib.suppress(NotFound, Conflict):
                    await delete_pod(
                        groups, pod["metadata"]["name"], propagation=source.choice(["Background", "Foreground"])
                    )
            await asyncio.sleep(source.random() * 0.1)
        await groups.has_pods(*(f"g-{group}{end}" for group in range(3) for end in ("", "-1", "-2")))
        await groups.available()
