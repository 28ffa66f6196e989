r"""Regular expressions as the real server reads them (Go's RE2 syntax), compiled with Python's engine.

The two agree on almost everything that Kubernetes manifests use. Where they differ and it matters, the expression is
rewritten: `$` means the very end of the text and not the place before a last line break, `\z` is Python's `\Z`, the POSIX
classes such as `[[:alpha:]]` are spelt out, and `\d`, `\w`, `\s` are ASCII.
"""

import re
from functools import lru_cache
from typing import Final

_POSIX: Final = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7F",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1F\x7F",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_PIECE: Final = re.compile(r"\\.|\[:\^?[a-z]+:\]|\[\^?\]?|\]|\$|.", re.DOTALL)


class BadPattern(ValueError):
    """The expression cannot be read; `str()` says why."""


@lru_cache(maxsize=2048)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """The compiled expression; search with it, as Go's MatchString does.

    Raises:
        BadPattern: it is no regular expression.
    """
    try:
        return re.compile(_as_python(pattern), re.ASCII)
    except (re.error, OverflowError, RecursionError) as error:
        raise BadPattern(f"error parsing regexp: {error}: `{pattern}`") from error


def _as_python(pattern: str) -> str:
    multiline = pattern.startswith("(?m") or "(?sm" in pattern
    written: list[str] = []
    in_class = False
    for piece in _PIECE.findall(pattern):
        if piece == r"\z":
            written.append(r"\Z")
        elif piece.startswith("[:") and in_class:
            written.append(_posix(piece))
        elif piece.startswith("[:"):
            written.append("[:")
            written.append(piece[2:])
            in_class = not piece.endswith("]")
        elif piece == "$" and not in_class and not multiline:
            written.append(r"\Z")
        elif piece.startswith("[") and not piece.startswith("\\"):
            written.append(r"\[" if in_class else piece)
            in_class = True
        elif piece == "]":
            in_class = False
            written.append(piece)
        else:
            written.append(piece)
    return "".join(written)


def _posix(piece: str) -> str:
    name = piece.strip("[]:")
    if name.startswith("^") or name not in _POSIX:
        raise BadPattern(f"error parsing regexp: invalid character class range: `{piece}`")
    return _POSIX[name]
