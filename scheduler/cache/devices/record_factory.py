"""Makes the slim records of what the API server says of devices.

What strangers wrote never raises here: see `scheduler.cache.devices.records`.
"""

from weakref import WeakValueDictionary

import msgspec

from api.devices import (
    AllocationResult,
    CapacityRequirements,
    Device,
    DeviceCapacity,
    DeviceClaim,
    DeviceClass,
    DeviceResult,
    RequestPolicy,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from api.errors import InvalidQuantity
from api.meta import controller_of
from api.quantity import parse_nano
from scheduler.cache.devices.records import (
    NO_AMOUNTS,
    Amounts,
    Capacity,
    ClaimRecord,
    ClaimSpecRecord,
    ClassRecord,
    DeviceId,
    DeviceRecord,
    HeldDevice,
    PoolId,
    Range,
    SliceRecord,
)
from scheduler.cache.devices.selectors import Contents
from scheduler.cache.node_rules import NodeTerm, parse_node_terms


def slice_record(resource_slice: ResourceSlice, contents: Contents) -> SliceRecord:
    """What is kept of a slice."""
    spec = resource_slice.spec
    pool = PoolId(spec.driver, spec.pool.name)
    return SliceRecord(
        metadata=resource_slice.metadata,
        pool=pool,
        generation=spec.pool.generation,
        slices_in_pool=spec.pool.resource_slice_count,
        node_name=spec.node_name or "",
        terms=_terms(spec.node_selector),
        node_selector=spec.node_selector,
        is_everywhere=bool(spec.all_nodes),
        is_per_device=bool(spec.per_device_node_selection),
        devices=tuple(_device(pool, device, contents) for device in spec.devices or ()),
        counter_sets=tuple(
            (one.name, {name: _amount(counter.value) for name, counter in (one.counters or {}).items()})
            for one in spec.shared_counters or ()
        ),
        alpha_field=_alpha_field(resource_slice),
    )


def class_record(device_class: DeviceClass) -> ClassRecord:
    """What is kept of a class."""
    spec = device_class.spec
    return ClassRecord(
        metadata=device_class.metadata,
        selectors=tuple(one.cel.expression if one.cel else None for one in spec.selectors or ()),
        config=spec.config or (),
        extended_resource=spec.extended_resource_name or "",
    )


class ClaimSpecs:
    """Finds what a claim asks for; claims that ask for the same share one object."""

    def __init__(self) -> None:
        self._specs: WeakValueDictionary[bytes, ClaimSpecRecord] = WeakValueDictionary()
        self._encode = msgspec.json.Encoder(order="sorted").encode

    def of(self, devices: DeviceClaim) -> ClaimSpecRecord:
        """What these bytes ask for."""
        key = self._encode(devices)
        found = self._specs.get(key)
        if found is None:
            found = ClaimSpecRecord(devices.requests or (), devices.constraints or (), devices.config or ())
            self._specs[key] = found
        return found


def claim_record(claim: ResourceClaim, specs: ClaimSpecs) -> ClaimRecord:
    """What is kept of a claim."""
    status = claim.status
    owner = controller_of(claim.metadata)
    allocation = status.allocation
    return ClaimRecord(
        metadata=claim.metadata,
        spec=specs.of(claim.spec.devices),
        allocation=allocation,
        held=held_devices(allocation) if allocation is not None else (),
        terms=_terms(allocation.node_selector) if allocation is not None else None,
        reserved_for={one.uid: one for one in status.reserved_for or ()},
        device_status=status.devices or (),
        owner_uid=owner.uid if owner is not None else "",
        owner_kind=owner.kind if owner is not None else "",
    )


def template_record(template: ResourceClaimTemplate, specs: ClaimSpecs) -> ClaimRecord:
    """What is kept of a template: a claim that nobody has made, without devices and users."""
    return claim_record(ResourceClaim(template.metadata, template.spec.spec), specs)


def held_devices(allocation: AllocationResult) -> tuple[HeldDevice, ...]:
    """What nobody else can have while the allocation stands; access of administrators holds nothing."""
    results = allocation.devices.results or ()
    return tuple(_held(result) for result in results if not result.admin_access)


def asked_amounts(requirements: CapacityRequirements | None) -> Amounts:
    """What a request asks of each device.

    Raises:
        InvalidQuantity: one of them is no quantity.
    """
    if requirements is None or not requirements.requests:
        return NO_AMOUNTS
    return {name: parse_nano(text) for name, text in requirements.requests.items()}


def _held(result: DeviceResult) -> HeldDevice:
    consumed = {name: _amount(text) for name, text in (result.consumed_capacity or {}).items()}
    return HeldDevice(DeviceId(result.driver, result.pool, result.device), result.share_id or "", consumed)


def _device(pool: PoolId, device: Device, contents: Contents) -> DeviceRecord:
    problem = ""
    capacity: dict[str, Capacity] = {}
    counters: dict[tuple[str, str], int] = {}
    try:
        capacity = {name: _capacity(one) for name, one in (device.capacity or {}).items()}
        for consumption in device.consumes_counters or ():
            for name, counter in (consumption.counters or {}).items():
                counters[consumption.counter_set, name] = parse_nano(counter.value)
    except InvalidQuantity as error:
        problem = str(error)
    return DeviceRecord(
        id=DeviceId(pool.driver, pool.pool, device.name),
        device=device,
        content=contents.of(pool.driver, device),
        capacity=capacity,
        counters=counters,
        likeness=contents.likeness(pool.driver, device),
        is_shareable=bool(device.allow_multiple_allocations),
        terms=_terms(device.node_selector),
        problem=problem,
    )


def _capacity(capacity: DeviceCapacity) -> Capacity:
    policy = capacity.request_policy
    if policy is None:
        return Capacity(parse_nano(capacity.value), capacity.value)
    return Capacity(
        value=parse_nano(capacity.value),
        text=capacity.value,
        default=_optional(policy.default),
        valid_values=tuple(map(parse_nano, policy.valid_values or ())),
        valid_range=_range(policy),
        has_policy=True,
    )


def _range(policy: RequestPolicy) -> Range | None:
    found = policy.valid_range
    if found is None:
        return None
    minimum, maximum, step = _optional(found.min), _optional(found.max), _optional(found.step)
    return Range(minimum, maximum, step, is_milli=_counts_in_milli(minimum, maximum, step))


def _counts_in_milli(*amounts: int | None) -> bool:
    """Whether thousandths say all of them exactly within 64 bits."""
    given = [amount for amount in amounts if amount is not None]
    return all(amount % 10**6 == 0 and abs(amount // 10**6) < 2**63 for amount in given)


def _optional(text: str | None) -> int | None:
    return None if text is None else parse_nano(text)


def _amount(text: str) -> int:
    """Of what the API server has accepted, so that it can be read; 0 otherwise."""
    try:
        return parse_nano(text)
    except InvalidQuantity:
        return 0


def _terms(raw: msgspec.Raw) -> tuple[NodeTerm, ...] | None:
    return parse_node_terms(raw) if _is_given(raw) else None


def _is_given(raw: msgspec.Raw) -> bool:
    return bool(raw) and bytes(raw) != b"null"


def _alpha_field(resource_slice: ResourceSlice) -> str:
    if _is_given(resource_slice.spec.skip_node_operations):
        return "skipNodeOperations"
    for device in resource_slice.spec.devices or ():
        if _is_given(device.node_allocatable_resources):
            return "nodeAllocatableResources"
        if any(one.compatibility_groups for one in device.consumes_counters or ()):
            return "compatibilityGroups"
    return ""
