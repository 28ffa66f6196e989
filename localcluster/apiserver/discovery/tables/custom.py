"""Rows of custom resources: the name, then what the CRD's `additionalPrinterColumns` say.

A column that finds nothing, or something of another type than it declares, is empty (null); a CRD version without
columns shows the age.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from api.age import INVALID, duration
from localcluster.apiserver.discovery.tables.age import UNKNOWN, moment
from localcluster.apiserver.discovery.tables.cells import NAME, Cell, Column, Object, Printer, name_of
from localcluster.apiserver.discovery.tables.jsonpath import JsonPath

DEFAULT_COLUMNS: list[Mapping[str, Any]] = [{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}]


def custom_printer(definition: Object, version: str) -> Printer:
    """The printer of one version of a CRD."""
    declared: Object = next((each for each in definition["spec"]["versions"] if each["name"] == version), {})
    described = declared.get("additionalPrinterColumns") or DEFAULT_COLUMNS
    columns = (NAME, *(_column(each) for each in described))
    readers = [_reader(each) for each in described]

    def cells(obj: Object, now: float) -> list[Cell]:
        return [name_of(obj), *(read(obj, now) for read in readers)]

    return Printer(columns, cells)


def _column(described: Mapping[str, Any]) -> Column:
    fallback = f"Custom resource definition column (in JSONPath format): {described['jsonPath']}"
    return Column(
        described["name"],
        type=described["type"],
        format=described.get("format", ""),
        priority=described.get("priority", 0),
        description=described.get("description") or fallback,
    )


def _reader(described: Mapping[str, Any]) -> Callable[[Object, float], Cell]:
    path, convert = JsonPath(described["jsonPath"]), _CELLS.get(described["type"], _nothing)

    def read(obj: Object, now: float) -> Cell:
        found = path.find(obj)
        return convert(found[0], now) if found else None

    return read


def _nothing(_value: Any, _now: float) -> Cell:
    return None


def _string(value: Any, _now: float) -> Cell:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "<nil>"
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, sort_keys=True)


def _integer(value: Any, _now: float) -> Cell:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _number(value: Any, _now: float) -> Cell:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _boolean(value: Any, _now: float) -> Cell:
    return value if isinstance(value, bool) else None


def _date(value: Any, now: float) -> Cell:
    if not isinstance(value, str):
        return None
    if not value:
        return UNKNOWN
    then = moment(value)
    return INVALID if then is None else duration(now - then)


_CELLS: dict[str, Callable[[Any, float], Cell]] = {
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "date": _date,
}
