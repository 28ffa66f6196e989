"""Whether every value of an object has the type of its field, all the way down.

A real server reads a body into typed structures first, so a text where a number belongs is a 400 before any rule is looked
at, and no rule ever meets one. The message tables know the type of every field of the kinds that have them. What Go's
decoder does with a null is done here too: a field that is null is not there, and in a list or a map the zero of the type
takes its place.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from api.errors import InvalidQuantity
from localcluster.apiserver.kinds.bytes64 import misplaced_byte
from localcluster.apiserver.kinds.kind import KindInfo, Object
from localcluster.apiserver.kinds.quantities import canonical
from localcluster.apiserver.kinds.times import micro_time_problem
from localcluster.apiserver.protobuf.messages import MESSAGES, Field, Shape, flat_fields

_GO: Final = {dict: "object", list: "array", str: "string", bool: "bool", int: "number", float: "number"}
_LARGEST: Final = {"int32": 2**31, "int64": 2**63}
_ZERO: Final[dict[str, Any]] = {
    "string": "",
    "int32": 0,
    "int64": 0,
    "bool": False,
    "Quantity": "0",
    "IntOrString": 0,
    "bytes": "",
}
_GO_NAMES: Final = {"bytes": "[]uint8", "Time": "v1.Time", "MicroTime": "v1.MicroTime"}
_OWN: Final = frozenset({"IntOrString", "double"})
_ANYTHING: Final = frozenset({"RawExtension", "FieldsV1", "JSON"})
_SCHEMA: Final = "apiextensions.v1.JSONSchemaProps"
_SCHEMA_OR: Final[dict[str, type]] = {
    "JSONSchemaPropsOrArray": list,
    "JSONSchemaPropsOrBool": bool,
    "JSONSchemaPropsOrStringArray": list,
}
_MICRO: Final = "%Y-%m-%dT%H:%M:%S.%fZ"
_LAYOUT: Final = "2006-01-02T15:04:05Z07:00"
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")
_QUANTITY: Final = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


class WrongType(Exception):
    """A value cannot be what its field holds; the text is the decoder's."""


def go_kind(value: Any) -> str:
    """What Go's decoder calls a JSON value."""
    return _GO.get(type(value), "null")


def check_types(kind: KindInfo, obj: Object) -> None:
    """Compare an object with the types of its kind; nulls go, and zeros take their place in lists and maps.

    Raises:
        WrongType: a value does not fit.
    """
    name = f"{kind.group.partition('.')[0] or 'core'}.{kind.version}.{kind.kind}"
    if kind.definition is None and name in MESSAGES:
        _fields(name, obj, "")
    else:
        _fields("meta.v1.ObjectMeta", obj["metadata"], "metadata")


def _fields(name: str, obj: Object, path: str) -> None:
    fields = flat_fields(name)
    for key, value in tuple(obj.items()):
        field = fields.get(key)
        if field is None:
            continue
        if value is None:
            del obj[key]
            continue
        where = f"{path}.{key}" if path else key
        if field.shape is Shape.LIST:
            _list(name, field, value, where)
        elif field.shape is Shape.MAP:
            _map(name, field, value, where)
        elif field.type in _WRITTEN:
            obj[key] = _WRITTEN[field.type](value)
        else:
            _value(name, field, value, where)


def _list(name: str, field: Field, value: Any, path: str) -> None:
    if not isinstance(value, list):
        raise _mismatch(name, value, path, f"[]{_go_name(field.type)}")
    for number, item in enumerate(value):
        if item is None:
            value[number] = _zero(field)
        else:
            _value(name, field, item, path)


def _map(name: str, field: Field, value: Any, path: str) -> None:
    if not isinstance(value, dict):
        raise _mismatch(name, value, path, f"map[string]{_go_name(field.type)}")
    for key, item in value.items():
        if item is None:
            value[key] = _zero(field)
        elif field.type in _WRITTEN:
            value[key] = _WRITTEN[field.type](item)
        else:
            _value(name, field, item, path)


