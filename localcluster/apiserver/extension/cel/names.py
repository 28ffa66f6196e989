"""How Kubernetes spells field names in CEL that are no identifiers of the language, or are reserved by it."""

import re
from functools import lru_cache
from typing import Final

RESERVED: Final = frozenset(
    [
        "true",
        "false",
        "null",
        "in",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    ]
)
_SPELT: Final = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_SPECIAL: Final = re.compile(r"__|[.\-/]")


@lru_cache(maxsize=4096)
def escape(name: str) -> str:
    """The name under which an expression finds the field; `a-b` is `a__dash__b`."""
    if name in RESERVED:
        return f"__{name}__"
    return _SPECIAL.sub(lambda found: _SPELT[found.group()], name)
