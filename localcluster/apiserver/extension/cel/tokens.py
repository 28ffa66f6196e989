"""The words of a CEL expression, as far as the work-arounds need them: strings and comments are told from code, no more."""

import re
from dataclasses import dataclass
from typing import Final

_TOKENS: Final = re.compile(
    r"""
    (?P<space>[\s]+|//[^\n]*)
  | (?P<string>[bBrR]{0,2}(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
  | (?P<quoted>`[^`\n]*`)
  | (?P<number>\d[\w.]*(?:(?<=[eE])[+-]\d+)?)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<sign>\.\?|\[\?|.)
    """,
    re.VERBOSE | re.DOTALL,
)
MACROS: Final = frozenset({"all", "exists", "exists_one", "existsOne", "map", "filter", "optMap", "optFlatMap"})


@dataclass(frozen=True, slots=True)
class Token:
    """One word: its kind (`space`, `string`, `quoted`, `number`, `word`, `sign`), its text and where it begins."""

    kind: str
    text: str
    start: int


def tokenize(source: str) -> list[Token]:
    """The words of the expression, spaces and comments included: joined they are the source again."""
    return [Token(found.lastgroup or "sign", found.group(), found.start()) for found in _TOKENS.finditer(source)]


@dataclass(frozen=True, slots=True)
class Mention:
    """A name that stands at the beginning of a chain such as `self.spec.size()`.

    Attributes:
        name: `self`.
        start: where it begins.
        fields: the plain selections that follow, with where each dot is and whether the name is in backquotes.
        is_call: whether the name itself is called.
    """

    name: str
    start: int
    fields: tuple[tuple[str, int, bool], ...] = ()
    is_call: bool = False


def mentions(source: str) -> list[Mention]:
    """All names at the beginning of chains, in order; the names that macros bind are left out."""
    words = [token for token in tokenize(source) if token.kind != "space"]
    bound = _bound_names(words)
    found = []
    for index, token in enumerate(words):
        is_field = index > 0 and words[index - 1].text in {".", ".?"}
        is_key = index + 1 < len(words) and words[index + 1].text == ":" and index > 0 and words[index - 1].text == "{"
        if token.kind != "word" or is_field or is_key or token.text in bound | _WORDS_OF_THE_LANGUAGE:
            continue
        is_call = index + 1 < len(words) and words[index + 1].text == "("
        found.append(Mention(token.text, token.start, () if is_call else _fields(words, index + 1), is_call))
    return found


def method_calls(source: str) -> list[tuple[str, int]]:
    """The names called as methods (`x.name(...)`), with the places of their brackets."""
    words = [token for token in tokenize(source) if token.kind != "space"]
    return [
        (word.text, following.start)
        for before, word, following in zip(words, words[1:], words[2:], strict=False)
        if before.text == "." and word.kind == "word" and following.text == "("
    ]


def patterns(source: str) -> list[tuple[int, str]]:
    """The regular expressions that are written out in calls of `matches`, with their places: literals of the language."""
    words = [token for token in tokenize(source) if token.kind != "space"]
    return [
        (words[index + 2].start, words[index + 2].text)
        for index, token in enumerate(words[:-3])
        if token.text == "matches"
        and words[index + 1].text == "("
        and words[index + 2].kind == "string"
        and words[index + 3].text == ")"
    ]


_WORDS_OF_THE_LANGUAGE: Final = frozenset(
    [
        "true",
        "false",
        "null",
        "in",
        "as",
        "int",
        "uint",
        "double",
        "bool",
        "string",
        "bytes",
        "list",
        "map",
        "type",
        "null_type",
        "optional",
        "has",
        "dyn",
    ]
)


def _bound_names(words: list[Token]) -> set[str]:
    return {
        words[index + 2].text
        for index, token in enumerate(words[:-2])
        if token.text in MACROS and words[index + 1].text == "(" and words[index + 2].kind == "word"
    }


def _fields(words: list[Token], index: int) -> tuple[tuple[str, int, bool], ...]:
    found = []
    while index + 1 < len(words) and words[index].text == "." and words[index + 1].kind in {"word", "quoted"}:
        if index + 2 < len(words) and words[index + 2].text == "(":
            break
        name = words[index + 1]
        found.append((name.text.strip("`"), words[index].start, name.kind == "quoted"))
        index += 2
    return tuple(found)
