"""Functions of Kubernetes' CEL environment that the library lacks: quantities, versions, lists, regular expressions.

The library has no values of types of ours, so a quantity is a map with its billionths as text, a version one with its text:
both are exact, equal when Kubernetes says they are equal, and know what they are.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from cel_expr_python import cel

from api.device_selectors.rewrite import DOMAIN
from api.device_selectors.versions import Version, canonical, compare, normalize, parse_version
from api.errors import InvalidQuantity
from api.quantity import NANO, parse_nano

_QUANTITY: Final = "quantity"
_VERSION: Final = "semver"
MAX_INT: Final = 2**63 - 1

_T: Final = cel.Type
_LIST: Final = _T.List(_T.DYN)


def quantity_value(amount: int) -> dict[str, str]:
    """A quantity of so many billionths."""
    return {_QUANTITY: str(amount)}


def version_value(text: str) -> dict[str, str]:
    """A version.

    Raises:
        ValueError: it is none.
    """
    return {_VERSION: canonical(parse_version(text))}


def _no_overload(name: str) -> ValueError:
    return ValueError(f"no such overload: {name}")


def _amount(value: Any, name: str) -> int:
    if isinstance(value, dict) and _QUANTITY in value:
        return int(value[_QUANTITY])
    raise _no_overload(name)


def _version(value: Any, name: str) -> Version:
    if isinstance(value, dict) and _VERSION in value:
        return parse_version(value[_VERSION])
    raise _no_overload(name)


def _quantity(text: str) -> dict[str, str]:
    return quantity_value(parse_nano(text))


def _is_quantity(text: str) -> bool:
    try:
        parse_nano(text)
    except InvalidQuantity:
        return False
    return True


def _semver(text: str, is_normalized: bool = False) -> dict[str, str]:
    return version_value(normalize(text) if is_normalized else text)


def _is_semver(text: str, is_normalized: bool = False) -> bool:
    try:
        _semver(text, is_normalized)
    except ValueError:
        return False
    return True


def _compare(one: Any, other: Any) -> int:
    if isinstance(one, dict) and _VERSION in one:
        return compare(_version(one, "compareTo"), _version(other, "compareTo"))
    mine, theirs = _amount(one, "compareTo"), _amount(other, "compareTo")
    return (mine > theirs) - (mine < theirs)


def _is_integer(value: Any) -> bool:
    amount = _amount(value, "isInteger")
    return amount % NANO == 0 and abs(amount // NANO) <= MAX_INT


def _as_integer(value: Any) -> int:
    if not _is_integer(value):
        raise ValueError("cannot convert value to integer")
    return _amount(value, "asInteger") // NANO


def _plus(sign: int) -> Callable[[Any, Any], Any]:
    def change(one: Any, other: Any) -> dict[str, str]:
        is_number = isinstance(other, int) and not isinstance(other, bool)
        more = other * NANO if is_number else _amount(other, "add" if sign > 0 else "sub")
        return quantity_value(_amount(one, "add") + sign * more)

    return change


def _sign(value: Any) -> int:
    amount = _amount(value, "sign")
    return (amount > 0) - (amount < 0)


def _domain(domains: Any, name: Any) -> Any:
    return domains.get(name, {}) if isinstance(domains, dict) else {}


def _includes(attribute: Any, value: Any) -> bool:
    return value in attribute if isinstance(attribute, list) else bool(attribute == value)


def _index(items: list[Any], value: Any) -> int:
    return items.index(value) if value in items else -1


def _last_index(items: list[Any], value: Any) -> int:
    return max((index for index, item in enumerate(items) if item == value), default=-1)


def _some(choose: Callable[[list[Any]], Any], name: str) -> Callable[[list[Any]], Any]:
    def chosen(items: list[Any]) -> Any:
        if not items:
            raise ValueError(f"{name} called on empty list")
        return choose(items)

    return chosen


@lru_cache(maxsize=1)
def _regular() -> tuple[Any, Any]:
    """The library's own regular expressions, which need no more than linear time."""
    config = cel.NewEnvConfigFromYaml("name: regex\nextensions:\n- name: regex\n- name: optional\n")
    inner = cel.NewEnv(config=config, variables={"text": _T.STRING, "pattern": _T.STRING})
    return (
        inner.compile("regex.extract(text, pattern).orValue('')"),
        inner.compile("regex.extractAll(text, pattern)"),
    )


