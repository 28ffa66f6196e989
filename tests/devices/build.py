"""Devices, slices, classes and claims in a few words; everything is of driver `d` unless it says otherwise."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from api.devices import DeviceClass, ResourceClaim, ResourceSlice
from scheduler.algorithm.devices.allocator import allocate
from scheduler.algorithm.devices.pools import Pool, gather_pools
from scheduler.algorithm.devices.requests import ClaimRequests, look_up
from scheduler.algorithm.devices.solution import Solution
from scheduler.cache.devices.held import HeldDevices
from scheduler.cache.devices.record_factory import ClaimSpecs, claim_record, class_record, slice_record
from scheduler.cache.devices.records import ClaimRecord, ClassRecord, PoolId, SliceRecord
from scheduler.cache.devices.selectors import Contents, Selectors
from scheduler.cache.nodes import NodeFacts
from tests.devices.upstream import typed

DRIVER = "d"
Json = dict[str, Any]


def device(name: str, **attributes: str | int | bool) -> Json:
    """A device with attributes of the driver's domain."""
    return {"name": name, "attributes": {key: _attribute(value) for key, value in attributes.items()}}


def resource_slice(
    name: str,
    devices: Sequence[Json] = (),
    *,
    node: str = "",
    pool: str = "",
    driver: str = DRIVER,
    generation: int = 1,
    count: int = 1,
    **spec: Any,
) -> Json:
    """A ResourceSlice; for all nodes unless it says where."""
    where: Json = {"nodeName": node} if node else {}
    if not where and not {"nodeSelector", "perDeviceNodeSelection"} & spec.keys():
        where = {"allNodes": True}
    return {
        "metadata": {"name": name, "uid": f"uid-{name}"},
        "spec": {
            "driver": driver,
            "pool": {"name": pool or name, "generation": generation, "resourceSliceCount": count},
            "devices": list(devices),
            **where,
            **spec,
        },
    }


def device_class(name: str = "gpu", *selectors: str) -> Json:
    """A DeviceClass."""
    return {"metadata": {"name": name}, "spec": {"selectors": [{"cel": {"expression": one}} for one in selectors]}}


def request(name: str = "r", count: int = 1, *selectors: str, class_name: str = "gpu", **fields: Any) -> Json:
    """A request for so many devices of a class."""
    exactly = {"deviceClassName": class_name, "allocationMode": "ExactCount", "count": count, **fields}
    if selectors:
        exactly["selectors"] = [{"cel": {"expression": one}} for one in selectors]
    return {"name": name, "exactly": exactly}


def first_available(name: str, *alternatives: Json) -> Json:
    """A request for the first of these that is to be had."""
    return {
        "name": name,
        "firstAvailable": [{"name": one["name"], **one["exactly"]} for one in alternatives],
    }


def claim(
    name: str, *requests: Json, constraints: Sequence[Json] = (), status: Json | None = None, **spec: Any
) -> Json:
    """A ResourceClaim in the namespace `ns`."""
    devices = {"requests": list(requests), "constraints": list(constraints), **spec}
    return {
        "metadata": {"name": name, "namespace": "ns", "uid": f"uid-{name}"},
        "spec": {"devices": devices},
        "status": status or {},
    }


def node_facts(name: str = "n1", labels: Mapping[str, str] | None = None) -> NodeFacts:
    """A node."""
    return NodeFacts(name, f"uid-{name}", dict(labels or {}), {}, (), unschedulable=False)


def slices(*objects: Json) -> list[SliceRecord]:
    """Records of slices."""
    contents = Contents()
    return [slice_record(typed(one, ResourceSlice), contents) for one in objects]


def classes(*objects: Json) -> dict[str, ClassRecord]:
    """Records of classes by name; one `gpu` of all devices when none is given."""
    found = [class_record(typed(one, DeviceClass)) for one in objects or (device_class(),)]
    return {one.name: one for one in found}


def claim_of(manifest: Json) -> ClaimRecord:
    """The record of a claim."""
    return claim_record(typed(manifest, ResourceClaim), ClaimSpecs())


def asked(*manifests: Json, of: Mapping[str, ClassRecord] | None = None) -> list[ClaimRequests]:
    """Claims, looked up."""
    selectors, known = Selectors(), of if of is not None else classes()
    return [look_up(claim_of(one), known, selectors) for one in manifests]


def pools_of(offers: Sequence[SliceRecord], node: NodeFacts | None = None) -> list[Pool]:
    """The pools that a node sees."""
    by_pool: dict[PoolId, list[SliceRecord]] = defaultdict(list)
    for one in offers:
        by_pool[one.pool].append(one)
    return gather_pools(offers, node or node_facts(), by_pool)


def allocated(
    claims: Sequence[ClaimRequests], offers: Sequence[SliceRecord], held: HeldDevices | None = None, **more: Any
) -> Solution | None:
    """What node `n1` has for the claims."""
    node = node_facts()
    return allocate(claims, node, pools_of(offers, node), held or HeldDevices(), **more)


def names(solution: Solution | None) -> list[list[str]]:
    """The devices of each claim as `request=device`; nothing when there is no solution."""
    if solution is None:
        return []
    return [[f"{one.request.name}={one.device.id.device}" for one in chosen] for chosen in solution.devices]


def _attribute(value: str | int | bool) -> Json:
    return {{bool: "bool", int: "int", str: "string"}[type(value)]: value}
