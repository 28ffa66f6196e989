"""Namespaces, Services and controllers with selectors reach the decisions, and leave them again."""

import pytest

from scheduler.cache.cluster import ClusterState
from tests.placement.case import near, selector, term
from tests.scheduler.core import build
from tests.scheduler.shell.cluster import Cluster
from tests.scheduler.shell.manifests import pod

LABELS = {"app": "a"}


@pytest.fixture
async def cluster() -> Cluster:
    return Cluster()


def _keys(state: ClusterState, owner: str = "") -> list[str]:
    """The topology keys of the default constraints of a pod with these labels and this ReplicaSet."""
    record = state.slim_pod(build.pod("p", namespace="ns", labels=LABELS, controller=("ReplicaSet", owner)))
    return [spread.key for spread in state.default_spreads.of(record)]


BOTH = ["kubernetes.io/hostname", "topology.kubernetes.io/zone"]


async def test_pods_of_a_service_are_spread_by_default_until_it_is_gone(cluster: Cluster) -> None:
    cluster.api.put("services", {"metadata": {"namespace": "ns", "name": "s"}, "spec": {"selector": LABELS}})
    async with cluster.scheduler() as scheduler:
        assert _keys(scheduler.state) == BOTH
        cluster.api.put("services", {"metadata": {"namespace": "ns", "name": "s"}, "spec": {"selector": {"x": "y"}}})
        await cluster.api.until(lambda: not _keys(scheduler.state))
        cluster.api.put("services", {"metadata": {"namespace": "ns", "name": "t"}, "spec": {"selector": LABELS}})
        await cluster.api.until(lambda: bool(_keys(scheduler.state)))
        cluster.api.remove("services", "ns", "t")
        await cluster.api.until(lambda: not _keys(scheduler.state))


async def test_pods_of_a_controller_with_a_selector_are_spread_by_default_until_it_is_gone(cluster: Cluster) -> None:
    made = {"metadata": {"namespace": "ns", "name": "r"}, "spec": {"selector": {"matchLabels": LABELS}}}
    async with cluster.scheduler() as scheduler:
        cluster.api.put("replicasets", made)
        await cluster.api.until(lambda: _keys(scheduler.state, "r") == BOTH)
        assert _keys(scheduler.state, "other") == []
        cluster.api.remove("replicasets", "ns", "r")
        await cluster.api.until(lambda: not _keys(scheduler.state, "r"))


async def test_a_namespace_that_gets_the_label_a_pod_asks_for_lets_it_start(cluster: Cluster) -> None:
    cluster.add_nodes(2)
    friend = pod("friend", scheduler="other")
    friend["metadata"] |= {"namespace": "elsewhere", "labels": LABELS}
    friend["spec"]["nodeName"] = "n1"
    wanting = pod("wanting", gpus=0)
    wanting["spec"] |= near(term(selector(app="a"), "kubernetes.io/os", namespaceSelector=selector(team="red")))
    for name in ("n0", "n1"):
        node = cluster.api.peek("nodes", "", name)
        node["metadata"]["labels"] = {"kubernetes.io/os": "linux"}
        cluster.api.put("nodes", node)
    cluster.api.put("namespaces", {"metadata": {"name": "elsewhere"}})
    cluster.api.put("pods", friend)
    cluster.api.put("pods", wanting)
    async with cluster.scheduler(initial_backoff_seconds=600, max_backoff_seconds=600):
        await cluster.api.until(lambda: cluster.pod_says("wanting") == "Unschedulable")
        cluster.api.put("namespaces", {"metadata": {"name": "elsewhere", "labels": {"team": "red"}}})
        await cluster.api.until(lambda: "wanting" in cluster.api.bound())
