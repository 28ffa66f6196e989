"""Claims of a PodGroup (KEP-5729), on a cluster with the gate that is off by default: one claim for all members, held by the group.

Such a cluster is started for this module alone; it serves the built-in group API.
"""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.devices import Devices, devices_of, own
from tests.conformance.gated import GatedControlPlane
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually, throughout
from verify.clusters.hollow import HollowNodes, kubelet_process
from verify.clusters.tutti_process import Tutti

pytestmark = [
    pytest.mark.slow,
    pytest.mark.built_in,
    pytest.mark.since(37, "the gate DRAWorkloadResourceClaims"),
]

SETTLE_SECONDS = 60
HELD_SECONDS = 10
"""Longer than the claim controller needs to take back what nobody uses."""


@pytest.fixture(scope="module")
def cluster(assets: Path) -> Iterator[ControlPlane]:
    with GatedControlPlane("DRAWorkloadResourceClaims", assets=assets) as running:
        kubelet = kubelet_process(running)
        tutti = Tutti(running)
        try:
            tutti.ensure_running()
            yield running
        finally:
            tutti.kill_everything()
            kubelet.kill()


@pytest.fixture
def theirs(cluster: ControlPlane) -> Iterator[Devices]:
    name = f"test-{secrets.token_hex(3)}"
    cluster.admin.create("namespaces", {"metadata": {"name": name}})
    nodes = HollowNodes(cluster.admin, f"node-{secrets.token_hex(3)}")
    made = Devices(cluster.admin, name, nodes)
    yield made
    for pod in cluster.admin.list("pods", name):
        cluster.admin.delete("pods", pod["metadata"]["name"], name)
    made.remove()
    nodes.remove_all()


def test_25_members_use_the_one_claim_of_their_group_until_the_group_is_gone(theirs: Devices) -> None:
    theirs.base()
    entry = {"name": "claim-0", **own("t")}
    spec = {"schedulingPolicy": {"gang": {"minCount": 2}}, "resourceClaims": [entry]}
    group = theirs.api.create("podgroups", {"metadata": {"name": "g"}, "spec": spec}, theirs.namespace)
    for name in ("g-0", "g-1"):
        theirs.pod(name, own("t"), schedulingGroup={"podGroupName": "g"})
    eventually(lambda: len(theirs.places("g")) == 2, within_seconds=SETTLE_SECONDS)
    (claim,) = theirs.claims()
    assert len(devices_of(claim)) == 1
    (consumer,) = claim["status"]["reservedFor"]
    assert (consumer["resource"], consumer["uid"]) == ("podgroups", group["metadata"]["uid"])
    assert len(set(theirs.places("g").values())) == 1
    for name in ("g-0", "g-1"):
        theirs.api.delete("pods", name, theirs.namespace)
    eventually(lambda: not theirs.api.list("pods", theirs.namespace), within_seconds=SETTLE_SECONDS)
    throughout(lambda: len(theirs.given()) == 1, seconds=HELD_SECONDS)
    theirs.api.delete("podgroups", "g", theirs.namespace)
    eventually(lambda: not theirs.claims(), within_seconds=SETTLE_SECONDS)


def test_25_a_more_important_gang_gets_the_devices_of_a_group_whose_pods_it_has_evicted(theirs: Devices) -> None:
    theirs.api.create("priorityclasses", {"metadata": {"name": theirs.cluster_name("high")}, "value": 1000})
    theirs.add_node("n1")
    theirs.add_class()
    theirs.offer("n1", "g0", "g1")
    theirs.template("pair", theirs.request("r", 2))
    theirs.template("t", theirs.request())
    entry = {"name": "claim-0", **own("pair")}
    spec = {"schedulingPolicy": {"gang": {"minCount": 2}}, "resourceClaims": [entry]}
    theirs.api.create("podgroups", {"metadata": {"name": "g"}, "spec": spec}, theirs.namespace)
    for name in ("g-0", "g-1"):
        theirs.pod(name, own("pair"), schedulingGroup={"podGroupName": "g"})
    eventually(lambda: len(theirs.places("g")) == 2, within_seconds=SETTLE_SECONDS)
    theirs.pod("high", own("t"), priorityClassName=theirs.cluster_name("high"))
    eventually(lambda: theirs.place("high") == "n1", within_seconds=SETTLE_SECONDS)
    assert theirs.places("g") == {}
    assert len(devices_of(theirs.of_pod("high"))) == 1
    for name in ("g-0", "g-1"):
        theirs.pod(name, own("pair"), schedulingGroup={"podGroupName": "g"})
    eventually(lambda: "cannot allocate all claims" in theirs.told("g-0"), within_seconds=SETTLE_SECONDS)
    theirs.api.delete("pods", "high", theirs.namespace)
    eventually(lambda: len(theirs.places("g")) == 2, within_seconds=SETTLE_SECONDS)
    theirs.api.delete("priorityclasses", theirs.cluster_name("high"))
