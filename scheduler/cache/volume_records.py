"""Slim records of volumes, claims and storage classes: what decides where a pod with claims may run.

What a stranger wrote never raises here: sizes that cannot be read count as 0 for volumes and as more than any volume has for
claims, and an affinity that cannot be read accepts no node.
"""

from typing import Final

import msgspec

from api.constants import BIND_COMPLETED, LEGACY_STORAGE_CLASS, SELECTED_NODE, WAIT_FOR_FIRST_CONSUMER
from api.errors import InvalidQuantity
from api.meta import Metadata, controller_of
from api.quantity import parse_whole
from api.storage import Claim, CsiSource, StorageCapacity, StorageClass, Volume
from scheduler.cache.demand import MAX_AMOUNT
from scheduler.cache.node_rules import NodeTerm, parse_node_terms
from scheduler.cache.selectors import NOTHING, RawSelector, Selector, parse_selector

ClaimKey = tuple[str, str]
"""(namespace, name)."""

ZONE_LABELS: Final = (
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
)
ONE_POD_ONLY: Final = "ReadWriteOncePod"
MANY_NODES: Final = frozenset({"ReadOnlyMany", "ReadWriteMany"})
BLOCK: Final = "Block"
STORAGE: Final = "storage"
TOO_MUCH: Final = 2**62


class ClaimRecord(msgspec.Struct, frozen=True):
    """A PersistentVolumeClaim; `size_bytes` is what it asks for, None when it does not say."""

    metadata: Metadata
    storage_class: str
    volume_name: str
    is_bound: bool
    is_lost: bool
    selected_node: str
    size_bytes: int | None
    modes: frozenset[str]
    is_block: bool
    attributes_class: str
    selector: Selector | None
    owner_uid: str

    @property
    def key(self) -> ClaimKey:
        """(namespace, name)."""
        return self.metadata.key


class VolumeRecord(msgspec.Struct, frozen=True):
    """A PersistentVolume; `terms` is None when every node reaches it."""

    metadata: Metadata
    storage_class: str
    size_bytes: int
    modes: frozenset[str]
    is_block: bool
    attributes_class: str
    is_available: bool
    claim: ClaimKey | None
    claim_uid: str
    terms: tuple[NodeTerm, ...] | None
    zones: tuple[tuple[str, frozenset[str]], ...]
    """(label, values) of which a node in a zone must have one."""
    labels: dict[str, str]
    csi: CsiSource | None

    def is_for(self, claim: ClaimRecord) -> bool:
        """Whether it is reserved for, or bound to, this very claim."""
        return self.claim == claim.key and self.claim_uid in {"", claim.metadata.uid}


class ClassRecord(msgspec.Struct, frozen=True):
    """A StorageClass; an empty `topologies` allows every node."""

    metadata: Metadata
    provisioner: str
    waits: bool
    topologies: tuple[tuple[tuple[str, frozenset[str]], ...], ...]


class CapacityRecord(msgspec.Struct, frozen=True):
    """A CSIStorageCapacity: `limit_bytes` is the largest volume that can be made for nodes that `nodes` selects."""

    metadata: Metadata
    storage_class: str
    size_bytes: int | None
    limit_bytes: int | None
    nodes: Selector


_decode_selector: Final = msgspec.json.Decoder(RawSelector | None).decode


def claim_record(claim: Claim) -> ClaimRecord:
    """What is kept of a claim."""
    meta, spec = claim.metadata, claim.spec
    size = (spec.resources.requests or {}).get(STORAGE)
    owner = controller_of(meta)
    return ClaimRecord(
        metadata=_slim(meta),
        storage_class=meta.annotation(LEGACY_STORAGE_CLASS) or spec.storage_class_name or "",
        volume_name=spec.volume_name,
        is_bound=bool(spec.volume_name) and meta.annotation(BIND_COMPLETED) is not None,
        is_lost=claim.status.phase == "Lost",
        selected_node=meta.annotation(SELECTED_NODE) or "",
        size_bytes=None if size is None else _bytes(size, TOO_MUCH),
        modes=frozenset(spec.access_modes or ()),
        is_block=spec.volume_mode == BLOCK,
        attributes_class=spec.volume_attributes_class_name or "",
        selector=_selector(spec.selector) if spec.selector else None,
        owner_uid=owner.uid if owner else "",
    )


def volume_record(volume: Volume) -> VolumeRecord:
    """What is kept of a volume."""
    meta, spec = volume.metadata, volume.spec
    labels, reference = meta.labels or {}, spec.claim_ref
    required = spec.node_affinity.required if spec.node_affinity else None
    return VolumeRecord(
        metadata=_slim(meta),
        storage_class=meta.annotation(LEGACY_STORAGE_CLASS) or spec.storage_class_name,
        size_bytes=_bytes(spec.capacity.get(STORAGE, "0"), 0),
        modes=frozenset(spec.access_modes or ()),
        is_block=spec.volume_mode == BLOCK,
        attributes_class=spec.volume_attributes_class_name or "",
        is_available=volume.status.phase == "Available",
        claim=(reference.namespace, reference.name) if reference else None,
        claim_uid=reference.uid if reference else "",
        terms=parse_node_terms(required) if required else None,
        zones=tuple((key, frozenset(labels[key].split("__"))) for key in ZONE_LABELS if key in labels),
        labels=labels,
        csi=spec.csi,
    )


def class_record(storage_class: StorageClass) -> ClassRecord:
    """What is kept of a storage class."""
    terms = (term.match_label_expressions or () for term in storage_class.allowed_topologies or ())
    return ClassRecord(
        metadata=_slim(storage_class.metadata),
        provisioner=storage_class.provisioner,
        waits=storage_class.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER,
        topologies=tuple(tuple((one.key, frozenset(one.values or ())) for one in term) for term in terms),
    )


def capacity_record(capacity: StorageCapacity) -> CapacityRecord:
    """What is kept of a storage capacity."""
    size = None if capacity.capacity is None else _bytes(capacity.capacity, 0)
    largest = capacity.maximum_volume_size
    return CapacityRecord(
        metadata=_slim(capacity.metadata),
        storage_class=capacity.storage_class_name,
        size_bytes=size,
        limit_bytes=size if largest is None else _bytes(largest, 0),
        nodes=_selector(capacity.node_topology) if capacity.node_topology else NOTHING,
    )


def _selector(raw: msgspec.Raw) -> Selector:
    try:
        return parse_selector(_decode_selector(raw))
    except (ValueError, msgspec.MsgspecError, RecursionError):
        return NOTHING


def _bytes(text: str, otherwise: int) -> int:
    try:
        return min(max(parse_whole(text), 0), MAX_AMOUNT * 2**10)
    except InvalidQuantity:
        return otherwise


def _slim(meta: Metadata) -> Metadata:
    return Metadata(
        name=meta.name,
        namespace=meta.namespace,
        uid=meta.uid,
        resource_version=meta.resource_version,
        deletion_timestamp=meta.deletion_timestamp,
    )
