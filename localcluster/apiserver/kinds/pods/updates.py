"""What an update of a pod may change: little.

Pure. Images, the active deadline (to a shorter one), more tolerations; while the pod waits at scheduling gates, fewer gates
and a narrower choice of nodes. The real server adds a diff of the two specs to its refusal; we do not.
"""

from typing import Any

from localcluster.apiserver.fielderrors import FieldError, forbidden_field, invalid_value
from localcluster.apiserver.kinds.kind import Object

_REFUSED = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_MISSING: Any = object()


def validate_pod_update(new: Object, old: Object) -> list[FieldError]:
    """What an update may not have changed in `spec`."""
    spec, before = new["spec"], old["spec"]
    if spec == before:
        return []
    errors: list[FieldError] = []
    for key in ("containers", "initContainers"):
        if len(spec.get(key) or []) != len(before.get(key) or []):
            text = "pod updates may not add or remove containers"
            errors.append(forbidden_field(f"spec.{key}", text))
    if errors:
        return errors
    errors = _validate_deadline(spec, before) + _validate_gates(spec, before)
    errors += _validate_tolerations(spec.get("tolerations") or [], before.get("tolerations") or [])
    if errors:
        return errors
    if _frozen(spec, before) != _frozen(before, before):
        errors.append(forbidden_field("spec", _REFUSED))
    return errors


def _validate_deadline(spec: Object, before: Object) -> list[FieldError]:
    new, old, field = (
        spec.get("activeDeadlineSeconds"),
        before.get("activeDeadlineSeconds"),
        "spec.activeDeadlineSeconds",
    )
    if old is None or new == old:
        return []
    if new is None:
        return [invalid_value(field, None, "must not update from a positive integer to nil value")]
    return [invalid_value(field, new, "must be less than or equal to previous value")] if new > old else []


def _validate_gates(spec: Object, before: Object) -> list[FieldError]:
    known = {each.get("name") for each in before.get("schedulingGates") or []}
    return [
        forbidden_field(
            f"spec.schedulingGates[{number}].name",
            f"only deletion is allowed, but found new scheduling gate '{each.get('name')}'",
        )
        for number, each in enumerate(spec.get("schedulingGates") or [])
        if each.get("name") not in known
    ]


def _validate_tolerations(new: list[Object], old: list[Object]) -> list[FieldError]:
    if all(any(_same_toleration(each, kept) for kept in new) for each in old):
        return []
    text = "existing toleration can not be modified except its tolerationSeconds"
    return [forbidden_field("spec.tolerations", text)]


def _same_toleration(one: Object, other: Object) -> bool:
    keys = {*one, *other} - {"tolerationSeconds"}
    return all((one.get(key) or "") == (other.get(key) or "") for key in keys)


def _frozen(spec: Object, before: Object) -> Object:
    """The spec without what may change, given what it was before."""
    frozen = {key: value for key, value in spec.items() if value is not None and value not in ([], {})}
    for key in ("activeDeadlineSeconds", "tolerations", "schedulingGates"):
        frozen.pop(key, None)
    for key in ("containers", "initContainers"):
        if key in frozen:
            frozen[key] = [{**each, "image": ""} for each in frozen[key]]
    if (before.get("terminationGracePeriodSeconds") or 0) < 0 and spec.get("terminationGracePeriodSeconds") == 1:
        frozen.pop("terminationGracePeriodSeconds", None)
    if before.get("schedulingGates"):
        _forget_narrowing(frozen, spec, before)
    return frozen


def _forget_narrowing(frozen: Object, spec: Object, before: Object) -> None:
    old = before.get("nodeSelector") or {}
    new = spec.get("nodeSelector") or {}
    if all(new.get(key, _MISSING) == value for key, value in old.items()):
        frozen.pop("nodeSelector", None)
    else:
        frozen["nodeSelector"] = new
    if _narrows(spec.get("affinity") or {}, before.get("affinity") or {}):
        affinity = {
            key: value for key, value in (spec.get("affinity") or {}).items() if key != "nodeAffinity" and value
        }
        frozen.pop("affinity", None)
        if affinity:
            frozen["affinity"] = affinity


def _narrows(new: Object, old: Object) -> bool:
    """Whether the required node affinity asks for all that it asked for before."""
    before = ((old.get("nodeAffinity") or {}).get(_REQUIRED) or {}).get("nodeSelectorTerms") or []
    now = ((new.get("nodeAffinity") or {}).get(_REQUIRED) or {}).get("nodeSelectorTerms") or []
    if not before:
        return True
    if len(before) != len(now):
        return False
    return all(
        all(each in (term.get(key) or []) for each in was.get(key) or [])
        for term, was in zip(now, before, strict=True)
        for key in ("matchExpressions", "matchFields")
    )
