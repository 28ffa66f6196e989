"""Values as the rules of a CRD see them: named and typed by the schema, without what the schema does not know.

Numbers of type `number` are doubles even when they are whole, times and durations are such, fields that are no identifiers
have their escaped names. In lists that are sets or maps the order says nothing: where the old list holds the same items as
the new one, it is handed over in the order of the new one, so that the two are equal.
"""

import base64
import binascii
import datetime
import re
from typing import Any, Final

from localcluster.apiserver.extension.cel.names import escape
from localcluster.apiserver.extension.schema.formats import parse_date_time
from localcluster.apiserver.extension.schema.lists import key_of
from localcluster.apiserver.extension.schema.structural import Schema

_SECONDS: Final = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART: Final = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)")
_ROOT: Final = {"apiVersion": Schema("string"), "kind": Schema("string")}
_METADATA: Final = ("name", "generateName")


def typed(value: Any, schema: Schema, *, is_root: bool = False) -> Any:
    """The value for CEL."""
    if isinstance(value, dict):
        return _object(value, schema, is_root=is_root or schema.embedded)
    if isinstance(value, list):
        return [typed(item, schema.items) for item in value] if schema.items is not None else value
    if isinstance(value, str) and schema.type == "string" and schema.limits.format:
        return _text(value, schema.limits.format)
    if schema.type == "number" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if schema.type == "integer" and isinstance(value, float):
        return int(value)
    return value


def reordered(old: Any, new: Any, schema: Schema) -> Any:
    """The old value with its unordered lists in the order of the new one where they hold the same; not typed yet."""
    if isinstance(old, dict) and isinstance(new, dict):
        changed = {
            name: reordered(old[name], new[name], child)
            for name in old
            if name in new and (child := schema.child(name)) is not None
        }
        return {**old, **changed}
    if isinstance(old, list) and isinstance(new, list) and schema.items is not None:
        if schema.list_type == "set" and len(old) == len(new) and all(item in new for item in old):
            return new
        if schema.list_type == "map":
            return _map_list(old, new, schema, schema.items)
    return old


def _map_list(old: list[Any], new: list[Any], schema: Schema, items: Schema) -> list[Any]:
    places = {repr(key_of(item, schema)): (index, item) for index, item in enumerate(new)}
    keys = [repr(key_of(item, schema)) for item in old]
    if len(old) != len(new) or set(keys) != set(places):
        return old
    ordered = sorted(zip(keys, old, strict=True), key=lambda pair: places[pair[0]][0])
    return [reordered(item, places[key][1], items) for key, item in ordered]


def _object(value: dict[str, Any], schema: Schema, *, is_root: bool) -> dict[str, Any]:
    found = {}
    is_map = isinstance(schema.additional, Schema)
    for name, item in value.items():
        known = schema.properties.get(name) or (_ROOT.get(name) if is_root else None)
        if is_root and name == "metadata" and isinstance(item, dict):
            found[name] = {each: item[each] for each in _METADATA if each in item}
        elif known is not None:
            found[escape(name)] = typed(item, known)
        elif is_map and isinstance(schema.additional, Schema):
            found[name] = typed(item, schema.additional)
        elif schema.additional is True:
            found[name] = item
    return found


def _text(value: str, format_name: str) -> Any:
    try:
        if format_name == "date-time":
            return parse_date_time(value)
        if format_name == "date":
            return parse_date_time(f"{value}T00:00:00Z")
        if format_name == "duration":
            return _duration(value)
        if format_name == "byte":
            return base64.b64decode(value)
    except (ValueError, binascii.Error):
        return value
    return value


def _duration(value: str) -> Any:
    found = _PART.findall(value)
    if not found:
        return datetime.timedelta() if value.strip("+-") == "0" else value
    seconds = sum(float(amount) * _SECONDS[unit] for amount, unit in found)
    return datetime.timedelta(seconds=-seconds if value.startswith("-") else seconds)
