"""`x-kubernetes-validations`: when a rule is looked at, and what a broken one is told; recorded from a real server."""

from typing import Any

import pytest

from localcluster.apiserver.extension.cel.rules import NOT_CHECKED, check_rules
from localcluster.apiserver.extension.schema.structural import parse_schema
from localcluster.apiserver.extension.schema.values import check_value
from tests.localcluster.extension.crds import Object, object_schema

INT: Object = {"type": "integer"}


def ruled(schema: Object, *rules: Object) -> Object:
    return {**schema, "x-kubernetes-validations": list(rules)}


def complaints(schema: Object, spec: Any, old: Any = None) -> list[str]:
    parsed = parse_schema(object_schema(spec=schema))
    obj = {"spec": spec}
    found = check_value(obj, parsed)
    return [str(each) for each in check_rules(obj, parsed, None if old is None else {"spec": old}, found)]


NUMBERS = object_schema(
    a=INT, b=INT, m={"type": "object", "additionalProperties": INT}, l={"type": "array", "items": INT},
    io={"x-kubernetes-int-or-string": True},
)  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ({"rule": "self.a > 3"}, "spec: Invalid value: failed rule: self.a > 3"),
        (
            {"rule": "self.a > 3", "message": "  trimmed  ", "fieldPath": ".a", "reason": "FieldValueForbidden"},
            "spec.a: Forbidden: trimmed",
        ),
        ({"rule": "self.a > 3", "message": "m", "reason": "FieldValueRequired"}, "spec: Required value: m"),
        ({"rule": "self.a > 3", "message": "m", "reason": "FieldValueDuplicate"}, "spec: Duplicate value"),
        ({"rule": "self.a > 3", "messageExpression": "'a is ' + string(self.a)"}, "spec: Invalid value: a is 1"),
        (
            {"rule": "self.a > 3", "messageExpression": "string(self.m.zz)", "message": "fallback"},
            "spec: Invalid value: fallback",
        ),
        (
            {"rule": "self.m.foo == 1"},
            'spec: Invalid value: "object": no such key: foo evaluating rule: self.m.foo == 1',
        ),
        (
            {"rule": "1 / self.b == 1", "message": "division"},
            'spec: Invalid value: "object": division by zero evaluating rule: division',
        ),
        (
            {"rule": "self.l[10] == 1"},
            'spec: Invalid value: "object": index out of bounds: 10 evaluating rule: self.l[10] == 1',
        ),
        (
            {"rule": "self.io > 3"},
            (
                "spec: Invalid value: \"object\": 'no such overload': call arguments did not match a supported operator, "
                "function or macro signature for rule: self.io > 3"
            ),
        ),
    ],
)
def test_a_broken_rule_is_told(rule: Object, told: str) -> None:
    assert complaints(ruled(NUMBERS, rule), {"a": 1, "b": 0, "m": {"x": 1}, "l": [1], "io": "x"}) == [told]


def test_a_scalar_is_shown_and_paths_name_items_and_keys() -> None:
    word = ruled({"type": "string"}, {"rule": "self.startsWith('a')"})
    schema = object_schema(
        l={"type": "array", "items": word}, m={"type": "object", "additionalProperties": word}, s=word
    )
    failed = "failed rule: self.startsWith('a')"
    assert complaints(schema, {"l": ["a", "x"], "m": {"k.y": "x"}, "s": "x"}) == [
        f'spec.l[1]: Invalid value: "x": {failed}',
        f'spec.m[k.y]: Invalid value: "x": {failed}',
        f'spec.s: Invalid value: "x": {failed}',
    ]


def test_rules_are_not_looked_at_when_the_value_has_the_wrong_shape() -> None:
    schema = ruled(NUMBERS, {"rule": "self.a > 3"})
    assert complaints(schema, {"a": "x"})[-1] == f"<nil>: Invalid value: null: {NOT_CHECKED}"
    outside = {**NUMBERS, "properties": {**NUMBERS["properties"], "a": {"type": "integer", "minimum": 2}}}
    assert complaints(ruled(outside, {"rule": "self.a > 3"}), {"a": 1})[-1].endswith("failed rule: self.a > 3")


IMMUTABLE = {"rule": "self == oldSelf", "message": "immutable"}


def test_a_rule_about_a_change_counts_only_where_something_was() -> None:
    schema = object_schema(a=ruled(INT, IMMUTABLE))
    assert complaints(schema, {"a": 1}) == []
    assert complaints(schema, {"a": 1}, {}) == []
    assert complaints(schema, {"a": 1}, {"a": 1}) == []
    assert complaints(schema, {"a": 2}, {"a": 1}) == ["spec.a: Invalid value: 2: immutable"]


def test_a_rule_with_optional_old_self_is_looked_at_on_creation_too() -> None:
    rule = {"rule": "oldSelf.hasValue() ? self >= oldSelf.value() : self == 0", "optionalOldSelf": True}
    schema = object_schema(a=ruled(INT, rule))
    assert complaints(schema, {"a": 0}) == []
    assert len(complaints(schema, {"a": 1})) == 1
    assert complaints(schema, {"a": 2}, {"a": 1}) == []
    assert len(complaints(schema, {"a": 0}, {"a": 1})) == 1


def test_items_have_a_former_self_in_lists_that_are_maps_only() -> None:
    item = ruled(object_schema(name={"type": "string"}, v=INT), {"rule": "self.v >= oldSelf.v", "message": "less"})
    keyed = {
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": item,
    }  # fmt: skip
    old, new = [{"name": "a", "v": 1}, {"name": "b", "v": 5}], [{"name": "b", "v": 4}, {"name": "a", "v": 2}]
    assert complaints(object_schema(l=keyed), {"l": new}, {"l": old}) == ["spec.l[0]: Invalid value: less"]
    assert complaints(object_schema(l={"type": "array", "items": item}), {"l": new}, {"l": old}) == []


def test_the_order_of_a_set_or_map_is_no_difference() -> None:
    item = object_schema(name={"type": "string"}, v=INT)
    keyed = {
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": item,
    }  # fmt: skip
    schema = object_schema(
        l=ruled(keyed, IMMUTABLE), s=ruled({"type": "array", "x-kubernetes-list-type": "set", "items": INT}, IMMUTABLE)
    )
    a, b = {"name": "a", "v": 1}, {"name": "b", "v": 1}
    assert complaints(schema, {"l": [b, a], "s": [2, 1]}, {"l": [a, b], "s": [1, 2]}) == []
    assert len(complaints(schema, {"l": [b, {**a, "v": 2}]}, {"l": [a, b]})) == 1


def test_an_unchanged_value_is_not_held_against_an_update() -> None:
    schema = object_schema(a=ruled(INT, {"rule": "self > 3"}), b=INT)
    assert complaints(schema, {"a": 1, "b": 2}, {"a": 1, "b": 1}) == []
    assert len(complaints(schema, {"a": 2, "b": 1}, {"a": 1, "b": 1})) == 1


def test_values_have_the_types_that_the_schema_says() -> None:
    schema = ruled(
        object_schema(
            n={"type": "number"}, t={"type": "string", "format": "date-time"}, d={"type": "string", "format": "duration"},
            **{"a-b": INT}
        ),
        {"rule": "self.n + 0.5 == 1.5 && self.t < timestamp('2030-01-01T00:00:00Z') && self.d > duration('1m')"},
        {"rule": "self.a__dash__b == 4"},
    )  # fmt: skip
    assert complaints(schema, {"n": 1, "t": "2024-01-01T00:00:00Z", "d": "1h30m", "a-b": 4}) == []
