"""A structural schema as values that the other rooms walk: parsed once per version of a CRD, immutable afterwards.

It holds what `apiextensions.k8s.io/v1` allows in `openAPIV3Schema`. Whether a document is a proper structural schema is
another question, answered in `definitions.structure`; here the document is taken as correct.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from localcluster.apiserver.extension.schema.patterns import compile_pattern


class _Missing:
    """The value of a field that is not there, where None would mean null."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry of `x-kubernetes-validations`."""

    rule: str
    message: str = ""
    message_expression: str = ""
    reason: str = "FieldValueInvalid"
    field_path: str = ""
    optional_old_self: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """The value validations of one node: everything that restricts a value without giving it a shape."""

    enum: tuple[Any, ...] = ()
    format: str = ""
    pattern: str = ""
    matcher: re.Pattern[str] | None = None
    min_length: int | None = None
    max_length: int | None = None
    minimum: float | None = None
    maximum: float | None = None
    exclusive_minimum: bool = False
    exclusive_maximum: bool = False
    multiple_of: float | None = None
    min_items: int | None = None
    max_items: int | None = None
    min_properties: int | None = None
    max_properties: int | None = None
    required: tuple[str, ...] = ()
    all_of: "tuple[Schema, ...]" = ()
    any_of: "tuple[Schema, ...]" = ()
    one_of: "tuple[Schema, ...]" = ()
    none_of: "Schema | None" = None


NO_LIMITS: Final = Limits()


@dataclass(frozen=True, slots=True)
class Schema:
    """One node.

    Attributes:
        type: `object`, `array`, `string`, ...; empty where any type will do.
        additional: the schema of the values of a map; True when they may be anything; None when there is no map.
        default: a value, or MISSING.
        list_type: `atomic`, `set` or `map`.
    """

    type: str = ""
    properties: "Mapping[str, Schema]" = field(default_factory=dict)
    additional: "Schema | bool | None" = None
    items: "Schema | None" = None
    default: Any = MISSING
    nullable: bool = False
    int_or_string: bool = False
    keep_unknown: bool = False
    embedded: bool = False
    list_type: str = "atomic"
    map_keys: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    limits: Limits = NO_LIMITS

    def child(self, name: str) -> "Schema | None":
        """The schema of the property or map value of that name; None when nothing is said about it."""
        known = self.properties.get(name)
        if known is not None:
            return known
        return self.additional if isinstance(self.additional, Schema) else None


_PLAIN_LIMITS: Final = {
    "minLength": "min_length",
    "maxLength": "max_length",
    "minimum": "minimum",
    "maximum": "maximum",
    "exclusiveMinimum": "exclusive_minimum",
    "exclusiveMaximum": "exclusive_maximum",
    "multipleOf": "multiple_of",
    "minItems": "min_items",
    "maxItems": "max_items",
    "minProperties": "min_properties",
    "maxProperties": "max_properties",
    "format": "format",
    "pattern": "pattern",
}


def parse_schema(document: Mapping[str, Any]) -> Schema:
    """The schema that this `openAPIV3Schema` (or a part of it) describes."""
    additional = document.get("additionalProperties")
    items = document.get("items")
    return Schema(
        type=document.get("type", ""),
        properties={name: parse_schema(each) for name, each in (document.get("properties") or {}).items()},
        additional=parse_schema(additional) if isinstance(additional, dict) else additional,
        items=parse_schema(items) if isinstance(items, dict) else None,
        default=document.get("default", MISSING),
        nullable=bool(document.get("nullable")),
        int_or_string=bool(document.get("x-kubernetes-int-or-string")),
        keep_unknown=bool(document.get("x-kubernetes-preserve-unknown-fields")),
        embedded=bool(document.get("x-kubernetes-embedded-resource")),
        list_type=document.get("x-kubernetes-list-type") or "atomic",
        map_keys=tuple(document.get("x-kubernetes-list-map-keys") or ()),
        rules=tuple(_rule(each) for each in document.get("x-kubernetes-validations") or ()),
        limits=_limits(document),
    )


def _rule(document: Mapping[str, Any]) -> Rule:
    return Rule(
        rule=document.get("rule", ""),
        message=document.get("message") or "",
        message_expression=document.get("messageExpression") or "",
        reason=document.get("reason") or "FieldValueInvalid",
        field_path=document.get("fieldPath") or "",
        optional_old_self=bool(document.get("optionalOldSelf")),
    )


def _limits(document: Mapping[str, Any]) -> Limits:
    found: dict[str, Any] = {
        ours: document[theirs] for theirs, ours in _PLAIN_LIMITS.items() if document.get(theirs) is not None
    }
    if found.get("pattern"):
        found["matcher"] = compile_pattern(found["pattern"])
    for theirs, ours in (("allOf", "all_of"), ("anyOf", "any_of"), ("oneOf", "one_of")):
        if document.get(theirs):
            found[ours] = tuple(parse_schema(each) for each in document[theirs])
    if isinstance(document.get("not"), dict):
        found["none_of"] = parse_schema(document["not"])
    if document.get("enum"):
        found["enum"] = tuple(document["enum"])
    if document.get("required"):
        found["required"] = tuple(document["required"])
    return Limits(**found) if found else NO_LIMITS
