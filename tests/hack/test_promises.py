"""What hack/promises.py makes of its checks: what was not run is not passed."""

import importlib.util
import re
from itertools import product

import pytest

from hack import promises
from hack.promises import CHECKS, FAILED, FAULTS_QUICK, HOLDS, NOTHING, Check, figure_of, main, report, run, verdict_of
from tests.faults.classes import CLASSES
from tests.faults.workflows import WORKFLOWS
from verify.simulator import main as simulator


@pytest.mark.parametrize(
    ("code", "figure", "verdict"),
    [
        (0, "12 passed in 3.00s", HOLDS),
        (0, "12 passed, 3 skipped in 3.00s", HOLDS),
        (0, "3 skipped in 0.10s", NOTHING),
        (0, "", NOTHING),
        (1, "12 passed in 3.00s", FAILED),
        (5, "2 deselected in 0.10s", FAILED),
    ],
)
def test_what_was_skipped_or_said_nothing_does_not_hold(code: int, figure: str, verdict: str) -> None:
    assert verdict_of(code, figure) == verdict


def test_the_figure_is_the_last_that_was_said() -> None:
    assert figure_of(promises.TESTS_SAY, "= 1 passed in 2s =\n== 7 passed, 1 skipped in 3.21s ==\n") == (
        "7 passed, 1 skipped in 3.21s"
    )
    assert figure_of(promises.TESTS_SAY, "no tests ran in 0.01s") == ""


def python(code: str) -> Check:
    return Check("one", "a check", ("-c", code), ("-c", "print('0 seeds')"), r"\d+ seeds.*")


def test_a_check_is_run_whole_or_short_and_its_output_is_told_when_it_fails() -> None:
    check = python("import sys; print('8 seeds, all well'); print('but', file=sys.stderr); sys.exit(1)")
    whole = run(check, is_short=False)
    assert (whole.verdict, whole.figure) == (FAILED, "8 seeds, all well")
    assert run(check, is_short=True).figure == "0 seeds"
    assert "but" in report({CHECKS[0].name: whole})


def test_of_a_long_output_the_errors_are_told_and_the_end() -> None:
    noise = "\n".join(f"line {number}" for number in range(100))
    told = promises.excerpt(f"{noise}\nE   AssertionError: never bound\n{noise}\n1 failed in 3s")
    assert told[0] == "E   AssertionError: never bound"
    assert told[-1] == "1 failed in 3s"
    assert len(told) < 20


def test_the_figure_of_the_simulator_is_what_it_ends_with(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (says,) = (check.says for check in CHECKS if check.name == "simulator")
    monkeypatch.setattr(simulator, "_runs", lambda asked: iter(()))
    simulator.main(["--seeds", "1"])
    nothing = capsys.readouterr().out
    assert figure_of(says, nothing) == "", "nothing was run"
    assert figure_of(says, nothing.replace("all 0", "all 6")) == "all 6 runs kept every promise"


def test_one_that_fails_decides_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    well, ill = python("print('3 seeds')"), python("print('nothing of the kind')")
    monkeypatch.setattr(promises, "CHECKS", (well,))
    assert main([]) == 0
    monkeypatch.setattr(promises, "CHECKS", (ill,))
    assert main([]) == 1
    assert "said nothing" in capsys.readouterr().out


def test_where_nothing_would_be_run_that_is_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--short", "--only", "auditor"]) == 2
    assert capsys.readouterr().err == "promises: auditor has no short form\n"


def test_every_check_names_what_is_there() -> None:
    """Modules and folders that are handed to Python exist."""
    for check in CHECKS:
        for words in filter(None, (check.whole, check.short)):
            paths = [word for word in words if word.startswith("tests/")]
            assert all((promises.REPOSITORY / path).exists() for path in paths), paths
            if words[1] != "pytest":
                assert importlib.util.find_spec(words[1]) is not None, words[1]


def test_the_short_form_runs_cells_of_the_matrix_that_make_test_does_not() -> None:
    cells = ["-".join(cell) for cell in product(WORKFLOWS, CLASSES)]
    makefile = (promises.REPOSITORY / "Makefile").read_text()
    (of_make_test,) = re.findall(r"^QUICK_FAULTS := (.*)$", makefile, re.MULTILINE)
    short, usual = (
        {cell for cell in cells for part in line.split(" or ") if part in cell} for line in (FAULTS_QUICK, of_make_test)
    )
    assert len(short) == len(FAULTS_QUICK.split(" or "))
    assert len(usual) == len(of_make_test.split(" or "))
    assert not short & usual
