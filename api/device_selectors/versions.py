"""Semantic versions (SemVer 2.0) as Kubernetes' CEL environment knows them: a pre-release is lower, the build is ignored."""

import re
from functools import lru_cache
from typing import Final

MAX_NUMBER: Final = 2**64 - 1
_NUMBER: Final = r"0|[1-9][0-9]*"
_STRICT: Final = re.compile(
    rf"(?P<major>{_NUMBER})\.(?P<minor>{_NUMBER})\.(?P<patch>{_NUMBER})"
    r"(?:-(?P<pre>[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?",
    re.ASCII,
)

PreRelease = tuple[tuple[int, int, str], ...]
Version = tuple[int, int, int, PreRelease]


@lru_cache(maxsize=4096)
def parse_version(text: str) -> Version:
    """A version; its parts of a pre-release are made so that they compare as SemVer says.

    Raises:
        ValueError: it is none.
    """
    match = _STRICT.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a semantic version such as 1.2.3")
    numbers = [int(match[name]) for name in ("major", "minor", "patch")]
    if max(numbers) > MAX_NUMBER:
        raise ValueError(f"{text!r} has a number beyond {MAX_NUMBER}")
    pre = tuple(_part(part, text) for part in match["pre"].split(".")) if match["pre"] else ()
    return (numbers[0], numbers[1], numbers[2], pre)


def normalize(text: str) -> str:
    """The version without a `v` before it and without leading zeros, with the parts that are missing."""
    text = text.removeprefix("v")
    end = next((index for index, letter in enumerate(text) if letter in "-+"), len(text))
    parts = text[:end].split(".")
    if len(parts) > 3 or not all(parts):
        return text
    parts = [part.lstrip("0") or "0" for part in parts] + ["0"] * (3 - len(parts))
    return ".".join(parts) + text[end:]


def compare(one: Version, other: Version) -> int:
    """Below 0, 0 or above 0, as `one` is lower, equal or higher."""
    mine, theirs = _order(one), _order(other)
    return (mine > theirs) - (mine < theirs)


def canonical(version: Version) -> str:
    """The version without its build: equal for versions that are equal."""
    pre = ".".join(text if kind else str(number) for kind, number, text in version[3])
    return ".".join(map(str, version[:3])) + (f"-{pre}" if pre else "")


def _part(part: str, text: str) -> tuple[int, int, str]:
    if not part.isdecimal():
        return (1, 0, part)
    if len(part) > 1 and part.startswith("0"):
        raise ValueError(f"{text!r} has a pre-release with leading zeros")
    return (0, int(part), "")


def _order(version: Version) -> tuple[int, int, int, bool, PreRelease]:
    return (*version[:3], not version[3], version[3])
