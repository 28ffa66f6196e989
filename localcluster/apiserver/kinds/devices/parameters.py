"""Parameters for drivers (`config`): opaque to everybody else. Pure."""

from typing import Any, Final

import orjson

from localcluster.apiserver.fielderrors import FieldError, invalid_value, required, too_long
from localcluster.apiserver.kinds.devices.names import (
    RequestNames,
    each_of,
    request_reference_errors,
    typed_driver_errors,
)
from localcluster.apiserver.kinds.kind import Object

MAX_PARAMETER_BYTES: Final = 10 * 1024
MAX_REQUESTS: Final = 32


def configuration_errors(config: Object, field: str) -> list[FieldError]:
    """The faults of one entry of `config`."""
    opaque = config.get("opaque")
    if opaque is None:
        return [required(f"{field}.opaque")]
    where = f"{field}.opaque"
    errors = typed_driver_errors(opaque.get("driver") or "", f"{where}.driver")
    return errors + raw_errors(opaque.get("parameters"), f"{where}.parameters", MAX_PARAMETER_BYTES)


def raw_errors(value: Any, field: str, most_bytes: int) -> list[FieldError]:
    """A value that is handed on as it is: an object that is not too large."""
    if value is None:
        return [required(field)]
    if len(orjson.dumps(value)) > most_bytes:
        return [too_long(field, most_bytes)]
    if not isinstance(value, dict):
        return [invalid_value(field, "<value omitted>", "must be a valid JSON object")]
    return []


def requests_errors(names: list[str], field: str, known: RequestNames) -> list[FieldError]:
    """The faults of a list of requests that something is about."""
    return each_of(
        names, field, MAX_REQUESTS, lambda name, where: request_reference_errors(name, where, known), key=str
    )
