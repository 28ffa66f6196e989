"""Volumes, claims and what is known about storage drivers, as the scheduler reads them.

Selectors and node affinities stay raw: they are parsed once per distinct value. Annotations that decide something are read
through `api.constants`.
"""

import msgspec

from api.meta import NO_METADATA, Metadata
from api.pod import EMPTY


class StorageRequests(msgspec.Struct, frozen=True, omit_defaults=True):
    """`spec.resources` of a claim."""

    requests: dict[str, str] | None = None


class ClaimSpec(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """`spec` of a PersistentVolumeClaim."""

    access_modes: tuple[str, ...] | None = None
    selector: msgspec.Raw = EMPTY
    resources: StorageRequests = StorageRequests()
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None


class ClaimStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """`status` of a PersistentVolumeClaim."""

    phase: str = ""


class Claim(msgspec.Struct, frozen=True, omit_defaults=True):
    """A PersistentVolumeClaim."""

    metadata: Metadata = NO_METADATA
    spec: ClaimSpec = ClaimSpec()
    status: ClaimStatus = ClaimStatus()


class ClaimReference(msgspec.Struct, frozen=True, omit_defaults=True):
    """`spec.claimRef` of a PersistentVolume; the UID is empty when a person reserved the volume for a claim to come."""

    namespace: str = ""
    name: str = ""
    uid: str = ""


class CsiSource(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """`spec.csi` of a PersistentVolume."""

    driver: str = ""
    volume_handle: str = ""


class VolumeAffinity(msgspec.Struct, frozen=True, omit_defaults=True):
    """`spec.nodeAffinity` of a PersistentVolume."""

    required: msgspec.Raw = EMPTY


class VolumeSpec(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """`spec` of a PersistentVolume."""

    capacity: dict[str, str] = {}
    access_modes: tuple[str, ...] | None = None
    claim_ref: ClaimReference | None = None
    storage_class_name: str = ""
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None
    node_affinity: VolumeAffinity | None = None
    csi: CsiSource | None = None
    local: msgspec.Raw = EMPTY


class VolumeStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """`status` of a PersistentVolume."""

    phase: str = ""


class Volume(msgspec.Struct, frozen=True, omit_defaults=True):
    """A PersistentVolume."""

    metadata: Metadata = NO_METADATA
    spec: VolumeSpec = VolumeSpec()
    status: VolumeStatus = VolumeStatus()


class TopologyExpression(msgspec.Struct, frozen=True, omit_defaults=True):
    """One label with the values that are allowed."""

    key: str = ""
    values: tuple[str, ...] | None = None


class TopologyTerm(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """All of these must hold."""

    match_label_expressions: tuple[TopologyExpression, ...] | None = None


class StorageClass(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A StorageClass."""

    metadata: Metadata = NO_METADATA
    provisioner: str = ""
    volume_binding_mode: str | None = None
    allowed_topologies: tuple[TopologyTerm, ...] | None = None


class DriverLimit(msgspec.Struct, frozen=True, omit_defaults=True):
    """How many volumes of a driver a node can have attached."""

    count: int | None = None


class NodeDriver(msgspec.Struct, frozen=True, omit_defaults=True):
    """A driver as a node has it."""

    name: str = ""
    allocatable: DriverLimit | None = None


class CsiNodeSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """`spec` of a CSINode."""

    drivers: tuple[NodeDriver, ...] | None = None


class CsiNode(msgspec.Struct, frozen=True, omit_defaults=True):
    """A CSINode: the drivers of the node of that name."""

    metadata: Metadata = NO_METADATA
    spec: CsiNodeSpec = CsiNodeSpec()


class CsiDriverSpec(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """`spec` of a CSIDriver."""

    storage_capacity: bool | None = None
    prevent_pod_scheduling_if_missing: bool | None = None


class CsiDriver(msgspec.Struct, frozen=True, omit_defaults=True):
    """A CSIDriver: what a driver asks of schedulers."""

    metadata: Metadata = NO_METADATA
    spec: CsiDriverSpec = CsiDriverSpec()


class StorageCapacity(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A CSIStorageCapacity: what is left of a class for some nodes."""

    metadata: Metadata = NO_METADATA
    storage_class_name: str = ""
    capacity: str | None = None
    maximum_volume_size: str | None = None
    node_topology: msgspec.Raw = EMPTY


class AttachmentSource(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What is attached."""

    persistent_volume_name: str | None = None


class AttachmentSpec(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """`spec` of a VolumeAttachment."""

    attacher: str = ""
    node_name: str = ""
    source: AttachmentSource = AttachmentSource()


class Attachment(msgspec.Struct, frozen=True, omit_defaults=True):
    """A VolumeAttachment: a volume that is, or is to be, attached to a node."""

    metadata: Metadata = NO_METADATA
    spec: AttachmentSpec = AttachmentSpec()
