"""What the stand-in for the resourceclaim controller does with pods and claims."""

from typing import Any, TypeVar

import msgspec

from api.devices import ResourceClaim
from localcluster.controllers.resourceclaims.claims import FINALIZER, Cleaning, cleaning, finalizer_patch
from localcluster.controllers.resourceclaims.pods import (
    ClaimTemplate,
    missing_entries,
    name_prefix,
    new_claim,
    reservation_patch,
    status_patch,
    unreserved,
)
from localcluster.podclaims import ClaimedPod

Object = dict[str, Any]
T = TypeVar("T")

OWN: Object = {"name": "gpu", "resourceClaimTemplateName": "t"}
NAMED: Object = {"name": "nic", "resourceClaimName": "shared"}
ALLOCATION: Object = {"devices": {"results": [{"request": "r", "driver": "d", "pool": "n", "device": "g"}]}}


def _decoded(fields: Object, kind: type[T]) -> T:
    return msgspec.json.decode(msgspec.json.encode(fields), type=kind)


def pod(
    *entries: Object, uid: str = "u", phase: str = "Pending", made: Object | None = None, node: str = ""
) -> ClaimedPod:
    statuses = [{"name": name, "resourceClaimName": claim} for name, claim in (made or {}).items()]
    fields = {
        "metadata": {"name": "p", "namespace": "ns", "uid": uid},
        "spec": {"resourceClaims": list(entries), "nodeName": node},
        "status": {"phase": phase, "resourceClaimStatuses": statuses},
    }
    return _decoded(fields, ClaimedPod)


def deleted(one: ClaimedPod) -> ClaimedPod:
    metadata = msgspec.structs.replace(one.metadata, deletion_timestamp="2026-01-02T03:04:05Z")
    return msgspec.structs.replace(one, metadata=metadata)


def claim(
    *users: str, owner: str = "", allocated: bool = True, ours: bool = True, terminating: bool = False, name: str = "c"
) -> ResourceClaim:
    meta: Object = {"name": name, "namespace": "ns", "uid": f"uid-of-{name}", "resourceVersion": "7"}
    if owner:
        meta["ownerReferences"] = [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": owner, "controller": True}]
    if ours:
        meta["finalizers"] = ["other.example.com/guard", FINALIZER]
    if terminating:
        meta["deletionTimestamp"] = "2026-01-02T03:04:05Z"
    status: Object = {"reservedFor": [{"resource": "pods", "name": each, "uid": each} for each in users]}
    if allocated:
        status["allocation"] = ALLOCATION
    return _decoded({"metadata": meta, "status": status}, ResourceClaim)


def cleaned(one: ResourceClaim, *gone: str, owner: ClaimedPod | None = None) -> Cleaning:
    return cleaning(one, lambda consumer: consumer.uid in gone, owner)


# --- a pod's claims --------------------------------------------------------------------------------------------------


def test_a_claim_is_made_for_each_entry_with_a_template_that_has_none() -> None:
    assert [each.name for each in missing_entries(pod(OWN, NAMED), lambda _: None)] == ["gpu"]


def test_a_claim_that_is_there_and_belongs_to_the_pod_is_enough() -> None:
    assert missing_entries(pod(OWN, made={"gpu": "c"}), lambda _: claim(owner="u")) == []


def test_a_claim_of_a_pod_that_had_the_name_before_is_not() -> None:
    assert [each.name for each in missing_entries(pod(OWN, made={"gpu": "c"}), lambda _: claim(owner="old"))] == ["gpu"]


def test_an_entry_that_needs_no_claim_gets_none() -> None:
    assert missing_entries(pod(OWN, made={"gpu": None}), lambda _: None) == []


def test_nothing_is_made_for_a_pod_that_goes() -> None:
    assert missing_entries(deleted(pod(OWN)), lambda _: None) == []


def test_the_claim_is_the_pods_and_says_for_which_entry() -> None:
    spec = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}
    described = {"labels": {"a": "b"}, "annotations": {"c": "d"}}
    template = _decoded({"metadata": {"name": "t"}, "spec": {"metadata": described, "spec": spec}}, ClaimTemplate)
    (entry,) = pod(OWN).spec.resource_claims
    made = new_claim(pod(OWN), entry, template)
    assert made["spec"] == spec
    assert made["metadata"] == {
        "generateName": "p-gpu-",
        "namespace": "ns",
        "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "controller": True}],
        "annotations": {"c": "d", "resource.kubernetes.io/pod-claim-name": "gpu"},
        "labels": {"a": "b"},
    }


