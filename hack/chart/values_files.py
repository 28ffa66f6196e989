"""The values as files: values.yaml with a sentence for each, and the schema that refuses what cannot work."""

import json
from typing import Any, Final

import yaml

from hack.chart.values import Schema, Value, definitions, table

_HEADER: Final = """\
# Written by `make chart`. What stands here is what happens when nobody says anything; values.schema.json says what may.
"""


def values_yaml() -> str:
    """The file of defaults."""
    return _HEADER + "".join(_lines(table(), ""))


def values_schema() -> str:
    """The schema of the values, by which Helm refuses what nobody would understand."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Values of the chart tutti",
        **_schema(table()),
        "$defs": definitions(),
    }
    # Helm gives every chart a value `global`, for charts above it.
    schema["properties"]["global"] = {"type": "object"}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _lines(values: dict[str, Any], indent: str) -> list[str]:
    found: list[str] = []
    for name, value in values.items():
        if isinstance(value, Value):
            found += [f"{indent}# {line}\n" for line in value.text.split("\n")]
            text = yaml.safe_dump({name: value.default}, sort_keys=False, width=120, default_flow_style=False)
            found += [f"{indent}{line}\n" for line in text.splitlines()]
        else:
            found += [f"{indent}{name}:\n", *_lines(value, indent + "  ")]
    return found


def _schema(values: dict[str, Any]) -> Schema:
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {name: _field(value) for name, value in values.items()},
    }


def _field(value: Any) -> Schema:
    if isinstance(value, Value):
        return {"description": value.text.replace("\n", " "), **value.schema}
    return _schema(value)
