"""Lists that are sets, or maps by some keys of their items: no item may be there twice, each repeated one is named once."""

from collections.abc import Iterator
from typing import Any

from localcluster.apiserver import fielderrors
from localcluster.apiserver.extension.schema.structural import Schema
from localcluster.apiserver.fielderrors import FieldError, shown_value


def check_lists(value: Any, schema: Schema, path: str = "") -> list[FieldError]:
    """What is there twice but must not be."""
    return list(_check(value, schema, path))


def key_of(item: Any, schema: Schema) -> dict[str, Any]:
    """The fields by which an item of a list of type map is known."""
    return {name: item[name] for name in sorted(schema.map_keys) if name in item} if isinstance(item, dict) else {}


def _check(value: Any, schema: Schema, path: str) -> Iterator[FieldError]:
    if isinstance(value, list):
        if schema.list_type != "atomic":
            yield from _duplicates(value, schema, path)
        if schema.items is not None and _has_lists(schema.items):
            for index, item in enumerate(value):
                yield from _check(item, schema.items, f"{path}[{index}]")
    elif isinstance(value, dict):
        for name, item in value.items():
            child = schema.properties.get(name)
            if child is not None:
                yield from _check(item, child, f"{path}.{name}" if path else name)
            elif isinstance(schema.additional, Schema):
                yield from _check(item, schema.additional, f"{path}[{name}]")


def _duplicates(items: list[Any], schema: Schema, path: str) -> Iterator[FieldError]:
    seen: dict[str, int] = {}
    for index, item in enumerate(items):
        if item is None:
            continue
        identity = key_of(item, schema) if schema.list_type == "map" else item
        text = shown_value(identity)
        seen[text] = seen.get(text, 0) + 1
        if seen[text] == 2:
            yield fielderrors.duplicate(f"{path}[{index}]", identity)


def _has_lists(schema: Schema) -> bool:
    return schema.type in {"array", "object"} or schema.items is not None
