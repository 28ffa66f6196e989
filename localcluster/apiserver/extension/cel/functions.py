"""Functions of Kubernetes' CEL environment that the library lacks, or has for fewer types.

They come on top of the library's own extension functions (strings, sets, math, encoders). Functions that no rule of ours, nor of
the kinds we work with, calls are not here: a rule that calls one is refused when it is compiled.
"""

import logging
from collections.abc import Callable
from typing import Any, Final

import cel
from cel.stdlib import add_stdlib_to_context

from localcluster.apiserver.extension.cel import authorizer
from localcluster.apiserver.extension.schema.patterns import compile_pattern

# The library logs every error of a function before it raises it; the error itself is enough.
logging.getLogger("cel").setLevel(logging.CRITICAL)


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
