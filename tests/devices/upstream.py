"""Upstream's own cases as data (`resource.k8s.io`, Kubernetes 1.37.0); where the data are not there, tests are skipped."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec
import orjson
import pytest

from api.devices import DeviceClass, ResourceClaim, ResourceSlice
from api.quantity import parse_nano
from scheduler.algorithm.devices.allocator import allocate
from scheduler.algorithm.devices.errors import AllocationError, InvalidPools
from scheduler.algorithm.devices.pools import gather_pools
from scheduler.algorithm.devices.requests import look_up
from scheduler.algorithm.devices.result import allocation_results
from scheduler.cache.devices.held import HeldDevices
from scheduler.cache.devices.record_factory import ClaimSpecs, claim_record, class_record, slice_record
from scheduler.cache.devices.records import DeviceId, HeldDevice, PoolId, SliceRecord
from scheduler.cache.devices.selectors import Contents, Selectors
from scheduler.cache.nodes import NodeFacts
from verify.shared_data import SHARED_DATA

DATA = SHARED_DATA / "dra"
SHARE = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa"

Case = Mapping[str, Any]
Kind = TypeVar("Kind")


def cases(name: str) -> Sequence[Case]:
    """The cases of a file; the test that asks is skipped when it is not there."""
    file = DATA / name
    if not file.is_file():
        pytest.skip(f"no {name} in {DATA}; set TUTTI_SHARED_DATA")
    found: Sequence[Case] = orjson.loads(file.read_bytes())["cases"]
    return found


def typed(value: Any, kind: type[Kind]) -> Kind:
    """JSON as one of our types."""
    return msgspec.json.decode(orjson.dumps(value), type=kind)


def answer(case: Case) -> list[Any] | str | None:
    """What our allocator says: the allocations, an error, or None when there is no room."""
    contents = Contents()
    slices = [slice_record(typed(one, ResourceSlice), contents) for one in case["resourceSlices"]]
    by_pool: dict[PoolId, list[SliceRecord]] = defaultdict(list)
    for one in slices:
        by_pool[one.pool].append(one)
    classes = {one.name: one for one in (class_record(typed(each, DeviceClass)) for each in case["deviceClasses"])}
    metadata = case["node"]["metadata"]
    node = NodeFacts(metadata["name"], "uid", metadata.get("labels") or {}, {}, (), unschedulable=False)
    try:
        selectors = Selectors()
        claims = [
            look_up(claim_record(typed(one, ResourceClaim), ClaimSpecs()), classes, selectors) for one in case["claims"]
        ]
        solution = allocate(claims, node, gather_pools(slices, node, by_pool), held_of(case))
    except (AllocationError, InvalidPools) as error:
        return str(error)
    if solution is None:
        return None
    results = allocation_results(claims, solution, node.name, lambda: SHARE)
    return [orjson.loads(msgspec.json.encode(one)) for one in results]


def held_of(case: Case) -> HeldDevices:
    """What others have."""
    held = HeldDevices(HeldDevice(_id(one)) for one in case["allocatedDevices"])
    held.add(HeldDevice(_id(one), one["shareID"]) for one in case["allocatedSharedDevices"])
    for one in case["allocatedCapacity"]:
        amounts = one.get("capacity") or one.get("consumedCapacity") or {}
        held.add([HeldDevice(_id(one), "sum", {name: parse_nano(text) for name, text in amounts.items()})])
    return held


def comparable(allocations: Sequence[Any]) -> list[bytes]:
    """Allocations in a form that does not depend on any order, nor on how quantities are written."""
    return sorted(orjson.dumps(_allocation(one), option=orjson.OPT_SORT_KEYS) for one in allocations)


def _allocation(allocation: Mapping[str, Any]) -> list[Any]:
    devices = allocation.get("devices") or {}
    results = sorted(
        orjson.dumps(_result(one), option=orjson.OPT_SORT_KEYS).decode() for one in devices.get("results") or ()
    )
    selector = allocation.get("nodeSelector") or {}
    terms = [
        {
            field: sorted(
                orjson.dumps({**one, "values": sorted(one.get("values") or ())}, option=orjson.OPT_SORT_KEYS).decode()
                for one in requirements
            )
            for field, requirements in term.items()
        }
        for term in selector.get("nodeSelectorTerms") or ()
    ]
    return [results, terms, devices.get("config")]


def _result(result: Mapping[str, Any]) -> Mapping[str, Any]:
    consumed = result.get("consumedCapacity")
    if not consumed:
        return result
    return {**result, "consumedCapacity": {name: str(parse_nano(text)) for name, text in consumed.items()}}


def _id(device: Mapping[str, Any]) -> DeviceId:
    return DeviceId(device["driver"], device["pool"], device["device"])
