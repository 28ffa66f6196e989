"""Volumes, claims, storage classes and what CSI drivers tell about themselves.

What is decided at creation stays: a claim may grow, and its binder may name its volume once; a volume keeps its source. There is
no protection of volumes in use: nobody here would take its finalizers off.
"""

from collections.abc import Mapping
from typing import Any, Final

from localcluster.apiserver.fielderrors import (
    FieldError,
    duplicate,
    forbidden_field,
    invalid_value,
    required,
    unsupported,
)
from localcluster.apiserver.kinds.kind import KindInfo, Object, RequestContext
from localcluster.apiserver.kinds.names import subdomain_problems
from localcluster.apiserver.kinds.pods.resources import milli
from localcluster.apiserver.kinds.pods.strategy import refuse_bad_quantities
from localcluster.apiserver.kinds.typed import TypedStrategy

ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
RECLAIM_POLICIES: Final = ("Delete", "Recycle", "Retain")
VOLUME_MODES: Final = ("Block", "Filesystem")
STORAGE: Final = "storage"
_PROVISIONED_ONLY: Final = frozenset(
    {
        "accessModes",
        "capacity",
        "claimRef",
        "mountOptions",
        "nodeAffinity",
        "persistentVolumeReclaimPolicy",
        "storageClassName",
        "volumeAttributesClassName",
        "volumeMode",
    }
)
"""Fields of a volume that are no source."""
_DRIVER_DEFAULTS: Final[Mapping[str, Any]] = {
    "attachRequired": True,
    "podInfoOnMount": False,
    "preventPodSchedulingIfMissing": False,
    "requiresRepublish": False,
    "fsGroupPolicy": "ReadWriteOnceWithFSType",
    "storageCapacity": False,
    "seLinuxMount": False,
}


def _access_modes(spec: Object, detail: str = "") -> list[FieldError]:
    modes = spec.get("accessModes") or []
    if not modes:
        return [required("spec.accessModes", detail)]
    errors = [unsupported("spec.accessModes", mode, ACCESS_MODES) for mode in modes if mode not in ACCESS_MODES]
    if "ReadWriteOncePod" in modes and len(modes) > 1:
        text = "may not use ReadWriteOncePod with other access modes"
        errors.append(forbidden_field("spec.accessModes", text))
    return errors


def _amount(amounts: Object, field: str) -> list[FieldError]:
    if STORAGE not in amounts:
        return [required(f"{field}[{STORAGE}]")]
    found = milli(amounts[STORAGE])
    if found is None or found <= 0:
        return [invalid_value(f"{field}[{STORAGE}]", str(amounts[STORAGE]), "must be greater than zero")]
    return []


def _volume_mode(spec: Object) -> list[FieldError]:
    mode = spec.get("volumeMode")
    return [] if mode in VOLUME_MODES else [unsupported("spec.volumeMode", mode, VOLUME_MODES)]


def _refuse_no_amounts(strategy: TypedStrategy, amounts: Object) -> None:
    """Amounts are where a pod's spec has them, which is where they are looked for."""
    refuse_bad_quantities(strategy.type_name, strategy.version, amounts)


class ClaimStrategy(TypedStrategy):
    """The rules of PersistentVolumeClaims."""

    def decode(self, obj: Object) -> list[str]:
        """What it asks for must be amounts."""
        complaints = super().decode(obj)
        _refuse_no_amounts(self, {"containers": [{"resources": (obj.get("spec") or {}).get("resources")}]})
        return complaints

    def default(self, obj: Object) -> None:
        """A claim is for a file system unless it says otherwise."""
        obj.setdefault("spec", {}).setdefault("volumeMode", "Filesystem")

    def prepare_create(self, obj: Object, context: RequestContext) -> None:
        """A new claim waits."""
        super().prepare_create(obj, context)
        obj["status"] = {"phase": "Pending"}

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:
        """What it asks for; afterwards only how much."""
        if subresource == "status":
            return []
        spec = new.get("spec") or {}
        asked = (spec.get("resources") or {}).get("requests") or {}
        errors = _access_modes(spec, "at least 1 access mode is required")
        errors += _amount(asked, "spec.resources.requests" if asked else "spec.resources")
        errors += _volume_mode(spec)
        if old is not None and not errors:
            errors = _claim_changes(spec, old.get("spec") or {}, (old.get("status") or {}).get("phase") == "Bound")
        return errors


