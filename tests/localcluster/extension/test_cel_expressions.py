"""Expressions as Kubernetes has them, on the library: what it lacks, and the words of its errors."""

from typing import Any

import pytest

from localcluster.apiserver.extension.cel.names import escape
from localcluster.apiserver.extension.cel.program import CompileError, EvaluationError, compile_expression
from localcluster.apiserver.extension.cel.rewrite import rewrite

DECLARED = frozenset({"object", "self"})
OBJECT = {
    "metadata": {"annotations": {"a/b": "1"}},
    "spec": {"n": 3, "l": ["a", "b"], "x__dash__y": 5, "items": [{"name": "a"}, {"name": "b"}]},
}


def value(expression: str, obj: Any = OBJECT) -> Any:
    return compile_expression(expression, DECLARED).evaluate({"object": obj, "self": obj})


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("object.?spec.?n.orValue(0)", 3),
        ("object.?spec.n.orValue(0)", 3),
        ("object.?nope.n.orValue(7)", 7),
        ("object[?'spec'].l[?1].orValue('q')", "b"),
        ("object[?'spec'].l[5].orValue('q')", "q"),
        ("object.?spec.?n.optMap(x, x + 1).orValue(9)", 4),
        ("object.?nope.optMap(x, x + 1).orValue(9)", 9),
        ("object.?nope.hasValue() || true", True),
        ("object.?nope.or(object.?spec.?n).value()", 3),
        ("object.spec.l.size() == 2 && size('é') == 1", True),
        ("object.spec.l.all(x, x.matches('^[a-z]$'))", True),
        ("'a\\n'.matches('^a$')", False),
        ("object.spec.`x-y`", 5),
        ("has(object.metadata.labels)", False),
        ("has(object.metadata.annotations) && 'a/b' in object.metadata.annotations", True),
        ("object.spec.items.exists(i, i.name == 'b')", True),
        ("object.spec.items.map(i, i.name)", ["a", "b"]),
        ("object.nope == 1 || true", True),
        ("math.greatest(1, 2) == 2 && sets.contains([1, 2], [1])", True),
        ("{'a': self.spec.n}.a", 3),
        ("'size(x) .? [?' + \"matches\" // a comment", "size(x) .? [?matches"),
    ],
)
def test_an_expression_has_its_value(expression: str, expected: object) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("object.nope", "no such key: nope"),
        ("object.metadata.annotations['x']", "no such key: x"),
        ("object.spec.l[9] == 'a'", "index out of bounds: 9"),
        ("1 / (object.spec.n - 3)", "division by zero"),
        ("1 % (object.spec.n - 3)", "modulus by zero"),
        ("object.spec.n > 'a'", "no such overload"),
        ("object.spec.n.startsWith('a')", "no such overload"),
        ("9223372036854775807 + object.spec.n", "integer overflow"),
    ],
)
def test_an_error_is_told_in_the_words_of_the_real_server(expression: str, told: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        value(expression)
    assert str(caught.value) == told


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("nope == 1", "ERROR: <input>:1:1: undeclared reference to 'nope' (in container '')\n | nope == 1\n | ^"),
        ("foo(self.a)", "ERROR: <input>:1:4: undeclared reference to 'foo' (in container '')\n | foo(self.a)\n | ...^"),
        (
            "self.a.foo()",
            "ERROR: <input>:1:11: undeclared reference to 'foo' (in container '')\n | self.a.foo()\n | ..........^",
        ),
        (
            "self.s.matches('(')",
            "ERROR: <input>:1:16: invalid matches argument\n | self.s.matches('(')\n | ...............^",
        ),
    ],
)
def test_what_is_no_expression_is_refused_with_a_pointer_to_the_place(expression: str, told: str) -> None:
    with pytest.raises(CompileError) as caught:
        compile_expression(expression, DECLARED)
    assert str(caught.value) == f"compilation failed: {told}"


def test_a_syntax_error_points_at_its_place() -> None:
    with pytest.raises(CompileError, match=r"(?s)ERROR: <input>:1:11: Syntax error: .* \| self.a == \n \| \.{10}\^"):
        compile_expression("self.a == ", DECLARED)


def test_names_that_macros_bind_are_declared() -> None:
    assert value("object.spec.l.exists(word, word == 'a') && object.spec.l.filter(w, w != 'a').size() == 1") is True


def test_only_the_mentioned_parts_of_a_variable_are_handed_over() -> None:

    obj = {"metadata": {"labels": {"a": "b"}, "managedFields": object()}, "spec": object()}
    assert value("has(object.metadata.labels) && object.metadata.labels['a'] == 'b'", obj) is True


def test_an_expression_is_compiled_once() -> None:
    assert compile_expression("object.a == 1", DECLARED) is compile_expression("object.a == 1", DECLARED)


def test_an_expression_without_peculiarities_stays_as_it_is() -> None:
    source = "has(self.a) ? self.a : [1, 2].map(x, x * 2)[0] // end"
    assert rewrite(source) == source.removesuffix("// end")


@pytest.mark.parametrize(
    ("name", "escaped"),
    [("a-b", "a__dash__b"), ("a.b/c", "a__dot__b__slash__c"), ("a__b", "a__underscores__b"), ("in", "__in__")],
)
def test_a_field_that_is_no_identifier_has_an_escaped_name(name: str, escaped: str) -> None:
    assert escape(name) == escaped
