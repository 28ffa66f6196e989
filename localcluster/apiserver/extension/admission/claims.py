"""What the real server's own admission does to claims: the default storage class, and which of them may grow.

Pure decisions over values (plugins DefaultStorageClass and PersistentVolumeClaimResize).
"""

from collections.abc import Iterable
from typing import Any, Final

from localcluster.apiserver import status
from localcluster.apiserver.admission import AdmissionAttributes
from localcluster.apiserver.extension.admission.question import refusal_name
from localcluster.apiserver.kinds.volumes import milli_of

Object = dict[str, Any]

CLAIMS: Final = ("", "persistentvolumeclaims")
STORAGE_CLASSES: Final = ("storage.k8s.io", "storageclasses")
_DEFAULTS: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
_OLD_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
_FIXED: Final = (
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
)


def choose_class(attributes: AdmissionAttributes, classes: Iterable[Object]) -> None:
    """Gives a new claim that names no class the default one, in place: of several the newest."""
    claim = attributes.obj
    if claim is None or attributes.verb != "CREATE":
        return
    spec = claim.setdefault("spec", {})
    if spec.get("storageClassName") is not None or _OLD_CLASS in (claim["metadata"].get("annotations") or {}):
        return
    defaults = [each["metadata"] for each in classes if _is_default(each)]
    if defaults:
        oldest_name_last = sorted(defaults, key=lambda each: str(each["name"]), reverse=True)
        newest = max(reversed(oldest_name_last), key=lambda each: str(each["creationTimestamp"]))
        spec["storageClassName"] = newest["name"]


def _is_default(storage_class: Object) -> bool:
    annotations = storage_class["metadata"].get("annotations") or {}
    return any(annotations.get(each) == "true" for each in _DEFAULTS)


def check_growth(attributes: AdmissionAttributes, classes: Iterable[Object]) -> None:
    """A claim grows only if its class says that its volumes can.

    Raises:
        StatusError: it may not.
    """
    new, old = attributes.obj, attributes.old
    if new is None or old is None or attributes.subresource or _asked(new) <= _asked(old):
        return
    if (old.get("status") or {}).get("phase") != "Bound":
        raise _refused(attributes, "Only bound persistent volume claims can be expanded")
    name = (new.get("spec") or {}).get("storageClassName")
    found = next((each for each in classes if each["metadata"]["name"] == name), None)
    if found is None or not found.get("allowVolumeExpansion"):
        raise _refused(attributes, _FIXED)


def _asked(claim: Object) -> int:
    return milli_of((claim.get("spec") or {}).get("resources"))


def _refused(attributes: AdmissionAttributes, text: str) -> status.StatusError:
    return status.forbidden(attributes.kind, refusal_name(attributes), text)
