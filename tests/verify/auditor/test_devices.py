"""No device in two claims, and none held for a gang that does not start."""

from dataclasses import replace

import pytest

from tests.verify.auditor.histories import bind, broken, group, node, pod, write
from verify.auditor.audit_log import Object, Record
from verify.auditor.identities import SCHEDULER_USER, THIEF

MANAGER = "system:kube-controller-manager"
SOON = 30.0
"""Before anybody is told of devices that nobody uses."""


def claim(name: str, when: float, *devices: str, of: str = "", user: str = SCHEDULER_USER, **more: object) -> Record:
    """A write of a claim's status, after which it holds these devices."""
    results = [{"driver": "d", "pool": "p", "device": device, **more} for device in devices]
    status: Object = {"allocation": {"devices": {"results": results}}} if devices else {}
    if of:
        status["reservedFor"] = [{"uid": f"uid-{of}"}]
    response = {"metadata": {"uid": f"uid-{name}"}, "status": status}
    return write(user, "patch", "resourceclaims/status", name, when, response=response)


def test_a_device_in_two_claims_is_seen() -> None:
    (found,) = broken("I2", claim("one", 1.0, "g0"), claim("two", 2.0, "g0", "g1"), now=SOON)
    assert "device d/p/g0 is in two claims" in found


def test_a_device_that_was_given_back_or_whose_claim_is_gone_may_be_taken_again() -> None:
    given_back = claim("one", 1.5, user=MANAGER)
    deleted = write(MANAGER, "delete", "resourceclaims", "one", 1.5, response={"kind": "Status", "status": "Success"})
    for freed in (given_back, deleted):
        assert broken("I2", claim("one", 1.0, "g0"), freed, claim("two", 2.0, "g0"), now=SOON) == []


def test_a_device_counts_as_free_from_the_moment_its_release_arrived() -> None:
    slow = write(MANAGER, "patch", "resourceclaims/status", "one", 2.5, received=1.5, response={"status": {}})
    assert broken("I2", claim("one", 1.0, "g0"), slow, claim("two", 2.0, "g0"), now=SOON) == []


def test_shares_and_administrators_may_have_the_same_device() -> None:
    assert broken("I2", claim("one", 1.0, "g0", shareID="a"), claim("two", 2.0, "g0", shareID="b"), now=SOON) == []
    assert broken("I2", claim("one", 1.0, "g0"), claim("two", 2.0, "g0", adminAccess=True), now=SOON) == []


def test_more_consumers_of_one_claim_take_nothing_twice() -> None:
    assert broken("I2", claim("one", 1.0, "g0", of="a"), claim("one", 2.0, "g0", of="b")) == []


def gang(*records: Record) -> list[Record]:
    return [node(), group(2), pod("a"), pod("b"), claim("one", 1.0, "g0", of="a"), *records]


def test_devices_for_a_gang_that_does_not_start_are_seen() -> None:
    (found,) = broken("I2", *gang(), now=100.0)
    assert "has had devices for 99.0 s while no pod of it was bound" in found
    (partial,) = broken("I2", *gang(bind("a", 2.0)), now=100.0)
    assert "the gang ('ns', 'g') has not started" in partial


def test_devices_that_were_given_back_or_are_used_are_right() -> None:
    assert broken("I2", *gang(claim("one", 3.0)), now=100.0) == []
    assert broken("I2", *gang(bind("a", 2.0), bind("b", 2.0)), now=100.0) == []
    assert broken("I2", *gang(), now=30.0) == []


def deleted_with_finalizer(when: float, **metadata: str) -> Record:
    """The claim `one` is deleted while it holds a device and has a finalizer."""
    held = {"allocation": {"devices": {"results": [{"driver": "d", "pool": "p", "device": "g0"}]}}}
    found = {"uid": "uid-one", "finalizers": ["resource.kubernetes.io/delete-protection"], **metadata}
    return write(MANAGER, "delete", "resourceclaims", "one", when, response={"metadata": found, "status": held})


def test_a_claim_whose_deletion_waits_for_a_finalizer_keeps_its_devices() -> None:
    asked = deleted_with_finalizer(1.5, deletionTimestamp="2026-01-01T00:00:00Z")
    assert len(broken("I2", claim("one", 1.0, "g0"), asked, claim("two", 2.0, "g0"), now=SOON)) == 1
    freed = claim("one", 1.7, user=MANAGER)
    assert broken("I2", claim("one", 1.0, "g0"), asked, freed, claim("two", 2.0, "g0"), now=SOON) == []


def test_a_claim_that_got_its_finalizer_while_the_server_deleted_it_is_gone() -> None:
    assert broken("I2", claim("one", 1.0, "g0"), deleted_with_finalizer(1.5), claim("two", 2.0, "g0"), now=SOON) == []


def test_devices_that_are_held_for_a_moment_too_long_are_seen_when_they_are_used_or_given_back() -> None:
    for ended in ([claim("one", 70.0)], [bind("a", 70.0), bind("b", 70.0)]):
        (found,) = broken("I2", *gang(*ended), now=100.0)
        assert "had devices for 69.0 s while no pod of it was bound" in found


def test_an_allocation_that_changes_is_seen() -> None:
    (found,) = broken("I2", claim("one", 1.0, "g0"), claim("one", 2.0, "g1"), now=SOON)
    assert "the devices of claim ('ns', 'one') changed" in found


# --- made by the scheduler ---------------------------------------------------------------------------------------------


