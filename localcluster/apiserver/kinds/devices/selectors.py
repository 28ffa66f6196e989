"""Device selectors as a server takes them: each is compiled once, and refused when that does not work. Pure."""

from functools import lru_cache
from typing import Any, Final

from api.device_selectors.compiling import compiled
from api.device_selectors.rewrite import SelectorInvalid
from localcluster.apiserver.fielderrors import FieldError, invalid_value, required, too_long
from localcluster.apiserver.kinds.devices.names import each_of

MAX_SELECTORS: Final = 32
MAX_EXPRESSION_BYTES: Final = 10 * 1024


def selectors_errors(selectors: list[Any], field: str) -> list[FieldError]:
    """The faults of `selectors`."""
    return each_of(selectors, field, MAX_SELECTORS, _selector)


def _selector(selector: dict[str, Any], field: str) -> list[FieldError]:
    if selector.get("cel") is None:
        return [required(f"{field}.cel")]
    expression, where = selector["cel"].get("expression") or "", f"{field}.cel.expression"
    if len(expression.encode()) > MAX_EXPRESSION_BYTES:
        return [too_long(where, MAX_EXPRESSION_BYTES)]
    problem = _problem(expression)
    return [invalid_value(where, expression, problem)] if problem else []


@lru_cache(maxsize=1024)
def _problem(expression: str) -> str:
    try:
        compiled(expression)
    except SelectorInvalid as error:
        return str(error)
    return ""
