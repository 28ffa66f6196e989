"""A gang's devices on a real control plane: all members get theirs, or no claim has any."""

import pytest

from tests.conformance.devices import FINALIZER, Devices, device, devices_of, named, own, results_of
from verify.auditor.audit_log import AuditLog
from verify.auditor.identities import SCHEDULER_USER
from verify.clusters.eventually import eventually
from verify.clusters.jobs import CONDITION, Jobs, condition_entry

pytestmark = [
    pytest.mark.usefixtures("tutti"),
    pytest.mark.since(37, "resource.k8s.io/v1 with the fields of 1.37"),
]

SOON_SECONDS = 30


def runs(devices: Devices, prefix: str, count: int) -> dict[str, str]:
    """Waits until so many pods of this prefix have a node; where they are."""
    eventually(lambda: len(devices.places(prefix)) == count, within_seconds=SOON_SECONDS)
    return devices.places(prefix)


def refused(jobs: Jobs, name: str, word: str) -> str:
    """Waits until a gang is told in these words, and others, that it cannot start."""

    def told() -> str:
        found = condition_entry(jobs.group(name), CONDITION)
        assert found, "nothing was said"
        assert word in found["message"], found["message"]
        return str(found["message"])

    return eventually(told, within_seconds=SOON_SECONDS)


def test_01_a_gang_of_four_gets_the_four_devices_each_claim_with_finalizer_time_and_one_consumer(
    devices: Devices, jobs: Jobs
) -> None:
    devices.base()
    devices.gang("four", 4, own("t"))
    places = runs(devices, "four", 4)
    assert sorted(places.values()) == ["n1", "n1", "n2", "n2"]
    assert devices.given() == ["n1/g0", "n1/g1", "n2/g0", "n2/g1"]
    for pod in jobs.pods("four"):
        claim = devices.of_pod(pod["metadata"]["name"])
        assert FINALIZER in claim["metadata"]["finalizers"]
        assert claim["status"]["allocation"]["allocationTimestamp"]
        (consumer,) = claim["status"]["reservedFor"]
        assert (consumer["resource"], consumer["uid"]) == ("pods", pod["metadata"]["uid"])
        (device_id,) = devices_of(claim)
        assert device_id.startswith(places[pod["metadata"]["name"]])


def test_02_a_gang_of_five_gets_none_and_is_told_for_how_many_there_are_devices(devices: Devices, jobs: Jobs) -> None:
    devices.base()
    devices.gang("five", 5, own("t"))
    assert "4 of 5 pods can be placed" in refused(jobs, "five", "cannot allocate all claims")
    assert (devices.places(), devices.given()) == ({}, [])


def test_04_members_that_share_a_claim_are_on_one_node_with_one_device_and_no_write_fails_on_the_way(
    devices: Devices, jobs: Jobs, audit_log: AuditLog
) -> None:
    devices.base()
    devices.claim("shared")
    began = audit_log.position()
    devices.gang("three", 3, named("shared"))
    places = runs(devices, "three", 3)
    assert len(set(places.values())) == 1
    claim = devices.get("shared")
    assert len(devices_of(claim)) == 1
    assert {one["uid"] for one in claim["status"]["reservedFor"]} == {p["metadata"]["uid"] for p in jobs.pods("three")}
    writes = [
        record
        for record in audit_log.since(began)
        if record.user == SCHEDULER_USER
        and record.resource in {"resourceclaims", "resourceclaims/status", "pods/binding"}
        and record.verb not in {"get", "list", "watch"}
    ]
    assert [record for record in writes if not record.succeeded] == []
    # The finalizer and the status of the claim, and a bind for each member.
    assert len(writes) == 2 + 3


def test_05_members_that_share_a_claim_find_the_only_node_on_which_all_of_them_fit(
    devices: Devices, jobs: Jobs
) -> None:
    devices.base(more_on_n2="24")
    devices.claim("shared")
    devices.gang("three", 3, named("shared"), cpu="7")
    assert set(runs(devices, "three", 3).values()) == {"n2"}
    assert devices_of(devices.get("shared"))[0].startswith("n2/")


def test_06_a_shared_claim_before_an_own_one_of_another_class_is_never_swapped_with_it(
    devices: Devices, jobs: Jobs
) -> None:
    gangs, size = 10, 5
    devices.add_class("gpu")
    devices.add_class("nic")
    for number in range(gangs):
        devices.add_node(f"n{number}")
        devices.offer(f"n{number}", *(f"g{each}" for each in range(size)))
        devices.offer(f"nics-{number}", "port", node=f"n{number}", driver="nic")
    devices.template("t", devices.request())
    for number in range(gangs):
        devices.claim(f"shared-{number}", devices.request(of="nic"))
        devices.gang(f"gang-{number}", size, named(f"shared-{number}"), own("t"))
    runs(devices, "gang-", gangs * size)
    for claim in devices.claims():
        wanted = "nic" if claim["metadata"]["name"].startswith("shared") else "gpu"
        assert [one["driver"] for one in results_of(claim)] == [devices.driver(wanted)]
    assert len(set(devices.given())) == gangs * size + gangs


def test_22_members_that_share_a_device_of_all_nodes_may_be_on_any_of_them(devices: Devices, jobs: Jobs) -> None:
    for name in ("n1", "n2", "n3"):
        devices.add_node(name)
    devices.add_class("net")
    devices.offer("fabric", device("f0"), driver="net", allNodes=True)
    devices.claim("shared", devices.request(of="net"))
    devices.gang("three", 3, named("shared"), cpu="9")
    assert sorted(runs(devices, "three", 3).values()) == ["n1", "n2", "n3"]
    claim = devices.get("shared")
    assert "nodeSelector" not in claim["status"]["allocation"]
    assert len(claim["status"]["reservedFor"]) == 3
