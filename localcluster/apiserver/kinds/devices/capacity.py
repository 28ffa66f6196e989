"""Capacities that several claims may share: which amounts may be asked for. Pure, exact."""

from collections.abc import Iterable
from typing import Any, Final

from api.quantity import NANO, parse_nano
from localcluster.apiserver.fielderrors import FieldError, forbidden_field, invalid_value, required
from localcluster.apiserver.kinds.devices.names import each_of
from localcluster.apiserver.kinds.kind import Object

MAX_VALUES: Final = 10
_MILLI: Final = NANO // 1000
_MAX_INT64: Final = 2**63 - 1
_BOTH: Final = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'


def capacity_errors(capacity: Object, field: str, *, is_shareable: bool) -> list[FieldError]:
    """The faults of one capacity of a device."""
    policy, where = capacity.get("requestPolicy"), f"{field}.requestPolicy"
    if policy is None:
        return []
    if not is_shareable:
        return [forbidden_field(where, "allowMultipleAllocations must be true")]
    values, bounds, default = policy.get("validValues") or [], policy.get("validRange"), policy.get("default")
    if values and bounds is not None:
        return [forbidden_field(where, _BOTH)]
    if not values and bounds is None:
        return []
    if default is None:
        text = f"required when {'validValues' if values else 'validRange'} is defined"
        return [required(f"{where}.default", text)]
    if values:
        return _values(values, default, capacity["value"], f"{where}.validValues")
    return _range(bounds, default, capacity["value"], f"{where}.validRange")


def _values(values: list[str], default: str, whole: str, field: str) -> list[FieldError]:
    amounts = [parse_nano(each) for each in values]
    errors = [
        invalid_value(f"{field}[{number}]", values[number], "values must be sorted in ascending order")
        for number in range(1, len(values))
        if amounts[number] < amounts[number - 1]
    ]

    def option(value: str, where: str) -> Iterable[FieldError]:
        if parse_nano(value) > parse_nano(whole):
            yield invalid_value(where, value, f"option is larger than capacity value: {whole}")

    errors += each_of(values, field, MAX_VALUES, option, key=parse_nano)
    if parse_nano(default) not in amounts:
        errors.append(invalid_value(field, default, "default value is not valid according to the requestPolicy"))
    return errors


def _range(bounds: Object, default: str, whole: str, field: str) -> list[FieldError]:
    low, high = bounds.get("min"), bounds.get("max")
    if low is None:
        return [required(f"{field}.min", "required when validRange is defined")]
    chosen, least, most = parse_nano(default), parse_nano(low), parse_nano(whole)
    errors = []
    if least > most:
        errors.append(invalid_value(f"{field}.min", low, f"min is larger than capacity value: {whole}"))
    if chosen < least:
        errors.append(invalid_value(f"{field}.default", default, f"default is less than min: {low}"))
    if high is not None:
        if least > parse_nano(high):
            errors.append(invalid_value(f"{field}.max", low, f"min is larger than max: {high}"))
        if parse_nano(high) > most:
            errors.append(invalid_value(f"{field}.max", high, f"max is larger than capacity value: {whole}"))
        if chosen > parse_nano(high):
            errors.append(invalid_value(f"{field}.default", default, f"default is more than max: {high}"))
    return errors + _steps(bounds, default, whole, field)


def _steps(bounds: Object, default: str, whole: str, field: str) -> list[FieldError]:
    given = {"default": default} | {key: bounds[key] for key in ("min", "max", "step") if bounds.get(key) is not None}
    is_fractional = any(parse_nano(each) % NANO for each in given.values())
    if is_fractional:
        text = "value cannot be represented as a milli value"
        errors = [
            invalid_value(f"{field}.{key}", each, text) for key, each in given.items() if parse_nano(each) % _MILLI
        ]
        if errors:
            return errors
    step = bounds.get("step")
    if step is None:
        return []
    if parse_nano(step) <= 0:
        return [invalid_value(f"{field}.step", step, "must be greater than zero")]
    low = parse_nano(bounds["min"])
    errors = []
    if low + parse_nano(step) > parse_nano(whole):
        text = f"one step {_shown(low + parse_nano(step))} is larger than capacity value: {whole}"
        errors.append(invalid_value(f"{field}.step", step, text))
    if not is_fractional and (unsafe := _beyond_int64(given, field)):
        return errors + unsafe
    for each in (default, bounds.get("max")):
        if each is not None and (parse_nano(each) - low) % parse_nano(step):
            text = f"value is not a multiple of a given step ({step}) from ({bounds['min']})"
            errors.append(invalid_value(f"{field}.step", each, text))
    return errors


def _beyond_int64(given: dict[str, Any], field: str) -> list[FieldError]:
    errors = []
    for key, each in given.items():
        if parse_nano(each) < 0:
            errors.append(invalid_value(f"{field}.{key}", each, "must be greater than or equal to 0"))
        elif parse_nano(each) > _MAX_INT64 * NANO:
            errors.append(invalid_value(f"{field}.{key}", each, f"must not be larger than {_MAX_INT64}"))
    return errors


def _shown(amount: int) -> str:
    return str(amount // NANO) if amount % NANO == 0 else f"{amount // _MILLI}m"
