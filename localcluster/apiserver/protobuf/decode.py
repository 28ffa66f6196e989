r"""Protobuf bodies of Kubernetes, turned into what the same object is in JSON.

Pure. A body is the magic `k8s\0`, then an envelope (runtime.Unknown) with the version, the kind and the message itself.
Fields that the tables do not know are passed over, as protobuf wants; a body that is cut off or garbled is refused.
"""

import base64
import struct
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import orjson

from localcluster.apiserver.protobuf.messages import MESSAGES, Field, Shape

MAGIC = b"k8s\0"
ENVELOPE_TYPE, ENVELOPE_RAW = 1, 2
META = "meta.v1"
OPTIONS = ("CreateOptions", "DeleteOptions", "PatchOptions", "UpdateOptions")
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
LONGEST_VARINT = 10
DOUBLE_BYTES = 8
SCHEMA, SCHEMA_FIELD = "apiextensions.v1.JSONSchemaProps", 1

Value = int | bytes


class BadMessage(ValueError):
    """The bytes are no such message."""


def decode(body: bytes) -> dict[str, Any]:
    """The object in a body.

    Raises:
        BadMessage: the body is no object of a known kind.
    """
    if not body.startswith(MAGIC):
        raise BadMessage("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
    try:
        return _decoded(body)
    except (ValueError, OverflowError) as error:
        raise BadMessage(str(error)) from error


def _decoded(body: bytes) -> dict[str, Any]:
    envelope = dict(_fields(body[len(MAGIC) :]))
    kind_of = dict(_fields(_bytes(envelope.get(ENVELOPE_TYPE, b""))))
    api_version, kind = (_bytes(kind_of.get(number, b"")).decode() for number in (1, 2))
    name = _message_name(api_version, kind)
    if name not in MESSAGES:
        raise BadMessage(f'no kind "{kind}" is registered for version "{api_version}" in protobuf')
    return {"apiVersion": api_version, "kind": kind, **_object(name, _bytes(envelope.get(ENVELOPE_RAW, b"")))}


def _message_name(api_version: str, kind: str) -> str:
    group, _, version = api_version.rpartition("/")
    if kind in OPTIONS:
        return f"{META}.{kind}"
    return f"{group.partition('.')[0] or 'core'}.{version}.{kind}"


def _object(name: str, data: bytes) -> dict[str, Any]:
    """A message as a JSON object."""
    known: Mapping[int, Field] = MESSAGES[name]
    made: dict[str, Any] = {}
    for number, raw in _fields(data):
        if (field := known.get(number)) is not None:
            _add(made, field, raw)
    return made


def _add(made: dict[str, Any], field: Field, raw: Value) -> None:
    if field.shape is Shape.MAP:
        key, value = _entry(field, _bytes(raw))
        made.setdefault(field.name, {})[key] = value
        return
    value = _value(field.type, raw)
    if field.shape is Shape.LIST:
        made.setdefault(field.name, []).append(value)
    elif field.inlined:
        made.update(value or {})
    elif value not in (None, "", 0, {}) or (field.zero_counts and value is not None):
        made[field.name] = value


def _entry(field: Field, data: bytes) -> tuple[str, Any]:
    parts = dict(_fields(data))
    empty: Value = 0 if field.type in {"bool", "int32", "int64"} else b""
    return _bytes(parts.get(1, b"")).decode(), _value(field.type, parts.get(2, empty))


def _value(kind: str, raw: Value) -> Any:
    if (read := _SCALARS.get(kind)) is not None:
        return read(raw)
    if kind.endswith(".ExtraValue"):
        return _object(kind, _bytes(raw)).get("items", [])
    return _object(kind, _bytes(raw))


def _text(raw: Value) -> str:
    return _bytes(raw).decode()


def _integer(raw: Value) -> int:
    if not isinstance(raw, int):
        raise BadMessage("bytes where a number belongs")
    return raw - (1 << 64) if raw >> 63 else raw


def _base64(raw: Value) -> str:
    return base64.b64encode(_bytes(raw)).decode()


def _quantity(raw: Value) -> str:
    return _bytes(dict(_fields(_bytes(raw))).get(1, b"")).decode()


def _int_or_string(raw: Value) -> int | str:
    parts = dict(_fields(_bytes(raw)))
    return _text(parts.get(3, b"")) if parts.get(1) else _integer(parts.get(2, 0))


def _time(raw: Value) -> str | None:
    moment = _moment(raw)
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _micro_time(raw: Value) -> str | None:
    moment = _moment(raw)
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _moment(raw: Value) -> datetime | None:
    """A time; None for the zero time, which is sent without fields or as the year 1."""
    parts = dict(_fields(_bytes(raw)))
    seconds = _integer(parts.get(1, 0))
    if seconds <= 0:
        return None
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=_integer(parts.get(2, 0)) // 1000)


def _raw(raw: Value) -> Any:
    inner = _bytes(dict(_fields(_bytes(raw))).get(1, b""))
    return orjson.loads(inner) if inner else None


def _double(raw: Value) -> float:
    if len(_bytes(raw)) != DOUBLE_BYTES:
        raise BadMessage("a double of another length")
    (value,) = struct.unpack("<d", _bytes(raw))
    return float(value)


def _schema_or(raw: Value) -> Any:
    """A schema, or what stands for one: schemas or texts in a list, yes or no."""
    found: list[Any] = []
    allows: bool | None = None
    for number, part in _fields(_bytes(raw)):
        if isinstance(part, int):
            allows = bool(part)
        elif number == SCHEMA_FIELD:
            return _object(SCHEMA, part)
        else:
            found.append(part)
    return found or bool(allows)


def _schemas(raw: Value) -> Any:
    found = _schema_or(raw)
    return [_object(SCHEMA, each) for each in found] if isinstance(found, list) else found


def _schema_or_bool(raw: Value) -> Any:
    found = _schema_or(raw)
    return _object(SCHEMA, found[0]) if isinstance(found, list) else found


def _schema_or_texts(raw: Value) -> Any:
    found = _schema_or(raw)
    return [each.decode() for each in found] if isinstance(found, list) else found


_SCALARS: dict[str, Callable[[Value], Any]] = {
    "string": _text,
    "bool": lambda raw: bool(_integer(raw)),
    "int32": _integer,
    "int64": _integer,
    "bytes": _base64,
    "Quantity": _quantity,
    "IntOrString": _int_or_string,
    "Time": _time,
    "MicroTime": _micro_time,
    "RawExtension": _raw,
    "FieldsV1": _raw,
    "JSON": _raw,
    "double": _double,
    "JSONSchemaPropsOrArray": _schemas,
    "JSONSchemaPropsOrBool": _schema_or_bool,
    "JSONSchemaPropsOrStringArray": _schema_or_texts,
}


def _bytes(raw: Value) -> bytes:
    if isinstance(raw, int):
        raise BadMessage("a number where bytes belong")
    return raw


def _fields(data: bytes) -> Iterator[tuple[int, Value]]:
    """The fields of a message as they come: number, and number or bytes."""
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        wire = tag & 7
        if wire == VARINT:
            value, position = _varint(data, position)
            yield tag >> 3, value
            continue
        if wire == BYTES:
            length, position = _varint(data, position)
        elif wire in {FIXED64, FIXED32}:
            length = 8 if wire == FIXED64 else 4
        else:
            raise BadMessage(f"illegal wireType {wire}")
        if position + length > len(data):
            raise BadMessage("unexpected EOF")
        yield tag >> 3, data[position : position + length]
        position += length


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = 0
    for count in range(LONGEST_VARINT):
        if position >= len(data):
            raise BadMessage("unexpected EOF")
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << (7 * count)
        if not byte & 0x80:
            return value & ((1 << 64) - 1), position
    raise BadMessage("integer overflow")
