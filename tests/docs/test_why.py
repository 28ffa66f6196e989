"""docs/why.md has every class of reason, every kind of hint and every field of the answers."""

import re
from typing import Any

import msgspec
import pytest

from explain.answer import Answer, ClassCount, Item, Members, Obstacle, Preemption, Turn
from explain.fit import Fit, FitAnswer, NodeShare
from explain.hint import Hint, HintKind
from explain.reasons import Reason
from tests.docs.markdown import DOCS, REPOSITORY
from tests.explain.reason_table import SCENES

TEXT = (DOCS / "why.md").read_text()


def section(heading: str) -> str:
    """What stands below a heading."""
    return TEXT.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def first_cells(heading: str) -> set[str]:
    """The names in the first column of the table below a heading."""
    return {name for line in section(heading).splitlines() for name in re.findall(r"^\| `([^`]+)`", line)}


def test_every_class_of_reason_has_its_row_and_no_other() -> None:
    assert first_cells("Reasons") == {reason.value for reason in Reason}


def test_every_kind_of_hint_has_its_row_and_no_other() -> None:
    assert first_cells("Hints") == {kind.value for kind in HintKind}


def test_the_hints_that_scenes_are_told_stand_in_the_row_of_their_reason() -> None:
    lines = section("Reasons").splitlines()
    rows = {name: line for line in lines for name in re.findall(r"^\| `([^`]+)`", line)}
    for reason, kind, _ in SCENES.values():
        if kind is not None:
            assert f"`{kind}`" in rows[reason], reason


@pytest.mark.parametrize(
    "kind", [Answer, Item, Members, Turn, Obstacle, ClassCount, Preemption, Hint, FitAnswer, Fit, NodeShare]
)
def test_every_field_of_the_json_is_named(kind: type[Any]) -> None:
    for field in msgspec.structs.fields(kind):
        assert f"`{field.encode_name}`" in section("As JSON"), field.encode_name


def test_the_readme_answers_in_five_lines_why_a_job_does_not_start() -> None:
    section_of_readme = (
        (REPOSITORY / "README.md").read_text().split("\n## My job does not start\n")[1].split("\n## ")[0]
    )
    lines = [line for line in section_of_readme.splitlines() if line and not line.startswith("```")]
    assert 0 < len(lines) <= 5
    for named in ("tutti why", "tutti fit", "(docs/why.md)"):
        assert named in section_of_readme, named
