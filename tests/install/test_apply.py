"""Bringing objects on the server to what the manifests say."""

from typing import Any

import pytest

from api.errors import ConfigurationError
from install.apply import apply, merged, wait_until_served
from install.kinds import CLUSTER_ROLES
from install.manifests import Manifest, load
from kube.client.errors import Forbidden
from kube.client.resources import CUSTOM_RESOURCE_DEFINITIONS
from tests.install.fake_cluster import FakeCluster
from tests.install.fake_time import FakeTime


def role(*verbs: str, **metadata: Any) -> Manifest:
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": list(verbs)}]
    return Manifest(CLUSTER_ROLES, {"kind": "ClusterRole", "metadata": {"name": "r", **metadata}, "rules": rules})


async def test_what_is_missing_is_created() -> None:
    cluster = FakeCluster()
    assert await apply(cluster, role("get"), FakeTime().poller) == "created"
    assert cluster.names(CLUSTER_ROLES) == ["r"]


async def test_applying_twice_changes_nothing() -> None:
    cluster = FakeCluster()
    await apply(cluster, role("get"), FakeTime().poller)
    assert await apply(cluster, role("get"), FakeTime().poller) == "unchanged"
    assert cluster.writes == [("create", "ClusterRole", "r")]


async def test_a_right_that_a_newer_manifest_no_longer_gives_is_taken_back() -> None:
    cluster = FakeCluster()
    await apply(cluster, role("get", "delete"), FakeTime().poller)
    assert await apply(cluster, role("get"), FakeTime().poller) == "changed"
    found = cluster.find(CLUSTER_ROLES, "r")
    assert found is not None
    assert found["rules"][0]["verbs"] == ["get"]


async def test_labels_of_others_stay() -> None:
    cluster = FakeCluster()
    cluster.put(CLUSTER_ROLES, "r", metadata={"labels": {"theirs": "1", "ours": "0"}, "finalizers": ["x/y"]})
    await apply(cluster, role("get", labels={"ours": "1"}), FakeTime().poller)
    found = cluster.find(CLUSTER_ROLES, "r")
    assert found is not None
    assert found["metadata"]["labels"] == {"theirs": "1", "ours": "1"}
    assert found["metadata"]["finalizers"] == ["x/y"]


@pytest.mark.parametrize("verb", ["create", "update"])
async def test_a_lost_answer_is_looked_into(verb: str) -> None:
    cluster = FakeCluster()
    if verb == "update":
        await apply(cluster, role("get", "delete"), FakeTime().poller)
    cluster.lose_answer_of = {verb}
    assert await apply(cluster, role("get"), FakeTime().poller) == "unchanged"
    assert cluster.lose_answer_of == set()


async def test_an_object_that_is_being_deleted_is_waited_for_and_made_anew() -> None:
    cluster, time = FakeCluster(), FakeTime()
    old = cluster.put(CLUSTER_ROLES, "r", metadata={"deletionTimestamp": "now", "finalizers": ["x/y"]})

    async def sleep(seconds: float) -> None:
        await time.sleep(seconds)
        if time.now > 5:
            cluster.objects.clear()

    poller = time.poller
    assert await apply(cluster, role("get"), type(poller)(clock=time.clock, sleep=sleep)) == "created"
    found = cluster.find(CLUSTER_ROLES, "r")
    assert found is not None
    assert found["metadata"]["uid"] != old["metadata"]["uid"]


async def test_an_object_that_never_goes_away_is_said() -> None:
    cluster = FakeCluster()
    cluster.put(CLUSTER_ROLES, "r", metadata={"deletionTimestamp": "now", "finalizers": ["x/y"]})
    with pytest.raises(ConfigurationError, match=r"ClusterRole r is being deleted and does not go away"):
        await apply(cluster, role("get"), FakeTime().poller)


async def test_a_missing_right_is_passed_on_as_it_is() -> None:
    cluster = FakeCluster()
    cluster.fail["create"] = Forbidden(403, "Forbidden", 'User "nobody" cannot create resource "clusterroles"')
    with pytest.raises(Forbidden, match="cannot create resource"):
        await apply(cluster, role("get"), FakeTime().poller)


def test_merging_keeps_identity_and_status() -> None:
    live = {"metadata": {"name": "r", "uid": "u", "resourceVersion": "7"}, "spec": {"old": 1}, "status": {"s": 1}}
    wanted = {"metadata": {"name": "r"}, "spec": {"new": 1}}
    assert merged(live, wanted) == {**live, "spec": {"new": 1}}


async def test_the_crds_are_waited_for_until_the_server_answers_for_them() -> None:
    cluster, time, crds = FakeCluster(), FakeTime(), load("crd")
    for each in crds:
        await apply(cluster, each, time.poller)
    for each in crds:
        found = cluster.find(CUSTOM_RESOURCE_DEFINITIONS, each.name)
        assert found is not None
        found["status"]["conditions"] = []

    async def sleep(seconds: float) -> None:
        await time.sleep(seconds)
        for each in crds:
            found = cluster.find(CUSTOM_RESOURCE_DEFINITIONS, each.name)
            assert found is not None
            found["status"]["conditions"] = [{"type": "Established", "status": "True"}]

    await wait_until_served(cluster, crds, type(time.poller)(clock=time.clock, sleep=sleep))
    assert time.slept == [0.2]


async def test_names_that_somebody_else_has_taken_are_said() -> None:
    cluster, time, crds = FakeCluster(), FakeTime(), load("crd")
    for each in crds:
        await apply(cluster, each, time.poller)
    found = cluster.find(CUSTOM_RESOURCE_DEFINITIONS, "workloads.tutti.scheduler")
    assert found is not None
    refusal = {"type": "NamesAccepted", "status": "False", "message": '"tw" is already in use'}
    found["status"]["conditions"] = [refusal]
    with pytest.raises(
        ConfigurationError, match=r'workloads\.tutti\.scheduler is not accepted: "tw" is already in use'
    ):
        await wait_until_served(cluster, crds, time.poller)
