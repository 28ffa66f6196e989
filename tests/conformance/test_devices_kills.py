"""kill -9 right after each write of the scheduler for a gang with claims: no device is lost, none is given twice.

A write is the finalizer of a claim, its allocation with consumers, a bind, or the return of an allocation. In the end the gang runs
whole, or, where it cannot, nothing of it holds a device.
"""

import signal
from collections.abc import Iterator

import pytest

from tests.conformance.devices import Devices, devices_of, named, own
from tests.conformance.faulty_schedulers import FaultySchedulers
from verify.auditor.auditor import Auditor
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually, throughout
from verify.clusters.jobs import Jobs
from verify.clusters.tutti_process import Tutti

pytestmark = [
    pytest.mark.one_api,
    pytest.mark.since(37, "resource.k8s.io/v1 with the fields of 1.37"),
]

WORKERS = 3
FINALIZERS, ALLOCATIONS, BINDS = WORKERS, WORKERS, WORKERS
WRITES = FINALIZERS + ALLOCATIONS + BINDS
SHARED_WRITES = 2 + BINDS
SETTLE_SECONDS = 60
KILLED_SECONDS = 300.0
"""So long gangs may be partial, and devices held, while processes are killed."""


@pytest.fixture(scope="module")
def schedulers(installation: Tutti, control_plane: ControlPlane) -> Iterator[FaultySchedulers]:
    """In the place of Tutti's own, which is lost for this module."""
    installation.ensure_running()
    installation.lose_child("scheduler", signal.SIGKILL)
    made = FaultySchedulers(control_plane)
    yield made
    made.kill()


@pytest.fixture(autouse=True)
def _kills_take_time(auditor: Auditor) -> None:
    auditor.windows.widen(KILLED_SECONDS)


@pytest.fixture
def offered(devices: Devices) -> Devices:
    """As many devices as the gang has members, on two nodes, and one that all members can share."""
    devices.add_class()
    devices.add_class("nic")
    for node, names in (("n1", ("g0", "g1")), ("n2", ("g0",))):
        devices.add_node(node)
        devices.offer(node, *names)
    devices.offer("fabric", "f0", driver="nic", allNodes=True)
    devices.template("t", devices.request())
    return devices


def is_whole(devices: Devices, jobs: Jobs, name: str) -> bool:
    """The gang runs, each member with a device of its own that says so."""
    pods = jobs.pods(name)
    assert jobs.bound(name) == len(pods) == WORKERS
    assert devices.given() == ["n1/g0", "n1/g1", "n2/g0"]
    for pod in pods:
        claim = devices.of_pod(pod["metadata"]["name"])
        assert [one["uid"] for one in claim["status"]["reservedFor"]] == [pod["metadata"]["uid"]]
    return True


def holds_none(devices: Devices, jobs: Jobs, name: str) -> bool:
    """The gang waits, and none of its claims has a device or a consumer."""
    assert jobs.bound(name) == 0
    assert [one["metadata"]["name"] for one in devices.claims() if devices_of(one)] == []
    return not any((one.get("status") or {}).get("reservedFor") for one in devices.claims())


def clear(devices: Devices, name: str) -> None:
    """Deletes the Job; its claims, which have a finalizer, go too."""
    devices.api.delete("jobs", name, devices.namespace)
    eventually(lambda: not devices.claims(), within_seconds=SETTLE_SECONDS)


def cordon(devices: Devices, *, on: bool) -> None:
    for node in devices.nodes.values():
        devices.api.patch("nodes", node, {"spec": {"unschedulable": on}})


def killed_after(schedulers: FaultySchedulers, devices: Devices, name: str, **faults: int) -> None:
    """Lets a scheduler begin with a new gang and kill itself."""
    schedulers.start(**faults)
    devices.gang(name, WORKERS, own("t"))
    schedulers.await_death()


def and_goes_on(schedulers: FaultySchedulers, devices: Devices, jobs: Jobs, *after: int) -> None:
    for number in after:
        name = f"killed-after-{number}"
        killed_after(schedulers, devices, name, kill_after=number)
        schedulers.start()
        eventually(lambda name=name: is_whole(devices, jobs, name), within_seconds=SETTLE_SECONDS)  # type: ignore[misc]
        clear(devices, name)


def test_a_gang_whose_scheduler_was_killed_after_a_finalizer_an_allocation_or_a_bind_runs_whole_in_the_end(
    offered: Devices, jobs: Jobs, schedulers: FaultySchedulers
) -> None:
    and_goes_on(schedulers, offered, jobs, 1, FINALIZERS + 2, FINALIZERS + ALLOCATIONS + 1)


