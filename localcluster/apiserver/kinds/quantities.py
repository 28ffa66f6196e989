"""Quantities in the one form in which a real server keeps them, whichever way they were written. Pure.

The number is as short as its unit family allows (resource.Quantity.CanonicalizeBytes): `1000m` is `1`, `2048Mi` is `2Gi`, `1.5`
is `1500m`. What is finer than a billionth is rounded up, what is larger than an int64 is cut to it.
"""

import re
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Final

from api.errors import InvalidQuantity
from api.quantity import MAX_VALUE, parse_whole

_PARTS: Final = re.compile(r"(?P<number>[+-]?(?:\d+\.?\d*|\.\d+))(?P<suffix>.*)", re.ASCII | re.DOTALL)
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_SUFFIXES: Final = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY: Final = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_FINEST: Final = 10**9
_LARGEST_EXPONENT: Final = 18


@lru_cache(maxsize=4096)
def canonical(text: str) -> str:
    """The canonical form of a quantity.

    Raises:
        InvalidQuantity: the text is none.
    """
    parse_whole(text)  # refuses what is no quantity, or larger than anybody can mean
    match = _PARTS.fullmatch(text)
    if match is None:
        raise InvalidQuantity(f"{text!r} is not a quantity")
    number, suffix = Fraction(match["number"]), match["suffix"]
    if suffix in _BINARY and suffix:
        return _binary(_bounded(number * 1024 ** _BINARY.index(suffix)))
    if suffix in _DECIMAL:
        return _decimal(_bounded(number * Fraction(10) ** _DECIMAL[suffix]), exponents=False)
    return _decimal(_bounded(number * Fraction(10) ** int(suffix[1:])), exponents=True)


def _bounded(value: Fraction) -> Fraction:
    sign = -1 if value < 0 else 1
    rounded = Fraction(ceil(abs(value) * _FINEST), _FINEST)
    return sign * min(rounded, Fraction(MAX_VALUE))


def _binary(value: Fraction) -> str:
    if abs(value) < 1024:
        return _decimal(value, exponents=False)
    whole, power = ceil(abs(value)), 0
    while whole % 1024 == 0 and power < len(_BINARY) - 1:
        whole, power = whole // 1024, power + 1
    return f"{'-' if value < 0 else ''}{whole}{_BINARY[power]}"


def _decimal(value: Fraction, *, exponents: bool) -> str:
    """With the largest unit in which the number is whole."""
    if not value:
        return "0"
    exponent = -9
    number = int(value * _FINEST)
    while number % 1000 == 0 and exponent < _LARGEST_EXPONENT:
        number, exponent = number // 1000, exponent + 3
    if exponents:
        return f"{number}e{exponent}" if exponent else str(number)
    return f"{number}{_SUFFIXES[exponent]}"
