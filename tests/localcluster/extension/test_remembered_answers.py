"""An expression that was answered for the same variables is not evaluated again, and says the same as if it were."""

import datetime
from collections.abc import Mapping
from typing import Any

import pytest

from localcluster.apiserver.extension.cel.authorizer import AuthorizerVariable
from localcluster.apiserver.extension.cel.program import (
    LONGEST_QUESTION_BYTES,
    MOST_ANSWERS,
    EvaluationError,
    Program,
    compile_expression,
)

DECLARED = frozenset({"object", "self", "authorizer"})
MAY_READ = "object.x == 'y' || authorizer.group('').resource('pods').check('get').allowed()"


def fresh(expression: str) -> Program:
    compile_expression.cache_clear()
    return compile_expression(expression, DECLARED)


def kept(program: Program) -> int:
    return len(program._answers)


def allows(*verbs: str) -> AuthorizerVariable:
    return AuthorizerVariable(lambda question: question["verb"] in verbs, {"resource": "jobs", "name": "j"})


def test_an_answer_is_kept_by_what_the_expression_mentions() -> None:
    program = fresh("object.spec.n > 2")
    assert program.evaluate({"object": {"spec": {"n": 3}, "name": "a"}}) is True
    assert program.evaluate({"object": {"spec": {"n": 3}, "name": "b"}}) is True
    assert kept(program) == 1
    assert program.evaluate({"object": {"spec": {"n": 1}}}) is False
    assert program.evaluate({"object": {"spec": {"n": 3}}}) is True
    assert kept(program) == 2


@pytest.mark.parametrize(
    ("expression", "first", "second"),
    [
        ("type(object.n) == int", {"n": 1}, {"n": 1.0}),
        ("object.n == '1'", {"n": "1"}, {"n": 1}),
        ("has(object.n)", {"n": None}, {}),
        ("'a' in object.n", {"n": {"a": 1}}, {"n": {"b": 1}}),
        ("object.n == [1, 2]", {"n": [1, 2]}, {"n": [2, 1]}),
    ],
)
def test_values_that_are_not_the_same_are_never_mistaken(
    expression: str, first: Mapping[str, Any], second: Mapping[str, Any]
) -> None:
    told = [fresh(expression).evaluate({"object": each}) for each in (first, second)]
    program = fresh(expression)
    assert [program.evaluate({"object": each}) for each in (first, second, first)] == [*told, told[0]]
    assert told == [True, False]


def test_what_has_no_value_is_asked_again() -> None:
    program = fresh("object.nope == 1")
    for _ in range(2):
        with pytest.raises(EvaluationError):
            program.evaluate({"object": {}})
    assert kept(program) == 0


def test_long_variables_and_such_that_are_no_json_are_not_kept() -> None:
    program = fresh("object.a == object.b")
    long = "x" * LONGEST_QUESTION_BYTES
    now = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    for value in (long, now, datetime.timedelta(seconds=1), b"bytes"):
        assert program.evaluate({"object": {"a": value, "b": value}}) is True
    assert kept(program) == 0


def test_a_list_that_somebody_could_change_is_not_kept() -> None:
    program = fresh("object.l.map(x, x + 1)")
    assert program.evaluate({"object": {"l": [1]}}) == [2]
    assert kept(program) == 0


def test_only_so_many_are_kept() -> None:
    program = fresh("object.n >= 0")
    for number in range(MOST_ANSWERS + 2):
        assert program.evaluate({"object": {"n": number}}) is True
    assert kept(program) == 2


def test_an_answer_that_follows_from_a_right_holds_while_the_right_does() -> None:
    program, given = fresh(MAY_READ), {"object": {"x": "z"}}
    assert program.evaluate({**given, "authorizer": allows("get")}) is True
    assert program.evaluate({**given, "authorizer": allows("get")}) is True
    assert program.evaluate({**given, "authorizer": allows("list")}) is False
    assert program.evaluate({**given, "authorizer": allows("get")}) is True
    assert kept(program) == 1


def test_an_answer_that_follows_from_a_right_is_not_given_without_an_authorizer() -> None:
    program, given = fresh(MAY_READ), {"object": {"x": "z"}}
    assert program.evaluate({**given, "authorizer": allows("get")}) is True
    with pytest.raises(EvaluationError):
        program.evaluate(given)


def test_a_right_that_was_not_asked_for_does_not_count() -> None:
    program, given = fresh(MAY_READ), {"object": {"x": "y"}}
    assert program.evaluate({**given, "authorizer": allows()}) is True
    assert program.evaluate(given) is True


def test_a_right_on_the_object_of_the_request_is_asked_for_every_time() -> None:
    program = fresh("authorizer.requestResource.check('get').allowed()")

    def named(name: str) -> AuthorizerVariable:
        return AuthorizerVariable(lambda question: question.get("name") == "mine", {"resource": "jobs", "name": name})

    assert [program.evaluate({"authorizer": named(each)}) for each in ("mine", "yours", "mine")] == [True, False, True]
    assert kept(program) == 0
