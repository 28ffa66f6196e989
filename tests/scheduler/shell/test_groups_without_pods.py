"""A group often exists some time before its pods: it is given longer to say what it waits for."""

from tests.scheduler.shell.cluster import Cluster
from tests.scheduler.shell.manifests import gang

WAITS = ("False", "WaitingForMembers")


async def test_a_group_without_pods_says_nothing_while_one_with_too_few_says_it() -> None:
    cluster = Cluster()
    cluster.api.put("podgroups", gang("empty", 3))
    async with cluster.scheduler(empty_report_seconds=3600):
        cluster.add_gang("short", 1, min_count=3)
        await cluster.api.until(lambda: cluster.group_says("short") == WAITS)
        assert cluster.group_says("empty") == ("", "")


async def test_it_says_so_soon_after_its_first_pod() -> None:
    cluster = Cluster()
    cluster.api.put("podgroups", gang("g", 3))
    async with cluster.scheduler(empty_report_seconds=3600):
        cluster.add_gang("other", 1, min_count=3)
        await cluster.api.until(lambda: cluster.group_says("other") == WAITS)
        cluster.add_members("g", 1)
        await cluster.api.until(lambda: cluster.group_says("g") == WAITS)


async def test_it_says_so_in_the_end_without_any() -> None:
    cluster = Cluster()
    cluster.api.put("podgroups", gang("g", 3))
    async with cluster.scheduler():
        await cluster.api.until(lambda: cluster.group_says("g") == WAITS)