def made_claim(when: float, *, agent: str = "") -> Record:
    """The scheduler makes the claim `one` for pod `a`."""
    metadata = {"uid": "uid-one", "ownerReferences": [{"uid": "uid-a", "controller": True}]}
    record = write(SCHEDULER_USER, "create", "resourceclaims", "one", when, response={"metadata": metadata})
    return replace(record, agent=agent) if agent else record


def test_a_claim_that_was_made_for_a_pod_which_is_not_bound_is_seen() -> None:
    (left,) = broken("I2", node(), pod("a", member_of=None), made_claim(1.0), now=100.0)
    assert "has been there for 99.0 s while its pod was not bound" in left
    bound_late = (node(), pod("a", member_of=None), made_claim(1.0), bind("a", 70.0))
    (late,) = broken("I2", *bound_late, now=100.0)
    assert "was there for 69.0 s while its pod was not bound" in late


def test_a_claim_whose_pod_is_bound_that_is_gone_or_that_a_thief_made_is_right() -> None:
    gone = write(
        SCHEDULER_USER, "delete", "resourceclaims", "one", 2.0, response={"kind": "Status", "status": "Success"}
    )
    for records in ((made_claim(1.0), bind("a", 2.0)), (made_claim(1.0), gone), (made_claim(1.0, agent=THIEF),)):
        assert broken("I2", node(), pod("a", member_of=None), *records, now=100.0) == []


# --- at a bind ---------------------------------------------------------------------------------------------------------


def bound(*claims: Record, spec: Object | None = None, target: str = "n", received: float = 4.9) -> list[str]:
    """What is said of a pod that is bound at 5.0 and uses the claim `one`, or what its spec says."""
    entry = spec or {"name": "c", "resourceClaimName": "one"}
    made = pod("a", member_of=None, resourceClaims=[entry])
    asked = write(
        SCHEDULER_USER, "create", "pods/binding", "a", 5.0, received=received, request={"target": {"name": target}}
    )
    return broken("I2", node(), node(name="m"), made, *claims, asked, now=6.0)


def on(node_name: str, when: float, of: str = "a", **metadata: object) -> Record:
    """The claim `one` gets a device that can be used on this node."""
    made = claim("one", when, "g0", of=of)
    fields = [{"key": "metadata.name", "operator": "In", "values": [node_name]}]
    selector = {"nodeSelectorTerms": [{"matchFields": fields}]}
    status = made.response["status"]
    response = {
        "metadata": {**made.response["metadata"], **metadata},
        "status": {**status, "allocation": {**status["allocation"], "nodeSelector": selector}},
    }
    return write(SCHEDULER_USER, "patch", "resourceclaims/status", "one", when, response=response)


def test_a_pod_whose_claims_were_written_before_its_bind_is_right() -> None:
    assert bound(on("n", 4.0)) == []


@pytest.mark.parametrize(
    "written",
    [
        pytest.param([claim("one", 4.0)], id="without devices"),
        pytest.param([on("m", 4.0)], id="on another node"),
        pytest.param([on("n", 4.0, of="b"), pod("b", member_of=None, when=0.3)], id="for another pod"),
        pytest.param([on("n", 4.95)], id="after the bind was asked for"),
    ],
)
def test_a_pod_that_is_bound_without_its_claim_is_seen(written: list[Record]) -> None:
    (found,) = bound(*written)
    assert "a pod was bound to n without its claim c" in found


def test_a_claim_that_is_reserved_for_its_group_will_do() -> None:
    assert bound(on("n", 4.0, of="some-group")) == []


def test_a_claim_of_a_template_is_found_by_its_owner_and_entry() -> None:
    template = {"name": "c", "resourceClaimTemplateName": "t"}
    annotations = {"resource.kubernetes.io/pod-claim-name": "c"}
    owners = [{"uid": "uid-a", "controller": True}]
    made: Object = {"annotations": annotations, "ownerReferences": owners}
    assert bound(on("n", 4.0, **made), spec=template) == []
    (found,) = bound(on("m", 4.0, **made), spec=template)
    assert "without its claim c" in found
    assert bound(spec=template) == [], "that of its group, or one made before the first record"


def test_who_only_watches_does_not_judge_the_order_of_claims_and_binds() -> None:
    unknown = replace(on("n", 4.95), user="")
    assert bound(unknown) == []


# --- writes that overlap -----------------------------------------------------------------------------------------------


def stored(version: int, user: str, received: float, answered: float, *, holds: bool, is_gone: bool = False) -> Record:
    """A write of the claim `c`, which is the server's version of that number."""
    results = [{"driver": "d", "pool": "p", "device": "g0"}]
    status: Object = {"allocation": {"devices": {"results": results}}} if holds else {}
    metadata: Object = {"uid": "uid-c", "resourceVersion": str(version)}
    if is_gone:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    response = {"metadata": metadata, "status": status}
    return write(user, "patch", "resourceclaims/status", "c", answered, received=received, response=response)


@pytest.mark.parametrize("is_gone", [False, True], ids=["given back", "gone"])
def test_an_allocation_whose_answer_came_after_its_release_holds_nothing(is_gone: bool) -> None:
    allocation = stored(2, SCHEDULER_USER, 1.0, 3.0, holds=True)
    release = stored(3, MANAGER, 2.0, 2.5, holds=False, is_gone=is_gone)
    assert broken("I2", stored(1, MANAGER, 0.5, 0.6, holds=False), allocation, release) == []


def test_an_allocation_that_stays_for_nobody_is_told() -> None:
    records = [stored(1, MANAGER, 0.5, 0.6, holds=False), stored(2, SCHEDULER_USER, 1.0, 1.1, holds=True)]
    (told,) = broken("I2", *records)
    assert "has had devices for 998.9 s while no pod of it was bound" in told
