"""Answers without what must differ between two servers: identities, versions, times, addresses.

What is dropped altogether is listed in docs/localcluster.md under "Not compared", and a test checks that list.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

DROPPED = ("managedFields", "storageVersionHash", "columnDefinitions.description")

_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_MICRO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
_AGE = re.compile(r"-?(\d+[smhdy])+")
_AGO = re.compile(r"\((\d+[smhdy])+ ago\)")
_SERVER = re.compile(r"127\.0\.0\.1:\d+")
_VERSIONS = re.compile(r"((?:resource version|current|too old resource version): )\d+(?: \(\d+\))?")
_PRECONDITIONS = re.compile(r"(ResourceVersion in (?:the precondition|record)) \(\d+\)")
_OBJECT_VERSION = re.compile(r"(ResourceVersion in object meta:) \d+")
_QUOTED_VERSION = re.compile(r'(resourceVersion\\*":\\*")\d+')
_CLUSTER_ADDRESS = re.compile(r"10\.0\.\d+\.\d+")
_TOKEN = re.compile(r"eyJ[\w.-]{20,}")
_QUOTED_OBJECT = re.compile(r'"\{(?:[^"\\]|\\.)*\}"')
_LONG = 10_000
_AGES = {"age", "last seen", "first seen", "duration", "last schedule", "timeadded"}


def normal(value: Any) -> Any:
    """The value with placeholders for what is each server's own."""
    return _placeholders(_without_random_names(value))


def _without_random_names(value: Any) -> Any:
    """The value with every generated name told as such, wherever it appears."""
    if not isinstance(value, dict | list):
        return value
    text = json.dumps(value)
    for prefix, name in set(_generated_names(value)):
        text = text.replace(name, f"{prefix}<random>")
    return json.loads(text)


def _generated_names(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        prefix, name = value.get("generateName"), value.get("name")
        if prefix and isinstance(name, str) and name.startswith(prefix):
            yield prefix, name
    inner: Iterable[Any] = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in inner:
        yield from _generated_names(each)


def _sorted_quote(match: re.Match[str]) -> str:
    """An object that is quoted in a text, with its fields in order: which comes first is each server's own."""
    try:
        found = json.loads(json.loads(match[0]))
        kept = found | {"metadata": _kept(found["metadata"])} if isinstance(found.get("metadata"), dict) else found
        quoted = json.dumps(kept, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    except ValueError:
        return match[0]
    return json.dumps(quoted, ensure_ascii=False)


def _kept(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key not in DROPPED}


def _placeholders(value: Any) -> Any:
    if isinstance(value, dict):
        if value.get("kind") == "Table":
            value = _table(value)
        if value.get("kind") == "Status":
            value = _unordered(value)
        if value.get("kind") == "APIResourceList":
            # Kinds made from definitions come in the order in which the server happened to see those.
            value = {**value, "resources": sorted(value["resources"], key=lambda each: str(each["name"]))}
        return {key: _field(key, inner) for key, inner in value.items() if key not in DROPPED}
    if isinstance(value, list):
        return [_placeholders(each) for each in value]
    return _text(value) if isinstance(value, str) else value


def _field(key: str, value: Any) -> Any:
    if key == "resourceVersion" and value:
        return "<version>"
    if key == "continue" and value:
        return "<token>"
    if key in {"clusterIP", "clusterIPs"}:
        return _addresses(value)
    return _placeholders(value)


def _addresses(value: Any) -> Any:
    if isinstance(value, list):
        return [_addresses(each) for each in value]
    return _CLUSTER_ADDRESS.sub("<address>", str(value))


def _text(text: str) -> str:
    for pattern, placeholder in (
        (_UID, "<uid>"),
        (_MICRO_TIME, "<micro time>"),
        (_TIME, "<time>"),
        (_AGO, "(<age> ago)"),
        (_SERVER, "<server>"),
        (_TOKEN, "<token>"),
        (_VERSIONS, r"\1<version>"),
        (_QUOTED_VERSION, r"\1<version>"),
        (_PRECONDITIONS, r"\1 (<version>)"),
        (_OBJECT_VERSION, r"\1 <version>"),
    ):
        text = pattern.sub(placeholder, text)
    text = _QUOTED_OBJECT.sub(_sorted_quote, text)
    return (
        text if len(text) < _LONG else f"<{len(text)} characters, SHA-256 {hashlib.sha256(text.encode()).hexdigest()}>"
    )


def _unordered(status: dict[str, Any]) -> dict[str, Any]:
    """A Status whose causes are in a fixed order: a real server tells several faults in any order."""
    details = status.get("details") or {}
    causes = details.get("causes") or []
    if len(causes) < 2:
        return status
    ordered = sorted(causes, key=lambda cause: (cause.get("field", ""), cause.get("message", "")))
    message = str(status.get("message", "")).partition(": [")[0] + ": [<causes>]"
    return {**status, "message": message, "details": {**details, "causes": ordered}}


def _table(value: dict[str, Any]) -> dict[str, Any]:
    columns = value.get("columnDefinitions")
    rows = [{**row, "cells": _cells(columns, row["cells"])} for row in value.get("rows") or []]
    shown = columns and [{key: inner for key, inner in each.items() if key != "description"} for each in columns]
    return {**value, "columnDefinitions": shown, "rows": rows}


def _cells(columns: list[dict[str, Any]] | None, cells: list[Any]) -> list[Any]:
    if not columns:
        return ["<age>" if isinstance(cell, str) and _AGE.fullmatch(cell) else cell for cell in cells]
    return [_cell(column["name"], cell) for column, cell in zip(columns, cells, strict=True)]


def _cell(column: str, cell: Any) -> Any:
    if column.lower() in _AGES and isinstance(cell, str) and _AGE.fullmatch(cell):
        return "<age>"
    return _CLUSTER_ADDRESS.sub("<address>", cell) if column == "Cluster-IP" else cell
