"""Label and field selectors as predicates over objects.

Pure. Parsing refuses with the real server's sentences.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from localcluster.apiserver import status
from localcluster.apiserver.kinds.kind import KindInfo, Object
from localcluster.apiserver.kinds.names import label_value_problem, qualified_name_problems

Predicate = Callable[[Object], bool]
LabelTest = Callable[[Mapping[str, str]], bool]

_LABEL_TOKENS = re.compile(r"\s*(==|!=|=|!|<|>|,|\(|\)|[^\s=!<>,()]+)")
_FIELD_TERM = re.compile(r"^(.*?)(==|!=|=)(.*)$", re.DOTALL)
_SYMBOLS = frozenset({"=", "==", "!=", "!", "<", ">", ",", "(", ")"})
_OPERATORS = "in, notin, =, ==, !=, gt, lt"


def matches_labels(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether the labels fit a LabelSelector object (`matchLabels`, `matchExpressions`)."""
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(_expression(each, labels) for each in selector.get("matchExpressions") or [])


def _expression(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, operator, values = expression.get("key", ""), expression.get("operator"), expression.get("values") or []
    if operator == "In":
        return key in labels and labels[key] in values
    if operator == "NotIn":
        return key not in labels or labels[key] not in values
    return bool((key in labels) == (operator == "Exists"))


def selector_text(selector: Mapping[str, Any]) -> str:
    """A LabelSelector object in the form that a query takes."""
    terms = [f"{key}={value}" for key, value in sorted((selector.get("matchLabels") or {}).items())]
    for each in selector.get("matchExpressions") or []:
        key, operator, values = each.get("key"), each.get("operator"), ",".join(sorted(each.get("values") or []))
        texts = {"In": f"{key} in ({values})", "NotIn": f"{key} notin ({values})", "Exists": key}
        terms.append(texts.get(operator, f"!{key}"))
    return ",".join(terms)


class _Labels:
    """Reads a label selector token by token."""

    def __init__(self, text: str) -> None:
        self._tokens = _LABEL_TOKENS.findall(text)
        self._at = 0

    def parse(self) -> list[LabelTest]:
        tests: list[LabelTest] = []
        while self._peek():
            tests.append(self._requirement())
            if not self._peek():
                break
            if self._next() != ",":
                raise _refusal(f"found '{self._tokens[self._at - 1]}', expected: ',' or 'end of string'")
            if not self._peek():
                raise _refusal("found '', expected: identifier after ','")
        return tests

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        self._at += 1
        return token

    def _requirement(self) -> LabelTest:
        negated = self._peek() == "!"
        if negated:
            self._next()
        key = self._next()
        if not key or key in _SYMBOLS:
            raise status.bad_request(f"found '{key}', expected: !, identifier, or 'end of string'")
        problems = qualified_name_problems(key)
        if problems:
            raise _refusal(f'key: Invalid value: "{key}": {"; ".join(problems)}')
        if negated:
            return lambda labels: key not in labels
        if self._peek() in {"", ","}:
            return lambda labels: key in labels
        return self._operation(key, self._next())

    def _operation(self, key: str, operator: str) -> LabelTest:
        if operator in {"=", "=="}:
            value = self._value(key)
            return lambda labels: labels.get(key) == value
        if operator == "!=":
            value = self._value(key)
            return lambda labels: labels.get(key) != value
        if operator in {"in", "notin"}:
            values = self._values(key)
            if operator == "in":
                return lambda labels: labels.get(key) in values
            return lambda labels: labels.get(key) not in values
        if operator in {">", "<", "gt", "lt"}:
            return self._comparison(key, operator)
        raise _refusal(f"found '{operator}', expected: {_OPERATORS}")

    def _comparison(self, key: str, operator: str) -> LabelTest:
        text = self._value(key)
        try:
            bound = int(text)
        except ValueError:
            raise _refusal(
                f"values[0][{key}]: Invalid value: \"{text}\": for 'Gt', 'Lt' operators, the value must be an integer"
            ) from None
        above = operator in {">", "gt"}

        def test(labels: Mapping[str, str]) -> bool:
            try:
                value = int(labels[key])
            except (KeyError, ValueError):
                return False
            return value > bound if above else value < bound

        return test

    def _value(self, key: str) -> str:
        if self._peek() in {"", ","}:
            return ""
        return _checked_value(key, self._next())

    def _values(self, key: str) -> frozenset[str]:
        if self._next() != "(":
            raise _refusal(
                f"found '{self._tokens[self._at - 1] if self._at <= len(self._tokens) else ''}' expected: '('"
            )
        values: set[str] = set()
        while True:
            found = self._next()
            if found == ")":
                return frozenset(values or {""})
            if found == ",":
                continue
            if not found:
                raise _refusal("found '', expected: ',' or ')'")
            values.add(_checked_value(key, found))


def _checked_value(key: str, value: str) -> str:
    problem = label_value_problem(value)
    if problem:
        raise _refusal(f'values[0][{key}]: Invalid value: "{value}": {problem}')
    return value


def _refusal(text: str) -> status.StatusError:
    return status.bad_request(f"unable to parse requirement: {text}")


@lru_cache(maxsize=1024)
def label_tests(text: str) -> tuple[LabelTest, ...]:
    """The requirements of a label selector.

    Raises:
        StatusError: it makes no sense.
    """
    return tuple(_Labels(text).parse())


def label_predicate(text: str) -> Predicate | None:
    """Whether an object's labels fit; None when everything does."""
    tests = label_tests(text)
    if not tests:
        return None
    empty: dict[str, str] = {}

    def fits(obj: Object) -> bool:
        labels = obj["metadata"].get("labels") or empty
        return all(test(labels) for test in tests)

    return fits


def field_predicate(kind: KindInfo, text: str) -> Predicate | None:
    """Whether an object's fields fit; None when everything does.

    Raises:
        StatusError: it makes no sense, or the kind cannot select by such a field.
    """
    tests = [_field_test(kind, term) for term in filter(None, text.split(","))]
    if not tests:
        return None
    return lambda obj: all(test(obj) for test in tests)


def exact_name(text: str) -> str:
    """The name that a field selector asks for, "" when it asks for none."""
    for term in text.split(","):
        parts = _FIELD_TERM.match(term)
        if parts is not None and parts[1].strip() == "metadata.name" and parts[2] in {"=", "=="}:
            return parts[3]
    return ""


def _field_test(kind: KindInfo, term: str) -> Predicate:
    parts = _FIELD_TERM.match(term)
    if parts is None:
        raise status.bad_request(f"invalid selector: '{term}'; can't understand '{term}'")
    field, operator, value = parts[1], parts[2], parts[3].replace("\\,", ",").replace("\\=", "=")
    read = _reader(kind, field)
    if operator == "!=":
        return lambda obj: read(obj) != value
    return lambda obj: read(obj) == value


def _reader(kind: KindInfo, field: str) -> Callable[[Object], str]:
    if field == "metadata.name":
        return lambda obj: str(obj["metadata"]["name"])
    if field == "metadata.namespace" and kind.namespaced:
        return lambda obj: str(obj["metadata"].get("namespace", ""))
    read = kind.fields.get(field)
    if read is None:
        if not kind.fields and kind.definition is None:
            raise status.bad_request(
                f'"{field}" is not a known field selector: only "metadata.name", "metadata.namespace"'
            )
        raise status.bad_request(f"field label not supported: {field}")
    return read
