"""Extended resources that a device class backs, on a real control plane: devices by a claim, or counted where a node has them."""

import signal
from collections.abc import Iterator

import pytest

from tests.conformance.devices import Devices, devices_of
from tests.conformance.faulty_schedulers import FaultySchedulers
from verify.auditor.auditor import Auditor
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.jobs import CONDITION, Jobs, condition_entry
from verify.clusters.tutti_process import Tutti

pytestmark = [
    pytest.mark.one_api,
    pytest.mark.since(37, "resource.k8s.io/v1 with the fields of 1.37"),
]

SOON_SECONDS = 30
KILLED_SECONDS = 300.0
"""So long gangs may be partial, and claims there, while processes are killed."""
ALL_OF_N1 = ["n1/g0", "n1/g1", "n1/g2"]
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
def test_24_where_a_class_has_the_resource_a_claim_is_made_and_the_status_of_the_pod_names_it(offered: Devices) -> None:
    offered.pod("p", acc=2, on="n1")
    eventually(lambda: offered.place("p") == "n1", within_seconds=SOON_SECONDS)
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
def test_24_a_bind_that_fails_leaves_no_claim_behind(offered: Devices, schedulers: FaultySchedulers) -> None:
    schedulers.start(refuse_bind=1)
    offered.pod("p", acc=2, on="n1")
    eventually(lambda: offered.place("p") == "n1", within_seconds=SOON_SECONDS)
    is_made_for(offered, "p")


# --- gangs --------------------------------------------------------------------------------------------------------------


def told_group(jobs: Jobs, name: str) -> str:
    """Why the group of a Job waits; empty while nobody has said."""
    groups = jobs.groups(name)
    found = condition_entry(groups[0], CONDITION) if groups else None
    return str(found["message"]) if found else ""


def runs_whole(devices: Devices, jobs: Jobs, name: str, *, given: list[str]) -> bool:
    """All pods of a gang are bound, and these devices are given, each to a pod whose status names its claim."""
    pods = jobs.pods(name)
    claims = {one["metadata"]["name"]: one for one in devices.claims()}
    if not pods or jobs.bound(name) != len(pods) or devices.given() != given or len(claims) != len(given):
        return False
    told = [pod["status"].get("extendedResourceClaimStatus") for pod in pods]
    users = {one["resourceClaimName"] for one in told if one}
    return users == set(claims) and all(claim["status"]["reservedFor"] for claim in claims.values())


@pytest.mark.usefixtures("tutti")
def test_24_a_gang_has_devices_on_one_node_and_is_counted_on_the_other_and_one_that_is_too_large_gets_none(
    offered: Devices, jobs: Jobs
) -> None:
    offered.gang("too-large", 6, acc=1)
    eventually(lambda: "5 of 6" in told_group(jobs, "too-large"), within_seconds=SOON_SECONDS)
    assert offered.claims() == []
    offered.api.delete("jobs", "too-large", offered.namespace)
    eventually(lambda: not offered.api.list("pods", offered.namespace), within_seconds=SOON_SECONDS)
    offered.gang("g", 5, acc=1)
    eventually(lambda: runs_whole(offered, jobs, "g", given=ALL_OF_N1), within_seconds=SOON_SECONDS)
    assert sorted(offered.places("g").values()) == ["n1", "n1", "n1", "n2", "n2"]
    offered.api.delete("jobs", "g", offered.namespace)
    eventually(lambda: offered.claims() == [], within_seconds=SOON_SECONDS)


MEMBERS = 3
CREATED = ALLOCATED = TOLD = BOUND = MEMBERS


def test_24_a_gang_whose_scheduler_was_killed_between_two_writes_runs_whole_with_one_claim_each(
    offered: Devices, jobs: Jobs, schedulers: FaultySchedulers, auditor: Auditor
) -> None:
    auditor.windows.widen(KILLED_SECONDS)
    offered.api.patch("nodes", offered.nodes["n2"], {"spec": {"unschedulable": True}})
    for after in (1, CREATED + ALLOCATED, CREATED + ALLOCATED + TOLD, CREATED + ALLOCATED + TOLD + 1):
        name = f"killed-after-{after}"
        schedulers.start(kill_after=after)
        offered.gang(name, MEMBERS, acc=1)
        schedulers.await_death()
        schedulers.start()
        eventually(
            lambda name=name: runs_whole(offered, jobs, name, given=ALL_OF_N1),  # type: ignore[misc]
            within_seconds=2 * SOON_SECONDS,
        )
        offered.api.delete("jobs", name, offered.namespace)
        eventually(lambda: offered.claims() == [], within_seconds=2 * SOON_SECONDS)


def test_24_a_gang_that_cannot_start_any_more_when_its_scheduler_comes_back_leaves_no_claim(
    offered: Devices, jobs: Jobs, schedulers: FaultySchedulers, auditor: Auditor
) -> None:
    auditor.windows.widen(KILLED_SECONDS)
    schedulers.start(kill_after=CREATED + ALLOCATED)
    offered.gang("g", MEMBERS, acc=1)
    schedulers.await_death()
    for node in offered.nodes.values():
        offered.api.patch("nodes", node, {"spec": {"unschedulable": True}})
    schedulers.start()
    eventually(lambda: offered.claims() == [], within_seconds=2 * SOON_SECONDS)
    assert jobs.bound("g") == 0
