"""Slim records of slices, classes and claims: what decides which devices a claim can have.

They are made in `record_factory`. What strangers wrote never raises here. A quantity that cannot be read makes its device
unusable (`problem`), a node selector that cannot be read matches no node. Amounts are billionths, so they compare exactly.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

import msgspec

from api.constants import EXTENDED_CLAIM
from api.devices import (
    AllocationResult,
    ClaimConfig,
    ConsumerReference,
    Device,
    DeviceConstraint,
    DeviceRequest,
    DeviceStatus,
    DeviceTaint,
    OpaqueConfig,
)
from api.meta import Metadata
from scheduler.cache.devices.selectors import Content
from scheduler.cache.node_rules import NodeTerm

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
