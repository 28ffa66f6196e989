"""Tables of custom resources, by the columns their CRD declares."""

from typing import Any

import pytest

from localcluster.apiserver.discovery.tables.jsonpath import BadPath, JsonPath
from tests.localcluster.discovery.kinds import Object, metadata, row, table, toy

CONDITIONS = [{"type": "A", "reason": "no"}, {"type": "X", "reason": "yes", "n": 3}]
VALUE: Object = {
    "metadata": {"labels": {"a.b/c": "l"}},
    "spec": {"n": 3, "list": [1, 2]},
    "status": {"conditions": CONDITIONS},
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".spec.n", [3]),
        (".spec.list[0]", [1]),
        (".spec.list[-1]", [2]),
        (".spec.list[5]", []),
        (".spec.list[*]", [1, 2]),
        (".spec['n']", [3]),
        (r".metadata.labels.a\.b/c", ["l"]),
        ('.metadata.labels["a.b/c"]', ["l"]),
        ('.status.conditions[?(@.type=="X")].reason', ["yes"]),
        (".status.conditions[?(@.type=='X')].reason", ["yes"]),
        ('.status.conditions[?( @.type != "X" )].reason', ["no"]),
        (".status.conditions[?(@.n>2)].type", ["X"]),
        (".status.conditions[?(@.n>=4)].type", []),
        (".status.conditions[?(@.n)].type", ["X"]),
        ('.status.conditions[?(@.n=="x")].type', []),
        (".nothing.at.all", []),
        (".spec.n.deeper", []),
    ],
)
def test_paths_lead_to_values(path: str, found: list[Any]) -> None:
    assert JsonPath(path).find(VALUE) == found


@pytest.mark.parametrize("path", ["spec", ".spec[", "{.spec}", ".a[?(type)]"])
def test_other_texts_are_no_paths(path: str) -> None:
    with pytest.raises(BadPath):
        JsonPath(path)


def column(kind: str, path: str = ".spec.it") -> Object:
    """A column of that type."""
    return {"name": "It", "type": kind, "jsonPath": path}


@pytest.mark.parametrize(
    ("kind", "value", "cell"),
    [
        ("string", "text", "text"),
        ("string", 3, "3"),
        ("string", True, "true"),
        ("string", {"a": [1]}, '{"a":[1]}'),
        ("integer", 3, 3),
        ("integer", 3.0, 3),
        ("integer", "3", None),
        ("number", 1.5, 1.5),
        ("boolean", False, False),
        ("boolean", "yes", None),
        ("date", "2027-01-15T07:59:50Z", "10s"),
        ("date", "soon", "<invalid>"),
        ("date", 5, None),
    ],
)
def test_a_cell_has_the_type_its_column_declares(kind: str, value: Any, cell: Any) -> None:
    assert row(toy(column(kind)), {"metadata": metadata(), "spec": {"it": value}})["It"] == cell


def test_what_is_absent_is_an_empty_cell() -> None:
    assert row(toy(column("string")), {"metadata": metadata()})["It"] is None


def test_a_kind_without_columns_shows_its_age() -> None:
    assert row(toy(), {"metadata": metadata()}) == {"Name": "it", "Age": "100s"}


def test_priorities_and_descriptions_are_the_crds_own() -> None:
    wide = {**column("string"), "priority": 1, "description": "Words."}
    shown = table(toy(wide, column("date")))["columnDefinitions"]
    assert [each["priority"] for each in shown] == [0, 1, 0]
    assert shown[1]["description"] == "Words."
    assert ".spec.it" in shown[2]["description"]
