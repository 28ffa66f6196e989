"""Rows of volumes, claims, storage classes and what CSI drivers tell."""

from localcluster.apiserver.discovery.tables.cells import (
    AGE,
    NAME,
    NONE,
    UNSET,
    Cell,
    Column,
    Object,
    Printer,
    age_of,
    boolean,
    name_of,
    number,
    part,
    text,
)

_SHORT_MODES = (
    ("ReadWriteOnce", "RWO"),
    ("ReadOnlyMany", "ROX"),
    ("ReadWriteMany", "RWX"),
    ("ReadWriteOncePod", "RWOP"),
)


def _modes(modes: object) -> str:
    held = modes if isinstance(modes, list) else []
    return ",".join(short for name, short in _SHORT_MODES if name in held)


def _phase(obj: Object) -> str:
    return "Terminating" if obj["metadata"].get("deletionTimestamp") else part(obj, "status").get("phase", "")


def claim_cells(claim: Object, now: float) -> list[Cell]:
    """One row of a PersistentVolumeClaim; size and modes are those of its volume."""
    spec, status = part(claim, "spec"), part(claim, "status")
    is_bound = bool(spec.get("volumeName"))
    return [
        name_of(claim),
        _phase(claim),
        spec.get("volumeName", ""),
        (status.get("capacity") or {}).get("storage", "") if is_bound else "",
        _modes(status.get("accessModes")) if is_bound else "",
        spec.get("storageClassName", ""),
        spec.get("volumeAttributesClassName") or UNSET,
        age_of(claim, now),
        spec.get("volumeMode") or UNSET,
    ]


def volume_cells(volume: Object, now: float) -> list[Cell]:
    """One row of a PersistentVolume."""
    spec, claim = part(volume, "spec"), part(volume, "spec", "claimRef")
    return [
        name_of(volume),
        (spec.get("capacity") or {}).get("storage", ""),
        _modes(spec.get("accessModes")),
        spec.get("persistentVolumeReclaimPolicy", ""),
        _phase(volume),
        f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else "",
        spec.get("storageClassName", ""),
        spec.get("volumeAttributesClassName") or UNSET,
        part(volume, "status").get("reason", ""),
        age_of(volume, now),
        spec.get("volumeMode") or UNSET,
    ]


def class_cells(storage_class: Object, now: float) -> list[Cell]:
    """One row of a StorageClass."""
    return [
        name_of(storage_class),
        storage_class.get("provisioner", ""),
        storage_class.get("reclaimPolicy", ""),
        storage_class.get("volumeBindingMode", ""),
        bool(storage_class.get("allowVolumeExpansion")),
        age_of(storage_class, now),
    ]


def node_cells(node: Object, now: float) -> list[Cell]:
    """One row of a CSINode."""
    return [name_of(node), len(part(node, "spec").get("drivers") or ()), age_of(node, now)]


def driver_cells(driver: Object, now: float) -> list[Cell]:
    """One row of a CSIDriver."""
    spec = part(driver, "spec")
    tokens = ",".join(each.get("audience", "") for each in spec.get("tokenRequests") or ()) or UNSET
    return [
        name_of(driver),
        bool(spec.get("attachRequired", True)),
        bool(spec.get("podInfoOnMount")),
        bool(spec.get("storageCapacity")),
        tokens,
        bool(spec.get("requiresRepublish")),
        ",".join(spec.get("volumeLifecycleModes") or ()) or NONE,
        age_of(driver, now),
    ]


def attachment_cells(attachment: Object, now: float) -> list[Cell]:
    """One row of a VolumeAttachment."""
    spec = part(attachment, "spec")
    return [
        name_of(attachment),
        spec.get("attacher", ""),
        (spec.get("source") or {}).get("persistentVolumeName", ""),
        spec.get("nodeName", ""),
        bool(part(attachment, "status").get("attached")),
        age_of(attachment, now),
    ]


_MODE = text("VolumeMode", "Filesystem or Block.", wide=True)
CLAIM = Printer(
    (
        NAME,
        text("Status", "Pending, Bound, Lost or Terminating."),
        text("Volume"),
        text("Capacity", "How large the volume is."),
        text("Access Modes", "How the volume can be used."),
        text("StorageClass"),
        text("VolumeAttributesClass"),
        AGE,
        _MODE,
    ),
    claim_cells,
)
VOLUME = Printer(
    (
        NAME,
        text("Capacity", "How large it is."),
        text("Access Modes", "How it can be used."),
        text("Reclaim Policy", "What becomes of it when its claim goes."),
        text("Status", "Available, Bound, Released, Failed or Terminating."),
        text("Claim", "The claim that has it."),
        text("StorageClass"),
        text("VolumeAttributesClass"),
        text("Reason", "Why it is in that state."),
        AGE,
        _MODE,
    ),
    volume_cells,
)
CLASS = Printer(
    (
        NAME,
        text("Provisioner", "Who makes its volumes."),
        text("ReclaimPolicy", "What becomes of a volume when its claim goes."),
        text("VolumeBindingMode", "When claims get their volumes."),
        text("AllowVolumeExpansion", "Whether claims may grow."),
        AGE,
    ),
    class_cells,
)
NODE = Printer((NAME, number("Drivers", "How many drivers the node has."), AGE), node_cells)
DRIVER = Printer(
    (
        NAME,
        boolean("AttachRequired", "Whether volumes are attached before they are mounted."),
        boolean("PodInfoOnMount", "Whether it is told of the pod."),
        boolean("StorageCapacity", "Whether schedulers look at what is left."),
        text("TokenRequests", "Audiences of the tokens it needs."),
        boolean("RequiresRepublish", "Whether mounts are repeated."),
        text("Modes", "Persistent, Ephemeral or both."),
        AGE,
    ),
    driver_cells,
)
ATTACHMENT = Printer(
    (
        NAME,
        Column("Attacher", format="name", description="The driver."),
        text("PV", "The volume."),
        text("Node"),
        boolean("Attached", "Whether it is."),
        AGE,
    ),
    attachment_cells,
)
