"""What the scheduler's metrics say of gangs that wait, start, or are bound in part."""

from typing import Any

from tests.scheduler.shell.cluster import Cluster


def value(cluster: Cluster, name: str, **labels: str) -> float | None:
    return cluster.metrics.registry.get_sample_value(name, labels)


async def test_gangs_that_wait_are_counted_by_the_reason_of_their_condition() -> None:
    cluster = Cluster()
    cluster.add_nodes(1)
    cluster.add_gang("too-large", 500)
    cluster.add_gang("incomplete", 3, min_count=4)
    async with cluster.scheduler():
        await cluster.api.until(lambda: cluster.group_says("too-large") == ("False", "Unschedulable"))
        await cluster.api.until(lambda: cluster.group_says("incomplete") == ("False", "WaitingForMembers"))
        assert value(cluster, "tutti_pending_podgroups", reason="Unschedulable") == 1
        assert value(cluster, "tutti_pending_podgroups", reason="WaitingForMembers") == 1


async def test_a_start_is_counted_once_in_the_class_of_its_size_and_not_again_after_a_restart() -> None:
    cluster = Cluster()
    cluster.add_nodes(4)
    cluster.add_gang("g", 2)
    async with cluster.scheduler():
        await cluster.api.until(lambda: starts(cluster, "2-8") == 1)
    async with cluster.scheduler():
        cluster.add_gang("h", 1)
        await cluster.api.until(lambda: starts(cluster, "1") == 1)
        assert starts(cluster, "2-8") is None


def starts(cluster: Cluster, size: str) -> float | None:
    return value(cluster, "tutti_podgroup_start_duration_seconds_count", size=size)


async def test_the_time_to_start_begins_when_the_group_was_created() -> None:
    cluster = Cluster()
    cluster.add_nodes(1)
    async with cluster.scheduler():
        # The cluster's clock begins at the second at which its objects say they were created.
        cluster.add_gang("g", 1)
        await cluster.api.until(lambda: starts(cluster, "1") == 1)
        taken = value(cluster, "tutti_podgroup_start_duration_seconds_sum", size="1")
    assert taken is not None
    assert 0 <= taken <= cluster.clock() - cluster._begin


async def test_a_gang_that_lost_a_member_counts_as_bound_in_part_and_as_started() -> None:
    cluster = Cluster()
    cluster.add_nodes(2)
    cluster.add_gang("g", 2)
    async with cluster.scheduler():
        await cluster.api.until(lambda: cluster.group_says("g") == ("True", "Scheduled"))
        assert value(cluster, "tutti_partial_podgroups", started="true") == 0
        cluster.api.remove("pods", "ns", "g-0")
        await cluster.api.until(lambda: value(cluster, "tutti_partial_podgroups", started="true") == 1)
        assert value(cluster, "tutti_partial_podgroups", started="false") == 0


async def test_time_spent_on_retries_is_told_from_time_spent_on_news() -> None:
    cluster = Cluster()
    cluster.add_nodes(1)
    cluster.add_gang("too-large", 500)
    async with cluster.scheduler():
        await cluster.api.until(lambda: cluster.group_says("too-large") == ("False", "Unschedulable"))
        assert value(cluster, "tutti_scheduling_loop_seconds_count", cause="news") == 1
        cluster.add_nodes(1, first=1)
        await cluster.api.until(lambda: retries(cluster) >= 1)


def retries(cluster: Cluster) -> float:
    counts: list[Any] = [
        value(cluster, "tutti_scheduling_loop_seconds_count", cause=cause) for cause in ("room", "doubt", "time")
    ]
    return sum(count or 0 for count in counts)
