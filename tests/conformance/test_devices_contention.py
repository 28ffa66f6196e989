"""Four gangs that each want 60 % of the devices: one runs, the others hold none, again and again; the audit log is the judge."""

import pytest

from tests.conformance.devices import Devices, own
from verify.auditor.audit_log import AuditLog
from verify.auditor.identities import SCHEDULER_USER
from verify.clusters.eventually import eventually, throughout
from verify.clusters.jobs import CONDITION, Jobs, condition_entry

pytestmark = [
    pytest.mark.usefixtures("tutti"),
    pytest.mark.since(37, "resource.k8s.io/v1 with the fields of 1.37"),
]

NODES, PER_NODE = 5, 2
WORKERS = 6
LETTERS = "abcd"
SETTLE_SECONDS = 60


def compete(devices: Devices, jobs: Jobs, log: AuditLog, rounds: int) -> None:
    """So many rounds; after each everything is given back."""
    devices.add_class()
    for number in range(NODES):
        devices.add_node(f"n{number}")
        devices.offer(f"n{number}", *(f"g{each}" for each in range(PER_NODE)))
    devices.template("t", devices.request())
    for number in range(rounds):
        names = [f"round-{number}-{letter}" for letter in LETTERS]
        began = log.position()
        for name in names:
            devices.gang(name, WORKERS, own("t"))
        eventually(lambda all_of=names: is_settled(jobs, all_of), within_seconds=SETTLE_SECONDS)  # type: ignore[misc]
        (started,) = [name for name in names if jobs.bound(name)]
        throughout(lambda: len(set(devices.given())) == len(devices.given()) == WORKERS, seconds=0.5)
        assert gangs_given_devices(jobs, names, log, began) == {started}
        for name in names:
            devices.api.delete("jobs", name, devices.namespace)
        eventually(lambda: not devices.claims(), within_seconds=SETTLE_SECONDS)


def is_settled(jobs: Jobs, names: list[str]) -> bool:
    """One gang is bound; every other has all its pods and has been refused, with a word why."""
    if not all(len(jobs.pods(name)) == WORKERS for name in names):
        return False
    verdicts = [condition_entry(jobs.group(name), CONDITION) for name in names]
    statuses = sorted(verdict["status"] if verdict else "" for verdict in verdicts)
    bound = sorted(jobs.bound(name) for name in names)
    return statuses == ["False", "False", "False", "True"] and bound == [0, 0, 0, WORKERS]


def gangs_given_devices(jobs: Jobs, names: list[str], log: AuditLog, began: int) -> set[str]:
    """Whose claims were written with devices since then, be it for a moment."""
    gang_of = {pod["metadata"]["uid"]: name for name in names for pod in jobs.pods(name)}
    return {
        gang_of[record.response["metadata"]["ownerReferences"][0]["uid"]]
        for record in log.since(began)
        if record.resource == "resourceclaims/status"
        and record.user == SCHEDULER_USER
        and record.succeeded
        and (record.response.get("status") or {}).get("allocation")
    }


def test_one_of_four_gangs_runs_and_no_device_is_given_to_one_that_waits(
    devices: Devices, jobs: Jobs, audit_log: AuditLog
) -> None:
    compete(devices, jobs, audit_log, rounds=2)


@pytest.mark.slow
def test_one_of_four_gangs_runs_and_no_device_is_given_to_one_that_waits_thirty_times(
    devices: Devices, jobs: Jobs, audit_log: AuditLog
) -> None:
    compete(devices, jobs, audit_log, rounds=30)


@pytest.mark.slow
def test_the_gangs_that_waited_for_devices_run_one_after_the_other(devices: Devices, jobs: Jobs) -> None:
    devices.add_class()
    devices.add_node("n1")
    devices.offer("n1", *(f"g{each}" for each in range(10)))
    devices.template("t", devices.request())
    names = [f"turn-{letter}" for letter in LETTERS]
    for name in names:
        devices.gang(name, WORKERS, own("t"), run_seconds=0.5)
    eventually(lambda: all(jobs.succeeded(name) for name in names), within_seconds=2 * SETTLE_SECONDS)
