"""Fills in the defaults of a schema. A default counts where its parent exists, whether that was sent or is a default itself."""

import copy
from typing import Any

from localcluster.apiserver.extension.schema.structural import MISSING, Schema

Object = dict[str, Any]


def apply_defaults(value: Any, schema: Schema) -> None:
    """Fills in, in place, what is missing; a null where null is not allowed counts as missing."""
    if isinstance(value, dict):
        for name, child in schema.properties.items():
            present = value.get(name, MISSING)
            if child.default is not MISSING and (present is MISSING or (present is None and not child.nullable)):
                value[name] = present = copy.deepcopy(child.default)
            if present is not MISSING:
                apply_defaults(present, child)
        if isinstance(schema.additional, Schema):
            _default_map(value, schema.additional, schema)
    elif isinstance(value, list) and schema.items is not None:
        for item in value:
            apply_defaults(item, schema.items)


def _default_map(value: Object, child: Schema, schema: Schema) -> None:
    for name, item in value.items():
        if name in schema.properties:
            continue
        if item is None and not child.nullable and child.default is not MISSING:
            value[name] = copy.deepcopy(child.default)
        apply_defaults(value[name], child)
