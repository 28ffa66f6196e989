"""Rules for the status of a Job, as far as a Job controller can break them.

Pure. Finished is finished: a Job is either Complete or Failed, for good, with the times and counts that go with it.
"""

from localcluster.apiserver.fielderrors import OMITTED, FieldError, invalid_value, required
from localcluster.apiserver.kinds.kind import Object

_COUNTS = ("active", "succeeded", "failed", "ready", "terminating")
_FINAL = ("Complete", "Failed", "FailureTarget", "SuccessCriteriaMet")


def validate_job_status(new: Object, old: Object) -> list[FieldError]:
    """What is wrong with a new status, given the old one."""
    status, before = new.get("status") or {}, old.get("status") or {}
    errors = _validate_counts(status)
    errors += _validate_finish(status)
    errors += _validate_times(status, before, new["spec"])
    return errors + _validate_conditions(status, before)


def _is(status: Object, kind: str) -> bool:
    return any(each.get("type") == kind and each.get("status") == "True" for each in status.get("conditions") or [])


def _validate_counts(status: Object) -> list[FieldError]:
    errors = [
        invalid_value(f"status.{key}", status[key], "must be greater than or equal to 0")
        for key in _COUNTS
        if (status.get(key) or 0) < 0
    ]
    if status.get("ready") is not None and status["ready"] > (status.get("active") or 0):
        errors.append(invalid_value("status.ready", status["ready"], "cannot set more ready pods than active"))
    return errors


def _validate_finish(status: Object) -> list[FieldError]:
    complete, failed = _is(status, "Complete"), _is(status, "Failed")
    errors: list[FieldError] = []
    if complete and failed:
        text = "cannot set Complete=True and Failed=true conditions"
        errors.append(_about_conditions(text))
    if complete and not status.get("completionTime"):
        errors.append(required("status.completionTime", "completionTime is required for Complete jobs"))
    if not complete and status.get("completionTime"):
        text = "cannot set completionTime when there is no Complete=True condition"
        errors.append(invalid_value("status.completionTime", status["completionTime"], text))
    if complete and not _is(status, "SuccessCriteriaMet"):
        errors.append(
            _about_conditions("cannot set Complete=True condition without the SuccessCriteriaMet=true condition")
        )
    if failed and not _is(status, "FailureTarget"):
        errors.append(_about_conditions("cannot set Failed=True condition without the FailureTarget=true condition"))
    if (complete or failed) and not status.get("startTime"):
        errors.append(required("status.startTime", "startTime is required for finished job"))
    if (complete or failed) and status.get("active"):
        errors.append(invalid_value("status.active", status["active"], "active>0 is invalid for finished job"))
    return errors


def _validate_times(status: Object, before: Object, spec: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    start, end = status.get("startTime"), status.get("completionTime")
    if start and end and start > end:
        errors.append(invalid_value("status.completionTime", end, "completionTime cannot be set before startTime"))
    if before.get("startTime") and not spec.get("suspend") and start != before["startTime"]:
        field = "status.startTime"
        if start is None:
            errors.append(required(field, "startTime cannot be removed for unsuspended job"))
        else:
            errors.append(invalid_value(field, start, "startTime cannot be modified for unsuspended job"))
    return errors


def _validate_conditions(status: Object, before: Object) -> list[FieldError]:
    return [
        _about_conditions(f"cannot disable or remove the {kind}=True condition")
        for kind in _FINAL
        if _is(before, kind) and not _is(status, kind)
    ]


def _about_conditions(text: str) -> FieldError:
    """A complaint about all conditions together, which are not shown."""
    return invalid_value("status.conditions", OMITTED, text)
