"""The rules of a CRD (`x-kubernetes-validations`): which of them an object breaks, said as the real server says it.

A rule that mentions `oldSelf` is about a change: it counts only where there was a value before, unless it says
`optionalOldSelf`. Items of a list have a former self only when the list is a map. A rule about a value that has not changed
is not held against an update (validation ratcheting).
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import cel

from localcluster.apiserver import fielderrors
from localcluster.apiserver.extension.cel.program import (
    CompileError,
    EvaluationError,
    Program,
    compile_expression,
)
from localcluster.apiserver.extension.cel.typed import reordered, typed
from localcluster.apiserver.extension.schema.lists import key_of
from localcluster.apiserver.extension.schema.structural import MISSING, Rule, Schema
from localcluster.apiserver.extension.schema.values import NOWHERE
from localcluster.apiserver.fielderrors import OMITTED, FieldError

VARIABLES: Final = frozenset({"self", "oldSelf"})
NOT_CHECKED: Final = (
    "some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)
_BLOCKING: Final = frozenset({"Required value", "Unsupported value", "Too long", "Too many"})


def check_rules(value: Any, schema: Schema, old: Any, known: Sequence[FieldError] = ()) -> list[FieldError]:
    """All that is wrong with an object: what is known already, and the rules it breaks.

    Args:
        value: the object.
        schema: its schema.
        old: the object before; None on creation.
        known: what its fields are wrong in. Some of that keeps the rules from being looked at.
    """
    if any(each.type in _BLOCKING or each.reason == "FieldValueTypeInvalid" for each in known):
        return [*known, fielderrors.invalid_value(NOWHERE, None, NOT_CHECKED)]
    before = MISSING if old is None else reordered(old, value, schema)
    return [*known, *_check(value, schema, before, "", is_root=True)]


def has_rules(schema: Schema) -> bool:
    """Whether there is a rule in the schema or below."""
    below = [*schema.properties.values(), schema.items, schema.additional]
    return bool(schema.rules) or any(isinstance(each, Schema) and has_rules(each) for each in below)


def program_of(rule: Rule) -> Program:
    """The compiled rule.

    Raises:
        CompileError: it is no expression.
    """
    return compile_expression(rule.rule, VARIABLES)


def _check(value: Any, schema: Schema, old: Any, path: str, *, is_root: bool = False) -> Iterator[FieldError]:
    if value is None:
        return
    if schema.rules:
        yield from _own_rules(value, schema, old, path, is_root=is_root)
    if isinstance(value, list) and schema.items is not None:
        former = _former_items(old, schema)
        for index, item in enumerate(value):
            was = former.get(repr(key_of(item, schema)), MISSING) if former else MISSING
            yield from _check(item, schema.items, was, f"{path}[{index}]")
    elif isinstance(value, dict):
        before = old if isinstance(old, dict) else {}
        for name, item in value.items():
            was = before.get(name, MISSING)
            if name in schema.properties:
                yield from _check(item, schema.properties[name], was, f"{path}.{name}" if path else name)
            elif isinstance(schema.additional, Schema):
                yield from _check(item, schema.additional, was, f"{path}[{name}]")


def _own_rules(value: Any, schema: Schema, old: Any, path: str, *, is_root: bool) -> Iterator[FieldError]:
    is_change = old is not MISSING and old is not None
    unchanged = is_change and old == value
    variables: dict[str, Any] = {}
    for rule in schema.rules:
        try:
            program = program_of(rule)
        except CompileError as error:
            yield fielderrors.invalid_value(path or NOWHERE, schema.type, f"{error} evaluating rule: {_named(rule)}")
            continue
        about_change = "oldSelf" in program.uses
        if (about_change and not is_change and not rule.optional_old_self) or (unchanged and not about_change):
            continue
        if not variables:
            variables["self"] = typed(value, schema, is_root=is_root)
            if is_change:
                variables["oldSelf"] = typed(old, schema, is_root=is_root)
        given = variables
        if rule.optional_old_self:
            was = cel.OptionalValue.of(variables["oldSelf"]) if is_change else cel.OptionalValue.none()
            given = {**variables, "oldSelf": was}
        yield from _verdict(rule, program, given, _Place(path, schema, value))


class _Place:
    """Where a rule is, and how its complaints name the value."""

    __slots__ = ("path", "type", "value")

    def __init__(self, path: str, schema: Schema, value: Any) -> None:
        self.path = path or NOWHERE
        self.type = schema.type
        self.value = OMITTED if isinstance(value, dict | list) else value

    def at(self, rule: Rule) -> str:
        if not rule.field_path:
            return self.path
        return f"{self.path}{rule.field_path}" if self.path != NOWHERE else rule.field_path.lstrip(".")


def _verdict(rule: Rule, program: Program, variables: dict[str, Any], place: _Place) -> Iterator[FieldError]:
    try:
        result = program.evaluate(variables)
    except EvaluationError as error:
        text = str(error)
        if text == "no such overload":
            told = "call arguments did not match a supported operator, function or macro signature for rule"
            text = f"'{text}': {told}: {_named(rule)}"
        else:
            text = f"{text} evaluating rule: {_named(rule)}"
        yield fielderrors.invalid_value(place.path, place.type, text)
        return
    if result is not True:
        at = place.at(rule)
        value = place.value if at == place.path else OMITTED
        yield _complaint(rule.reason, at, value, _message(rule, variables))


def _complaint(reason: str, at: str, value: Any, message: str) -> FieldError:
    if reason == "FieldValueForbidden":
        return fielderrors.forbidden_field(at, message)
    if reason == "FieldValueRequired":
        return fielderrors.required(at, message)
    if reason == "FieldValueDuplicate":
        return fielderrors.duplicate(at, value)
    return fielderrors.invalid_value(at, value, message)


def _message(rule: Rule, variables: dict[str, Any]) -> str:
    if rule.message_expression:
        try:
            text = compile_expression(rule.message_expression, VARIABLES).evaluate(variables)
        except (CompileError, EvaluationError):
            text = ""
        if isinstance(text, str) and text.strip() and "\n" not in text.strip():
            return text.strip()
    return rule.message.strip() or f"failed rule: {rule.rule.strip()}"


def _named(rule: Rule) -> str:
    return (rule.message or rule.rule).strip()


def _former_items(old: Any, schema: Schema) -> dict[str, Any]:
    if schema.list_type != "map" or not isinstance(old, list):
        return {}
    return {repr(key_of(item, schema)): item for item in old}
