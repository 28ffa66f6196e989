"""Which mutants code has, and that a mutant is in force in every function that holds the code."""

import random
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from verify.mutation.areas import AREAS
from verify.mutation.equivalent import known_equivalents, outdated
from verify.mutation.exchange import exchange
from verify.mutation.main import ROOT
from verify.mutation.mutants import Mutant, MutatedFile, drawn

CODE = '''
"""A module."""
LIMIT = 3


class Room:
    """Room."""

    def __init__(self, size: int = 7) -> None:
        self.size = size

    @property
    def is_large(self) -> bool:
        """Whether it is."""
        return self.size > 5


def free(rooms, wanted):
    """How much is left."""
    left = 0
    for room in rooms:
        if not room.is_large and wanted:
            continue
        left += room.size - 1
    return left
'''

HALLS = """
class Room:
    def __init__(self):
        self.size = 7


class Hall(Room):
    def __init__(self):
        super().__init__()


def rooms_of(size):
    def of_them(count):
        return size * count

    return of_them
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "rooms.py"
    path.write_text(CODE, encoding="utf-8")
    return path


def changes(mutants: Iterable[Mutant]) -> set[tuple[str, str]]:
    return {(one.before, one.after) for one in mutants}


def imported(path: Path, code: str = CODE) -> ModuleType:
    module = ModuleType("rooms")
    exec(compile(code, str(path), "exec"), module.__dict__)
    return module


def test_comparisons_numbers_operators_returns_and_statements_are_changed(path: Path) -> None:
    found = changes(MutatedFile(path.parent, path.name).mutants)

    assert found >= {
        ("self.size > 5", "self.size >= 5"),
        ("self.size > 5", "self.size <= 5"),
        ("return self.size > 5", "return None"),
        ("5", "6"),
        ("not room.is_large and wanted", "not room.is_large or wanted"),
        ("not room.is_large", "room.is_large"),
        ("continue", "break"),
        ("left += room.size - 1", "left -= room.size - 1"),
        ("left += room.size - 1", "pass"),
        ("room.size - 1", "room.size + 1"),
        ("self.size = size", "pass"),
    }


def test_texts_defaults_and_what_is_outside_functions_are_left_alone(path: Path) -> None:
    found = changes(MutatedFile(path.parent, path.name).mutants)

    assert not {before for before, _ in found} & {"3", "7", "'How much is left.'"}


def test_drawing_repeats_itself_and_another_seed_draws_others(path: Path) -> None:
    mutants = MutatedFile(path.parent, path.name).mutants

    assert drawn(mutants, 5, 1) == drawn(mutants, 5, 1)
    assert drawn(mutants, 5, 1) != drawn(mutants, 5, 2)
    assert drawn(mutants, 1000, 1) == list(mutants)


def test_a_mutant_is_in_force_in_methods_properties_and_answers_that_were_remembered(path: Path) -> None:
    module: Any = imported(path)
    room = module.Room(5)
    remembered = cache(module.free)
    assert (room.is_large, remembered((module.Room(9),), True)) == (False, 8)
    file = MutatedFile(path.parent, path.name)

    by_change = {(one.before, one.after): one for one in file.mutants}
    exchange(path, file.code(by_change["self.size > 5", "self.size >= 5"]))
    assert room.is_large
    exchange(path, file.code(by_change["room.size - 1", "room.size + 1"]))
    assert not room.is_large  # one mutant at a time
    assert remembered((module.Room(9),), True) == 10


def test_a_mutant_without_a_name_from_around_the_function_is_in_force_too(tmp_path: Path) -> None:
    path = tmp_path / "halls.py"
    path.write_text(HALLS, encoding="utf-8")
    module: Any = imported(path, HALLS)
    file = MutatedFile(path.parent, path.name)
    by_change = {(one.before, one.after): one for one in file.mutants}
    room_by = module.rooms_of(3)

    exchange(path, file.code(by_change["super().__init__()", "pass"]))
    assert not hasattr(module.Hall(), "size")
    exchange(path, file.code(by_change["return size * count", "return None"]))
    assert room_by(2) is None
    assert module.Hall().size == 7  # one mutant at a time


def test_every_mutant_of_the_core_compiles() -> None:
    files = [MutatedFile(ROOT, name) for area in AREAS.values() for name in area.files(ROOT)]
    mutants = [(file, mutant) for file in files for mutant in file.mutants]

    assert len(mutants) > 3000
    for file, mutant in random.Random(0).sample(mutants, 60):
        assert file.code(mutant)


def test_the_files_of_every_area_and_their_tests_exist() -> None:
    for name, area in AREAS.items():
        assert len(list(area.files(ROOT))) >= len(area.modules), name
        assert all((ROOT / test).exists() for test in area.tests), name


def test_mutants_that_are_known_to_be_equivalent_are_there() -> None:
    known = known_equivalents()
    mutants = [mutant for file in {key.file for key in known} for mutant in MutatedFile(ROOT, file).mutants]

    assert outdated(known, mutants) == []
    assert all(why.endswith(".") for why in known.values())
