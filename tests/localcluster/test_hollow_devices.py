"""The devices of hollow nodes, and when a pod with claims may start."""

from typing import Any

import msgspec
import pytest

from api.errors import ConfigurationError
from localcluster.apiserver.kinds.devices.selectors import selectors_errors
from localcluster.apiserver.kinds.devices.slices import slice_errors
from localcluster.devices import class_manifest, parse_devices, slice_manifest
from localcluster.lifecycle import HollowPod
from localcluster.podclaims import HeldClaim, can_start, needed_claims

ALLOCATION: dict[str, Any] = {"devices": {"results": [{"request": "r", "driver": "d", "pool": "n", "device": "g"}]}}


def test_kinds_of_devices_are_counted() -> None:
    assert parse_devices("gpu=8, nic=2,") == {"gpu": 8, "nic": 2}
    assert parse_devices("") == {}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("gpu", "'gpu' is not of the form name=count"),
        ("gpu=many", "'gpu=many' is not of the form name=count"),
        ("gpu=-1", "'gpu=-1' is not of the form name=count"),
        ("gpu=²", "is not of the form name=count"),
        ("=8", "'' is no name"),
        ("GPU=8", "'GPU' is no name"),
        ("nvidia.com/gpu=8", "'nvidia.com/gpu' is no name"),
        (f"{'g' * 41}=8", "at most 40 characters"),
        ("gpu=0", "1 to 128 devices of a kind, not 0"),
        ("gpu=129", "1 to 128 devices of a kind, not 129"),
        ("gpu=8,gpu=2", "gpu is there twice"),
    ],
)
def test_what_makes_no_sense_is_one_clear_sentence(text: str, complaint: str) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        parse_devices(text)
    assert str(refusal.value).startswith("--devices: ")
    assert complaint in str(refusal.value)


@pytest.mark.parametrize("count", [1, 128])
def test_what_is_offered_is_what_the_server_takes(count: int) -> None:
    made = slice_manifest("g" * 40, count, "node-1", "uid")
    assert slice_errors(made["spec"], None, "spec") == []
    assert len(made["spec"]["devices"]) == count
    assert selectors_errors(class_manifest("gpu")["spec"]["selectors"], "spec.selectors") == []


def test_a_slice_goes_with_its_node() -> None:
    (owner,) = slice_manifest("gpu", 4, "node-1", "uid")["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["uid"]) == ("Node", "node-1", "uid")


def test_half_of_the_devices_are_on_each_side_of_the_node() -> None:
    devices = slice_manifest("gpu", 4, "node-1", "uid")["spec"]["devices"]
    assert [each["attributes"]["numa"]["int"] for each in devices] == [0, 0, 1, 1]
    assert [each["attributes"]["index"]["int"] for each in devices] == [0, 1, 2, 3]


def pod(made: dict[str, str | None] | None = None, extended: str = "") -> HollowPod:
    entries = [{"name": "own", "resourceClaimTemplateName": "t"}, {"name": "named", "resourceClaimName": "shared"}]
    status: dict[str, Any] = {
        "resourceClaimStatuses": [{"name": key, "resourceClaimName": name} for key, name in (made or {}).items()]
    }
    if extended:
        status["extendedResourceClaimStatus"] = {"resourceClaimName": extended, "requestMappings": []}
    return msgspec.convert({"spec": {"nodeName": "n", "resourceClaims": entries}, "status": status}, HollowPod)


def test_a_pod_needs_the_claims_it_names_and_those_made_for_it() -> None:
    one = pod({"own": "p-own-x"}, extended="p-extended")
    assert needed_claims(one.spec, one.status) == ["p-own-x", "shared", "p-extended"]


def test_an_entry_without_a_claim_needs_none() -> None:
    one = pod({"own": None})
    assert needed_claims(one.spec, one.status) == ["shared"]


def test_while_one_is_to_be_made_nobody_knows() -> None:
    assert needed_claims(pod().spec, pod().status) is None


def held(*users: str, allocated: bool = True) -> HeldClaim:
    status: dict[str, Any] = {"reservedFor": [{"resource": "pods", "name": "p", "uid": each} for each in users]}
    if allocated:
        status["allocation"] = ALLOCATION
    return msgspec.convert({"status": status}, HeldClaim)


def test_a_pod_starts_with_all_its_devices_only() -> None:
    assert can_start("u", [held("u"), held("other", "u")])
    assert not can_start("u", [held("u"), held("other")])
    assert not can_start("u", [held("u"), None])
    assert not can_start("u", [held("u", allocated=False)])


def test_a_group_with_the_pods_uid_is_not_the_pod() -> None:
    group = {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "u"}
    claim = msgspec.convert({"status": {"allocation": ALLOCATION, "reservedFor": [group]}}, HeldClaim)
    assert not can_start("u", [claim])
