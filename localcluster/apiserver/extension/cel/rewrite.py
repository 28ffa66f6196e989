"""Rewrites an expression of Kubernetes' CEL into one that the library understands; what it says stays the same.

Three things only:

* `a.?b` and `a[?k]`, which the library does not parse, become calls of `__opt`, and so does every plain selection after them,
  because selecting from an optional gives an optional. `optMap` becomes the macro `map` on a list of one or none.
* `size` and `matches` become `__size` and `__matches`: the library counts bytes where CEL counts characters, and it compiles
  a regular expression anew for every evaluation (1.7 ms for a name pattern).
* Names in backquotes become the escaped names under which fields are handed over.
"""

from typing import Final

from localcluster.apiserver.extension.cel.names import escape
from localcluster.apiserver.extension.cel.tokens import Token, tokenize

RENAMED: Final = {"size": "__size", "matches": "__matches"}
_STAYS_OPTIONAL: Final = frozenset({"or", "optMap", "optFlatMap"})


def rewrite(source: str) -> str:
    """The expression for the library."""
    return _Rewriter([token for token in tokenize(source) if token.kind != "space" or token.text.isspace()]).run()


class _Rewriter:
    """Walks through the words once. For each open bracket it remembers what to write when it closes, and what comes after."""

    def __init__(self, words: list[Token]) -> None:
        self._words = words
        self._written: list[str] = []
        self._open: list[tuple[str, bool]] = []
        self._is_optional = False

    def run(self) -> str:
        index = 0
        while index < len(self._words):
            index = self._step(index)
        return "".join(self._written)

    def _step(self, index: int) -> int:
        token = self._words[index]
        if token.text in {".", ".?"}:
            return self._selection(index)
        if token.text in {"[", "[?", "(", "{"}:
            self._bracket(token.text)
        elif token.text in {"]", ")", "}"} and self._open:
            written, self._is_optional = self._open.pop()
            self._written.append(written)
        else:
            if token.kind != "space":
                self._is_optional = False
            self._written.append(self._renamed(index))
        return index + 1

    def _selection(self, index: int) -> int:
        after = self._next(index + 1)
        if after is None or self._words[after].kind not in {"word", "quoted"}:
            self._written.append(self._words[index].text)
            return index + 1
        name = self._words[after]
        called = self._next(after + 1)
        is_call = called is not None and self._words[called].text == "("
        if is_call and called is not None:
            self._method(name.text)
            return called + 1
        self._is_optional = self._is_optional or self._words[index].text == ".?"
        plain = escape(name.text[1:-1]) if name.kind == "quoted" else name.text
        self._written.append(f".__opt('{plain}')" if self._is_optional else f".{plain}")
        return after + 1

    def _method(self, name: str) -> None:
        if name == "optMap":
            self._written.append(".__opt_list().map(")
            self._open.append((").__list_opt()", True))
        elif name == "optFlatMap":
            self._written.append(".__opt_list().map(")
            self._open.append((").__list_opt().__flat_opt()", True))
        else:
            self._written.append(f".{RENAMED.get(name, name)}(")
            self._open.append((")", self._is_optional and name in _STAYS_OPTIONAL))
        self._is_optional = False

    def _bracket(self, bracket: str) -> None:
        if bracket == "[?" or (bracket == "[" and self._is_optional):
            self._written.append(".__opt(")
            self._open.append((")", True))
        else:
            self._written.append(bracket)
            self._open.append(({"[": "]", "(": ")", "{": "}"}[bracket], False))
        self._is_optional = False

    def _renamed(self, index: int) -> str:
        token = self._words[index]
        following = self._next(index + 1)
        if token.text in RENAMED and following is not None and self._words[following].text == "(":
            return RENAMED[token.text]
        return token.text

    def _next(self, index: int) -> int | None:
        while index < len(self._words):
            if self._words[index].kind != "space":
                return index
            index += 1
        return None
