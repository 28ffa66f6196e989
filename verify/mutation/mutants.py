"""The mutants of a file: which there are, and the code of the file with one of them."""

import ast
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import CodeType
from typing import Final, NamedTuple

from verify.mutation.operators import replacements

_LOGGERS: Final = frozenset({"_log"})
"""What is logged is for people who look for a defect: it is not judged."""

CodeKey = tuple[str, int]
"""(qualified name, first line) of a function."""


class Mutant(NamedTuple):
    """One change of one file.

    Attributes:
        file: which, relative to the root.
        number: of the mutant among those of the file.
        lines: (first, last) of the statement, or of its head, in which it is.
        kind: of the change.
        before: the code that is changed.
        after: what it becomes.
        line: the first of the lines, without indentation.
    """

    file: str
    number: int
    lines: tuple[int, int]
    kind: str
    before: str
    after: str
    line: str = ""

    def __str__(self) -> str:
        """For people."""
        return f"{self.file}:{self.lines[0]} {self.kind}: {_short(self.before)}  →  {_short(self.after)}"


class _Site(NamedTuple):
    parent: ast.AST
    field: str
    at: int | None
    lines: tuple[int, int]
    kind: str
    old: ast.AST
    new: ast.AST

    def put(self, node: ast.AST) -> None:
        if self.at is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.at] = node


class MutatedFile:
    """A file with all its mutants."""

    def __init__(self, root: Path, file: str) -> None:
        self.path: Final = root / file
        source = self.path.read_text(encoding="utf-8")
        lines = ["", *(line.strip() for line in source.splitlines())]
        self._tree: Final = ast.parse(source)
        self._sites: Final = list(_sites(self._tree))
        self.mutants: Final = tuple(
            Mutant(
                file, number, site.lines, site.kind, ast.unparse(site.old), ast.unparse(site.new), lines[site.lines[0]]
            )
            for number, site in enumerate(self._sites)
        )

    def code(self, mutant: Mutant) -> dict[CodeKey, CodeType]:
        """The functions of the file with this mutant, those inside of others too."""
        site = self._sites[mutant.number]
        site.put(_with_names_of(site.old, site.new))
        try:
            module = compile(self._tree, str(self.path), "exec")
        finally:
            site.put(site.old)
        return dict(_functions(module))


def drawn(mutants: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """So many of them, in the order of the file; all when there are no more. The same for the same seed and file."""
    if count >= len(mutants):
        return list(mutants)
    chosen = random.Random(f"{seed} {mutants[0].file}").sample(range(len(mutants)), count)  # noqa: S311 (repeatable)
    return [mutants[number] for number in sorted(chosen)]


def _functions(code: CodeType) -> Iterator[tuple[CodeKey, CodeType]]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield (constant.co_qualname, constant.co_firstlineno), constant
            yield from _functions(constant)


def _with_names_of(old: ast.AST, new: ast.AST) -> ast.AST:
    """The new node, and where it is a statement the old one in a branch that is never taken.

    So a function keeps the names that it has from around it (`super()` is one), without which it could not be exchanged.
    """
    if not (isinstance(old, ast.stmt) and isinstance(new, ast.stmt)):
        return new
    return ast.copy_location(ast.If(ast.copy_location(ast.Constant(value=True), old), [new], [old]), old)


def _sites(tree: ast.Module | ast.ClassDef) -> Iterator[_Site]:
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _in_statements(child, "body", child.body)
        elif isinstance(child, ast.ClassDef):
            yield from _sites(child)


def _in_statements(parent: ast.AST, field: str, statements: Sequence[ast.stmt]) -> Iterator[_Site]:
    for index, statement in enumerate(statements):
        if _is_told(statement):
            continue
        bodies = [
            (name, value)
            for name, value in ast.iter_fields(statement)
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt | ast.ExceptHandler | ast.match_case)
        ]
        first_inside = min((_first_line(value[0]) for _, value in bodies), default=0)
        lines = (statement.lineno, max(statement.lineno, first_inside - 1) if bodies else statement.end_lineno or 0)
        for kind, new in replacements(statement):
            yield _Site(parent, field, index, lines, kind, statement, new)
        yield from _in_expressions(statement, lines, {name for name, _ in bodies})
        for name, value in bodies:
            if isinstance(value[0], ast.stmt):
                yield from _in_statements(statement, name, value)
                continue
            for branch in value:
                yield from _in_statements(branch, "body", branch.body)


def _first_line(node: ast.AST) -> int:
    if isinstance(node, ast.match_case):
        return node.pattern.lineno
    return getattr(node, "lineno", 0)


def _in_expressions(node: ast.AST, lines: tuple[int, int], left_out: Iterable[str] = ()) -> Iterator[_Site]:
    for name, value in ast.iter_fields(node):
        if name in left_out or (
            name in {"annotation", "returns", "type_params", "args"} and not isinstance(node, ast.Call)
        ):
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(child, ast.AST):
                continue
            if isinstance(child, ast.expr):
                for kind, new in replacements(child):
                    yield _Site(node, name, index, lines, kind, child, new)
            yield from _in_expressions(child, lines)


def _is_told(statement: ast.stmt) -> bool:
    """Whether it is a docstring, or is for the log, or a function inside (whose own body counts, not its head)."""
    match statement:
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))):
            return name in _LOGGERS
        case _:
            return False


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 70 else f"{line[:67]}..."
