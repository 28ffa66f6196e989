"""What the fields of each message are, read from the tables once."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache

from localcluster.apiserver.protobuf.tables import TABLES

_ENTRY = re.compile(r"(\d+) (\S+) (\*?)(\^?)([\[{]?)([\w.]+)[\]}]?")


class Shape(Enum):
    """How often a field's type occurs in it."""

    ONE = ""
    LIST = "["
    MAP = "{"


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its name in JSON, its type, and whether its zero is a value and its fields are inlined."""

    name: str
    type: str
    shape: Shape
    zero_counts: bool
    inlined: bool


def _read() -> dict[str, Mapping[int, Field]]:
    messages: dict[str, Mapping[int, Field]] = {}
    for paragraph in re.split(r"\n(?! )", TABLES.strip()):
        name, _, told = paragraph.partition(":")
        messages[name] = {
            int(number): Field(field, kind, Shape(bracket), bool(star), bool(caret))
            for number, field, star, caret, bracket, kind in _ENTRY.findall(told.replace("\n ", ""))
        }
    return messages


MESSAGES: Mapping[str, Mapping[int, Field]] = _read()


@cache
def flat_fields(message: str) -> Mapping[str, Field]:
    """The fields of a message by their names in JSON; those of inlined messages appear in their place."""
    found: dict[str, Field] = {}
    for field in MESSAGES[message].values():
        found |= flat_fields(field.type) if field.inlined else {field.name: field}
    return found
