"""The comparison itself: what it sees, what it overlooks on purpose, and what the document may say."""

from pathlib import Path

from tests.parity.differences import HEADER, Difference, Known, differences, known, unknown
from tests.parity.normal import normal


def fields(real: object, here: object) -> list[str]:
    """The differing fields of two answers."""
    return [each.field for each in differences("script", {"step": real}, {"step": here})]


def test_every_differing_field_is_named() -> None:
    real = {"code": 200, "body": {"a": 1, "b": [1, {"c": 2}], "d": None}}
    here = {"code": 200, "body": {"a": 1, "b": [1, {"c": 3}], "e": False}}
    assert fields(real, here) == ["body.b.1.c", "body.d", "body.e"]


def test_zero_is_not_false_and_null_is_not_absent() -> None:
    assert fields({"code": 200, "body": {"a": 0, "b": None}}, {"code": 200, "body": {"a": False}}) == [
        "body.a",
        "body.b",
    ]


def test_of_different_codes_only_the_message_is_compared_further() -> None:
    real = {"code": 409, "body": {"message": "no", "reason": "Conflict"}}
    assert fields(real, {"code": 201, "body": {"metadata": {}}}) == ["code", "body.message"]


def test_a_missing_answer_is_a_difference() -> None:
    (only,) = differences("script", {"step": {"code": 200}}, {})
    assert (only.request, only.field) == ("script/step", "")


def test_an_object_quoted_in_a_complaint_is_compared_field_by_field() -> None:
    one = r"""Invalid value: "{\"a\":1,\"metadata\":{\"name\":\"x\",\"managedFields\":[]}}": no"""
    two = r"""Invalid value: "{\"metadata\":{\"name\":\"x\"},\"a\":1}": no"""
    assert normal(one) == normal(two)
    assert normal(one) != normal(two.replace("1", "2"))
    assert normal('a "{" that is no object') == 'a "{" that is no object'


def test_each_servers_own_values_are_overlooked() -> None:
    one = {"uid": "0b6c2f0a-0f5f-4a0e-9a3e-111111111111", "resourceVersion": "5", "time": "2027-01-15T08:00:00Z"}
    two = {"uid": "0b6c2f0a-0f5f-4a0e-9a3e-222222222222", "resourceVersion": "9", "time": "2027-01-15T09:00:00Z"}
    assert normal(one) == normal(two)
    assert normal({"time": "2027-01-15T08:00:00Z"}) != normal({"time": "2027-01-15T08:00:00.000000Z"})
    assert normal({"resourceVersion": ""}) != normal({"resourceVersion": "5"})


def test_generated_names_are_told_as_such_wherever_they_appear() -> None:
    made = normal({"metadata": {"generateName": "a-", "name": "a-xyz"}, "spec": {"label": "a-xyz"}})
    assert made == {"metadata": {"generateName": "a-", "name": "a-<random>"}, "spec": {"label": "a-<random>"}}


def test_causes_are_compared_in_a_fixed_order() -> None:
    causes = [{"field": "b", "message": "x"}, {"field": "a", "message": "y"}]
    refused = {"kind": "Status", "message": "it is invalid: [b: x, a: y]", "details": {"causes": causes}}
    turned = {"kind": "Status", "message": "it is invalid: [a: y, b: x]", "details": {"causes": causes[::-1]}}
    assert normal(refused) == normal(turned)


def test_kinds_in_discovery_are_compared_in_a_fixed_order() -> None:
    kinds = [{"name": "workloads"}, {"name": "podgroups"}]
    listed = {"kind": "APIResourceList", "resources": kinds}
    assert normal(listed) == normal({**listed, "resources": kinds[::-1]})


def test_ages_are_overlooked_in_their_columns_only() -> None:
    def table(age: str, name: str) -> object:
        return normal(
            {
                "kind": "Table",
                "columnDefinitions": [{"name": "Name"}, {"name": "Age"}],
                "rows": [{"cells": [name, age]}],
            }
        )

    assert table("5s", "5s") == table("7m2s", "5s")
    assert table("5s", "5s") != table("5s", "7m2s")
    assert table("5s", "x") != table("<unknown>", "x")


def test_rows_of_the_document_cover_what_they_name(tmp_path: Path) -> None:
    document = tmp_path / "d.md"
    document.write_text(f"{HEADER}\n|---|---|---|---|---|\n| `a/one; a/two*` | `body.x; code` | r | h | w |\n\nMore.\n")
    (row,) = known(document)
    assert row == Known("a/one; a/two*", "body.x; code")
    found = [
        Difference(request, field, "", "")
        for request, field in (("a/one", "code"), ("a/two more", "body.x"), ("a/three", "code"), ("a/one", "body.y"))
    ]
    assert unknown(found, [row]) == found[2:]