def _zero(field: Field) -> Any:
    return {} if field.type in MESSAGES else _ZERO.get(field.type)


def _value(name: str, field: Field, value: Any, path: str) -> None:
    kind = field.type
    if kind in MESSAGES:
        if not isinstance(value, dict):
            raise _mismatch(name, value, path, _go_name(kind))
        _fields(kind, value, path)
    elif kind in _WRITTEN:
        _WRITTEN[kind](value)
    elif kind in _OWN:
        _own(kind, value)
    elif kind in _SCHEMA_OR:
        _schema_or(name, kind, value, path)
    elif kind in _LARGEST:
        if isinstance(value, float) or (isinstance(value, int) and not -_LARGEST[kind] <= value < _LARGEST[kind]):
            raise _mismatch(name, value, path, _go_name(kind), shown=f"number {value}")
        if not _is_whole(value):
            raise _mismatch(name, value, path, _go_name(kind))
    elif kind not in _ANYTHING and not isinstance(value, bool if kind == "bool" else str):
        raise _mismatch(name, value, path, _go_name(kind))
    elif kind == "bytes" and (position := misplaced_byte(value)) is not None:
        raise WrongType(f"illegal base64 data at input byte {position}")


def _schema_or(name: str, kind: str, value: Any, path: str) -> None:
    """A schema, or what may stand in its place: yes or no, or a list of schemas or of texts."""
    if isinstance(value, dict):
        _fields(_SCHEMA, value, path)
        return
    if not isinstance(value, _SCHEMA_OR[kind]):
        raise _mismatch(name, value, path, f"v1.{kind}")
    for item in value if isinstance(value, list) else ():
        if not isinstance(item, dict if kind == "JSONSchemaPropsOrArray" else str):
            raise _mismatch(name, item, path, f"v1.{kind}")
        if isinstance(item, dict):
            _fields(_SCHEMA, item, path)


def _own(kind: str, value: Any) -> None:
    """Values that read themselves."""
    if kind == "double":
        if not isinstance(value, float) and not _is_whole(value):
            raise WrongType(f"json: cannot unmarshal {go_kind(value)} into Go value of type float64")
    elif not isinstance(value, str) and not _is_whole(value):
        raise WrongType(f"json: cannot unmarshal {go_kind(value)} into Go value of type int32")


def _quantity(value: Any) -> str:
    """A quantity in the one form in which it is kept."""
    if isinstance(value, str | float) or _is_whole(value):
        with suppress(InvalidQuantity):
            return canonical(str(value))
    raise WrongType(_QUANTITY)


def _moment(layout: str, value: Any) -> str:
    """A time in the one form in which it is kept: UTC, with six digits of a second or none."""
    if not isinstance(value, str):
        raise WrongType(f"json: cannot unmarshal {go_kind(value)} into Go value of type string")
    if layout == _MICRO and (problem := micro_time_problem(value)):
        raise WrongType(problem)
    if _TIME.fullmatch(value):
        with suppress(ValueError, OverflowError):
            return datetime.fromisoformat(value.upper()).astimezone(UTC).strftime(layout)
    raise WrongType(f'parsing time "{value}" as "{_LAYOUT}": cannot parse "{value}" as "2006"')


_WRITTEN: Final[dict[str, Callable[[Any], str]]] = {
    "Quantity": _quantity,
    "Time": partial(_moment, "%Y-%m-%dT%H:%M:%SZ"),
    "MicroTime": partial(_moment, _MICRO),
}
"""The types whose values are kept in another form than they may come in."""


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _mismatch(name: str, value: Any, path: str, go_type: str, *, shown: str = "") -> WrongType:
    found = shown or go_kind(value)
    struct = name.rpartition(".")[2]
    return WrongType(f"json: cannot unmarshal {found} into Go struct field {struct}.{path} of type {go_type}")


def _go_name(kind: str) -> str:
    return f"v1.{kind.rpartition('.')[2]}" if kind in MESSAGES else _GO_NAMES.get(kind, kind)
