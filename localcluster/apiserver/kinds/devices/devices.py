"""One device of a slice: its attributes, capacities, counters, taints, conditions and its choice of nodes. Pure."""

import re
from functools import partial
from typing import Any, Final

from localcluster.apiserver.fielderrors import FieldError, duplicate, invalid_value, required, too_long, too_many
from localcluster.apiserver.kinds.devices.capacity import capacity_errors
from localcluster.apiserver.kinds.devices.names import attribute_name_errors, each_of, key_errors, label_errors
from localcluster.apiserver.kinds.devices.nodes import Choice, chosen_nodes
from localcluster.apiserver.kinds.devices.tolerations import taint_errors
from localcluster.apiserver.kinds.kind import Object

MAX_ATTRIBUTES: Final = 32
MAX_TAINTS: Final = 16
MAX_CONDITIONS: Final = 4
MAX_COUNTER_SETS_USED: Final = 2
MAX_COUNTERS: Final = 32
MAX_VALUE_LENGTH: Final = 64
_TYPES: Final = ("int", "bool", "string", "version", "ints", "bools", "strings", "versions")
_SHOWN_TYPES: Final = ", ".join(f"`{each}`" for each in _TYPES)
_NUMBER: Final = r"(0|[1-9]\d*)"
_PRE_RELEASE: Final = r"(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_is_version: Final = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PRE_RELEASE}(\.{_PRE_RELEASE})*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?",
    re.ASCII,
).fullmatch
_OF_ITS_OWN: Final = Choice(
    ("nodeName", "nodeSelector", "allNodes"),
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in "
    "the ResourceSlice spec",
    empty_name="must not be empty",
)
_OF_THE_SLICE: Final = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the "
    "ResourceSlice spec"
)


def device_errors(device: Object, field: str, *, chooses_nodes: bool) -> list[FieldError]:
    """The faults of a device."""
    errors = label_errors(device.get("name") or "", f"{field}.name")
    attributes, capacities = device.get("attributes") or {}, device.get("capacity") or {}
    count = len(attributes) + len(capacities)
    if count > MAX_ATTRIBUTES:
        text = f"the total number of attributes and capacities must not exceed {MAX_ATTRIBUTES}"
        errors.append(invalid_value(field, count, text))
    for name, each in attributes.items():
        errors += attribute_name_errors(name, f"{field}.attributes")
        errors += _attribute(each, f"{field}.attributes[{name}]")
    for name, each in capacities.items():
        errors += attribute_name_errors(name, f"{field}.capacity")
        shareable = bool(device.get("allowMultipleAllocations"))
        errors += capacity_errors(each, f"{field}.capacity[{name}]", is_shareable=shareable)
    errors += each_of(device.get("taints") or [], f"{field}.taints", MAX_TAINTS, taint_errors)
    errors += each_of(
        device.get("consumesCounters") or [],
        f"{field}.consumesCounters",
        MAX_COUNTER_SETS_USED,
        partial(counters_errors, name="counterSet"),
        key=lambda used: used.get("counterSet") or "",
    )
    return errors + _nodes(device, field, chooses_nodes=chooses_nodes) + condition_errors(device, field)


def _nodes(device: Object, field: str, *, chooses_nodes: bool) -> list[FieldError]:
    if chooses_nodes:
        return chosen_nodes(device, field, _OF_ITS_OWN)
    is_chosen = any(device.get(key) is not None for key in _OF_ITS_OWN.keys)
    return [invalid_value(field, None, _OF_THE_SLICE)] if is_chosen else []


def _attribute(attribute: Object, field: str) -> list[FieldError]:
    given = [each for each in _TYPES if attribute.get(each) is not None]
    errors = []
    if attribute.get("string") is not None and len(attribute["string"]) > MAX_VALUE_LENGTH:
        errors.append(too_long(f"{field}.string", MAX_VALUE_LENGTH))
    version = attribute.get("version")
    if version is not None:
        if not _is_version(version):
            text = "must be a string compatible with semver.org spec 2.0.0"
            errors.append(invalid_value(f"{field}.version", version, text))
        if len(version) > MAX_VALUE_LENGTH:
            errors.append(too_long(f"{field}.version", MAX_VALUE_LENGTH))
    if not given:
        errors.append(invalid_value(field, "", f"must specify one of: {_SHOWN_TYPES}"))
    elif len(given) > 1:
        shown = "{" + ", ".join(given) + "}"
        errors.append(invalid_value(field, shown, f"must specify exactly one of: {_SHOWN_TYPES}"))
    return errors


def counters_errors(holder: Object, field: str, *, name: str) -> list[FieldError]:
    """The faults of a counter set, or of what a device takes of one; `name` is the field with the set's name."""
    set_name, counters = holder.get(name) or "", holder.get("counters") or {}
    errors = label_errors(set_name, f"{field}.{name}") if set_name else [required(f"{field}.{name}")]
    where = f"{field}.counters"
    if not counters:
        errors.append(required(where))
    elif len(counters) > MAX_COUNTERS:
        errors.append(too_many(where, len(counters), MAX_COUNTERS))
    else:
        errors += [error for each in counters for error in label_errors(each, where)]
    return errors


def condition_errors(device: Object, field: str) -> list[FieldError]:
    """The faults of binding conditions: both sorts are given, or none, and they are not the same."""
    wanted, failures = "bindingConditions", "bindingFailureConditions"
    good, bad = device.get(wanted) or [], device.get(failures) or []
    errors = each_of(good, f"{field}.{wanted}", MAX_CONDITIONS, key_errors)
    errors += each_of(bad, f"{field}.{failures}", MAX_CONDITIONS, key_errors)
    errors += _twice(good, f"{field}.{wanted}") + _twice(bad, f"{field}.{failures}")
    for number, each in enumerate(bad):
        if each in good:
            text = "bindingFailureConditions must not overlap with bindingConditions"
            errors.append(invalid_value(f"{field}.{failures}[{number}]", each, text))
    if bad and not good:
        text = "bindingConditions are required to use bindingFailureConditions"
        errors.append(invalid_value(f"{field}.{wanted}", None, text))
    if good and not bad:
        text = "bindingFailureConditions are required to use bindingConditions"
        errors.append(invalid_value(f"{field}.{failures}", None, text))
    return errors


def _twice(items: list[Any], field: str) -> list[FieldError]:
    return [duplicate(f"{field}[{number}]", each) for number, each in enumerate(items) if each in items[:number]]
