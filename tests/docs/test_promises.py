"""docs/promises.md has every promise, names the file that checks it, and every fault there is."""

import re
import sys
from pathlib import Path

from verify.auditor.promises import ALL
from verify.faults.kinds import CODES, FAULTS

REPOSITORY = Path(__file__).parents[2]
TEXT = (REPOSITORY / "docs" / "promises.md").read_text()
ROWS = dict(re.findall(r"^\| (I\d+) \|(.*)$", TEXT, re.MULTILINE))


def test_all_thirteen_are_there() -> None:
    assert list(ROWS) == [f"I{number}" for number in range(1, 14)]


def test_each_row_names_the_files_that_check_it() -> None:
    for promise in ALL:
        name = promise.__module__.rpartition(".")[2]
        assert f"`{name}.py`" in ROWS[promise.number], f"{promise.number} does not name {name}.py"


def test_every_file_named_is_there() -> None:
    folders = (REPOSITORY / "verify/auditor", REPOSITORY / "verify/auditor/promises")
    for row in ROWS.values():
        for name in re.findall(r"`(\w+\.py)`", row):
            assert any((folder / name).exists() for folder in folders), name


def test_every_fault_and_refusal_is_named() -> None:
    for fault in FAULTS:
        assert f"`{fault}`" in TEXT, fault
    for code in CODES:
        assert str(code) in TEXT, code


def test_each_promise_says_what_its_check_sees_and_what_it_does_not() -> None:
    for promise in ALL:
        said = " ".join(str(sys.modules[promise.__module__].__doc__).split())
        assert said.startswith((f"{promise.number}:", "Devices (part of I1 and I2):")), promise
        assert "Sees" in said, promise
        assert "not see" in said, promise