def test_of_names_that_are_too_long_both_parts_are_cut() -> None:
    assert name_prefix("p", "gpu") == "p-gpu-"
    prefix = name_prefix("p" * 60, "g" * 20)
    assert prefix == "p" * 41 + "-" + "g" * 13
    assert len(prefix) <= 57


def test_the_status_keeps_what_was_made_before() -> None:
    patch = status_patch(pod(OWN, NAMED, made={"nic": "n", "none": None}), {"gpu": "c"})
    assert patch["status"]["resourceClaimStatuses"] == [
        {"name": "gpu", "resourceClaimName": "c"},
        {"name": "nic", "resourceClaimName": "n"},
    ]


def test_a_pod_that_was_bound_without_a_reservation_gets_it() -> None:
    free, taken, none = claim(name="free"), claim("u", name="taken"), claim(name="none", allocated=False)
    known = {each.metadata.name: each for each in (free, taken, none)}
    entries = [{"name": name, "resourceClaimName": name} for name in known]
    assert unreserved(pod(*entries, node="n"), known.get) == [free]
    assert unreserved(pod(*entries), known.get) == []
    patch = reservation_patch(pod(), free)
    assert patch["metadata"] == {"uid": "uid-of-free", "resourceVersion": "7"}
    assert patch["status"]["reservedFor"] == [{"resource": "pods", "name": "p", "uid": "u"}]


# --- a claim's end ---------------------------------------------------------------------------------------------------


def test_a_claim_in_use_is_left_alone() -> None:
    assert cleaned(claim("u", "v")) == Cleaning()


def test_a_consumer_that_is_gone_leaves_and_the_others_keep_the_devices() -> None:
    do = cleaned(claim("u", "v"), "u")
    assert do.status is not None
    assert do.status["status"] == {"reservedFor": [{"resource": "pods", "name": "v", "uid": "v"}]}
    assert not do.takes_finalizer_off
    assert not do.deletes


def test_with_the_last_consumer_the_devices_are_given_back() -> None:
    do = cleaned(claim("u"), "u")
    assert do.status is not None
    assert do.status["metadata"] == {"uid": "uid-of-c", "resourceVersion": "7"}
    assert do.status["status"] == {"reservedFor": None, "allocation": None}
    assert do.takes_finalizer_off


def test_devices_that_somebody_else_allocated_stay_allocated() -> None:
    do = cleaned(claim("u", ours=False), "u")
    assert do.status is not None
    assert do.status["status"] == {"reservedFor": None}
    assert not do.takes_finalizer_off


def test_an_allocation_that_nobody_ever_used_stays() -> None:
    assert cleaned(claim()) == Cleaning()


def test_an_unused_claim_that_is_deleted_lets_go_of_its_devices() -> None:
    do = cleaned(claim(terminating=True))
    assert do.status is not None
    assert do.status["status"]["allocation"] is None
    assert do.takes_finalizer_off
    assert cleaned(claim(terminating=True, allocated=False)) == Cleaning(takes_finalizer_off=True)


def test_other_finalizers_stay() -> None:
    patch = finalizer_patch("u", "8", ("other.example.com/guard", FINALIZER))
    assert patch["metadata"] == {"uid": "u", "resourceVersion": "8", "finalizers": ["other.example.com/guard"]}
    assert finalizer_patch("u", "8", (FINALIZER,))["metadata"]["finalizers"] is None


def test_a_generated_claim_is_deleted_once_its_pod_is_done() -> None:
    own = claim(owner="u", allocated=False, ours=False)
    assert cleaned(own, owner=pod(phase="Succeeded")).deletes
    assert cleaned(own, owner=pod(phase="Failed")).deletes
    assert cleaned(own, owner=deleted(pod())).deletes
    assert cleaned(own, owner=pod(uid="another")).deletes


def test_it_stays_while_its_pod_may_run_or_nobody_knows() -> None:
    own = claim(owner="u", allocated=False, ours=False)
    assert cleaned(own, owner=pod()) == Cleaning()
    assert cleaned(own, owner=deleted(pod(node="n"))) == Cleaning()
    assert cleaned(own, owner=None) == Cleaning()


def test_a_claim_that_somebody_made_by_hand_outlives_its_pods() -> None:
    assert not cleaned(claim("u"), "u", owner=None).deletes
