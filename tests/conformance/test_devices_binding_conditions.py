"""Devices that a driver prepares before pods may be bound (binding conditions); the tests are the driver."""

import pytest

from tests.conformance.devices import Devices, device, devices_of, own, results_of
from verify.auditor.auditor import Auditor
from verify.clusters.eventually import eventually, throughout
from verify.clusters.jobs import CONDITION, Jobs, condition_entry

pytestmark = [
    pytest.mark.usefixtures("tutti"),
    pytest.mark.one_api,
    pytest.mark.since(37, "resource.k8s.io/v1 with the fields of 1.37"),
]

SOON_SECONDS = 30
HELD_SECONDS = 1.0
READY, BROKEN = "example.com/ready", "example.com/broken"
CONDITIONS = {"bindsToNode": True, "bindingConditions": [READY], "bindingFailureConditions": [BROKEN]}


@pytest.fixture(autouse=True)
def _driver_takes_its_time(auditor: Auditor) -> None:
    auditor.windows.devices_seconds = 2 * SOON_SECONDS


def prepared(devices: Devices, claim: str, condition: str, reason: str = "done", message: str = "") -> None:
    """What a driver writes."""
    (result,) = results_of(devices.get(claim))
    told = {
        "type": condition,
        "status": "True",
        "reason": reason,
        "message": message,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    which = {key: result[key] for key in ("driver", "pool", "device")}
    path = devices.api.path("resourceclaims", devices.namespace, claim) + "/status"
    devices.api.request("PATCH", path, {"status": {"devices": [{**which, "conditions": [told]}]}}, kind="merge")


def allocated(devices: Devices, count: int) -> list[str]:
    """Waits until so many claims have devices; their names."""

    def names() -> list[str]:
        found = [claim["metadata"]["name"] for claim in devices.claims() if devices_of(claim)]
        assert len(found) == count, found
        return found

    return eventually(names, within_seconds=SOON_SECONDS)


@pytest.fixture
def offered(devices: Devices) -> Devices:
    """Three devices of all nodes that have to be prepared, and two nodes."""
    devices.add_node("n1")
    devices.add_node("n2")
    devices.add_class()
    parts = [{**device(name), **CONDITIONS} for name in ("f0", "f1")]
    devices.offer("fabric", *parts, allNodes=True)
    devices.template("t", devices.request())
    return devices


def test_21_a_pod_is_bound_when_its_device_is_ready_and_not_before(offered: Devices) -> None:
    offered.pod("p", own("t"))
    (claim,) = allocated(offered, 1)
    throughout(lambda: offered.place("p") == "", seconds=HELD_SECONDS)
    prepared(offered, claim, READY)
    node = eventually(lambda: offered.place("p"), within_seconds=SOON_SECONDS)
    (term,) = offered.get(claim)["status"]["allocation"]["nodeSelector"]["nodeSelectorTerms"]
    assert term["matchFields"][0]["values"] == [offered.nodes[node]]


def test_21_no_member_is_bound_before_the_devices_of_all_are_ready(offered: Devices, jobs: Jobs) -> None:
    offered.gang("g", 2, own("t"))
    first, second = allocated(offered, 2)
    prepared(offered, first, READY)
    throughout(lambda: offered.places() == {}, seconds=HELD_SECONDS)
    prepared(offered, second, READY)
    eventually(lambda: len(offered.places("g")) == 2, within_seconds=SOON_SECONDS)


def test_21_a_gang_one_of_whose_devices_failed_gives_all_back_and_says_why(offered: Devices, jobs: Jobs) -> None:
    offered.gang("g", 2, own("t"))
    first, second = allocated(offered, 2)
    prepared(offered, first, READY)
    prepared(offered, second, BROKEN, "broken", "no cable")

    def is_told() -> bool:
        found = condition_entry(jobs.group("g"), CONDITION)
        assert found, "nothing was said"
        return 'reason=broken, message="no cable"' in found["message"]

    eventually(is_told, within_seconds=SOON_SECONDS)
    assert offered.places() == {}
    # It is tried again, with what the driver says then.
    for claim in allocated(offered, 2):
        eventually(lambda claim=claim: "devices" not in offered.get(claim)["status"], within_seconds=SOON_SECONDS)  # type: ignore[misc]
        prepared(offered, claim, READY)
    eventually(lambda: len(offered.places("g")) == 2, within_seconds=SOON_SECONDS)
