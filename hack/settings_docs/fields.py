"""One setting as people see it: name, values, default and meaning, from the pydantic field and the docstring below it."""

import ast
import inspect
import json
import textwrap
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

import annotated_types
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

_PLAIN: Final = {bool: "`true`, `false`", int: "whole number", float: "number", str: "text", Path: "path"}
_MADE_AT_START: Final = "made at each start"


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of a table.

    Attributes:
        name: as it stands in a settings file.
        values: what it may be.
        default: what it is when nobody says anything.
        text: what it is good for.
    """

    name: str
    values: str
    default: str
    text: str


def settings(cls: type[BaseModel]) -> Iterator[Setting]:
    """The settings that this class itself declares, in the order of its source."""
    texts = docstrings(cls)
    for name, field in cls.model_fields.items():
        if name in texts:
            yield Setting(field.alias or name, _values(field), _default(field), texts[name])


def docstrings(cls: type[BaseModel]) -> dict[str, str]:
    """The sentence below each field that the class itself declares; "" where there is none."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    assert isinstance(definition, ast.ClassDef)
    found: dict[str, str] = {}
    last = ""
    for statement in definition.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            last = statement.target.id
            found[last] = ""
        elif last and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            found[last] = " ".join(str(statement.value.value).split())
            last = ""
        else:
            last = ""
    return {name: text for name, text in found.items() if name in cls.model_fields}


def nested(cls: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """The classes of settings inside this one, each once, outer ones first."""
    seen: dict[type[BaseModel], None] = {}
    for field in cls.model_fields.values():
        for inner in _models(field.annotation):
            seen |= dict.fromkeys((inner, *nested(inner)))
    yield from seen


def anchor(cls: type[BaseModel]) -> str:
    """The heading of a class of nested settings, as a link names it."""
    return heading(cls).lower().replace(" ", "-")


def heading(cls: type[BaseModel]) -> str:
    """The heading of a class of nested settings: its name in words."""
    words = "".join(f" {letter}" if letter.isupper() else letter for letter in cls.__name__).split()
    return " ".join(words).capitalize()


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)


def _values(field: FieldInfo) -> str:
    return _kind(field.annotation) + _bounds(field.metadata)


def _kind(annotation: Any) -> str:
    origin, inner = get_origin(annotation), [each for each in get_args(annotation) if each is not type(None)]
    if origin is Annotated:
        return _kind(inner[0])
    if origin is Literal:
        return ", ".join(f"`{each}`" for each in inner)
    if origin in (Union, types.UnionType):
        return " or ".join(_kind(each) for each in inner)
    if origin is tuple:
        return f"list of {_kind(inner[0])}"
    if origin is dict:
        return f"mapping of {_kind(inner[0])} to {_kind(inner[1])}"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"[{heading(annotation).lower()}](#{anchor(annotation)})"
    return _PLAIN.get(annotation, "any")


def _bounds(metadata: list[Any]) -> str:
    shown = {
        annotated_types.Gt: lambda each: f"above {each.gt:,}",
        annotated_types.Ge: lambda each: f"at least {each.ge:,}",
        annotated_types.Lt: lambda each: f"below {each.lt:,}",
        annotated_types.Le: lambda each: f"at most {each.le:,}",
        annotated_types.MinLen: lambda each: f"length at least {each.min_length}",
        annotated_types.MaxLen: lambda each: f"length at most {each.max_length}",
    }
    parts = [shown[type(each)](each) for each in metadata if type(each) in shown]
    return ", " + ", ".join(parts) if parts else ""


def _default(field: FieldInfo) -> str:
    if field.default_factory is not None:
        return "`{}`" if field.default_factory is dict else _MADE_AT_START
    value = field.default
    if value is PydanticUndefined:
        return "required"
    if value is None:
        return "none"
    if isinstance(value, BaseModel):
        return "its own defaults"
    if isinstance(value, str):
        return f"`{value}`" if value else '`""`'
    return f"`{json.dumps(value)}`"
