"""From the scheduler's records of devices back to objects of the API server that make the same records again, and slim ones.

What drivers are told (opaque parameters), what they report, when something was allocated and under which conditions it may be
used decides no place, so it is left out. Of the parameters of a claim only is kept which claims have the same ones: claims that
ask for different things are never alike.
"""

from hashlib import blake2b
from typing import Any, Final, TypeVar

import msgspec

from api.devices import (
    AllocationDevices,
    AllocationResult,
    CelSelector,
    ClaimConfig,
    Counter,
    CounterSet,
    DeviceClaim,
    DeviceClass,
    DeviceClassSpec,
    DeviceResult,
    DeviceSelector,
    DeviceTaintRule,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimStatus,
    ResourceClaimTemplate,
    ResourceClaimTemplateSpec,
    ResourcePool,
    ResourceSlice,
    ResourceSliceSpec,
)
from api.pod import EMPTY
from api.quantity import format_nano
from scheduler.cache.devices.records import ClaimRecord, ClassRecord, SliceRecord

T = TypeVar("T", bound=msgspec.Struct)

_GIVEN: Final = msgspec.Raw(b"true")
_SKIP_NODE_OPERATIONS: Final = "skipNodeOperations"
_DIGEST_BYTES: Final = 8


# --- records ----------------------------------------------------------------------------------------------------------


def slice_object(record: SliceRecord) -> ResourceSlice:
    """A ResourceSlice that says this of itself."""
    pool = ResourcePool(record.pool.pool, record.generation, record.slices_in_pool)
    counters = tuple(
        CounterSet(name, {counter: Counter(format_nano(amount)) for counter, amount in amounts.items()})
        for name, amounts in record.counter_sets
    )
    return ResourceSlice(
        record.metadata,
        ResourceSliceSpec(
            driver=record.pool.driver,
            pool=pool,
            node_name=record.node_name or None,
            node_selector=record.node_selector,
            all_nodes=record.is_everywhere or None,
            per_device_node_selection=record.is_per_device or None,
            devices=tuple(device.device for device in record.devices),
            shared_counters=counters or None,
            skip_node_operations=_GIVEN if record.alpha_field == _SKIP_NODE_OPERATIONS else EMPTY,
        ),
    )


def device_class_object(record: ClassRecord) -> DeviceClass:
    """A DeviceClass that says this of itself."""
    selectors = tuple(
        DeviceSelector(None if expression is None else CelSelector(expression)) for expression in record.selectors
    )
    return DeviceClass(
        record.metadata, DeviceClassSpec(selectors or None, extended_resource_name=record.extended_resource or None)
    )


def resource_claim_object(record: ClaimRecord) -> ResourceClaim:
    """A ResourceClaim that says this of itself."""
    consumers = tuple(record.reserved_for.values())
    return ResourceClaim(
        record.metadata, _claim_spec(record), ResourceClaimStatus(record.allocation, consumers or None)
    )


def claim_template_object(record: ClaimRecord) -> ResourceClaimTemplate:
    """A ResourceClaimTemplate whose record this is."""
    return ResourceClaimTemplate(record.metadata, ResourceClaimTemplateSpec(spec=_claim_spec(record)))


def _claim_spec(record: ClaimRecord) -> ResourceClaimSpec:
    spec = record.spec
    return ResourceClaimSpec(DeviceClaim(spec.requests or None, spec.constraints or None, spec.config or None))


# --- slim -------------------------------------------------------------------------------------------------------------


def slim_devices(found: T) -> T:
    """The object, of a kind that is about devices or of any other, without what no decision about devices reads."""
    changes: dict[str, Any] = {}
    match found:
        case ResourceSlice():
            changes["spec"] = _slim_slice(found.spec)
        case DeviceClass():
            changes["spec"] = msgspec.structs.replace(found.spec, config=None)
        case ResourceClaim():
            changes |= {"spec": _slim_spec(found.spec), "status": _slim_status(found.status)}
        case ResourceClaimTemplate():
            changes["spec"] = ResourceClaimTemplateSpec(spec=_slim_spec(found.spec.spec))
        case _:
            return found
    return msgspec.structs.replace(found, **changes)


ABOUT_DEVICES: Final = (ResourceSlice, DeviceClass, ResourceClaim, ResourceClaimTemplate, DeviceTaintRule)
"""Kinds whose labels decide nothing."""


def _slim_slice(spec: ResourceSliceSpec) -> ResourceSliceSpec:
    devices = tuple(
        msgspec.structs.replace(device, node_allocatable_resources=_GIVEN)
        if _is_given(device.node_allocatable_resources)
        else device
        for device in spec.devices or ()
    )
    skips = _GIVEN if _is_given(spec.skip_node_operations) else EMPTY
    return msgspec.structs.replace(spec, devices=devices or None, skip_node_operations=skips)


def _slim_spec(spec: ResourceClaimSpec) -> ResourceClaimSpec:
    config = tuple(ClaimConfig(one.requests, _mark(one.opaque)) for one in spec.devices.config or ())
    return ResourceClaimSpec(msgspec.structs.replace(spec.devices, config=config or None))


def _mark(opaque: msgspec.Raw) -> msgspec.Raw:
    """A word that is the same for the same parameters; of a word the word itself: parameters are never one."""
    text = bytes(opaque)
    if not _is_given(opaque) or text.startswith(b'"'):
        return opaque
    return msgspec.Raw(msgspec.json.encode(blake2b(text, digest_size=_DIGEST_BYTES).hexdigest()))


def _slim_status(status: ResourceClaimStatus) -> ResourceClaimStatus:
    allocation = status.allocation
    if allocation is not None:
        results = tuple(map(_slim_result, allocation.devices.results or ()))
        allocation = AllocationResult(AllocationDevices(results or None), allocation.node_selector)
    return ResourceClaimStatus(allocation, status.reserved_for)


def _slim_result(result: DeviceResult) -> DeviceResult:
    return DeviceResult(
        request=result.request,
        driver=result.driver,
        pool=result.pool,
        device=result.device,
        admin_access=result.admin_access,
        share_id=result.share_id,
        consumed_capacity=result.consumed_capacity,
    )


def _is_given(raw: msgspec.Raw) -> bool:
    return bool(raw) and bytes(raw) != b"null"
