"""Mutants that behave like the code they were made of: each with the reason, looked at by a person."""

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from verify.mutation.mutants import Mutant

LIST: Final = Path(__file__).parent / "equivalent.toml"


class Key(NamedTuple):
    """How a mutant is known: by the text of its line, and not by a number that moves."""

    file: str
    line: str
    before: str
    after: str


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    file: str
    line: str
    before: str
    after: tuple[str, ...]
    why: str


class _Entries(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    mutant: tuple[_Entry, ...] = ()


def known_equivalents(path: Path = LIST) -> dict[Key, str]:
    """The reasons, by mutant."""
    entries = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), _Entries).mutant
    return {Key(one.file, one.line, one.before, after): one.why for one in entries for after in one.after}


def key_of(mutant: Mutant) -> Key:
    """That of a mutant."""
    return Key(mutant.file, mutant.line, mutant.before, mutant.after)


def outdated(known: Iterable[Key], mutants: Iterable[Mutant]) -> list[Key]:
    """Those that no mutant has any more: the code has changed."""
    there = {key_of(mutant) for mutant in mutants}
    return [key for key in known if key not in there]
