"""Claims that have devices already, or more users than one, on a real control plane: who may use them, and when they come free."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.conformance.devices import Devices, devices_of, named, own
from verify.clusters.eventually import eventually, throughout
from verify.clusters.jobs import CONDITION, Jobs, condition_entry

pytestmark = [
    pytest.mark.usefixtures("tutti"),
    pytest.mark.one_api,
    pytest.mark.since(37, "resource.k8s.io/v1 with the fields of 1.37"),
]

SOON_SECONDS = 30
FREED_SECONDS = 60
MOST_CONSUMERS = 256


def test_23_a_gang_uses_the_devices_that_its_claim_has_and_is_only_added_to_its_consumers(
    devices: Devices, jobs: Jobs
) -> None:
    devices.base()
    devices.claim("c")
    devices.allocate("c", "n1", "g1")
    before = devices.get("c")["status"]["allocation"]
    devices.gang("g", 2, named("c"))
    eventually(lambda: len(devices.places("g")) == 2, within_seconds=SOON_SECONDS)
    assert set(devices.places("g").values()) == {"n1"}
    after = devices.get("c")["status"]
    assert after["allocation"] == before
    assert len(after["reservedFor"]) == 2


def test_23_a_claim_that_nobody_uses_is_given_other_devices_where_its_gang_can_run(
    devices: Devices, jobs: Jobs
) -> None:
    devices.base()
    devices.claim("c")
    devices.allocate("c", "n1", "g1")
    devices.pod("p", named("c"), on="n2")
    eventually(lambda: devices.place("p") == "n2", within_seconds=SOON_SECONDS)
    assert devices_of(devices.get("c")) == ["n2/g0"]


def test_a_claim_with_256_consumers_takes_another_one_when_one_of_them_is_gone(devices: Devices) -> None:
    devices.base()
    devices.claim("c")
    devices.allocate("c", "n1", "g1")
    with ThreadPoolExecutor(8) as several:
        names = [f"user-{number}" for number in range(MOST_CONSUMERS)]
        pods = list(several.map(lambda name: devices.pod(name, named("c"), scheduler="nobody"), names))
    consumers = [{"resource": "pods", "name": p["metadata"]["name"], "uid": p["metadata"]["uid"]} for p in pods]
    path = devices.api.path("resourceclaims", devices.namespace, "c") + "/status"
    devices.api.request("PATCH", path, {"status": {"reservedFor": consumers}}, kind="merge")
    devices.pod("late", named("c"))
    eventually(lambda: "is reserved for 256 pods" in devices.told("late"), within_seconds=SOON_SECONDS)
    assert devices.place("late") == ""
    devices.api.delete("pods", "user-0", devices.namespace)
    eventually(lambda: devices.place("late") == "n1", within_seconds=FREED_SECONDS)
    assert len(devices.get("c")["status"]["reservedFor"]) == MOST_CONSUMERS


@pytest.mark.slow
def test_a_gang_of_257_that_share_a_claim_is_refused_whole_and_one_of_256_starts(devices: Devices, jobs: Jobs) -> None:
    for name in ("n1", "n2", "n3"):
        devices.add_node(name, cpu="64")
    devices.add_class("net")
    devices.offer("fabric", "f0", driver="net", allNodes=True)
    devices.claim("c", devices.request(of="net"))
    devices.gang("many", MOST_CONSUMERS + 1, named("c"))
    eventually(lambda: "256" in refusal(jobs, "many"), within_seconds=FREED_SECONDS)
    assert (devices.places(), devices.given()) == ({}, [])
    devices.api.delete("jobs", "many", devices.namespace)
    devices.gang("most", MOST_CONSUMERS, named("c"))
    eventually(lambda: len(devices.places("most")) == MOST_CONSUMERS, within_seconds=FREED_SECONDS)
    assert len(devices.get("c")["status"]["reservedFor"]) == MOST_CONSUMERS


def refusal(jobs: Jobs, name: str) -> str:
    found = condition_entry(jobs.group(name), CONDITION)
    return str(found["message"]) if found and found["status"] == "False" else ""


def test_the_devices_of_pods_that_succeed_are_given_to_the_next_gang(devices: Devices, jobs: Jobs) -> None:
    devices.base()
    devices.gang("first", 4, own("t"), run_seconds=0.2)
    eventually(lambda: jobs.succeeded("first"), within_seconds=SOON_SECONDS)
    devices.gang("second", 4, own("t"))
    eventually(lambda: len(devices.places("second")) == 4, within_seconds=FREED_SECONDS)
    throughout(lambda: len(set(devices.given())) == 4, seconds=0.5)
