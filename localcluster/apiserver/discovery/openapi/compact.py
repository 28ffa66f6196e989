"""Built-in schemas are written as short tables; this module turns a table into OpenAPI schemas.

Pure. A table is text. A line `Type: sentence` begins a type, `kind Type: sentence` one with the fields that every kind
has; the indented lines under it are its fields, `name type: sentence`. A field's type is one of the scalars below, another
type's name, `[type]` for a list or `{type}` for a map; a trailing `!` marks a required field. Every type belongs to the
package that its table is given for, and types refer to each other by their short names across tables.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Schema = dict[str, Any]

REFERENCE = "#/components/schemas/"

SCALARS: Mapping[str, Schema] = {
    "bool": {"type": "boolean"},
    "bytes": {"type": "string", "format": "byte"},
    "double": {"type": "number", "format": "double"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "object": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    "string": {"type": "string"},
    "time": {"type": "string", "format": "date-time"},
    "intOrString": {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
    "quantity": {"oneOf": [{"type": "string"}, {"type": "number"}]},
}

_TYPE = re.compile(r"(kind )?(\w+): (.+)")
_FIELD = re.compile(r"  (\$?\w+) ([\[{]?\w+[\]}]?)(!?): (.+)")


class BadTable(ValueError):
    """A table has a line of neither form, or names a type that no table describes."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a type."""

    name: str
    type: str
    required: bool
    description: str


@dataclass(frozen=True, slots=True)
class Type:
    """One described type: its package, its sentence, its fields."""

    package: str
    name: str
    description: str
    fields: tuple[Field, ...]

    @property
    def full_name(self) -> str:
        """The name among the components."""
        return f"{self.package}.{self.name}"


OF_EVERY_KIND = (
    Field("apiVersion", "string", required=False, description="The group and version of this form of the object."),
    Field("kind", "string", required=False, description="The kind of the object."),
    Field("metadata", "ObjectMeta", required=False, description="Name, labels and the like."),
)


def parse(package: str, table: str) -> list[Type]:
    """The types of one table.

    Raises:
        BadTable: a line has neither form.
    """
    types: list[Type] = []
    for line in filter(str.strip, table.splitlines()):
        if match := _FIELD.fullmatch(line):
            name, kind, required, sentence = match.groups()
            last = types[-1]
            field = Field(name, kind, bool(required), sentence)
            types[-1] = Type(package, last.name, last.description, (*last.fields, field))
        elif match := _TYPE.fullmatch(line):
            types.append(Type(package, match[2], match[3], OF_EVERY_KIND if match[1] else ()))
        else:
            raise BadTable(f"{package}: {line!r} is neither 'Type: sentence' nor '  field type: sentence'")
    return types


class Types:
    """All described types, by short name."""

    def __init__(self, tables: Mapping[str, str]) -> None:
        self._types = {each.name: each for package, table in tables.items() for each in parse(package, table)}

    def __contains__(self, name: str) -> bool:
        return name in self._types

    def all(self) -> list[Type]:
        """All of them."""
        return list(self._types.values())

    def find(self, package: str, name: str) -> Type | None:
        """The type of that name in that package, None when no table has it."""
        found = self._types.get(name)
        return found if found is not None and found.package == package else None

    def closure(self, name: str) -> Iterator[Type]:
        """The type and all that it refers to, each once."""
        waiting, seen = [name], set[str]()
        while waiting:
            current = waiting.pop()
            if current in seen:
                continue
            seen.add(current)
            found = self[current]
            yield found
            waiting += [inner for field in found.fields if (inner := field.type.strip("[]{}")) not in SCALARS]

    def __getitem__(self, name: str) -> Type:
        if name not in self._types:
            raise BadTable(f"no table describes the type {name}")
        return self._types[name]

    def schema(self, described: Type) -> Schema:
        """The schema of one type; other types appear as references."""
        schema: Schema = {"description": described.description, "type": "object"}
        if required := [field.name for field in described.fields if field.required]:
            schema["required"] = required
        schema["properties"] = {field.name: self._field(field) for field in described.fields}
        return schema

    def reference(self, name: str) -> Schema:
        """A reference to the type of that short name."""
        return {"$ref": REFERENCE + self[name].full_name}

    def _field(self, field: Field) -> Schema:
        inner = field.type.strip("[]{}")
        plain = inner in SCALARS
        item = dict(SCALARS[inner]) if plain else self.reference(inner)
        about = {"description": field.description}
        if field.type.startswith("["):
            return {**about, "type": "array", "items": item}
        if field.type.startswith("{"):
            return {**about, "type": "object", "additionalProperties": item}
        return {**about, **item} if plain else {**about, "allOf": [item]}
