"""Volumes and claims.

What is decided at creation stays: a claim may grow, and its binder may name its volume once; a volume keeps its source. There is
no protection of volumes in use: nobody here would take its finalizers off.
"""

from typing import Final

from localcluster.apiserver.fielderrors import FieldError, forbidden_field, invalid_value, required, unsupported
from localcluster.apiserver.kinds.kind import KindInfo, Object, RequestContext
from localcluster.apiserver.kinds.labelselectors import validate_selector
from localcluster.apiserver.kinds.names import subdomain_problems
from localcluster.apiserver.kinds.pods.resources import milli
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
_PHASE_TIME: Final = "lastPhaseTransitionTime"


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


def _class_name(spec: Object) -> list[FieldError]:
    name = spec.get("storageClassName")
    return [invalid_value("spec.storageClassName", name, each) for each in subdomain_problems(name)] if name else []


def _volume_mode(spec: Object) -> list[FieldError]:
    mode = spec.get("volumeMode")
    return [] if mode in VOLUME_MODES else [unsupported("spec.volumeMode", mode, VOLUME_MODES)]


class ClaimStrategy(TypedStrategy):
    """The rules of PersistentVolumeClaims."""

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
        errors += _amount(asked, "spec.resources")
        errors += _volume_mode(spec) + _class_name(spec) + validate_selector(spec.get("selector"), "spec.selector")
        if old is not None and not errors:
            errors = _claim_changes(spec, old.get("spec") or {}, old.get("status") or {})
        return errors


def _claim_changes(new: Object, old: Object, state: Object) -> list[FieldError]:
    is_bound = state.get("phase") == "Bound"
    may_differ = {"resources", "volumeAttributesClassName"} if is_bound else set()
    may_differ |= {"volumeName"} if not old.get("volumeName") else set()
    if all(new.get(key) == old.get(key) for key in {*new, *old} - may_differ):
        return _shrinking(new, old, state)
    text = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
    return [forbidden_field("spec", text)]


def _shrinking(new: Object, old: Object, state: Object) -> list[FieldError]:
    """What is asked for may become less only while it is more than there is."""
    wanted, before = (milli_of(each.get("resources")) for each in (new, old))
    if wanted >= before or wanted >= (milli((state.get("capacity") or {}).get(STORAGE, 0)) or 0):
        return []
    return [forbidden_field(f"spec.resources.requests.{STORAGE}", "field can not be less than status.capacity")]


def milli_of(resources: Object | None) -> int:
    """How much a claim asks for, in thousandths of a byte."""
    return milli(((resources or {}).get("requests") or {}).get(STORAGE, 0)) or 0


class VolumeStrategy(TypedStrategy):
    """The rules of PersistentVolumes."""

    def default(self, obj: Object) -> None:
        """A volume is a file system and is kept when its claim goes, unless it says otherwise."""
        spec = obj.setdefault("spec", {})
        spec.setdefault("persistentVolumeReclaimPolicy", "Retain")
        if isinstance(spec.get("hostPath"), dict):
            spec["hostPath"].setdefault("type", "")
        spec.setdefault("volumeMode", "Filesystem")

    def prepare_create(self, obj: Object, context: RequestContext) -> None:
        """A new volume is not available before a controller has seen it."""
        super().prepare_create(obj, context)
        obj["status"] = {"phase": "Pending", _PHASE_TIME: context.now}

    def prepare_update(self, new: Object, old: Object, subresource: str, context: RequestContext) -> None:
        """Since when it is in its phase is noted."""
        super().prepare_update(new, old, subresource, context)
        state, before = new.get("status") or {}, old.get("status") or {}
        if subresource != "status" or not state.get("phase"):
            return
        if state["phase"] != before.get("phase") and state.get(_PHASE_TIME) in {None, before.get(_PHASE_TIME)}:
            new["status"] = {**state, _PHASE_TIME: context.now}

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:
        """What it is and how large; its source never changes."""
        if subresource == "status":
            return []
        spec = new.get("spec") or {}
        errors = _access_modes(spec)
        amounts = spec.get("capacity")
        if not amounts:
            errors.append(required("spec.capacity"))
        if not amounts or set(amounts) != {STORAGE}:
            errors.append(unsupported("spec.capacity", amounts, (STORAGE,)))
        else:
            errors += _amount(amounts, "spec.capacity")
        policy = spec.get("persistentVolumeReclaimPolicy")
        if policy not in RECLAIM_POLICIES:
            errors.append(unsupported("spec.persistentVolumeReclaimPolicy", policy, RECLAIM_POLICIES))
        errors += _volume_mode(spec) + _class_name(spec) + _sources(spec) + _places(spec)
        if old is not None and not errors:
            errors = _volume_changes(spec, old.get("spec") or {})
        return errors


def _sources(spec: Object) -> list[FieldError]:
    """A volume has one source; of several a real server looks at that of a driver last."""
    found = sorted(spec.keys() - _PROVISIONED_ONLY, key=lambda each: (each == "csi", each))
    if not found:
        return [required("spec", "must specify a volume type")]
    errors = [forbidden_field(f"spec.{each}", "may not specify more than 1 volume type") for each in found[1:]]
    for key in ("hostPath", "local"):
        path = (spec.get(key) or {}).get("path") or ""
        if ".." in path.split("/"):
            errors.append(invalid_value(f"spec.{key}.path", path, "must not contain '..'"))
    if found[0] == "csi":
        errors += [required(f"spec.csi.{key}") for key in ("driver", "volumeHandle") if not spec["csi"].get(key)]
    return errors


def _places(spec: Object) -> list[FieldError]:
    affinity = spec.get("nodeAffinity")
    if affinity is not None and not affinity.get("required"):
        return [required("spec.nodeAffinity.required", "must specify required node constraints")]
    if affinity is None and "local" in spec:
        return [required("spec.nodeAffinity", "Local volume requires node affinity")]
    return []


def _volume_changes(new: Object, old: Object) -> list[FieldError]:
    errors = []
    if any(new.get(key) != old.get(key) for key in {*new, *old} - _PROVISIONED_ONLY):
        field = "spec.persistentvolumesource"
        errors.append(forbidden_field(field, f"{field} is immutable after creation"))
    if new.get("volumeMode") != old.get("volumeMode"):
        errors.append(invalid_value("volumeMode", new.get("volumeMode"), "field is immutable"))
    if old.get("nodeAffinity") and new.get("nodeAffinity") != old["nodeAffinity"]:
        text = "field is immutable, except for updating from beta label to GA"
        errors.append(invalid_value("nodeAffinity", new.get("nodeAffinity"), text))
    return errors


def volume_kinds() -> list[KindInfo]:
    """Both."""
    status = frozenset({"status"})
    claim = ClaimStrategy("PersistentVolumeClaim", has_status=True)
    volume = VolumeStrategy("PersistentVolume", has_status=True)
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
    ]
