"""What a CRD says, read off the document. Pure."""

import re
from collections.abc import Iterator
from typing import Any, Final

Object = dict[str, Any]

GROUP: Final = "apiextensions.k8s.io"
RESOURCE: Final = (GROUP, "customresourcedefinitions")
FINALIZER: Final = "customresourcecleanup.apiextensions.k8s.io"
_KUBE_VERSION: Final = re.compile(r"v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?\Z")
_STAGES: Final = {None: 2, "beta": 1, "alpha": 0}


def versions(crd: Object) -> list[Object]:
    """All versions, in the order of the document."""
    return [each for each in crd["spec"].get("versions") or [] if isinstance(each, dict)]


def storage_version(crd: Object) -> str:
    """The version in which objects are kept; empty when none is marked."""
    return next((str(each["name"]) for each in versions(crd) if each.get("storage")), "")


def schema_of(version: Object) -> Object:
    """The schema document of one version; empty when there is none."""
    return (version.get("schema") or {}).get("openAPIV3Schema") or {}


def version_priority(name: str) -> tuple[int, int, int, str]:
    """Orders versions as Kubernetes prefers them, the preferred one last: v2, v1, v1beta2, v1beta1, v1alpha1, others."""
    found = _KUBE_VERSION.match(name)
    if not found:
        return (-1, 0, 0, "".join(chr(0x10FFFF - ord(letter)) for letter in name))
    return (_STAGES[found[2]], int(found[1]), int(found[3] or 0), "")


def condition(crd: Object, kind: str) -> Object | None:
    """The condition of that type."""
    return next((each for each in _conditions(crd) if each.get("type") == kind), None)


def is_true(crd: Object, kind: str) -> bool:
    """Whether the condition of that type is True."""
    found = condition(crd, kind)
    return found is not None and found.get("status") == "True"


def with_condition(status: Object, new: Object, now: str) -> Object:
    """The status with the condition; when only its words differ it keeps its time."""
    old = next((each for each in status.get("conditions") or [] if each["type"] == new["type"]), None)
    moved = now if old is None or old["status"] != new["status"] else old["lastTransitionTime"]
    dated = {
        "type": new["type"],
        "status": new["status"],
        "lastTransitionTime": moved,
        "reason": new["reason"],
        "message": new["message"],
    }
    kept = list(status.get("conditions") or [])
    if old is None:
        return {**status, "conditions": [*kept, dated]}
    return {**status, "conditions": [dated if each is old else each for each in kept]}


def _conditions(crd: Object) -> Iterator[Object]:
    yield from (crd.get("status") or {}).get("conditions") or []
