"""What is left of a custom object after decoding: unknown fields and meaningless nulls are dropped, whole numbers are whole.

As on the real server this happens before anything else looks at the object, and what was dropped is told, because a client may
have asked for strict field validation.
"""

from typing import Any, Final

from localcluster.apiserver.extension.schema.structural import MISSING, Schema

Object = dict[str, Any]

ROOT_FIELDS: Final = frozenset({"apiVersion", "kind", "metadata"})
WHOLE: Final = 2.0**53


def prune(obj: Object, schema: Schema) -> list[str]:
    """Drops unknown fields and the nulls of non-nullable fields in place; returns the paths of the unknown ones, sorted."""
    unknown: list[str] = []
    _prune_object(obj, schema, "", unknown, is_root=True)
    return sorted(unknown)


def _prune_object(value: Object, schema: Schema, path: str, unknown: list[str], *, is_root: bool) -> None:
    for name in list(value):
        if is_root and name in ROOT_FIELDS:
            continue
        here = f"{path}.{name}" if path else name
        child = schema.child(name)
        if child is None:
            if not (schema.keep_unknown or schema.additional is True):
                del value[name]
                unknown.append(here)
            else:
                value[name] = _whole(value[name])
        elif value[name] is None:
            if not child.nullable and child.default is MISSING:
                del value[name]
        else:
            value[name] = _prune_value(value[name], child, here, unknown)


def _prune_value(value: Any, schema: Schema, path: str, unknown: list[str]) -> Any:
    if isinstance(value, dict):
        _prune_object(value, schema, path, unknown, is_root=schema.embedded)
    elif isinstance(value, list):
        if schema.items is None:
            return _whole(value)
        for index, item in enumerate(value):
            value[index] = _prune_value(item, schema.items, f"{path}[{index}]", unknown)
    elif isinstance(value, float):
        return _whole(value)
    return value


def _whole(value: Any) -> Any:
    """The value with 3.0 written as 3, as Go writes it."""
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= WHOLE else value
    if isinstance(value, dict):
        return {name: _whole(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_whole(each) for each in value]
    return value
