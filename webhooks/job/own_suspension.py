"""A user who suspends a Job that waits at our gate: the value does not change, so it shows only in who says it.

`kubectl apply` leaves its manifest in an annotation, and `kubectl apply --server-side` makes its manager an owner of the field.
A patch or an edit that sets what is set already changes nothing at all and cannot be told; such a user takes the gate off.
"""

import json
from typing import Any, Final

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"

Object = dict[str, Any]


def says_suspend(new: Object, old: Object) -> bool:
    """Whether the change has somebody say `suspend: true` who did not say it before, of a Job that was and stays suspended."""
    if not all((each.get("spec") or {}).get("suspend") is True for each in (new, old)):
        return False
    return (_applied(new) and not _applied(old)) or bool(_appliers(new) - _appliers(old))


def _applied(job: Object) -> bool:
    text = ((job.get("metadata") or {}).get("annotations") or {}).get(LAST_APPLIED)
    try:
        manifest = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return False
    spec = manifest.get("spec") if isinstance(manifest, dict) else None
    return isinstance(spec, dict) and spec.get("suspend") is True


def _appliers(job: Object) -> set[str]:
    """The managers that have applied a value of `spec.suspend`."""
    entries = (job.get("metadata") or {}).get("managedFields") or []
    return {str(each.get("manager")) for each in entries if each.get("operation") == "Apply" and _owns_suspend(each)}


def _owns_suspend(entry: Object) -> bool:
    return "f:suspend" in ((entry.get("fieldsV1") or {}).get("f:spec") or {})
