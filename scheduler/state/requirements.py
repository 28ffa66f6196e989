"""One comparison with a label: the building stone of node selectors and of label selectors alike."""

from typing import Final, Literal

import msgspec

Operator = Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]

FIELD_PREFIX: Final = "\x00"
"""Marks the key of a requirement on a field (`metadata.name`) rather than on a label; no label starts like that."""

NAME_FIELD: Final = "metadata.name"


class Requirement(msgspec.Struct, frozen=True, gc=False):
    """One comparison with a label, or with a field of the node when the key starts with `FIELD_PREFIX`."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()


def matches(requirement: Requirement, value: str | None) -> bool:
    """Whether an object whose label (or field) has this value, None when it lacks it, meets the requirement."""
    match requirement.operator:
        case "In":
            return value in requirement.values
        case "NotIn":
            return value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
    number, bound = whole_number(value), whole_number(requirement.values[0])
    if number is None or bound is None:
        return False
    return number > bound if requirement.operator == "Gt" else number < bound


def whole_number(text: str | None) -> int | None:
    """The number a label spells, None when it spells none."""
    if text is None or len(text) > 20:
        return None
    try:
        return int(text) if text.lstrip("+-").isdecimal() else None
    except ValueError:
        return None
