"""Storage classes, and what CSI drivers tell about themselves, the nodes and the room they have."""

from collections.abc import Mapping
from typing import Any, Final

from localcluster.apiserver.fielderrors import FieldError, duplicate, invalid_value, required, unsupported
from localcluster.apiserver.kinds.kind import KindInfo, Object, RequestContext
from localcluster.apiserver.kinds.names import qualified_name_problems, subdomain_problems
from localcluster.apiserver.kinds.pods.resources import milli
from localcluster.apiserver.kinds.typed import TypedStrategy

_GROUP_POLICIES: Final = ("File", "None", "ReadWriteOnceWithFSType")
_LIFECYCLES: Final = ("Persistent", "Ephemeral")
_DRIVER_DEFAULTS: Final[Mapping[str, Any]] = {
    "attachRequired": True,
    "podInfoOnMount": False,
    "preventPodSchedulingIfMissing": False,
    "requiresRepublish": False,
    "fsGroupPolicy": "ReadWriteOnceWithFSType",
    "storageCapacity": False,
    "seLinuxMount": False,
}


class ClassStrategy(TypedStrategy):
    """The rules of StorageClasses."""

    def default(self, obj: Object) -> None:
        """Volumes go with their claims and are bound at once, unless the class says otherwise."""
        obj.setdefault("reclaimPolicy", "Delete")
        obj.setdefault("volumeBindingMode", "Immediate")

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:  # noqa: ARG002
        """Who makes volumes, and when; neither ever changes."""
        maker = new.get("provisioner") or ""
        errors = [invalid_value("provisioner", maker.lower(), each) for each in qualified_name_problems(maker.lower())]
        if not maker:
            errors = [required("provisioner", "")]
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

    def default(self, obj: Object) -> None:
        """Nothing is left out that a real server writes."""
        obj.setdefault("status", {})
        for driver in (obj.setdefault("spec", {})).setdefault("drivers", None) or []:
            driver.setdefault("topologyKeys", None)

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
            for key in driver.get("topologyKeys") or []:
                problems = [] if key else [required(field)]
                errors += [
                    *problems,
                    *(invalid_value(field, key, each) for each in qualified_name_problems(key)),
                ]
        if old is not None and not errors:
            errors = _changed_drivers(new, old)
        return errors


def _changed_drivers(new: Object, old: Object) -> list[FieldError]:
    """A driver that stays says what it said."""
    before = {each["name"]: each for each in (old.get("spec") or {}).get("drivers") or []}
    return [
        invalid_value("spec.drivers", _printed(each), "field is immutable")
        for each in (new.get("spec") or {}).get("drivers") or []
        if each["name"] in before and not _same_driver(each, before[each["name"]])
    ]


def _same_driver(one: Object, other: Object) -> bool:
    return all(one.get(key) == other.get(key) for key in ("nodeID", "topologyKeys"))


def _printed(driver: Object) -> Object:
    """As a real server prints its own form of it."""
    room = driver.get("allocatable")
    return {
        "Name": driver["name"],
        "NodeID": driver.get("nodeID"),
        "TopologyKeys": driver.get("topologyKeys"),
        "Allocatable": None if room is None else {"Count": room.get("count")},
    }


class DriverStrategy(TypedStrategy):
    """The rules of CSIDrivers."""

    def default(self, obj: Object) -> None:
        """What a driver needs that does not say."""
        spec = obj.setdefault("spec", {})
        for key, value in _DRIVER_DEFAULTS.items():
            spec.setdefault(key, value)
        spec.setdefault("volumeLifecycleModes", ["Persistent"])

    def prepare_create(self, obj: Object, context: RequestContext) -> None:
        """The generations of a driver begin at none."""
        super().prepare_create(obj, context)
        obj["metadata"].pop("generation", None)

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:  # noqa: ARG002
        """Known words only; whether it attaches never changes."""
        spec = new["spec"]
        modes = spec["volumeLifecycleModes"]
        errors = [
            unsupported("spec.volumeLifecycleModes", each, _LIFECYCLES) for each in modes if each not in _LIFECYCLES
        ]
        if spec["fsGroupPolicy"] not in _GROUP_POLICIES:
            errors.append(unsupported("spec.fsGroupPolicy", spec["fsGroupPolicy"], _GROUP_POLICIES))
        if old is not None:
            errors += [
                invalid_value(f"spec.{said}", spec[key], "field is immutable")
                for key, said in (
                    ("attachRequired", "attachedRequired"),
                    ("volumeLifecycleModes", "volumeLifecycleModes"),
                )
                if spec[key] != old["spec"].get(key)
            ]
        return errors


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
        errors = [] if spec.get("attacher") else [required("spec.attacher")]
        node = spec.get("nodeName") or ""
        errors += [invalid_value("spec.nodeName", node, each) for each in subdomain_problems(node)]
        if not (spec.get("source") or {}).get("persistentVolumeName"):
            text = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
            errors.append(required("spec.source", text))
        if old is not None and not errors and spec != old.get("spec"):
            errors.append(invalid_value("spec", None, "field is immutable"))
        return errors


def storage_kinds() -> list[KindInfo]:
    """All of them."""
    status = frozenset({"status"})

    def whole_cluster(kind: str, plural: str, strategy: TypedStrategy, *short: str, **more: Any) -> KindInfo:
        group = "storage.k8s.io"
        given = {"namespaced": False, "returns_deleted": True, "unconditional_update": False} | more
        return KindInfo(group, "v1", kind, plural, strategy, short_names=short, **given)

    attachment = AttachmentStrategy("VolumeAttachment", has_status=True)
    return [
        whole_cluster("StorageClass", "storageclasses", ClassStrategy("StorageClass"), "sc", unconditional_update=True),
        whole_cluster("CSINode", "csinodes", NodeDriversStrategy("CSINode")),
        whole_cluster("CSIDriver", "csidrivers", DriverStrategy("CSIDriver", counts_generations=True)),
        whole_cluster(
            "CSIStorageCapacity",
            "csistoragecapacities",
            CapacityStrategy("CSIStorageCapacity"),
            namespaced=True,
            returns_deleted=False,
        ),
        whole_cluster("VolumeAttachment", "volumeattachments", attachment, subresources=status),
    ]
