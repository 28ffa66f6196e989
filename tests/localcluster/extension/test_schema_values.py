"""What a value is told when it does not fit its schema; sentences recorded from a real API server (1.37)."""

from typing import Any

import pytest

from localcluster.apiserver.extension.schema.lists import check_lists
from localcluster.apiserver.extension.schema.structural import parse_schema
from localcluster.apiserver.extension.schema.values import check_value
from tests.localcluster.extension.crds import Object, object_schema

TEXT: Object = {"type": "string"}
LISTED = object_schema(name=TEXT, port={"type": "integer"})
FIELDS: Object = {
    "i": {"type": "integer", "minimum": 1, "maximum": 5},
    "i32": {"type": "integer", "format": "int32"},
    "ex": {"type": "integer", "minimum": 1, "exclusiveMinimum": True, "maximum": 5, "exclusiveMaximum": True},
    "n": {"type": "number", "multipleOf": 0.5},
    "s": {"type": "string", "minLength": 2, "maxLength": 4},
    "p": {"type": "string", "pattern": "^a+$"},
    "e": {"type": "string", "enum": ["x", "y"]},
    "ei": {"type": "integer", "enum": [1, 2]},
    "b": {"type": "boolean"},
    "arr": {"type": "array", "minItems": 1, "maxItems": 2, "items": TEXT},
    "obj": {"type": "object", "minProperties": 1, "maxProperties": 2, "additionalProperties": {"type": "integer"}},
    "req": {**object_schema(a=TEXT, b=TEXT), "required": ["a", "b"]},
    "dt": {"type": "string", "format": "date-time"},
    "cidr": {"type": "string", "format": "cidr"},
    "nul": {"type": "string", "nullable": True},
    "one": {**object_schema(a=TEXT, b=TEXT), "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
    "any": {**object_schema(a=TEXT, b=TEXT), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
    "all": {**object_schema(a=TEXT, b=TEXT), "allOf": [{"required": ["a"]}, {"required": ["b"]}]},
    "not": {**object_schema(a=TEXT), "not": {"required": ["a"]}},
    "io": {"x-kubernetes-int-or-string": True},
    "emb": {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
    "set": {"type": "array", "x-kubernetes-list-type": "set", "items": TEXT},
    "map": {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name", "port"],
        "items": LISTED,
    },
}
SCHEMA = parse_schema(object_schema(spec=object_schema(**FIELDS)))


@pytest.mark.parametrize(
    "spec",
    [
        {"i": 3},
        {"i": 3.0},
        {"s": "éé"},
        {"n": 1.5},
        {"dt": "2024-01-01T00:00:00Z"},
        {"dt": "2024-01-01T00:00:00.123456789+01:00"},
        {"nul": None},
        {"io": 5},
        {"io": "x"},
        {"one": {"a": "x"}},
        {"map": [{"name": "a", "port": 1}, {"name": "a", "port": 2}]},
        {"emb": {"apiVersion": "v1", "kind": "Pod"}},
    ],
)
def test_a_value_that_fits_is_taken(spec: Object) -> None:
    assert complaints(spec) == []


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"i": 0}, ["spec.i: Invalid value: 0: spec.i in body should be greater than or equal to 1"]),
        ({"i": 9}, ["spec.i: Invalid value: 9: spec.i in body should be less than or equal to 5"]),
        ({"i": "x"}, ['spec.i: Invalid value: "string": spec.i in body must be of type integer: "string"']),
        ({"i": True}, ['spec.i: Invalid value: "boolean": spec.i in body must be of type integer: "boolean"']),
        (
            {"i": 1.5},
            [
                'spec.i: Invalid value: "number": spec.i in body must be of type integer: "number"',
                '<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.i',
            ],
        ),
        (
            {"i32": 2**31},
            ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.i32'],
        ),
        ({"ex": 1}, ["spec.ex: Invalid value: 1: spec.ex in body should be greater than 1"]),
        ({"ex": 5}, ["spec.ex: Invalid value: 5: spec.ex in body should be less than 5"]),
        ({"n": 1.7}, ["spec.n: Invalid value: 1.7: spec.n in body should be a multiple of 0.5"]),
        ({"s": "a"}, ['spec.s: Invalid value: "a": spec.s in body should be at least 2 chars long']),
        ({"s": "abcde"}, ["spec.s: Too long: may not be more than 4 bytes"]),
        ({"p": "a\n"}, ["spec.p: Invalid value: \"a\\n\": spec.p in body should match '^a+$'"]),
        ({"e": "z"}, ['spec.e: Unsupported value: "z": supported values: "x", "y"']),
        (
            {"e": 5},
            [
                'spec.e: Invalid value: "integer": spec.e in body must be of type string: "integer"',
                'spec.e: Unsupported value: 5: supported values: "x", "y"',
            ],
        ),
        ({"ei": 7}, ['spec.ei: Unsupported value: 7: supported values: "1", "2"']),
        ({"arr": []}, ["spec.arr: Invalid value: 0: spec.arr in body should have at least 1 items"]),
        ({"arr": ["a", "b", "c"]}, ["spec.arr: Too many: 3: must have at most 2 items"]),
        (
            {"arr": [1]},
            ['spec.arr[0]: Invalid value: "integer": spec.arr[0] in body must be of type string: "integer"'],
        ),
        ({"obj": {}}, ["spec.obj: Invalid value: 0: spec.obj in body should have at least 1 properties"]),
        (
            {"obj": {"a": "x"}},
            ['spec.obj.a: Invalid value: "string": spec.obj.a in body must be of type integer: "string"'],
        ),
        ({"req": {}}, ["spec.req.a: Required value", "spec.req.b: Required value"]),
        (
            {"dt": "2024-13-01T00:00:00Z"},
            [
                (
                    'spec.dt: Invalid value: "2024-13-01T00:00:00Z": spec.dt in body must be of type date-time: '
                    '"2024-13-01T00:00:00Z"'
                )
            ],
        ),
        ({"cidr": "x"}, ['spec.cidr: Invalid value: "x": spec.cidr in body must be of type cidr: "x"']),
        (
            {"one": {}},
            [
                '<nil>: Invalid value: "": "spec.one" must validate one and only one schema (oneOf). Found none valid',
                "spec.one.a: Required value",
            ],
        ),
        (
            {"one": {"a": "x", "b": "y"}},
            [
                (
                    '<nil>: Invalid value: "": "spec.one" must validate one and only one schema (oneOf). '
                    "Found 2 valid alternatives"
                )
            ],
        ),
        (
            {"any": {}},
            [
                '<nil>: Invalid value: "": "spec.any" must validate at least one schema (anyOf)',
                "spec.any.a: Required value",
            ],
        ),
        (
            {"all": {}},
            [
                "spec.all.a: Required value",
                "spec.all.b: Required value",
                '<nil>: Invalid value: "": "spec.all" must validate all the schemas (allOf). None validated',
            ],
        ),
        ({"not": {"a": "x"}}, ['<nil>: Invalid value: "": "spec.not" must not validate the schema (not)']),
        ({"io": 1.5}, ['spec.io: Invalid value: "number": spec.io in body must be of type integer,string: "number"']),
        ({"emb": {}}, ["spec.emb.apiVersion: Required value", "spec.emb.kind: Required value"]),
        ({"set": ["a", "b", "a", "a"]}, ['spec.set[2]: Duplicate value: "a"']),
        (
            {"map": [{"name": "a", "port": 1}, {"name": "a", "port": 1}]},
            ['spec.map[1]: Duplicate value: {"name":"a","port":1}'],
        ),
    ],
)
def test_a_value_that_does_not_fit_is_told_where_and_why(spec: Object, told: list[str]) -> None:
    assert complaints(spec) == told


def test_a_cause_says_that_the_type_is_wrong() -> None:
    (complaint,) = check_value({"spec": {"i": "x"}}, SCHEMA)
    assert complaint.cause()["reason"] == "FieldValueTypeInvalid"


def test_the_path_of_a_status_is_in_front_of_the_complaint_but_not_in_its_sentence() -> None:
    status = parse_schema(object_schema(x={"type": "integer"}))
    (complaint,) = check_value({"x": "bad"}, status, base="status")
    assert str(complaint) == 'status.x: Invalid value: "string": x in body must be of type integer: "string"'


def test_what_was_wrong_before_and_has_not_changed_is_not_held_against_an_update() -> None:
    old = {"spec": {"i": 0, "s": "ok"}}
    assert check_value({"spec": {"i": 0, "s": "yes"}}, SCHEMA, old=old) == []
    assert len(check_value({"spec": {"i": -1, "s": "ok"}}, SCHEMA, old=old)) == 1


def complaints(spec: Object) -> list[str]:
    obj: dict[str, Any] = {"spec": spec}
    return [str(each) for each in [*check_value(obj, SCHEMA), *check_lists(obj, SCHEMA)]]
