"""A group often exists some time before its pods: it is given longer to say what it waits for."""

from api.constants import PROVIDER
from tests.scheduler.shell.cluster import Cluster
from tests.scheduler.shell.manifests import gang, pod

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


async def test_of_many_groups_without_pods_a_few_say_so_in_a_second_and_one_with_a_pod_does_not_wait_for_them() -> None:
    cluster = Cluster()
    names = ["a", "b", "c"]
    for name in names:
        cluster.api.put("podgroups", gang(name, 3))
    async with cluster.scheduler(empty_reports_per_second=0.001):
        await cluster.api.until(lambda: any(cluster.group_says(name) == WAITS for name in names))
        (said,) = (name for name in names if cluster.group_says(name) == WAITS)
        names.remove(said)
        cluster.add_members(names[0], 1)
        await cluster.api.until(lambda: cluster.group_says(names[0]) == WAITS)
        assert cluster.group_says(names[1]) == ("", "")


async def test_a_group_of_another_scheduler_is_left_alone() -> None:
    cluster = Cluster()
    made_for_volcano = gang("volcanic", 3)
    made_for_volcano["metadata"]["annotations"] = {PROVIDER: "volcano"}
    made_for_us = gang("ours", 3)
    made_for_us["metadata"]["annotations"] = {PROVIDER: "embedded"}
    for group in (made_for_volcano, gang("stock", 3), made_for_us, gang("mixed", 3)):
        cluster.api.put("podgroups", group)
    cluster.api.put("pods", pod("s-0", group="stock", scheduler="default-scheduler"))
    cluster.api.put("pods", pod("m-0", group="mixed", scheduler="default-scheduler"))
    cluster.add_members("mixed", 1)
    async with cluster.scheduler():
        await cluster.api.until(lambda: cluster.group_says("ours") == cluster.group_says("mixed") == WAITS)
        cluster.api.put("podgroups", gang("later", 3))
        await cluster.api.until(lambda: cluster.group_says("later") == WAITS)
        assert cluster.group_says("volcanic") == cluster.group_says("stock") == ("", "")


async def test_a_group_that_others_have_left_is_spoken_about_again() -> None:
    cluster = Cluster()
    cluster.api.put("podgroups", gang("g", 3))
    cluster.api.put("pods", pod("s-0", group="g", scheduler="default-scheduler"))
    async with cluster.scheduler():
        cluster.api.remove("pods", "ns", "s-0")
        cluster.add_members("g", 1)
        await cluster.api.until(lambda: cluster.group_says("g") == WAITS)