def _claim_changes(new: Object, old: Object, is_bound: bool) -> list[FieldError]:
    may_differ = {"resources", "volumeAttributesClassName"} if is_bound else set()
    may_differ |= {"volumeName"} if not old.get("volumeName") else set()
    if all(new.get(key) == old.get(key) for key in {*new, *old} - may_differ):
        return []
    text = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
    return [forbidden_field("spec", text)]


class VolumeStrategy(TypedStrategy):
    """The rules of PersistentVolumes."""

    def decode(self, obj: Object) -> list[str]:
        """Its size must be an amount."""
        complaints = super().decode(obj)
        _refuse_no_amounts(self, {"overhead": (obj.get("spec") or {}).get("capacity")})
        return complaints

    def default(self, obj: Object) -> None:
        """A volume is a file system and is kept when its claim goes, unless it says otherwise."""
        spec = obj.setdefault("spec", {})
        spec.setdefault("persistentVolumeReclaimPolicy", "Retain")
        spec.setdefault("volumeMode", "Filesystem")

    def prepare_create(self, obj: Object, context: RequestContext) -> None:
        """A new volume is not available before a controller has seen it."""
        super().prepare_create(obj, context)
        obj["status"] = {"phase": "Pending"}

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:
        """What it is and how large; its source never changes."""
        if subresource == "status":
            return []
        spec = new.get("spec") or {}
        errors = _access_modes(spec)
        if not spec.get("capacity"):
            errors += [required("spec.capacity"), unsupported("spec.capacity", None, (STORAGE,))]
        else:
            errors += _amount(spec["capacity"], "spec.capacity")
        policy = spec.get("persistentVolumeReclaimPolicy")
        if policy not in RECLAIM_POLICIES:
            errors.append(unsupported("spec.persistentVolumeReclaimPolicy", policy, RECLAIM_POLICIES))
        errors += _volume_mode(spec)
        sources = sorted(spec.keys() - _PROVISIONED_ONLY)
        if not sources:
            errors.append(required("spec", "must specify a volume type"))
        errors += [forbidden_field(f"spec.{extra}", "may not specify more than 1 volume type") for extra in sources[1:]]
        if "local" in sources and not spec.get("nodeAffinity"):
            errors.append(required("spec.nodeAffinity", "Local volume requires node affinity"))
        if old is not None and not errors:
            errors = _volume_changes(spec, old.get("spec") or {})
        return errors


def _volume_changes(new: Object, old: Object) -> list[FieldError]:
    errors = []
    if any(new.get(key) != old.get(key) for key in {*new, *old} - _PROVISIONED_ONLY):
        field = "spec.persistentvolumesource"
        errors.append(forbidden_field(field, f"{field} is immutable after creation"))
    if new.get("volumeMode") != old.get("volumeMode"):
        errors.append(invalid_value("volumeMode", new.get("volumeMode"), "field is immutable"))
    if old.get("nodeAffinity") and new.get("nodeAffinity") != old["nodeAffinity"]:
        errors.append(invalid_value("spec.nodeAffinity", new.get("nodeAffinity"), "field is immutable"))
    return errors


class ClassStrategy(TypedStrategy):
    """The rules of StorageClasses."""

    def default(self, obj: Object) -> None:
        """Volumes go with their claims and are bound at once, unless the class says otherwise."""
        obj.setdefault("reclaimPolicy", "Delete")
        obj.setdefault("volumeBindingMode", "Immediate")

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:  # noqa: ARG002
        """Who makes volumes, and when; neither ever changes."""
        errors = [] if new.get("provisioner") else [required("provisioner", "")]
        for key, values in (
            ("reclaimPolicy", ("Delete", "Retain")),
            ("volumeBindingMode", ("Immediate", "WaitForFirstConsumer")),
        ):
            if new.get(key) not in values:
                errors.append(unsupported(key, new.get(key), values))
        if old is not None:
            errors += [
                invalid_value(key, None, "field is immutable")
                for key in ("provisioner", "parameters", "reclaimPolicy", "volumeBindingMode")
                if new.get(key) != old.get(key)
            ]
        return errors


