"""docs/troubleshooting.md: whatever reason a user reads on an object, there is a row that says what to do."""

import re
from pathlib import Path

import pytest

from api import constants

DOCS = Path(__file__).resolve().parents[2] / "docs"
TEXT = (DOCS / "troubleshooting.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(\w+)` \| (.+) \| (.+) \|$", re.MULTILINE)
ROWS = {reason: (meaning, act) for reason, meaning, act in ROW.findall(TEXT)}


def values(prefix: str) -> set[str]:
    """The values of all constants whose names begin like that."""
    return {value for name, value in vars(constants).items() if name.startswith(prefix)}


SEEN_BY_USERS = values("REASON_") | values("EVENT_")


@pytest.mark.parametrize("reason", sorted(SEEN_BY_USERS))
def test_every_reason_has_a_row_with_its_meaning_and_what_to_do(reason: str) -> None:
    meaning, act = ROWS[reason]
    assert meaning.strip()
    assert act.strip()


def test_no_row_is_about_a_reason_that_nobody_gives() -> None:
    assert ROWS.keys() - SEEN_BY_USERS == set()


@pytest.mark.parametrize("condition", sorted(values("CONDITION_")))
def test_every_condition_is_named(condition: str) -> None:
    assert condition in TEXT


def test_every_runbook_that_is_named_exists() -> None:
    named = set(re.findall(r"docs/runbooks/(\w+\.md)", TEXT))
    assert named
    assert {name for name in named if not (DOCS / "runbooks" / name).is_file()} == set()
