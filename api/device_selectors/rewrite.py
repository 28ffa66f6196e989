"""Rewrites a device selector where Kubernetes' environment differs from plain CEL; what it says stays the same.

A look-up of a domain that a device does not have gives an empty map in Kubernetes, while asking for it with `in` and going
through the domains does not show it. No map of the library does that, so `device.attributes[D]` becomes a call.
"""

import re
from typing import Final, NamedTuple

from api.errors import TuttiError

DOMAIN: Final = "__domain"
"""`__domain(map, name)`: the inner map, empty when there is none."""

DEVICE: Final = "device"
FIELDS: Final = frozenset({"driver", "allowMultipleAllocations", "attributes", "capacity"})
_MAPS: Final = frozenset({"attributes", "capacity"})

_TOKEN: Final = re.compile(
    r"""(?P<space>\s+|//[^\n]*)
    |(?P<text>[bBrR]{0,2}(?:\"{3}(?:\\.|[^\\])*?\"{3}|'{3}(?:\\.|[^\\])*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
    |(?P<quoted>`[^`\n]*`)
    |(?P<word>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<number>[0-9][0-9A-Za-z_.]*)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)


class SelectorInvalid(TuttiError):
    """A selector that cannot be compiled; `str()` says why."""


class _Token(NamedTuple):
    kind: str
    text: str
    start: int


def rewrite(source: str) -> str:
    """The expression for the library.

    Raises:
        SelectorInvalid: it asks for a field that devices do not have.
    """
    return _Rewriter(source).run()


class _Rewriter:
    """Goes through the words once; for each open bracket it remembers what to write when it closes."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._words = [_Token(match.lastgroup or "", match[0], match.start()) for match in _TOKEN.finditer(source)]
        self._written: list[str] = []
        self._open: list[str] = []

    def run(self) -> str:
        index = 0
        while index < len(self._words):
            index = self._step(index)
        return "".join(self._written)

    def _step(self, index: int) -> int:
        token = self._words[index]
        if token.kind == "word" and token.text == DEVICE and self._text_before(index) != ".":
            return self._device(index)
        if token.kind == "other" and token.text in "([{":
            self._open.append({"(": ")", "[": "]", "{": "}"}[token.text])
        elif token.kind == "other" and token.text in ")]}" and self._open:
            self._written.append(self._open.pop())
            return index + 1
        self._written.append(token.text)
        return index + 1

    def _device(self, index: int) -> int:
        """After `device`: its field, and where that is one of the maps the domain in it."""
        dot, name = self._after(index), self._after(self._after(index))
        if self._text(dot) != "." or self._kind(name) != "word":
            self._written.append(DEVICE)
            return index + 1
        field = self._text(name)
        if field not in FIELDS:
            raise SelectorInvalid(_complaint(self._source, self._words[dot].start, f"undefined field '{field}'"))
        whole = f"{DEVICE}.{field}"
        following = self._after(name)
        if field in _MAPS and self._text(following) == "[" and self._text(self._after(following)) != "?":
            self._written.append(f"{DOMAIN}({whole}, ")
            self._open.append(")")
            return following + 1
        domain = self._after(following)
        if field in _MAPS and self._text(following) == "." and self._is_plain_selection(index, domain):
            self._written.append(f'{DOMAIN}({whole}, "{self._text(domain).strip("`")}")')
            return domain + 1
        self._written.append(whole)
        return name + 1

    def _is_plain_selection(self, index: int, domain: int) -> bool:
        """Whether a name is a domain: neither a method that is called nor what `has()` is asked about."""
        after = self._text(self._after(domain))
        is_asked = self._text_before(index) == "(" and self._text_before(self._before(index)) == "has" and after == ")"
        return self._kind(domain) in {"word", "quoted"} and after != "(" and not is_asked

    def _after(self, index: int) -> int:
        index += 1
        while index < len(self._words) and self._words[index].kind == "space":
            index += 1
        return index

    def _before(self, index: int) -> int:
        index -= 1
        while index >= 0 and self._words[index].kind == "space":
            index -= 1
        return index

    def _text_before(self, index: int) -> str:
        before = self._before(index)
        return self._words[before].text if before >= 0 else ""

    def _text(self, index: int) -> str:
        return self._words[index].text if index < len(self._words) else ""

    def _kind(self, index: int) -> str:
        return self._words[index].kind if index < len(self._words) else ""


def _complaint(source: str, start: int, text: str) -> str:
    """The complaint with the place it is about, as the library words its own."""
    line, first = source.count("\n", 0, start), source.rfind("\n", 0, start) + 1
    column = start - first
    shown = f" | {source.splitlines()[line]}\n | {'.' * column}^"
    return f"compilation failed: ERROR: <input>:{line + 1}:{column + 1}: {text}\n{shown}"
