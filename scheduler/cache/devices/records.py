"""Slim records of slices, classes and claims: what decides which devices a claim can have.

What strangers wrote never raises here. A quantity that cannot be read makes its device unusable (`problem`), a node selector
that cannot be read matches no node. Amounts are billionths, so that they are compared exactly.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple
from weakref import WeakValueDictionary

import msgspec

from api.constants import EXTENDED_CLAIM
from api.devices import (
    AllocationResult,
    CapacityRequirements,
    ClaimConfig,
    ConsumerReference,
    Device,
    DeviceCapacity,
    DeviceClaim,
    DeviceClass,
    DeviceConstraint,
    DeviceRequest,
    DeviceResult,
    DeviceStatus,
    DeviceTaint,
    OpaqueConfig,
    RequestPolicy,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from api.errors import InvalidQuantity
from api.meta import Metadata, controller_of
from api.quantity import parse_nano
from scheduler.cache.devices.selectors import Content, Contents
from scheduler.cache.node_rules import NodeTerm, parse_node_terms

ClaimKey = tuple[str, str]
"""(namespace, name)."""

Amounts = Mapping[str, int]
"""Billionths by name."""

NO_AMOUNTS: Final[Amounts] = {}
POD_RESOURCE: Final = "pods"
POD_KIND: Final = "Pod"
GROUP_RESOURCE: Final = "podgroups"


class PoolId(NamedTuple):
    """A pool; nothing ties its name to a node."""

    driver: str
    pool: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}"


class DeviceId(NamedTuple):
    """A device, whichever slice it is in."""

    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.device}"

    @property
    def pool_id(self) -> PoolId:
        """The pool it belongs to."""
        return PoolId(self.driver, self.pool)


class Range(msgspec.Struct, frozen=True):
    """Amounts from `minimum`, in steps, to `maximum`; `is_milli` when steps are counted in thousandths."""

    minimum: int | None
    maximum: int | None
    step: int | None
    is_milli: bool


class Capacity(msgspec.Struct, frozen=True, gc=False):
    """A capacity: what there is, and how an asked amount is rounded."""

    value: int
    text: str
    default: int | None = None
    valid_values: tuple[int, ...] = ()
    valid_range: Range | None = None
    has_policy: bool = False


class DeviceRecord(msgspec.Struct, frozen=True, eq=False, gc=False):
    """A device of a slice; compared by identity.

    Attributes:
        content: what selectors see of it.
        capacity: by name, as in the slice.
        counters: what it takes of counter sets: (set, counter) to amount.
        likeness: the same for devices that differ in their names only.
        is_shareable: it can be allocated many times, until its capacity is used up.
        terms: of its own node selector, None without.
        problem: why it cannot be used, empty when it can.
    """

    id: DeviceId
    device: Device
    content: Content
    capacity: Mapping[str, Capacity]
    counters: Mapping[tuple[str, str], int]
    likeness: int
    is_shareable: bool
    terms: tuple[NodeTerm, ...] | None = None
    problem: str = ""

    @property
    def taints(self) -> tuple[DeviceTaint, ...]:
        """Its taints as they are in the slice."""
        return self.device.taints or ()


class SliceRecord(msgspec.Struct, frozen=True, eq=False):
    """A ResourceSlice; compared by identity.

    Attributes:
        node_name: the only node it is for, empty when it is for others too.
        terms: of its node selector, None without.
        is_everywhere: every node reaches its devices.
        is_per_device: its devices say themselves which nodes reach them.
        counter_sets: amounts by counter, by name of the set; one entry a set as written, so that duplicates show.
        alpha_field: the field behind an alpha gate that it uses, empty when there is none. Its devices are not used.
    """

    metadata: Metadata
    pool: PoolId
    generation: int
    slices_in_pool: int
    node_name: str
    terms: tuple[NodeTerm, ...] | None
    node_selector: msgspec.Raw
    is_everywhere: bool
    is_per_device: bool
    devices: tuple[DeviceRecord, ...]
    counter_sets: tuple[tuple[str, Amounts], ...]
    alpha_field: str = ""

    @property
    def name(self) -> str:
        """Of the object."""
        return self.metadata.name

    def offers_like(self, other: "SliceRecord") -> bool:
        """True when nothing differs that decides where and whether its devices can be had."""
        return (
            self.pool == other.pool
            and self.generation == other.generation
            and self.slices_in_pool == other.slices_in_pool
            and self.node_name == other.node_name
            and bytes(self.node_selector) == bytes(other.node_selector)
            and self.is_everywhere == other.is_everywhere
            and self.is_per_device == other.is_per_device
            and self.counter_sets == other.counter_sets
            and self.alpha_field == other.alpha_field
            and [one.device for one in self.devices] == [one.device for one in other.devices]
        )


class ClassRecord(msgspec.Struct, frozen=True, eq=False):
    """A DeviceClass; a selector is None where it is of a kind that is not known."""

    metadata: Metadata
    selectors: tuple[str | None, ...]
    config: tuple[OpaqueConfig, ...]
    extended_resource: str = ""

    @property
    def name(self) -> str:
        """Of the object."""
        return self.metadata.name


class ClaimSpecRecord(msgspec.Struct, frozen=True, eq=False, weakref=True):
    """What a claim asks for; claims with the same bytes share one object, so it is compared by identity."""

    requests: tuple[DeviceRequest, ...]
    constraints: tuple[DeviceConstraint, ...] = ()
    config: tuple[ClaimConfig, ...] = ()


class HeldDevice(msgspec.Struct, frozen=True, gc=False):
    """What an allocation holds of a device: all of it, or with a `share_id` a share of its capacity."""

    id: DeviceId
    share_id: str = ""
    consumed: Amounts = NO_AMOUNTS


class ClaimRecord(msgspec.Struct, frozen=True, eq=False):
    """A ResourceClaim.

    Attributes:
        allocation: the devices it has, None without.
        held: the same as far as others cannot have them.
        terms: of the nodes on which the allocation can be used, None for all.
        reserved_for: who uses it, by UID.
        owner_uid: of the pod or group it was made for, empty when a person made it.
    """

    metadata: Metadata
    spec: ClaimSpecRecord
    allocation: AllocationResult | None
    held: tuple[HeldDevice, ...]
    terms: tuple[NodeTerm, ...] | None
    reserved_for: Mapping[str, ConsumerReference]
    device_status: tuple[DeviceStatus, ...]
    owner_uid: str = ""
    owner_kind: str = ""

    @property
    def key(self) -> ClaimKey:
        """(namespace, name)."""
        return self.metadata.key

    def decides_like(self, other: "ClaimRecord") -> bool:
        """True when nothing differs that decides about the pods that use it (metadata alone, mostly)."""
        return (
            self.metadata.uid == other.metadata.uid
            and self.metadata.is_terminating is other.metadata.is_terminating
            and self.spec is other.spec
            and self.allocation == other.allocation
            and self.reserved_for == other.reserved_for
            and self.device_status == other.device_status
            and self.owner_uid == other.owner_uid
        )

    @property
    def is_allocated(self) -> bool:
        """Whether it has its devices."""
        return self.allocation is not None

    @property
    def is_for_extended_resources(self) -> bool:
        """Whether a scheduler has made it, for the extended resources of the pod that owns it."""
        return self.metadata.annotation(EXTENDED_CLAIM) == "true" and self.owner_kind == POD_KIND


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
