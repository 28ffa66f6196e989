"""Extended resources that a device class backs, on a real control plane: devices by a claim, or counted where a node has them."""

import signal
from collections.abc import Iterator

import pytest

from tests.conformance.controlplane import ControlPlane
from tests.conformance.devices import Devices, devices_of
from tests.conformance.eventually import eventually
from tests.conformance.faulty_schedulers import FaultySchedulers
from tests.conformance.tutti_process import Tutti

pytestmark = [
    pytest.mark.one_api,
    pytest.mark.since(37, "resource.k8s.io/v1 with the fields of 1.37"),
]

SOON_SECONDS = 30
NOT_YET_SECONDS = 3
"""So long one waits for what is not built yet; to be `SOON_SECONDS` when it is."""
MARK = "resource.kubernetes.io/extended-resource-claim"


@pytest.fixture
def offered(devices: Devices) -> Devices:
    """n1 has devices of the class that backs the resource, n2 has the resource itself."""
    devices.add_node("n1")
    devices.add_node("n2", resources={devices.extended_resource: "2"})
    devices.add_class(extendedResourceName=devices.extended_resource)
    devices.offer("n1", "g0", "g1", "g2")
    return devices


@pytest.mark.usefixtures("tutti")
def test_24_where_the_node_has_the_resource_it_is_counted_and_no_claim_is_made(offered: Devices) -> None:
    offered.pod("p", acc=2, on="n2")
    eventually(lambda: offered.place("p") == "n2", within_seconds=SOON_SECONDS)
    offered.pod("q", acc=1, on="n2")
    eventually(lambda: "Insufficient" in offered.told("q"), within_seconds=SOON_SECONDS)
    assert offered.claims() == []


@pytest.mark.usefixtures("tutti")
@pytest.mark.xfail(reason="extended resources that a class backs are counted on nodes only", raises=AssertionError)
def test_24_where_a_class_has_the_resource_a_claim_is_made_and_the_status_of_the_pod_names_it(offered: Devices) -> None:
    offered.pod("p", acc=2, on="n1")
    eventually(lambda: offered.place("p") == "n1", within_seconds=NOT_YET_SECONDS)
    is_made_for(offered, "p")


def is_made_for(devices: Devices, name: str) -> None:
    """The one claim there is has two devices for this pod, whose status names it."""
    (claim,) = devices.claims()
    assert claim["metadata"]["annotations"][MARK] == "true"
    assert len(devices_of(claim)) == 2
    pod = devices.api.get("pods", name, devices.namespace)
    assert [one["uid"] for one in claim["metadata"]["ownerReferences"]] == [pod["metadata"]["uid"]]
    assert [one["uid"] for one in claim["status"]["reservedFor"]] == [pod["metadata"]["uid"]]
    told = pod["status"]["extendedResourceClaimStatus"]
    assert told["resourceClaimName"] == claim["metadata"]["name"]
    assert {one["resourceName"] for one in told["requestMappings"]} == {devices.extended_resource}


@pytest.fixture
def schedulers(tutti: Tutti, control_plane: ControlPlane) -> Iterator[FaultySchedulers]:
    tutti.lose_child("scheduler", signal.SIGKILL)
    made = FaultySchedulers(control_plane)
    yield made
    made.kill()


@pytest.mark.slow
@pytest.mark.xfail(reason="extended resources that a class backs are counted on nodes only", raises=AssertionError)
def test_24_a_bind_that_fails_leaves_no_claim_behind(offered: Devices, schedulers: FaultySchedulers) -> None:
    schedulers.start(refuse_bind=1)
    offered.pod("p", acc=2, on="n1")
    eventually(lambda: offered.place("p") == "n1", within_seconds=NOT_YET_SECONDS)
    is_made_for(offered, "p")
