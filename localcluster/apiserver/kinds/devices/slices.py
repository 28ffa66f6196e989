"""What slices offer: devices or counters, of which driver and pool, for which nodes. Pure."""

from functools import partial
from typing import Final

from localcluster.apiserver.fielderrors import FieldError, invalid_value
from localcluster.apiserver.kinds.devices.devices import counters_errors, device_errors
from localcluster.apiserver.kinds.devices.names import by_name, driver_errors, each_of, pool_errors
from localcluster.apiserver.kinds.devices.nodes import Choice, as_go_shows, chosen_nodes
from localcluster.apiserver.kinds.kind import Object

MAX_DEVICES: Final = 128
MAX_ADVANCED_DEVICES: Final = 64
"""Where a device has taints or takes of counters."""
MAX_COUNTER_SETS: Final = 8
_NODES: Final = Choice(
    ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection"),
    "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required",
    empty_name="must be either unset or set to a non-empty string",
    several=", but multiple fields are set",
)


def slice_errors(spec: Object, old: Object | None, field: str) -> list[FieldError]:
    """The faults of `spec`, and of the change."""
    errors = driver_errors(spec.get("driver") or "", f"{field}.driver")
    errors += _pool(spec.get("pool") or {}, f"{field}.pool")
    if old is not None:
        errors += _changes(spec, old, field)
    errors += chosen_nodes(spec, field, _NODES)
    terms = (spec.get("nodeSelector") or {}).get("nodeSelectorTerms") or []
    if spec.get("nodeSelector") is not None and len(terms) != 1:
        where = f"{field}.nodeSelector.nodeSelectorTerms"
        errors.append(invalid_value(where, as_go_shows(terms), "must have exactly one node selector term"))
    devices, counters = spec.get("devices"), spec.get("sharedCounters")
    if devices is not None and counters is not None:
        errors.append(invalid_value(field, "", "only one of `sharedCounters` or `devices` is allowed"))
    check = partial(device_errors, chooses_nodes=bool(spec.get("perDeviceNodeSelection")))
    errors += each_of(devices or [], f"{field}.devices", _most(devices or []), check, key=by_name, shown=by_name)
    counter_set = partial(counters_errors, name="name")
    return errors + each_of(counters or [], f"{field}.sharedCounters", MAX_COUNTER_SETS, counter_set, key=by_name)


def _most(devices: list[Object]) -> int:
    is_advanced = any(each.get("taints") or each.get("consumesCounters") for each in devices)
    return MAX_ADVANCED_DEVICES if is_advanced else MAX_DEVICES


def _pool(pool: Object, field: str) -> list[FieldError]:
    errors = pool_errors(pool.get("name") or "", f"{field}.name")
    count, generation = pool.get("resourceSliceCount") or 0, pool.get("generation") or 0
    if count <= 0:
        errors.append(invalid_value(f"{field}.resourceSliceCount", count, "must be greater than zero"))
    if generation < 0:
        errors.append(invalid_value(f"{field}.generation", generation, "must be greater than or equal to zero"))
    return errors


def _changes(spec: Object, old: Object, field: str) -> list[FieldError]:
    """Driver, pool and node of a slice stay."""
    pool, old_pool = spec.get("pool") or {}, old.get("pool") or {}
    compared = (
        ("pool.name", pool.get("name"), old_pool.get("name")),
        ("driver", spec.get("driver"), old.get("driver")),
        ("nodeName", spec.get("nodeName"), old.get("nodeName")),
    )
    return [invalid_value(f"{field}.{key}", now, "field is immutable") for key, now, was in compared if now != was]
