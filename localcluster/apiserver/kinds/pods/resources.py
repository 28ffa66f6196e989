"""Rules for the amounts that containers request and are limited to.

Pure.
"""

from typing import Any

from api.errors import InvalidQuantity
from api.quantity import parse_milli
from localcluster.apiserver.fielderrors import FieldError, invalid_value, required
from localcluster.apiserver.kinds.kind import Object
from localcluster.apiserver.kinds.names import qualified_name_problems

_STANDARD = frozenset({"cpu", "memory", "ephemeral-storage"})


def milli(value: Any) -> int | None:
    """An amount in thousandths, None when it is none."""
    try:
        return parse_milli(str(value))
    except InvalidQuantity:
        return None


def validate_resources(resources: Object, field: str) -> list[FieldError]:
    """Requests and limits of one container."""
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    errors: list[FieldError] = []
    for name, value in limits.items():
        errors += _amount(name, value, f"{field}.limits[{name}]")
    for name, value in requests.items():
        errors += _amount(name, value, f"{field}.requests[{name}]")
        errors += _against_limit(name, value, limits, field)
    return errors


def _amount(name: str, value: Any, field: str) -> list[FieldError]:
    errors = [invalid_value(field, name, each) for each in qualified_name_problems(name)]
    standard = name in _STANDARD or name.startswith("hugepages-")
    if not errors and "/" not in name and not standard:
        errors.append(invalid_value(field, name, "must be a standard resource type or fully qualified"))
        errors.append(invalid_value(field, name, "must be a standard resource for containers"))
    amount = milli(value) or 0
    if amount < 0:
        errors.append(invalid_value(field, str(value), "must be greater than or equal to 0"))
    if not standard and amount % 1000:
        errors.append(invalid_value(field, f"{amount}m", "must be an integer"))
    return errors


def _against_limit(name: str, value: Any, limits: Object, field: str) -> list[FieldError]:
    overcommits = "/" not in name or name.startswith("kubernetes.io/")
    if name not in limits:
        if overcommits:
            return []
        return [required(f"{field}.limits", "Limit must be set for non overcommitable resources")]
    amount, limit = milli(value) or 0, milli(limits[name]) or 0
    if not overcommits and amount != limit:
        text = f"must be equal to {name} limit of {limits[name]}"
        return [invalid_value(f"{field}.requests", str(value), text)]
    if amount > limit:
        text = f"must be less than or equal to {name} limit of {limits[name]}"
        return [invalid_value(f"{field}.requests", str(value), text)]
    return []