class NodeDriversStrategy(TypedStrategy):
    """The rules of CSINodes."""

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:  # noqa: ARG002
        """Each driver once, with a name of the node that the driver knows."""
        errors: list[FieldError] = []
        seen: set[str] = set()
        for number, driver in enumerate((new.get("spec") or {}).get("drivers") or []):
            field = f"spec.drivers[{number}]"
            name = driver.get("name") or ""
            if not name:
                errors.append(required(f"{field}.name"))
            elif name in seen:
                errors.append(duplicate(f"{field}.name", name))
            seen.add(name)
            if not driver.get("nodeID"):
                errors.append(required(f"{field}.nodeID"))
            count = (driver.get("allocatable") or {}).get("count")
            if count is not None and count < 0:
                text = "must be greater than or equal to 0"
                errors.append(invalid_value(f"{field}.allocatable.count", count, text))
        return errors


class DriverStrategy(TypedStrategy):
    """The rules of CSIDrivers."""

    def default(self, obj: Object) -> None:
        """What a driver needs that does not say."""
        spec = obj.setdefault("spec", {})
        for key, value in _DRIVER_DEFAULTS.items():
            spec.setdefault(key, value)
        spec.setdefault("volumeLifecycleModes", ["Persistent"])


class CapacityStrategy(TypedStrategy):
    """The rules of CSIStorageCapacities."""

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:  # noqa: ARG002
        """Of which class and where; neither ever changes."""
        name = new.get("storageClassName") or ""
        errors = [invalid_value("storageClassName", name, problem) for problem in subdomain_problems(name)]
        errors += [
            invalid_value(key, str(new[key]), "must be greater than or equal to 0")
            for key in ("capacity", "maximumVolumeSize")
            if key in new and (milli(new[key]) or 0) < 0
        ]
        return errors + [
            invalid_value(key, new.get(key), "field is immutable")
            for key in ("nodeTopology", "storageClassName")
            if old is not None and new.get(key) != old.get(key)
        ]


class AttachmentStrategy(TypedStrategy):
    """The rules of VolumeAttachments."""

    def prepare_create(self, obj: Object, context: RequestContext) -> None:
        """Nothing is attached before the driver says so."""
        super().prepare_create(obj, context)
        obj["status"] = {"attached": False}

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:
        """What, where and by whom; none of it ever changes."""
        if subresource == "status":
            return []
        spec = new.get("spec") or {}
        errors = [required(f"spec.{key}") for key in ("attacher", "nodeName") if not spec.get(key)]
        if not (spec.get("source") or {}).get("persistentVolumeName"):
            text = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
            errors.append(required("spec.source", text))
        if old is not None and not errors and spec != old.get("spec"):
            errors.append(invalid_value("spec", spec, "field is immutable"))
        return errors


def storage_kinds() -> list[KindInfo]:
    """All of them."""
    status = frozenset({"status"})

    def whole_cluster(kind: str, plural: str, strategy: TypedStrategy, *short: str, **more: Any) -> KindInfo:
        group = "storage.k8s.io"
        given = {"namespaced": False, "returns_deleted": True} | more
        return KindInfo(group, "v1", kind, plural, strategy, short_names=short, **given)

    claim = ClaimStrategy("PersistentVolumeClaim", has_status=True)
    volume = VolumeStrategy("PersistentVolume", has_status=True)
    attachment = AttachmentStrategy("VolumeAttachment", has_status=True)
    return [
        KindInfo(
            "",
            "v1",
            "PersistentVolumeClaim",
            "persistentvolumeclaims",
            claim,
            short_names=("pvc",),
            subresources=status,
            returns_deleted=True,
        ),
        KindInfo(
            "",
            "v1",
            "PersistentVolume",
            "persistentvolumes",
            volume,
            short_names=("pv",),
            namespaced=False,
            subresources=status,
            returns_deleted=True,
        ),
        whole_cluster("StorageClass", "storageclasses", ClassStrategy("StorageClass"), "sc"),
        whole_cluster("CSINode", "csinodes", NodeDriversStrategy("CSINode")),
        whole_cluster("CSIDriver", "csidrivers", DriverStrategy("CSIDriver")),
        whole_cluster(
            "CSIStorageCapacity",
            "csistoragecapacities",
            CapacityStrategy("CSIStorageCapacity"),
            namespaced=True,
            returns_deleted=False,
        ),
        whole_cluster("VolumeAttachment", "volumeattachments", attachment, subresources=status),
    ]
