"""Rows of what there is about devices: classes, slices, claims, templates and taint rules."""

from localcluster.apiserver.discovery.tables.age import age
from localcluster.apiserver.discovery.tables.cells import AGE, NAME, Cell, Object, Printer, age_of, name_of, part, text


def aged_cells(obj: Object, now: float) -> list[Cell]:
    """One row of a kind of which there is nothing to tell."""
    return [name_of(obj), age_of(obj, now)]


def claim_cells(claim: Object, now: float) -> list[Cell]:
    """One row of a ResourceClaim."""
    return [name_of(claim), _state(claim), age_of(claim, now)]


def _state(claim: Object) -> str:
    status, is_deleted = part(claim, "status"), bool(claim["metadata"].get("deletionTimestamp"))
    states = ["deleted"] if is_deleted else []
    if status.get("allocation") is not None:
        states += ["allocated", "reserved"] if status.get("reservedFor") else ["allocated"]
    elif not is_deleted:
        states.append("pending")
    return ",".join(states)


def slice_cells(resource_slice: Object, now: float) -> list[Cell]:
    """One row of a ResourceSlice."""
    spec = part(resource_slice, "spec")
    return [
        name_of(resource_slice),
        spec.get("nodeName", ""),
        spec.get("driver", ""),
        part(spec, "pool").get("name", ""),
        age_of(resource_slice, now),
    ]


def rule_cells(rule: Object, now: float) -> list[Cell]:
    """One row of a DeviceTaintRule."""
    taint = part(rule, "spec", "taint")
    return [
        name_of(rule),
        taint.get("key", ""),
        taint.get("value", ""),
        taint.get("effect", ""),
        age(taint.get("timeAdded"), now),
        age_of(rule, now),
    ]


AGED = Printer((NAME, AGE), aged_cells)
CLAIM = Printer((NAME, text("State", "Pending, allocated, reserved or deleted."), AGE), claim_cells)
SLICE = Printer(
    (
        NAME,
        text("Node", "The node whose devices they are, if it is one."),
        text("Driver", "Who offers them."),
        text("Pool", "Which of the driver's pools it belongs to."),
        AGE,
    ),
    slice_cells,
)
TAINT_RULE = Printer(
    (
        NAME,
        text("Key", "The key of the taint."),
        text("Value", "Its value."),
        text("Effect", "What it does."),
        text("TimeAdded", "The time since it holds."),
        AGE,
    ),
    rule_cells,
)
