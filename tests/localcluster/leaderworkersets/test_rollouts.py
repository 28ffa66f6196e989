"""Rollouts of LeaderWorkerSets on the embedded server, from the highest index down."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from tests.localcluster.leaderworkersets.conftest import Cluster
from tests.localcluster.leaderworkersets.groups import Groups, eventually, lws, playing, pods, rolling

POLL_SECONDS = 0.02


@contextlib.asynccontextmanager
async def watched(groups: Groups) -> AsyncIterator[list[tuple[int, int]]]:
    """How many groups were ready, and how many there were, at each of many looks."""
    looks: list[tuple[int, int]] = []

    async def look() -> None:
        while True:
            status = (await groups.now()).get("status") or {}
            looks.append((status.get("readyReplicas", 0), status.get("replicas", 0)))
            await asyncio.sleep(POLL_SECONDS)

    looking = asyncio.create_task(look())
    try:
        yield looks
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)


async def all_run(groups: Groups, image: str) -> None:
    """Until every pod runs this image and the set is available."""

    async def so() -> bool:
        return set((await groups.images()).values()) == {image} and await groups.is_available()

    await eventually(so)


async def test_one_group_after_the_other_gets_the_new_template(cluster: Cluster) -> None:
    async with playing(cluster, lws(replicas=3)) as groups:
        await groups.available()
        old = await groups.revisions()
        async with watched(groups) as looks:
            await groups.use_image("x:2")
            await eventually(lambda: groups.holds("UpdateInProgress"))
            await all_run(groups, "x:2")
        assert min(ready for ready, _ in looks) >= 2
        assert await groups.pod_names() == ["g-0", "g-0-1", "g-1", "g-1-1", "g-2", "g-2-1"]

        async def only_the_new_one() -> bool:
            now = await groups.revisions()
            return len(now) == 1 and now != old

        await eventually(only_the_new_one)
        assert not await groups.holds("UpdateInProgress")
        leaders = await groups.set_named("g")
        assert leaders["spec"]["updateStrategy"]["rollingUpdate"]["partition"] == 0


async def test_as_many_groups_at_a_time_as_may_be_unavailable(cluster: Cluster) -> None:
    async with playing(cluster, lws(replicas=4, rolloutStrategy=rolling(maxUnavailable="50%"))) as groups:
        await groups.available()
        async with watched(groups) as looks:
            await groups.use_image("x:2")
            await all_run(groups, "x:2")
        assert min(ready for ready, _ in looks) == 2


async def test_more_may_be_unavailable_than_there_are(cluster: Cluster) -> None:
    async with playing(cluster, lws(replicas=2, rolloutStrategy=rolling(maxUnavailable=5))) as groups:
        await groups.available()
        await groups.use_image("x:2")
        await all_run(groups, "x:2")


async def test_a_surge_group_stands_in_when_none_may_be_missing(cluster: Cluster) -> None:
    manifest = lws(replicas=2, rolloutStrategy=rolling(maxUnavailable=0, maxSurge=1))
    async with playing(cluster, manifest) as groups:
        await groups.available()
        async with watched(groups) as looks:
            await groups.use_image("x:2")
            await all_run(groups, "x:2")
            await groups.has_pods("g-0", "g-0-1", "g-1", "g-1-1")
        assert max(there for _, there in looks) == 3
        # As upstream: the surge group is given up together with the last old one.
        assert min(ready for ready, _ in looks) >= 1


async def test_groups_below_the_partition_stay_until_it_is_lowered(cluster: Cluster) -> None:
    async with playing(cluster, lws(replicas=3, rolloutStrategy=rolling(partition=2))) as groups:
        await groups.available()
        first = await groups.uid("g-0")
        await groups.use_image("x:2")

        async def only_the_last() -> bool:
            images = await groups.images()
            return images.get("g-2-1") == "x:2" and await groups.is_available()

        await eventually(only_the_last)
        images = await groups.images()
        assert {images[name] for name in ("g-0", "g-0-1", "g-1", "g-1-1")} == {"x:1"}
        assert len(await groups.revisions()) == 2
        assert await groups.uid("g-0") == first
        await groups.change({"rolloutStrategy": rolling(partition=0)})
        await all_run(groups, "x:2")
        await eventually(lambda: one_revision(groups))


async def one_revision(groups: Groups) -> bool:
    return len(await groups.revisions()) == 1


async def test_two_changes_in_a_row_end_with_the_second(cluster: Cluster) -> None:
    async with playing(cluster, lws(replicas=3)) as groups:
        await groups.available()
        await groups.use_image("x:2")
        await eventually(lambda: groups.holds("UpdateInProgress"))
        await groups.use_image("x:3")
        await all_run(groups, "x:3")
        await eventually(lambda: one_revision(groups))


async def test_going_back_ends_with_the_first_template(cluster: Cluster) -> None:
    async with playing(cluster, lws(replicas=2)) as groups:
        await groups.available()
        first = await groups.revisions()
        await groups.use_image("x:2")
        await all_run(groups, "x:2")
        await groups.use_image("x:1")
        await all_run(groups, "x:1")

        async def as_at_first() -> bool:
            return await groups.revisions() == first

        await eventually(as_at_first)


async def test_replicas_may_change_in_the_middle_of_a_rollout(cluster: Cluster) -> None:
    async with playing(cluster, lws(replicas=3)) as groups:
        await groups.available()
        await groups.use_image("x:2")
        await eventually(lambda: groups.holds("UpdateInProgress"))
        await groups.change({"replicas": 5})
        await all_run(groups, "x:2")
        await groups.has_pods(*(f"g-{group}{end}" for group in range(5) for end in ("", "-1")))
        await groups.use_image("x:3")
        await eventually(lambda: groups.holds("UpdateInProgress"))
        await groups.change({"replicas": 2})
        await all_run(groups, "x:3")
        await groups.has_pods("g-0", "g-0-1", "g-1", "g-1-1")


async def test_groups_that_never_became_ready_do_not_stop_a_rollout(cluster: Cluster) -> None:
    stuck = {"workerTemplate": pods("x:1", nodeSelector={"no": "node"})}
    async with playing(cluster, lws(replicas=3, template=stuck)) as groups:
        await groups.has_pods(*(f"g-{group}{end}" for group in range(3) for end in ("", "-1")))
        await groups.change({"leaderWorkerTemplate": {"workerTemplate": pods("x:2", nodeSelector=None)}})
        await all_run(groups, "x:2")
