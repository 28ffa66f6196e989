"""What an update of a Job may change.

Pure. The template is open only while the Job is suspended and none of it runs, and then only in labels, annotations, the
choice of nodes, scheduling gates and the containers' resources. Where the real server shows a value in the form of its own
types, we show the manifest's.
"""

from localcluster.apiserver.fielderrors import FieldError, invalid_value
from localcluster.apiserver.kinds.kind import Object

_IMMUTABLE = "field is immutable"
_FROZEN = ("selector", "completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy")
_OPEN_IN_SPEC = ("nodeSelector", "tolerations", "schedulingGates")


def validate_job_update(new: Object, old: Object) -> list[FieldError]:
    """What an update may not have changed in `spec`."""
    spec, before = new["spec"], old["spec"]
    errors = _validate_completions(spec, before)
    errors += [
        invalid_value(f"spec.{key}", spec.get(key), _IMMUTABLE) for key in _FROZEN if spec.get(key) != before.get(key)
    ]
    return errors + _validate_template(spec["template"], before["template"], is_open=template_is_open(old))


def template_is_open(job: Object) -> bool:
    """Whether the Job is suspended and nothing of it runs."""
    status = job.get("status") or {}
    if not job["spec"].get("suspend"):
        return False
    if status.get("startTime") is None:
        return True
    suspended = any(
        each.get("type") == "Suspended" and each.get("status") == "True" for each in status.get("conditions") or []
    )
    return suspended and not status.get("active")


def _validate_completions(spec: Object, before: Object) -> list[FieldError]:
    if spec.get("completions") == before.get("completions"):
        return []
    if spec.get("completionMode") == "Indexed":
        if spec.get("completions") == spec.get("parallelism"):
            return []
        text = "can only be modified in tandem with spec.parallelism"
        return [invalid_value("spec.completions", spec.get("completions"), text)]
    return [invalid_value("spec.completions", spec.get("completions"), _IMMUTABLE)]


def _validate_template(new: Object, old: Object, *, is_open: bool) -> list[FieldError]:
    if new == old:
        return []
    if not is_open:
        return [invalid_value("spec.template", new, _IMMUTABLE)]
    if _closed_part(new["spec"], old["spec"]) == _closed_part(old["spec"], old["spec"]):
        return []
    return [invalid_value("spec.template.spec", new["spec"], _IMMUTABLE)]


def _closed_part(spec: Object, before: Object) -> Object:
    closed = {key: value for key, value in spec.items() if key not in _OPEN_IN_SPEC and value is not None}
    affinity = {key: value for key, value in (spec.get("affinity") or {}).items() if key != "nodeAffinity"}
    closed.pop("affinity", None)
    if affinity:
        closed["affinity"] = affinity
    for key in ("containers", "initContainers"):
        if key in before:
            closed[key] = [{**each, "resources": None} for each in spec.get(key) or []]
    return closed
