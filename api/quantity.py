"""Resource quantities as exact integers, parsed within bounds.

A quantity from a custom resource, label or annotation cannot be trusted: `1e1000000` would keep a naive parser busy for
20 s. Length and exponent are therefore checked before any arithmetic.

Amounts are integers everywhere: `parse_milli` for CPU (thousandths of a core), `parse_whole` for everything else (bytes,
devices, pods). Both round up, as the API server does when it must lose precision. Capacities of devices may be any quantity
and are compared exactly: `parse_nano`.
"""

import re
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Final

from api.errors import InvalidQuantity

MAX_LENGTH: Final = 64
MAX_EXPONENT: Final = 18
MAX_NANO_EXPONENT: Final = 30
"""The API server keeps a few digits with a large exponent as they are, beyond the largest int64."""
NANO: Final = 10**9
MILLI: Final = 10**6
"""A whole unit and a thousandth, in billionths."""
MAX_VALUE: Final = 2**63 - 1
"""Kubernetes caps quantities at the largest int64; larger ones are cut to it, not refused."""

_BINARY: Final = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_PATTERN: Final = re.compile(
    r"(?P<sign>[+-]?)(?P<digits>\d+(?:\.\d*)?|\.\d+)(?:(?P<binary>[KMGTPE]i)|[eE](?P<exponent>[+-]?\d{1,3})|(?P<decimal>[numkMGTPE]?))",
    re.ASCII,
)


@lru_cache(maxsize=4096)
def parse_milli(text: str) -> int:
    """A quantity in thousandths, rounded up: `"250m"` is 250, `"2"` is 2000.

    Raises:
        InvalidQuantity: the text is no quantity, is longer than 64 characters or has an exponent beyond 18.
    """
    return _scaled(text, 1000)


@lru_cache(maxsize=4096)
def parse_whole(text: str) -> int:
    """A quantity in whole units, rounded up: `"1Gi"` is 1073741824, `"500m"` is 1.

    Raises:
        InvalidQuantity: the text is no quantity, is longer than 64 characters or has an exponent beyond 18.
    """
    return _scaled(text, 1)


@lru_cache(maxsize=4096)
def parse_nano(text: str) -> int:
    """A quantity in billionths, rounded away from zero, of any size: `"1"` is 1000000000.

    Raises:
        InvalidQuantity: the text is no quantity, is longer than 64 characters or has an exponent beyond 30.
    """
    amount = ceil(_value(text, MAX_NANO_EXPONENT) * NANO)
    return -amount if text.startswith("-") else amount


def format_nano(amount: int) -> str:
    """The quantity of so many billionths, without suffix where it is whole."""
    for unit, suffix in ((NANO, ""), (MILLI, "m"), (1000, "u")):
        if amount % unit == 0:
            return f"{amount // unit}{suffix}"
    return f"{amount}n"


def _scaled(text: str, factor: int) -> int:
    amount = min(ceil(_value(text, MAX_EXPONENT) * factor), MAX_VALUE)
    return -amount if text.startswith("-") else amount


def _value(text: str, max_exponent: int) -> Fraction:
    """What the text says, without its sign."""
    if len(text) > MAX_LENGTH:
        raise InvalidQuantity(f"a quantity of {len(text)} characters is longer than {MAX_LENGTH}")
    match = _PATTERN.fullmatch(text)
    if match is None:
        raise InvalidQuantity(f"{text!r} is not a quantity such as 500m, 2 or 1.5Gi")
    # A fraction is exact where a decimal would round to 28 digits, downwards too.
    value = Fraction(Decimal(match["digits"]))
    if match["binary"]:
        value *= 1024 ** _BINARY[match["binary"]]
    else:
        exponent = int(match["exponent"]) if match["exponent"] else _DECIMAL[match["decimal"] or ""]
        if abs(exponent) > max_exponent:
            raise InvalidQuantity(f"{text!r} has an exponent beyond {max_exponent}")
        value *= Fraction(10) ** exponent
    return value
