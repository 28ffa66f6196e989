r"""The JSON paths of printer columns: fields, indexes, wildcards and filters by one comparison.

Pure. Columns may use `.a.b`, `.a\.b`, `['a']`, `[0]`, `[-1]`, `[*]` and `[?(@.type=="Ready")]` with the six
comparisons, also `[?(@.type)]` for presence. What a path does not find is left out: a missing field is no error.
"""

import operator
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

Step = Callable[[Any], Iterable[Any]]

_FIELD = re.compile(r"\.((?:\\.|[^.\[\\])+)")
_BRACKET = re.compile(r"""\[(?:(-?\d+)|(\*)|'([^']*)'|"([^"]*)")\]""")
_FILTER = re.compile(
    r"""\[\?\(\s*@((?:\\.|[^=!<>()\s"'])*)\s*(?:(==|!=|<=|>=|<|>)\s*("[^"]*"|'[^']*'|[^)\s]+)\s*)?\)\]"""
)

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class BadPath(ValueError):
    """The text is no JSON path of the supported form."""


class JsonPath:
    """One path, parsed once and applied to many objects."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._steps = list(_steps(text))

    def find(self, value: Any) -> list[Any]:
        """All that the path leads to; the empty list when it leads nowhere."""
        found = [value]
        for step in self._steps:
            found = [inner for each in found for inner in step(each)]
        return found


def _steps(text: str) -> Iterator[Step]:
    position = 0
    while position < len(text):
        if match := _FIELD.match(text, position):
            yield from _field(re.sub(r"\\(.)", r"\1", match[1]))
        elif match := _BRACKET.match(text, position):
            yield from _bracket(match)
        elif match := _FILTER.match(text, position):
            yield _filter(JsonPath(match[1]), match[2], match[3])
        else:
            raise BadPath(f"{text!r} cannot be read from {text[position:]!r} on")
        position = match.end()


def _field(name: str) -> Iterator[Step]:
    yield _every if name == "*" else lambda value: [value[name]] if isinstance(value, dict) and name in value else []


def _bracket(match: re.Match[str]) -> Iterator[Step]:
    index, star, single, double = match.groups()
    if star:
        yield _every
    elif index is None:
        yield from _field(single if single is not None else double)
    else:
        yield lambda value: value[int(index) :][:1] if isinstance(value, list) else []


def _every(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _filter(path: JsonPath, comparison: str | None, literal: str | None) -> Step:
    def keeps(item: Any) -> bool:
        found = path.find(item)
        if comparison is None or literal is None:
            return bool(found)
        return bool(found) and _compare(comparison, found[0], _literal(literal))

    return lambda value: [item for item in value if keeps(item)] if isinstance(value, list) else []


def _compare(comparison: str, left: Any, right: Any) -> bool:
    try:
        return _COMPARISONS[comparison](left, right)
    except TypeError:
        return False


def _literal(text: str) -> Any:
    if text[0] in "\"'":
        return text[1:-1]
    if text in {"true", "false"}:
        return text == "true"
    try:
        return int(text) if re.fullmatch(r"-?\d+", text) else float(text)
    except ValueError:
        return text
