"""What admission adds to a JobSet, and what it refuses. Pure; the sentences are those of the JobSet webhook."""

import copy
from typing import Any, Final

from localcluster.apiserver.fielderrors import FieldError, invalid_value

Object = dict[str, Any]

PARTS: Final = "spec.replicatedJobs"

_OF_ONE_JOB: Final = ("RestartJob", "RestartJobAndIgnoreMaxRestarts")
_CHANGE_IN_METADATA: Final = ("labels", "annotations")
_CHANGE_IN_SPEC: Final = ("nodeSelector", "tolerations", "schedulingGates")


def defaulted(jobset: Object) -> Object:
    """The JobSet with what its Job templates left out; everything else is defaulted by its schema."""
    made = copy.deepcopy(jobset)
    for part in made["spec"].get("replicatedJobs") or ():
        job = _at(part, "template", "spec")
        job.setdefault("completionMode", "Indexed")
        _at(job, "template", "spec").setdefault("restartPolicy", "OnFailure")
    return made


def complaints(jobset: Object) -> list[FieldError]:
    """What is wrong with a JobSet."""
    rules = (jobset["spec"].get("failurePolicy") or {}).get("rules") or ()
    if not any(rule.get("action") in _OF_ONE_JOB for rule in rules):
        return []
    text = (
        f"{' and '.join(_OF_ONE_JOB)} failure policy actions are not allowed when RestartJob feature gate is disabled"
    )
    return [FieldError("Internal error", "<nil>", detail=text)]


def complaints_of_change(new: Object, old: Object) -> list[FieldError]:
    """What is wrong with a changed JobSet: of its Jobs nothing changes but where pods may go, and that while suspended."""
    now, before = new["spec"].get("replicatedJobs") or [], old["spec"].get("replicatedJobs") or []
    if old["spec"].get("suspend"):
        now, before = [_fixed(part) for part in now], [_fixed(part) for part in before]
    changed = [] if now == before else [invalid_value(PARTS, new["spec"].get("replicatedJobs"), "field is immutable")]
    return complaints(new) + changed


def _fixed(part: Object) -> Object:
    """What of a replicated Job never changes."""
    part = copy.deepcopy(part)
    pods = _at(part, "template", "spec", "template")
    for holder, names in ((_at(pods, "metadata"), _CHANGE_IN_METADATA), (_at(pods, "spec"), _CHANGE_IN_SPEC)):
        for name in names:
            holder.pop(name, None)
    return part


def _at(value: Object, *path: str) -> Object:
    """The object at a path, made where it is missing."""
    for part in path:
        if not isinstance(value.get(part), dict):
            value[part] = {}
        value = value[part]
    return value
