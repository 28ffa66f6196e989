"""Devices of `resource.k8s.io/v1`: classes, slices, claims and taint rules, as the scheduler reads them.

Quantities stay text, node selectors and configurations stay raw: the scheduler parses each distinct one once. Of fields whose
feature gate is off in Kubernetes 1.37 only their presence matters: an API server with the gate off drops them.
"""

import msgspec

from api.meta import NO_METADATA, Metadata
from api.pod import EMPTY

Names = tuple[str, ...]


class CelSelector(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """An expression that must be true of a device."""

    expression: str = ""


class DeviceSelector(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One entry of `selectors`; without `cel` it is of a kind that is not known."""

    cel: CelSelector | None = None


class DeviceToleration(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """A toleration of device taints; empty operator is Equal, empty key and effect are all."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class DeviceTaint(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A taint of a device; effects other than NoSchedule and NoExecute prevent nothing."""

    key: str = ""
    value: str = ""
    effect: str = ""


# --- ResourceSlice ---------------------------------------------------------------------------------------------------


class DeviceAttribute(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One value, by its type; lists are behind an alpha gate."""

    int_value: int | None = msgspec.field(default=None, name="int")
    bool_value: bool | None = msgspec.field(default=None, name="bool")
    string: str | None = None
    version: str | None = None
    ints: tuple[int, ...] | None = None
    bools: tuple[bool, ...] | None = None
    strings: Names | None = None
    versions: Names | None = None


class CapacityRange(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Amounts that may be asked for: from `min`, in steps, to `max`."""

    min: str | None = None
    max: str | None = None
    step: str | None = None


class RequestPolicy(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel", gc=False):
    """How an asked amount of a capacity is rounded, and what counts when nobody asks."""

    default: str | None = None
    valid_values: Names | None = None
    valid_range: CapacityRange | None = None


class DeviceCapacity(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel", gc=False):
    """A quantity that a device has."""

    value: str = "0"
    request_policy: RequestPolicy | None = None


class Counter(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """An amount of a counter."""

    value: str = "0"


class CounterSet(msgspec.Struct, frozen=True, omit_defaults=True):
    """Counters that devices of one pool share."""

    name: str = ""
    counters: dict[str, Counter] | None = None


class CounterConsumption(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel", gc=False):
    """What a device takes of a counter set while it is allocated."""

    counter_set: str = ""
    counters: dict[str, Counter] | None = None
    compatibility_groups: Names | None = None


class Device(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel", gc=False):
    """One device of a slice; its node selection counts only where the slice leaves it to its devices."""

    name: str = ""
    attributes: dict[str, DeviceAttribute] | None = None
    capacity: dict[str, DeviceCapacity] | None = None
    consumes_counters: tuple[CounterConsumption, ...] | None = None
    node_name: str | None = None
    node_selector: msgspec.Raw = EMPTY
    all_nodes: bool | None = None
    taints: tuple[DeviceTaint, ...] | None = None
    binds_to_node: bool | None = None
    binding_conditions: Names | None = None
    binding_failure_conditions: Names | None = None
    allow_multiple_allocations: bool | None = None
    node_allocatable_resources: msgspec.Raw = EMPTY


class ResourcePool(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel", gc=False):
    """To which pool a slice belongs; of each pool only the highest generation counts."""

    name: str = ""
    generation: int = 0
    resource_slice_count: int = 0


class ResourceSliceSpec(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """`spec` of a ResourceSlice."""

    driver: str = ""
    pool: ResourcePool = ResourcePool()
    node_name: str | None = None
    node_selector: msgspec.Raw = EMPTY
    all_nodes: bool | None = None
    per_device_node_selection: bool | None = None
    devices: tuple[Device, ...] | None = None
    shared_counters: tuple[CounterSet, ...] | None = None
    skip_node_operations: msgspec.Raw = EMPTY


class ResourceSlice(msgspec.Struct, frozen=True, omit_defaults=True):
    """A ResourceSlice: devices that a driver offers."""

    metadata: Metadata = NO_METADATA
    spec: ResourceSliceSpec = ResourceSliceSpec()


# --- DeviceClass, DeviceTaintRule ------------------------------------------------------------------------------------


class OpaqueConfig(msgspec.Struct, frozen=True, omit_defaults=True):
    """Parameters for a driver, handed on as they are."""

    opaque: msgspec.Raw = EMPTY


class DeviceClassSpec(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """`spec` of a DeviceClass."""

    selectors: tuple[DeviceSelector, ...] | None = None
    config: tuple[OpaqueConfig, ...] | None = None
    extended_resource_name: str | None = None


class DeviceClass(msgspec.Struct, frozen=True, omit_defaults=True):
    """A DeviceClass: what administrators call a kind of devices."""

    metadata: Metadata = NO_METADATA
    spec: DeviceClassSpec = DeviceClassSpec()


class TaintedDevices(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Which devices a rule taints; all that are given must be equal."""

    driver: str | None = None
    pool: str | None = None
    device: str | None = None


class DeviceTaintRuleSpec(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """`spec` of a DeviceTaintRule; without a selector it taints nothing."""

    device_selector: TaintedDevices | None = None
    taint: DeviceTaint = DeviceTaint()


class DeviceTaintRule(msgspec.Struct, frozen=True, omit_defaults=True):
    """A DeviceTaintRule: a taint as if it were in the slices."""

    metadata: Metadata = NO_METADATA
    spec: DeviceTaintRuleSpec = DeviceTaintRuleSpec()


# --- ResourceClaim ---------------------------------------------------------------------------------------------------


class CapacityRequirements(msgspec.Struct, frozen=True, omit_defaults=True):
    """Amounts asked of each device, by the name of the capacity."""

    requests: dict[str, str] | None = None


class ExactRequest(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What is asked of devices: in `exactly`, and in each entry of `firstAvailable` with a name of its own."""

    name: str = ""
    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] | None = None
    allocation_mode: str = "ExactCount"
    count: int = 1
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] | None = None
    capacity: CapacityRequirements | None = None
    derived_attributes: msgspec.Raw = EMPTY


class DeviceRequest(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One request of a claim: one thing exactly, or the first of several that is available."""

    name: str = ""
    exactly: ExactRequest | None = None
    first_available: tuple[ExactRequest, ...] | None = None


class DeviceConstraint(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What the devices of some requests, of all when none is named, have in common or in which they differ."""

    requests: Names | None = None
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class ClaimConfig(msgspec.Struct, frozen=True, omit_defaults=True):
    """Parameters for the drivers of some requests."""

    requests: Names | None = None
    opaque: msgspec.Raw = EMPTY


class DeviceClaim(msgspec.Struct, frozen=True, omit_defaults=True):
    """`spec.devices` of a ResourceClaim."""

    requests: tuple[DeviceRequest, ...] | None = None
    constraints: tuple[DeviceConstraint, ...] | None = None
    config: tuple[ClaimConfig, ...] | None = None


class ResourceClaimSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """`spec` of a ResourceClaim; it never changes."""

    devices: DeviceClaim = DeviceClaim()


class DeviceResult(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A device that was allocated for a request."""

    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] | None = None
    binding_conditions: Names | None = None
    binding_failure_conditions: Names | None = None
    share_id: str | None = msgspec.field(default=None, name="shareID")
    consumed_capacity: dict[str, str] | None = None


class AllocationConfig(msgspec.Struct, frozen=True, omit_defaults=True):
    """Parameters of class or claim as they hold for an allocation."""

    source: str = ""
    requests: Names | None = None
    opaque: msgspec.Raw = EMPTY


class AllocationDevices(msgspec.Struct, frozen=True, omit_defaults=True):
    """`devices` of an allocation."""

    results: tuple[DeviceResult, ...] | None = None
    config: tuple[AllocationConfig, ...] | None = None


class AllocationResult(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """`status.allocation` of a claim; without a node selector it can be used on every node."""

    devices: AllocationDevices = AllocationDevices()
    node_selector: msgspec.Raw = EMPTY
    allocation_timestamp: str | None = None


class ConsumerReference(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Who may use a claim: a pod, or a PodGroup for all its pods. The UID identifies it."""

    api_group: str = ""
    resource: str = ""
    name: str = ""
    uid: str = ""


class DeviceCondition(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What a driver says of a device that it prepares."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class DeviceStatus(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One entry of `status.devices`: what a driver says of an allocated device."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    share_id: str | None = msgspec.field(default=None, name="shareID")
    conditions: tuple[DeviceCondition, ...] | None = None


class ResourceClaimStatus(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """`status` of a ResourceClaim."""

    allocation: AllocationResult | None = None
    reserved_for: tuple[ConsumerReference, ...] | None = None
    devices: tuple[DeviceStatus, ...] | None = None


class ResourceClaim(msgspec.Struct, frozen=True, omit_defaults=True):
    """A ResourceClaim: devices that pods ask for, and those they got."""

    metadata: Metadata = NO_METADATA
    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus = ResourceClaimStatus()


# --- ResourceClaimTemplate -------------------------------------------------------------------------------------------


class ResourceClaimTemplateSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """`spec` of a ResourceClaimTemplate: what the claims made from it say."""

    metadata: Metadata = NO_METADATA
    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaimTemplate(msgspec.Struct, frozen=True, omit_defaults=True):
    """A ResourceClaimTemplate: the claim controller makes a claim from it for each pod that names it."""

    metadata: Metadata = NO_METADATA
    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec()
