"""What claims ask for: requests, constraints, parameters. Pure.

The same rules serve claims and the templates of claims; where the spec stands is told by `field`.
"""

from functools import partial
from typing import Final

from localcluster.apiserver.fielderrors import FieldError, invalid_value, required, unsupported
from localcluster.apiserver.kinds.devices.names import (
    RequestNames,
    by_name,
    each_of,
    full_name_errors,
    label_errors,
    request_names,
)
from localcluster.apiserver.kinds.devices.parameters import configuration_errors, requests_errors
from localcluster.apiserver.kinds.devices.selectors import selectors_errors
from localcluster.apiserver.kinds.devices.tolerations import default_tolerations, toleration_errors
from localcluster.apiserver.kinds.kind import Object
from localcluster.apiserver.kinds.names import subdomain_problems

EXACT_COUNT: Final = "ExactCount"
ALL: Final = "All"
MAX_ENTRIES: Final = 32
"""Requests, constraints and entries of `config` of a claim."""
MAX_SUBREQUESTS: Final = 8
_ONE_OF: Final = "exactly one of `exactly` or `firstAvailable` is required"
_ONE_ATTRIBUTE: Final = (
    'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
)


def default_claim(spec: Object) -> None:
    """What is asked for is one device, unless it is said otherwise."""
    devices = spec.setdefault("devices", {})
    for request in devices.setdefault("requests", None) or ():
        for each in _asked(request):
            mode = each.get("allocationMode") or EXACT_COUNT
            each["allocationMode"] = mode
            if mode == EXACT_COUNT and not each.get("count"):
                each["count"] = 1
            default_tolerations(each)
    if devices["requests"] is None:
        del devices["requests"]


def _asked(request: Object) -> list[Object]:
    exactly = request.get("exactly")
    return ([exactly] if exactly is not None else []) + (request.get("firstAvailable") or [])


def claim_errors(spec: Object, field: str) -> list[FieldError]:
    """The faults of what a claim asks for."""
    claim, where = spec.get("devices") or {}, f"{field}.devices"
    known = request_names(claim)
    errors = each_of(claim.get("requests") or [], f"{where}.requests", MAX_ENTRIES, _request, key=by_name)
    constraint = partial(_constraint, known=known)
    errors += each_of(claim.get("constraints") or [], f"{where}.constraints", MAX_ENTRIES, constraint)
    config = partial(_config, known=known)
    return errors + each_of(claim.get("config") or [], f"{where}.config", MAX_ENTRIES, config)


def _request(request: Object, field: str) -> list[FieldError]:
    errors = label_errors(request.get("name") or "", f"{field}.name")
    exactly, several = request.get("exactly"), request.get("firstAvailable") or []
    if exactly is None and not several:
        errors.append(required(field, _ONE_OF))
    elif exactly is not None and several:
        errors.append(invalid_value(field, None, f"{_ONE_OF}, but multiple fields are set"))
    elif exactly is not None:
        errors += _asked_errors(exactly, f"{field}.exactly")
    else:
        errors += each_of(several, f"{field}.firstAvailable", MAX_SUBREQUESTS, _subrequest, key=by_name)
    return errors


def _subrequest(request: Object, field: str) -> list[FieldError]:
    return label_errors(request.get("name") or "", f"{field}.name") + _asked_errors(request, field)


def _asked_errors(request: Object, field: str) -> list[FieldError]:
    name, where = request.get("deviceClassName") or "", f"{field}.deviceClassName"
    errors = [invalid_value(where, name, each) for each in subdomain_problems(name)] if name else [required(where)]
    errors += selectors_errors(request.get("selectors") or [], f"{field}.selectors")
    errors += _mode_errors(request.get("allocationMode") or "", request.get("count") or 0, field)
    for number, each in enumerate(request.get("tolerations") or []):
        errors += toleration_errors(each, f"{field}.tolerations[{number}]")
    return errors


def _mode_errors(mode: str, count: int, field: str) -> list[FieldError]:
    if mode == ALL and count:
        return [invalid_value(f"{field}.count", count, "must not be specified when allocationMode is 'All'")]
    if mode == EXACT_COUNT and count <= 0:
        return [invalid_value(f"{field}.count", count, "must be greater than zero")]
    return [] if mode in {ALL, EXACT_COUNT} else [unsupported(f"{field}.allocationMode", mode, (ALL, EXACT_COUNT))]


def _constraint(constraint: Object, field: str, *, known: RequestNames) -> list[FieldError]:
    errors = requests_errors(constraint.get("requests") or [], f"{field}.requests", known)
    for key in ("matchAttribute", "distinctAttribute"):
        if constraint.get(key) is not None:
            return errors + full_name_errors(constraint[key], f"{field}.{key}")
    return [*errors, required(field, _ONE_ATTRIBUTE)]


def _config(config: Object, field: str, *, known: RequestNames) -> list[FieldError]:
    return requests_errors(config.get("requests") or [], f"{field}.requests", known) + configuration_errors(
        config, field
    )
