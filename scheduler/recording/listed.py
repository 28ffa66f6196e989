"""The inputs of decisions from objects as the API server lists them: what anybody sees who may list them.

What only a scheduler knows is not among them: everything that waits is new, as for a scheduler that has just started.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from api.compositepodgroup import CompositePodGroup
from api.devices import DeviceClass, DeviceTaintRule, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from api.meta import Metadata
from api.namespace import Namespace
from api.node import Node
from api.pod import Pod
from api.podgroup import PodGroup
from api.priorityclass import PriorityClass
from api.storage import Attachment, Claim, CsiDriver, CsiNode, StorageCapacity, StorageClass, Volume
from scheduler.cache.default_topology_spread import SelectorOwner, SimpleOwner
from scheduler.cache.disruption_budgets import Budget
from scheduler.recording.inputs import ClusterObjects
from scheduler.recording.slim import slim


class Kind(NamedTuple):
    """One kind of object."""

    plural: str
    """The field of `ClusterObjects`, and the plural name of the API server."""
    type: type[msgspec.Struct]


KINDS: Final[Mapping[str, Kind]] = {
    "Node": Kind("nodes", Node),
    "Namespace": Kind("namespaces", Namespace),
    "PriorityClass": Kind("priorityclasses", PriorityClass),
    "CompositePodGroup": Kind("compositepodgroups", CompositePodGroup),
    "PodGroup": Kind("podgroups", PodGroup),
    "Pod": Kind("pods", Pod),
    "PodDisruptionBudget": Kind("poddisruptionbudgets", Budget),
    "Service": Kind("services", SimpleOwner),
    "ReplicationController": Kind("replicationcontrollers", SimpleOwner),
    "ReplicaSet": Kind("replicasets", SelectorOwner),
    "StatefulSet": Kind("statefulsets", SelectorOwner),
    "PersistentVolume": Kind("persistentvolumes", Volume),
    "PersistentVolumeClaim": Kind("persistentvolumeclaims", Claim),
    "StorageClass": Kind("storageclasses", StorageClass),
    "CSINode": Kind("csinodes", CsiNode),
    "CSIDriver": Kind("csidrivers", CsiDriver),
    "CSIStorageCapacity": Kind("csistoragecapacities", StorageCapacity),
    "VolumeAttachment": Kind("volumeattachments", Attachment),
    "DeviceClass": Kind("deviceclasses", DeviceClass),
    "ResourceSlice": Kind("resourceslices", ResourceSlice),
    "ResourceClaim": Kind("resourceclaims", ResourceClaim),
    "DeviceTaintRule": Kind("devicetaintrules", DeviceTaintRule),
    "ResourceClaimTemplate": Kind("resourceclaimtemplates", ResourceClaimTemplate),
}
"""All kinds that decisions look at, by kind."""


def objects_of(found: Mapping[str, Iterable[msgspec.Struct]], *, slims: bool = True) -> ClusterObjects:
    """The objects of decoded ones, by the fields of `ClusterObjects`; kinds that are missing have none.

    Args:
        found: by kind.
        slims: False for who decides at once and keeps nothing: what no decision reads may stay, and many pods take a while.
    """
    kept: dict[str, Any] = {
        plural: tuple(_in_order(map(slim, objects) if slims else objects)) for plural, objects in found.items()
    }
    return ClusterObjects(**kept)


def from_manifests(manifests: Iterable[Mapping[str, Any]]) -> ClusterObjects:
    """The objects of manifests with the fields that an API server fills in; kinds that no decision looks at are ignored.

    Raises:
        msgspec.ValidationError: one of them does not fit its kind.
    """
    found: dict[str, list[msgspec.Struct]] = {}
    for manifest in manifests:
        kind = KINDS.get(str(manifest.get("kind")))
        if kind is not None:
            read = msgspec.json.decode(msgspec.json.encode(manifest), type=kind.type)
            found.setdefault(kind.plural, []).append(read)
    return objects_of(found)


def _in_order(objects: Iterable[msgspec.Struct]) -> list[msgspec.Struct]:
    """As a scheduler that starts meets them: by namespace and name."""
    return sorted(objects, key=_key)


def _key(found: msgspec.Struct) -> tuple[str, str]:
    metadata = getattr(found, "metadata", None)
    return metadata.key if isinstance(metadata, Metadata) else ("", "")
