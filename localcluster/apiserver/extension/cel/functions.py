"""Functions of Kubernetes' CEL environment that the library lacks, or has for fewer types.

They come on top of the library's own extension functions (strings, sets, math, encoders). Quantities are handed around as plain
numbers; that suffices to compare and add them.
"""

import ipaddress
import itertools
import logging
import math
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlsplit

import cel
from cel.stdlib import add_stdlib_to_context

from localcluster.apiserver.extension.cel import authorizer
from localcluster.apiserver.extension.schema.patterns import compile_pattern

# The library logs every error of a function before it raises it; the error itself is enough.
logging.getLogger("cel").setLevel(logging.CRITICAL)

_SUFFIXES: Final = {
    "n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18,
    "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60,
}  # fmt: skip
_QUANTITY: Final = compile_pattern(r"^([+-]?(?:\d+\.?\d*|\.\d+))([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?$")


def _opt(target: Any, key: Any) -> Any:
    if isinstance(target, cel.OptionalValue):
        if not target.has_value():
            return target
        target = target.value()
    if isinstance(target, list):
        known = isinstance(key, int) and 0 <= key < len(target)
    else:
        known = isinstance(target, dict) and key in target
    return cel.OptionalValue.of(target[key]) if known else cel.OptionalValue.none()


def _opt_list(optional: Any) -> list[Any]:
    return [optional.value()] if optional.has_value() else []


def _list_opt(items: list[Any]) -> Any:
    return cel.OptionalValue.of(items[0]) if items else cel.OptionalValue.none()


def _flat_opt(optional: Any) -> Any:
    return optional.value() if optional.has_value() else optional


def _matches(text: str, pattern: str) -> bool:
    return compile_pattern(pattern).search(text) is not None


def _index_of(value: Any, part: Any, start: int = 0) -> int:
    if isinstance(value, str):
        return value.find(part, start)
    return next((index for index, item in enumerate(value) if item == part), -1)


def _last_index_of(value: Any, part: Any) -> int:
    if isinstance(value, str):
        return value.rfind(part)
    return next((index for index in reversed(range(len(value))) if value[index] == part), -1)


def _is_sorted(items: list[Any]) -> bool:
    return all(one <= other for one, other in itertools.pairwise(items))


def _find(text: str, pattern: str) -> str:
    found = compile_pattern(pattern).search(text)
    return found.group() if found else ""


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    found = [each.group() for each in compile_pattern(pattern).finditer(text)]
    return found if limit < 0 else found[:limit]


def _quantity(text: str) -> float | int:
    found = _QUANTITY.search(text)
    if not found:
        raise ValueError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
    suffix = found[2] or ""
    factor = (
        float(f"1{suffix}") if suffix[:1] in {"e", "E"} and len(suffix) > 1 and suffix != "Ei" else _SUFFIXES[suffix]
    )
    value = float(found[1]) * factor
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _accepts(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            parse(text)
        except ValueError:
            return False
        return True

    return check


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return bool(parts.scheme and parts.netloc) or text.startswith("/")


def _format(pattern: str, arguments: list[Any]) -> str:
    return _Formatter(arguments).write(pattern)


class _Formatter:
    """`'%s is %d'.format([...])` of CEL's strings library."""

    def __init__(self, arguments: list[Any]) -> None:
        self._arguments = iter(arguments)

    def write(self, pattern: str) -> str:
        written, rest = [], pattern
        while rest:
            before, percent, rest = rest.partition("%")
            written.append(before)
            if percent:
                piece, rest = self._clause(rest)
                written.append(piece)
        return "".join(written)

    def _clause(self, rest: str) -> tuple[str, str]:
        if rest.startswith("%"):
            return "%", rest[1:]
        length = len(rest) - len(rest.lstrip(".0123456789"))
        precision, verb = rest[:length], rest[length : length + 1]
        value = next(self._arguments, None)
        if verb == "s":
            piece = shown(value)
        elif verb in {"d", "b", "o", "x", "X"} and isinstance(value, int):
            piece = format(value, verb)
        elif verb in {"f", "e"} and isinstance(value, int | float):
            piece = format(value, f"{precision or '.6'}{verb}")
        else:
            raise ValueError(f'could not parse formatting clause: unrecognized formatting clause "{verb}"')
        return piece, rest[length + 1 :]


def shown(value: Any) -> str:
    """A value as CEL's `%s` writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, list):
        return f"[{', '.join(shown(each) for each in value)}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{shown(key)}: {shown(each)}" for key, each in sorted(value.items())) + "}"
    return str(value)


def _library() -> dict[str, Callable[..., Any]]:
    context = cel.Context()
    add_stdlib_to_context(context)
    return dict(context.functions)


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    **_library(),
    **authorizer.FUNCTIONS,
    "__opt": _opt,
    "__opt_list": _opt_list,
    "__list_opt": _list_opt,
    "__flat_opt": _flat_opt,
    "__size": len,
    "__matches": _matches,
    "indexOf": _index_of,
    "lastIndexOf": _last_index_of,
    "isSorted": _is_sorted,
    "find": _find,
    "findAll": _find_all,
    "format": _format,
    "quantity": _quantity,
    "isQuantity": _accepts(_quantity),
    "isInteger": lambda number: isinstance(number, int),
    "asInteger": int,
    "asApproximateFloat": float,
    "sign": lambda number: int(math.copysign(1, number)) if number else 0,
    "add": lambda one, other: one + other,
    "sub": lambda one, other: one - other,
    "isGreaterThan": lambda one, other: one > other,
    "isLessThan": lambda one, other: one < other,
    "compareTo": lambda one, other: (one > other) - (one < other),
    "isURL": _is_url,
    "isIP": _accepts(ipaddress.ip_address),
    "isCIDR": _accepts(lambda text: ipaddress.ip_network(text, strict=False) if "/" in text else int("")),
}
NATIVE: Final = frozenset(
    [
        "contains",
        "startsWith",
        "endsWith",
        "getFullYear",
        "getMonth",
        "getDayOfYear",
        "getDayOfMonth",
        "getDate",
        "getDayOfWeek",
        "getHours",
        "getMinutes",
        "getSeconds",
        "getMilliseconds",
        "max",
        "min",
        "double",
        "int",
        "uint",
        "string",
        "bytes",
        "bool",
        "duration",
        "timestamp",
        "type",
        "dyn",
        "has",
        "size",
        "matches",
        "all",
        "exists",
        "exists_one",
        "existsOne",
        "map",
        "filter",
        "optMap",
        "optFlatMap",
        "or",
        "orValue",
        "hasValue",
        "value",
        "of",
        "none",
        "ofNonZeroValue",
    ]
)
"""What the library knows by itself."""
