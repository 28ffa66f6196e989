"""What is wrong with one field, in the words of the real server.

Pure. Clients, tests and people compare these sentences, so the wording follows the real API server's to the letter.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

_REASONS = {
    "Required value": "FieldValueRequired",
    "Invalid value": "FieldValueInvalid",
    "Duplicate value": "FieldValueDuplicate",
    "Unsupported value": "FieldValueNotSupported",
    "Forbidden": "FieldValueForbidden",
    "Too long": "FieldValueTooLong",
    "Too many": "FieldValueTooMany",
    "Not found": "FieldValueNotFound",
    "Internal error": "InternalError",
}
OMITTED: Final[Any] = object()
"""The value of a complaint that shows none although its sort usually does (the rules of CRDs on objects and lists)."""

_WITHOUT_VALUE = frozenset({"Required value", "Forbidden", "Too long", "Too many", "Internal error"})


@dataclass(frozen=True, slots=True)
class FieldError:
    """One complaint.

    Attributes:
        type: what sort of complaint, as the message names it.
        field: the path of the field, such as `spec.containers[0].image`.
        value: what was found there; not shown for sorts that are about no value.
        detail: the rest of the sentence.
        reason: the machine-readable reason, when it is not the usual one of the type.
    """

    type: str
    field: str
    value: Any = None
    detail: str = ""
    reason: str = ""

    @property
    def text(self) -> str:
        """The complaint without the field's path."""
        hidden = self.value is OMITTED or self.type in _WITHOUT_VALUE
        shown = self.type if hidden else f"{self.type}: {shown_value(self.value)}"
        return f"{shown}: {self.detail}" if self.detail else shown

    def __str__(self) -> str:
        return f"{self.field}: {self.text}"

    def cause(self) -> dict[str, str]:
        """The entry of a Status' `details.causes`."""
        reason = self.reason or _REASONS.get(self.type, "FieldValueInvalid")
        return {"reason": reason, "message": self.text, "field": self.field}


def shown_value(value: Any) -> str:
    """A value as the messages show it: JSON, which for strings is almost what Go's %q does."""
    if value is None:
        return "null"
    if isinstance(value, bool | int | float | str):
        return json.dumps(value, ensure_ascii=False)
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # As Go writes JSON: safe to be put into HTML.
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def required(field: str, detail: str = "") -> FieldError:
    """The field must be there."""
    return FieldError("Required value", field, "", detail)


def invalid_value(field: str, value: Any, detail: str) -> FieldError:
    """The value breaks a rule."""
    return FieldError("Invalid value", field, value, detail)


def type_invalid(field: str, value: Any, detail: str) -> FieldError:
    """The value has the wrong type."""
    return FieldError("Invalid value", field, value, detail, "FieldValueTypeInvalid")


def duplicate(field: str, value: Any) -> FieldError:
    """Something that must be unique is there twice."""
    return FieldError("Duplicate value", field, value)


def unsupported(field: str, value: Any, allowed: Sequence[str]) -> FieldError:
    """The value is none of those allowed."""
    names = ", ".join(f'"{each}"' for each in allowed)
    return FieldError("Unsupported value", field, value, f"supported values: {names}" if allowed else "")


def too_long(field: str, max_bytes: int) -> FieldError:
    """More bytes than allowed."""
    return FieldError("Too long", field, "", f"may not be more than {max_bytes} bytes")


def too_many(field: str, actual: int, maximum: int) -> FieldError:
    """More items than allowed."""
    noun = "item" if maximum == 1 else "items"
    return FieldError("Too many", field, actual, f"{actual}: must have at most {maximum} {noun}")


def forbidden_field(field: str, detail: str) -> FieldError:
    """The field may not be set, or not be changed."""
    return FieldError("Forbidden", field, "", detail)


def not_found_field(field: str, value: Any) -> FieldError:
    """The value names something that is not there."""
    return FieldError("Not found", field, value)
