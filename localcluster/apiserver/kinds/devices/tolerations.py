"""Taints of devices and their tolerations. Pure."""

from typing import Any, Final

from localcluster.apiserver.fielderrors import FieldError, invalid_value, required, unsupported
from localcluster.apiserver.kinds.devices.names import key_errors, value_errors
from localcluster.apiserver.kinds.kind import Object

EFFECTS: Final = ("NoExecute", "NoSchedule", "None")
_OPERATORS: Final = ("Equal", "Exists")


def default_tolerations(request: Object) -> None:
    """A toleration is of one value unless it says otherwise."""
    for toleration in request.get("tolerations") or ():
        if not toleration.get("operator"):
            toleration["operator"] = "Equal"


def date_taint(taint: Object, now: str) -> None:
    """A taint is of now unless it says since when."""
    if taint.get("timeAdded") is None:
        taint["timeAdded"] = now


def taint_errors(taint: Object, field: str) -> list[FieldError]:
    """The faults of a taint."""
    errors = key_errors(taint.get("key") or "", f"{field}.key")
    if taint.get("value"):
        errors += value_errors(taint["value"], f"{field}.value")
    effect = taint.get("effect")
    if not effect:
        return [*errors, required(f"{field}.effect")]
    return errors + _effect(effect, field)


def toleration_errors(toleration: Object, field: str) -> list[FieldError]:
    """The faults of a toleration."""
    key, operator, value = (toleration.get(each) or "" for each in ("key", "operator", "value"))
    errors = key_errors(key, f"{field}.key") if key else []
    if operator == "Exists" and value:
        errors.append(invalid_value(f"{field}.value", value, "must be empty for operator `Exists`"))
    elif operator == "Equal":
        errors += value_errors(value, f"{field}.value")
    elif operator not in _OPERATORS:
        errors.append(unsupported(f"{field}.operator", operator, _OPERATORS))
    return errors + (_effect(toleration["effect"], field) if toleration.get("effect") else [])


def _effect(effect: Any, field: str) -> list[FieldError]:
    return [] if effect in EFFECTS else [unsupported(f"{field}.effect", effect, EFFECTS)]
