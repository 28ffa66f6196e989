"""Schemas of the built-in types, made from the message tables: names and types of fields, without sentences.

Pure. A message `batch.v1.Job` is the component `io.k8s.api.batch.v1.Job`; types refer to each other.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from localcluster.apiserver.protobuf.messages import MESSAGES, Field, Shape, flat_fields

Schema = dict[str, Any]

REFERENCE: Final = "#/components/schemas/"
OBJECT_META: Final = "meta.v1.ObjectMeta"
LIST_META: Final = "meta.v1.ListMeta"
"""The one type that has no table, because nobody sends it."""

_META_PACKAGE: Final = "io.k8s.apimachinery.pkg.apis"
_ANYTHING: Final[Schema] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_SCALARS: Final[Mapping[str, Schema]] = {
    "bool": {"type": "boolean"},
    "bytes": {"type": "string", "format": "byte"},
    "double": {"type": "number", "format": "double"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "string": {"type": "string"},
    "Time": {"type": "string", "format": "date-time"},
    "MicroTime": {"type": "string", "format": "date-time"},
    "IntOrString": {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
    "Quantity": {"oneOf": [{"type": "string"}, {"type": "number"}]},
}
_LIST_META: Final[Schema] = {
    "type": "object",
    "properties": {
        "continue": _SCALARS["string"],
        "remainingItemCount": _SCALARS["int64"],
        "resourceVersion": _SCALARS["string"],
    },
}


def component_name(message: str) -> str:
    """The name of a message's schema among the components."""
    return f"{_META_PACKAGE if message.startswith('meta.') else 'io.k8s.api'}.{message}"


def reference(message: str) -> Schema:
    """A reference to a message's schema."""
    return {"$ref": REFERENCE + component_name(message)}


def schema_of(message: str) -> Schema:
    """The schema of one message; other messages appear as references."""
    if message == LIST_META:
        return _LIST_META
    return {
        "type": "object",
        "properties": {name: _field(field) for name, field in flat_fields(message).items()},
    }


def closure(message: str) -> Iterator[str]:
    """The message and all that it refers to, each once."""
    seen: set[str] = set()
    waiting = [message]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        yield current
        if current in MESSAGES:
            waiting += [field.type for field in flat_fields(current).values() if field.type in MESSAGES]


def _field(field: Field) -> Schema:
    is_message = field.type in MESSAGES
    item = reference(field.type) if is_message else dict(_SCALARS.get(field.type, _ANYTHING))
    if field.shape is Shape.LIST:
        return {"type": "array", "items": item}
    if field.shape is Shape.MAP:
        return {"type": "object", "additionalProperties": item}
    return {"allOf": [item]} if is_message else item
