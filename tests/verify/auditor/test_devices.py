"""No device in two claims, and none held for a gang that does not start."""

from tests.verify.auditor.histories import bind, broken, group, node, pod, write
from verify.auditor.audit_log import Object, Record
from verify.auditor.identities import SCHEDULER_USER

MANAGER = "system:kube-controller-manager"


def claim(name: str, when: float, *devices: str, of: str = "", user: str = SCHEDULER_USER, **more: object) -> Record:
    """A write of a claim's status, after which it holds these devices."""
    results = [{"driver": "d", "pool": "p", "device": device, **more} for device in devices]
    status: Object = {"allocation": {"devices": {"results": results}}} if devices else {}
    if of:
        status["reservedFor"] = [{"uid": f"uid-{of}"}]
    response = {"metadata": {"uid": f"uid-{name}"}, "status": status}
    return write(user, "patch", "resourceclaims/status", name, when, response=response)


def test_a_device_in_two_claims_is_seen() -> None:
    (found,) = broken("I2", claim("one", 1.0, "g0"), claim("two", 2.0, "g0", "g1"))
    assert "device d/p/g0 is in two claims" in found


def test_a_device_that_was_given_back_or_whose_claim_is_gone_may_be_taken_again() -> None:
    given_back = claim("one", 1.5, user=MANAGER)
    deleted = write(MANAGER, "delete", "resourceclaims", "one", 1.5, response={"kind": "Status", "status": "Success"})
    for freed in (given_back, deleted):
        assert broken("I2", claim("one", 1.0, "g0"), freed, claim("two", 2.0, "g0")) == []


def test_a_device_counts_as_free_from_the_moment_its_release_arrived() -> None:
    slow = write(MANAGER, "patch", "resourceclaims/status", "one", 2.5, received=1.5, response={"status": {}})
    assert broken("I2", claim("one", 1.0, "g0"), slow, claim("two", 2.0, "g0")) == []


def test_shares_and_administrators_may_have_the_same_device() -> None:
    assert broken("I2", claim("one", 1.0, "g0", shareID="a"), claim("two", 2.0, "g0", shareID="b")) == []
    assert broken("I2", claim("one", 1.0, "g0"), claim("two", 2.0, "g0", adminAccess=True)) == []


def test_more_consumers_of_one_claim_take_nothing_twice() -> None:
    assert broken("I2", claim("one", 1.0, "g0", of="a"), claim("one", 2.0, "g0", of="b")) == []


def gang(*records: Record) -> list[Record]:
    return [node(), group(2), pod("a"), pod("b"), claim("one", 1.0, "g0", of="a"), *records]


def test_devices_for_a_gang_that_does_not_start_are_seen() -> None:
    (found,) = broken("I2", *gang(), now=100.0)
    assert "none of its pods has a node" in found
    (partial,) = broken("I2", *gang(bind("a", 2.0)), now=100.0)
    assert "the gang ('ns', 'g') has not started" in partial


def test_devices_that_were_given_back_or_are_used_are_right() -> None:
    assert broken("I2", *gang(claim("one", 3.0)), now=100.0) == []
    assert broken("I2", *gang(bind("a", 2.0), bind("b", 2.0)), now=100.0) == []
    assert broken("I2", *gang(), now=30.0) == []


def test_a_claim_whose_deletion_waits_for_a_finalizer_keeps_its_devices() -> None:
    held = {"allocation": {"devices": {"results": [{"driver": "d", "pool": "p", "device": "g0"}]}}}
    metadata = {"uid": "uid-one", "finalizers": ["resource.kubernetes.io/delete-protection"]}
    asked = write(MANAGER, "delete", "resourceclaims", "one", 1.5, response={"metadata": metadata, "status": held})
    assert len(broken("I2", claim("one", 1.0, "g0"), asked, claim("two", 2.0, "g0"))) == 1
    freed = claim("one", 1.7, user=MANAGER)
    assert broken("I2", claim("one", 1.0, "g0"), asked, freed, claim("two", 2.0, "g0")) == []
