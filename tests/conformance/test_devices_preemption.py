"""A more important gang takes devices from a less important one, and only from that one, on a real control plane."""

import pytest

from tests.conformance.devices import Devices, devices_of, own
from tests.conformance.scenarios.preemption_stage import HIGH, LOW, Stage
from verify.clusters.eventually import eventually, throughout
from verify.clusters.jobs import Jobs

pytestmark = [
    pytest.mark.usefixtures("tutti"),
    pytest.mark.since(37, "resource.k8s.io/v1 with the fields of 1.37"),
]

SIZE = 2
SOON_SECONDS = 30
BACK_SECONDS = 90


def holders(devices: Devices, jobs: Jobs, name: str) -> list[str]:
    """The devices of the pods of a Job."""
    uids = {pod["metadata"]["uid"] for pod in jobs.pods(name)}
    owners = {claim["metadata"]["ownerReferences"][0]["uid"]: claim for claim in devices.claims()}
    return sorted(each for uid, claim in owners.items() if uid in uids for each in devices_of(claim))


def test_a_gang_takes_the_devices_of_one_less_important_gang_which_comes_back_when_it_is_done(
    devices: Devices, jobs: Jobs, stage: Stage
) -> None:
    devices.add_node("n1")
    devices.add_class()
    devices.offer("n1", *(f"g{number}" for number in range(2 * SIZE)))
    devices.template("t", devices.request())
    for name in ("low-a", "low-b"):
        devices.gang(name, SIZE, own("t"), priority=LOW)
        eventually(lambda name=name: jobs.whole(name), within_seconds=SOON_SECONDS)  # type: ignore[misc]
    before = {name: holders(devices, jobs, name) for name in ("low-a", "low-b")}
    devices.gang("high", SIZE, own("t"), priority=HIGH)
    eventually(lambda: jobs.bound("high") == SIZE, within_seconds=SOON_SECONDS)
    (spared,) = [name for name in before if jobs.bound(name) == SIZE]
    (gave_way,) = before.keys() - {spared}
    assert holders(devices, jobs, "high") == before[gave_way]
    assert holders(devices, jobs, spared) == before[spared]
    throughout(lambda: jobs.bound(gave_way) == 0 and not holders(devices, jobs, gave_way), seconds=1)
    devices.api.delete("jobs", "high", devices.namespace)
    eventually(lambda: jobs.bound(gave_way) == SIZE, within_seconds=BACK_SECONDS)


def test_a_gang_takes_the_devices_that_a_less_important_one_has_for_an_extended_resource(
    devices: Devices, jobs: Jobs, stage: Stage
) -> None:
    devices.add_node("n1")
    devices.add_class(extendedResourceName=devices.extended_resource)
    devices.offer("n1", *(f"g{number}" for number in range(SIZE)))
    devices.gang("low", SIZE, priority=LOW, acc=1)
    eventually(lambda: jobs.whole("low"), within_seconds=SOON_SECONDS)
    devices.gang("high", SIZE, priority=HIGH, acc=1)
    eventually(lambda: jobs.bound("high") == SIZE, within_seconds=SOON_SECONDS)
    assert holders(devices, jobs, "high") == [f"n1/g{number}" for number in range(SIZE)]
    throughout(lambda: jobs.bound("low") == 0 and not holders(devices, jobs, "low"), seconds=1)
    devices.api.delete("jobs", "high", devices.namespace)
    eventually(lambda: jobs.bound("low") == SIZE, within_seconds=BACK_SECONDS)


def test_a_pod_takes_the_device_of_a_less_important_pod(devices: Devices, stage: Stage) -> None:
    devices.add_node("n1")
    devices.add_class()
    devices.offer("n1", "g0")
    devices.template("t", devices.request())
    devices.pod("low", own("t"), priorityClassName=LOW)
    eventually(lambda: devices.place("low") == "n1", within_seconds=SOON_SECONDS)
    devices.pod("high", own("t"), priorityClassName=HIGH)
    eventually(lambda: devices.place("high") == "n1", within_seconds=SOON_SECONDS)


def test_nobody_leaves_for_a_gang_that_has_no_devices_even_then(devices: Devices, jobs: Jobs, stage: Stage) -> None:
    devices.add_node("n1")
    devices.add_class()
    devices.offer("n1", "g0", "g1")
    devices.template("t", devices.request())
    devices.gang("low", SIZE, own("t"), priority=LOW)
    eventually(lambda: jobs.whole("low"), within_seconds=SOON_SECONDS)
    devices.gang("high", SIZE + 1, own("t"), priority=HIGH)
    eventually(lambda: jobs.waits("high"), within_seconds=SOON_SECONDS)
    throughout(lambda: jobs.bound("low") == SIZE, seconds=2)
