"""A more important gang gets the devices of a less important one on a real control plane, and of nobody else."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.conformance.controlplane import ControlPlane
from tests.conformance.eventually import eventually, throughout
from tests.conformance.hollow import HollowNodes
from tests.conformance.jobs import Jobs
from tests.conformance.test_preemption import Classes
from tests.conformance.test_resource_claims import Devices, gang
from tests.conformance.tutti_process import Tutti

pytestmark = [
    pytest.mark.real_only("the embedded cluster does not serve resource.k8s.io"),
    pytest.mark.since(37, "resource.k8s.io/v1 with the fields of 1.37"),
]

SOON_SECONDS = 60


@pytest.fixture
def devices(control_plane: ControlPlane, namespace: str) -> Iterator[Devices]:
    made = Devices(control_plane.admin, namespace)
    yield made
    made.remove()


@pytest.fixture
def classes(control_plane: ControlPlane, namespace: str) -> Iterator[Classes]:
    made = Classes(control_plane.admin)
    yield made
    made.remove_all()


def of_class(name: str, priority: str) -> dict[str, Any]:
    """A gang of two with a device each."""
    job = gang(name, 2, template="t")
    job["spec"]["template"]["spec"]["priorityClassName"] = priority
    return job


def holders(devices: Devices) -> set[str]:
    """Names of the gangs whose claims have devices."""
    held = [one for one in devices.claims() if one.get("status", {}).get("allocation")]
    return {one["metadata"]["ownerReferences"][0]["name"].split("-")[0] for one in held}


def uids(jobs: Jobs, name: str) -> set[str]:
    return {pod["metadata"]["uid"] for pod in jobs.pods(name)}


def test_a_higher_gang_takes_the_devices_of_a_lower_one_only_which_comes_back(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, devices: Devices, classes: Classes
) -> None:
    low, middle, high = classes.make("low", 10), classes.make("middle", 50), classes.make("high", 100)
    (node,) = nodes.add(1)
    devices.offer(node, 0, 0, 0, 0)
    devices.template("t")
    for name, priority in (("lower", low), ("between", middle)):
        jobs.create(of_class(name, priority))
        eventually(lambda name=name: jobs.whole(name), within_seconds=SOON_SECONDS)  # type: ignore[misc]
    unharmed = uids(jobs, "between")
    jobs.create(of_class("upper", high))
    eventually(lambda: jobs.whole("upper"), within_seconds=SOON_SECONDS)
    assert uids(jobs, "between") == unharmed
    throughout(lambda: holders(devices) == {"between", "upper"}, seconds=3)
    assert len(devices.given()) == len(set(devices.given())) == 4
    jobs.api.delete("jobs", "upper", jobs.namespace)
    eventually(lambda: jobs.whole("lower"), within_seconds=SOON_SECONDS)
    assert holders(devices) == {"between", "lower"}
    assert uids(jobs, "between") == unharmed
