"""What a written PodGroup or Workload says, taken into the model."""

import re
from typing import Final

from api import constants
from verify.auditor.audit_log import Record
from verify.auditor.model import Composite, Condition, Group, Object, controller_of

_PARTS: Final = re.compile(r"([\d.]+)(ms|s|m|h)")
_UNIT_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_USUAL_REPAIR_SECONDS: Final = 900.0


def owned(record: Record) -> str | None:
    """The UID of the controller of an object that carries our mark; None when it does not."""
    metadata = record.response.get("metadata", {})
    if (metadata.get("annotations") or {}).get(constants.MANAGED_BY) != constants.MANAGED_BY_TUTTI:
        return None
    return controller_of(metadata)


def rewrite(group: Group, record: Record) -> None:
    """Takes over what the spec says; how many of its members are bound is then to be counted anew."""
    spec, metadata = record.response.get("spec", {}), record.response.get("metadata", {})
    gang = (spec.get("schedulingPolicy") or {}).get("gang")
    group.is_gang = gang is not None
    group.minimum = int(gang["minCount"]) if gang is not None else 1
    group.whole = "all" in (spec.get("disruptionMode") or {})
    group.has_topology = bool((spec.get("schedulingConstraints") or {}).get("topology"))
    group.priority = spec.get("priority")
    annotations = metadata.get("annotations") or {}
    group.restarts_after_seconds = _restarts_after_seconds(annotations)
    group.is_only_reported = annotations.get(constants.DEGRADED) == "report"
    group.parent = spec.get("parentCompositePodGroupName") or annotations.get(constants.PARENT_COMPOSITE, "")
    group.owner = controller_of(metadata)
    group.is_made_by_us = owned(record) is not None


def _restarts_after_seconds(annotations: Object) -> float | None:
    if annotations.get(constants.DEGRADED) != constants.RESTART:
        return None
    parts = _PARTS.findall(annotations.get(constants.REPAIR_TIMEOUT) or "")
    return sum(float(number) * _UNIT_SECONDS[unit] for number, unit in parts) or _USUAL_REPAIR_SECONDS


def tell(group: Group, record: Record) -> tuple[str, ...]:
    """Takes over the conditions that a write of the status names; their types."""
    written = (record.request.get("status") or {}).get("conditions") or []
    for each in written:
        before = group.conditions.get(each["type"])
        is_same = before is not None and before.status == each.get("status", "")
        since = before.since if before is not None and is_same else record.completed
        group.conditions[each["type"]] = Condition(
            each.get("status", ""), each.get("reason", ""), each.get("message", ""), since
        )
    return tuple(each["type"] for each in written)


def composite_of(record: Record) -> Composite:
    """The CompositePodGroup that was written."""
    spec = record.response.get("spec", {})
    gang = (spec.get("schedulingPolicy") or {}).get("gang") or {}
    parent = spec.get("parentCompositePodGroupName") or ""
    return Composite(
        (record.namespace, record.name),
        record.object_uid,
        int(gang.get("minGroupCount", 1)),
        parent,
        whole="all" in (spec.get("disruptionMode") or {}),
    )