def _without_groups(pattern: str) -> str:
    """The pattern with groups that capture nothing: whole matches are asked for."""
    written, is_in_class, index = [], False, 0
    while index < len(pattern):
        letter = pattern[index]
        if letter == "\\":
            written.append(pattern[index : index + 2])
            index += 2
            continue
        if letter == "[":
            is_in_class = True
        elif letter == "]":
            is_in_class = False
        written.append("(?:" if letter == "(" and not is_in_class and pattern[index + 1 : index + 2] != "?" else letter)
        index += 1
    return "".join(written)


def _found(which: int, text: str, pattern: str) -> Any:
    value = _regular()[which].eval(data={"text": text, "pattern": _without_groups(pattern)})
    if value.type() == _T.ERROR:
        raise ValueError(str(value.value()).partition(": ")[2])
    return value.plain_value()


def _find(text: str, pattern: str) -> str:
    return str(_found(0, text, pattern))


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    found = [str(each) for each in _found(1, text, pattern)]
    return found if limit < 0 else found[:limit]


_Implementation = tuple[str, Any, list[Any], bool, Callable[..., Any]]
_FUNCTIONS: Final[tuple[_Implementation, ...]] = (
    (DOMAIN, _T.Map(_T.STRING, _T.DYN), [_T.DYN, _T.DYN], False, _domain),
    ("quantity", _T.DYN, [_T.STRING], False, _quantity),
    ("isQuantity", _T.BOOL, [_T.STRING], False, _is_quantity),
    ("semver", _T.DYN, [_T.STRING], False, _semver),
    ("semver", _T.DYN, [_T.STRING, _T.BOOL], False, _semver),
    ("isSemver", _T.BOOL, [_T.STRING], False, _is_semver),
    ("isSemver", _T.BOOL, [_T.STRING, _T.BOOL], False, _is_semver),
    ("isGreaterThan", _T.BOOL, [_T.DYN, _T.DYN], True, lambda one, other: _compare(one, other) > 0),
    ("isLessThan", _T.BOOL, [_T.DYN, _T.DYN], True, lambda one, other: _compare(one, other) < 0),
    ("compareTo", _T.INT, [_T.DYN, _T.DYN], True, _compare),
    ("isInteger", _T.BOOL, [_T.DYN], True, _is_integer),
    ("asInteger", _T.INT, [_T.DYN], True, _as_integer),
    ("asApproximateFloat", _T.DOUBLE, [_T.DYN], True, lambda value: _amount(value, "asApproximateFloat") / NANO),
    ("sign", _T.INT, [_T.DYN], True, _sign),
    ("add", _T.DYN, [_T.DYN, _T.DYN], True, _plus(1)),
    ("sub", _T.DYN, [_T.DYN, _T.DYN], True, _plus(-1)),
    ("major", _T.INT, [_T.DYN], True, lambda value: _version(value, "major")[0]),
    ("minor", _T.INT, [_T.DYN], True, lambda value: _version(value, "minor")[1]),
    ("patch", _T.INT, [_T.DYN], True, lambda value: _version(value, "patch")[2]),
    ("includes", _T.BOOL, [_T.DYN, _T.DYN], True, _includes),
    ("find", _T.STRING, [_T.STRING, _T.STRING], True, _find),
    ("findAll", _T.List(_T.STRING), [_T.STRING, _T.STRING], True, _find_all),
    ("findAll", _T.List(_T.STRING), [_T.STRING, _T.STRING, _T.INT], True, _find_all),
    ("isSorted", _T.BOOL, [_LIST], True, lambda items: items == sorted(items)),
    ("sum", _T.DYN, [_LIST], True, sum),
    ("min", _T.DYN, [_LIST], True, _some(min, "min")),
    ("max", _T.DYN, [_LIST], True, _some(max, "max")),
    ("indexOf", _T.INT, [_LIST, _T.DYN], True, _index),
    ("lastIndexOf", _T.INT, [_LIST, _T.DYN], True, _last_index),
)


def extension() -> Any:
    """All of them as an extension of the library."""
    by_name: dict[str, list[Any]] = {}
    for number, (name, result, parameters, is_member, function) in enumerate(_FUNCTIONS):
        overload = cel.Overload(f"tutti_{number}", result, parameters, is_member, function)
        by_name.setdefault(name, []).append(overload)
    return cel.CelExtension("kubernetes", [cel.FunctionDecl(name, found) for name, found in by_name.items()])
