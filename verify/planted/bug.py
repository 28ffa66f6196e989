"""A planted bug as a value: which line becomes which, what is wrong then, and who should notice.

A bug is tied to its place by the text of the line, which must be there exactly once: when the code has changed, the bug is an
error and not silently another one.
"""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

BUGS: Final = Path(__file__).parent / "bugs"


class BugError(Exception):
    """A bug that cannot be planted: its file is not readable, or its line is not there exactly once."""


class Bug(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the product that becomes another.

    Attributes:
        name: of the bug, unique; says what the product does then.
        file: which is changed, relative to the root of the tree.
        old: the line, without what it is indented by.
        new: what stands there instead, indented alike.
        wrong: what is wrong then, in one sentence.
        suites: what is run until something fails: arguments of pytest, or `simulate` with arguments of `verify.simulator`.
        after: a line, without indentation, that is there once; `old` is the next such line behind it, and need not be the only one.
        promise: the promise that is broken, where it is one of `docs/promises.md`.
    """

    name: str
    file: str
    old: str
    new: str
    wrong: str
    suites: tuple[str, ...]
    after: str = ""
    promise: str = ""


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    bug: tuple[Bug, ...]


def all_bugs(folder: Path = BUGS) -> tuple[Bug, ...]:
    """The bugs of all files, in their order.

    Raises:
        BugError: a file cannot be read, or two bugs have one name.
    """
    bugs = tuple(bug for path in sorted(folder.glob("*.toml")) for bug in _read(path))
    names = [bug.name for bug in bugs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise BugError(f"bugs with one name: {', '.join(twice)}")
    return bugs


def _read(path: Path) -> Iterator[Bug]:
    try:
        yield from msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), _File).bug
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise BugError(f"{path.name}: {error}") from error


def planted(bug: Bug, source: str) -> str:
    """The source with the bug in it.

    Raises:
        BugError: its line is not there, or more than once, or the result is no Python.
    """
    lines = source.splitlines(keepends=True)
    begin = _begin(bug, lines)
    found = [index for index, line in enumerate(lines) if index >= begin and line.strip() == bug.old]
    if bug.after:
        found = found[:1]
    if len(found) != 1:
        raise BugError(f"{bug.name}: {bug.file} has the line {len(found)} times: {bug.old}")
    line = lines[found[0]]
    indent = line[: len(line) - len(line.lstrip())]
    lines[found[0]] = f"{indent}{bug.new}\n"
    changed = "".join(lines)
    try:
        is_same = ast.dump(ast.parse(changed)) == ast.dump(ast.parse(source))
    except SyntaxError as error:
        raise BugError(f"{bug.name}: the new line is no Python: {error}") from error
    if is_same:
        raise BugError(f"{bug.name}: the new line says the same as the old one")
    return changed


def _begin(bug: Bug, lines: list[str]) -> int:
    if not bug.after:
        return 0
    found = [index for index, line in enumerate(lines) if line.strip() == bug.after]
    if len(found) != 1:
        raise BugError(f"{bug.name}: {bug.file} has the line before it {len(found)} times: {bug.after}")
    return found[0] + 1
