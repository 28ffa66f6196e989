"""Groups speak the words of the server's version; their pods say the same everywhere."""

import pytest

from api.constants import REASON_POD_GROUP_ERROR
from tests.scheduler.shell.cluster import Cluster
from tests.scheduler.shell.manifests import gang, pod


@pytest.fixture
async def cluster() -> Cluster:
    return Cluster()


def _add_gang_of_two_priorities(cluster: Cluster) -> None:
    cluster.api.put("podgroups", gang("g", 2))
    for number in range(2):
        one = pod(f"g-{number}", group="g", owned=True)
        one["spec"]["priority"] = number
        cluster.api.put("pods", one)


@pytest.mark.parametrize("reason", ["SchedulerError", "PodGroupError"])
async def test_members_that_contradict_each_other_are_told_in_the_words_of_the_server(
    cluster: Cluster, reason: str
) -> None:
    cluster.group_error_reason = reason
    cluster.add_nodes(2)
    async with cluster.scheduler():
        _add_gang_of_two_priorities(cluster)
        await cluster.api.until(lambda: cluster.group_says("g") == ("False", reason))
        assert "should have the same priority" in cluster.group_message("g")
        await cluster.api.until(lambda: cluster.pod_says("g-0") == cluster.pod_says("g-1") == "SchedulerError")


async def test_what_goes_wrong_in_the_scheduler_is_no_error_of_the_group(cluster: Cluster) -> None:
    cluster.group_error_reason = REASON_POD_GROUP_ERROR
    cluster.add_nodes(2)
    async with cluster.scheduler() as scheduler:
        scheduler.state.nodes.steps.most = 10
        cluster.add_gang("g", 2)
        await cluster.api.until(lambda: cluster.group_says("g") == ("False", "SchedulerError"))
        assert "longer than one decision" in cluster.group_message("g")


async def test_a_scheduler_that_finds_a_newer_server_says_it_again_in_its_words(cluster: Cluster) -> None:
    cluster.add_nodes(2)
    async with cluster.scheduler():
        _add_gang_of_two_priorities(cluster)
        await cluster.api.until(lambda: cluster.group_says("g") == ("False", "SchedulerError"))
    cluster.group_error_reason = REASON_POD_GROUP_ERROR
    async with cluster.scheduler():
        await cluster.api.until(lambda: cluster.group_says("g") == ("False", "PodGroupError"))