@pytest.mark.slow
def test_a_gang_whose_scheduler_was_killed_after_any_write_runs_whole_in_the_end(
    offered: Devices, jobs: Jobs, schedulers: FaultySchedulers
) -> None:
    and_goes_on(schedulers, offered, jobs, *range(1, WRITES + 1))
    # One more write is never made: the process lives on and the end is there.
    survivor = schedulers.start(kill_after=WRITES + 1)
    offered.gang("last", WORKERS, own("t"))
    eventually(lambda: is_whole(offered, jobs, "last"), within_seconds=SETTLE_SECONDS)
    throughout(lambda: survivor.running, seconds=1)


def and_cannot_start(schedulers: FaultySchedulers, devices: Devices, jobs: Jobs, *after: int) -> None:
    for number in after:
        name = f"killed-after-{number}"
        killed_after(schedulers, devices, name, kill_after=number)
        cordon(devices, on=True)
        schedulers.start()
        eventually(lambda name=name: holds_none(devices, jobs, name), within_seconds=SETTLE_SECONDS)  # type: ignore[misc]
        cordon(devices, on=False)
        eventually(lambda name=name: is_whole(devices, jobs, name), within_seconds=SETTLE_SECONDS)  # type: ignore[misc]
        clear(devices, name)


def test_a_gang_that_cannot_start_any_more_after_all_its_allocations_were_written_holds_none(
    offered: Devices, jobs: Jobs, schedulers: FaultySchedulers
) -> None:
    and_cannot_start(schedulers, offered, jobs, FINALIZERS + ALLOCATIONS)


@pytest.mark.slow
def test_a_gang_that_cannot_start_any_more_after_any_write_before_its_first_bind_holds_none(
    offered: Devices, jobs: Jobs, schedulers: FaultySchedulers
) -> None:
    and_cannot_start(schedulers, offered, jobs, *range(1, FINALIZERS + ALLOCATIONS + 1))


@pytest.mark.slow
def test_a_gang_that_is_deleted_while_no_scheduler_runs_leaves_no_claim_and_its_devices_are_given_again(
    offered: Devices, jobs: Jobs, schedulers: FaultySchedulers
) -> None:
    for number in range(1, WRITES + 1):
        killed_after(schedulers, offered, f"gone-{number}", kill_after=number)
        clear(offered, f"gone-{number}")
    schedulers.start()
    offered.gang("next", WORKERS, own("t"))
    eventually(lambda: is_whole(offered, jobs, "next"), within_seconds=SETTLE_SECONDS)


@pytest.mark.slow
def test_a_kill_while_allocations_are_given_back_loses_no_device(
    offered: Devices, jobs: Jobs, schedulers: FaultySchedulers
) -> None:
    """The third allocation is refused, so the two others are given back, and the process dies after one or both."""
    written = FINALIZERS + ALLOCATIONS - 1
    for number in (written, written + 1, written + 2):
        for can_start in (True, False):
            name = f"given-back-{number}-{'whole' if can_start else 'none'}"
            killed_after(schedulers, offered, name, refuse=ALLOCATIONS, kill_after=number)
            cordon(offered, on=not can_start)
            schedulers.start()
            if not can_start:
                eventually(lambda name=name: holds_none(offered, jobs, name), within_seconds=SETTLE_SECONDS)  # type: ignore[misc]
                cordon(offered, on=False)
            eventually(lambda name=name: is_whole(offered, jobs, name), within_seconds=SETTLE_SECONDS)  # type: ignore[misc]
            clear(offered, name)


@pytest.mark.slow
def test_a_claim_that_members_share_is_allocated_once_whenever_the_scheduler_is_killed(
    offered: Devices, jobs: Jobs, schedulers: FaultySchedulers
) -> None:
    for number in range(1, SHARED_WRITES + 1):
        name = f"sharers-{number}"
        offered.claim(name, offered.request(of="nic"))
        schedulers.start(kill_after=number)
        offered.gang(name, WORKERS, named(name))
        schedulers.await_death()
        schedulers.start()
        eventually(lambda name=name: jobs.bound(name) == WORKERS, within_seconds=SETTLE_SECONDS)  # type: ignore[misc]
        claim = offered.get(name)
        assert devices_of(claim) == ["fabric/f0"]
        uids = {pod["metadata"]["uid"] for pod in jobs.pods(name)}
        assert {one["uid"] for one in claim["status"]["reservedFor"]} == uids
        offered.api.delete("jobs", name, offered.namespace)
        eventually(lambda name=name: not devices_of(offered.get(name)), within_seconds=SETTLE_SECONDS)  # type: ignore[misc]


@pytest.mark.parametrize("fault", ["refuse", "lose", "fail", "touch"])
def test_a_gang_runs_whole_whatever_the_answer_to_one_of_its_allocations_was(
    offered: Devices, jobs: Jobs, schedulers: FaultySchedulers, fault: str
) -> None:
    """403, an answer that is lost, 500, and 409 because somebody else changed the claim."""
    schedulers.start(**{fault: 2})
    offered.gang("g", WORKERS, own("t"))
    eventually(lambda: is_whole(offered, jobs, "g"), within_seconds=SETTLE_SECONDS)
