"""What hack/promises.py makes of its checks: what was not run is not passed."""

import importlib.util
import os
import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from hack import conformance, promises
from hack.conformance_report import Result, table
from hack.promises import (
    BOTH_SAY,
    CHECKS,
    FAILED,
    FAULTS_QUICK,
    HOLDS,
    NOTHING,
    SOAK_SAYS,
    Check,
    Form,
    figure_of,
    main,
    report,
    run,
    verdict_of,
)
from tests.faults.classes import CLASSES
from tests.faults.workflows import WORKFLOWS
from verify.simulator import main as simulator
from verify.simulator.run import Outcome, describe
from verify.soak import main as soak
from verify.soak.cluster import REAL
from verify.soak.outcome import Outcome as SoakOutcome


@pytest.mark.parametrize(
    ("code", "figure", "verdict"),
    [
        (0, "12 passed in 3.00s", HOLDS),
        (0, "12 passed, 3 skipped in 3.00s", HOLDS),
        (0, "3 skipped in 0.10s", NOTHING),
        (0, "", NOTHING),
        (1, "12 passed in 3.00s", FAILED),
        (5, "2 deselected in 0.10s", FAILED),
        (2, "", NOTHING),
    ],
)
def test_what_was_skipped_or_said_nothing_does_not_hold(code: int, figure: str, verdict: str) -> None:
    assert verdict_of(code, figure) == verdict


def test_the_figure_is_the_last_that_was_said() -> None:
    assert figure_of(promises.TESTS_SAY, "= 1 passed in 2s =\n== 7 passed, 1 skipped in 3.21s ==\n") == (
        "7 passed, 1 skipped in 3.21s"
    )
    assert figure_of(promises.TESTS_SAY, "no tests ran in 0.01s") == ""


@pytest.fixture(autouse=True)
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(promises, "LOGS", tmp_path / "logs")
    return tmp_path / "logs"


def python(code: str) -> Form:
    return Form(("-c", code), r"\d+ seeds.*")


def check(whole: Form, short: Form | None = None) -> Check:
    return Check("one", "a check", whole, short)


def test_a_check_is_run_and_its_output_is_told_when_it_fails() -> None:
    outcome = run(
        python("import sys; print('8 seeds, all well'); print('but', file=sys.stderr); sys.exit(1)"), os.environ
    )
    assert (outcome.verdict, outcome.figure) == (FAILED, "8 seeds, all well")
    assert "but" in report({CHECKS[0].name: outcome})


def test_all_that_a_check_has_printed_is_kept_and_the_table_says_where(
    logs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(promises, "CHECKS", (check(python("print('why'); print('1\\n' * 50); raise SystemExit(1)")),))
    assert main([]) == 1
    assert (logs / "one.log").read_text().startswith("why\n1\n")
    told = capsys.readouterr().out
    assert f"all of it in {logs / 'one'}.log" in told
    assert "why" not in told.splitlines()


def test_of_a_long_output_the_errors_are_told_and_the_end() -> None:
    noise = "\n".join(f"line {number}" for number in range(100))
    told = promises.excerpt(f"{noise}\nE   AssertionError: never bound\n{noise}\n1 failed in 3s")
    assert told[0] == "E   AssertionError: never bound"
    assert told[-1] == "1 failed in 3s"
    assert len(told) < 20


def test_the_figure_of_the_simulator_is_what_it_ends_with(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (says,) = (check.whole.says for check in CHECKS if check.name == "simulator")
    monkeypatch.setattr(simulator, "_runs", lambda asked: iter(()))
    simulator.main(["--seeds", "1"])
    nothing = capsys.readouterr().out
    assert figure_of(says, nothing) == "", "nothing was run"
    assert figure_of(says, nothing.replace("all 0", "all 6")) == "all 6 runs kept every promise"


@pytest.mark.parametrize(
    ("own", "built_in", "figure"),
    [
        (["passed", "skipped"], ["passed"], "own: 1 passed, 1 skipped\nbuilt-in: 1 passed"),
        (["passed"], ["skipped"], ""),
        (["passed"], [], ""),
        (["skipped"], ["passed"], ""),
    ],
)
def test_one_group_api_alone_does_not_show_what_holds_for_both(
    own: list[str], built_in: list[str], figure: str
) -> None:
    runs = {
        api: {f"test {number}": Result(verdict, 1.0) for number, verdict in enumerate(verdicts)}
        for api, verdicts in {"own": own, "built-in": built_in}.items()
    }
    assert figure_of(BOTH_SAY, "\n".join([*table(runs), "own: passed elsewhere, in 3 s", "9 s in all"])) == figure


def test_the_figures_of_a_soak_are_all_that_is_judged() -> None:
    outcome = SoakOutcome(seed=1, seconds=60.0, trends={"scheduler": None})
    told = figure_of(SOAK_SAYS, "\n".join(outcome.lines())).splitlines()
    assert [line.split("  ")[0] for line in told] == ["violations", "memory of scheduler", "orphans", "writes at rest"]


def test_a_week_in_which_no_gang_starts_has_shown_nothing() -> None:
    (says,) = (check.whole.says for check in CHECKS if check.name == "trace")
    week = Outcome((), "trace", steps=9, turns=9, binds=4, starts=2, evictions=0, faults=0, seconds=604_800.0)
    assert figure_of(says, describe(week)).startswith("604800 s, 9 steps, 4 binds, 2 gangs started")
    assert figure_of(says, describe(replace(week, starts=0))) == ""


def test_what_was_measured_on_a_real_control_plane_is_run_on_one_again() -> None:
    on_real = {check.name: check.whole.words for check in CHECKS if check.whole.is_on_real}
    assert set(on_real) == {"faults", "conformance", "slow", "tenants", "soak"}
    by_conformance = [
        conformance.parse_arguments(words[2:]) for words in on_real.values() if words[1] == "hack.conformance"
    ]
    assert [asked.cluster for asked in by_conformance] == [conformance.REAL] * 4
    assert soak.parse_arguments(on_real["soak"][2:]).cluster == REAL
    assert not any(check.short.is_on_real for check in CHECKS if check.short), "make test needs no Kubernetes"


def test_checks_on_a_real_control_plane_get_the_servers_that_are_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tells = "import os; print('2 seeds at', os.environ.get('KUBEBUILDER_ASSETS'))"
    monkeypatch.setattr(promises, "find_assets", lambda environment: Path("/servers"))
    monkeypatch.setattr(promises, "CHECKS", (check(replace(python(tells), is_on_real=True)),))
    assert main([]) == 0
    assert "2 seeds at /servers" in capsys.readouterr().out


def test_without_servers_nothing_is_begun_that_needs_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBEBUILDER_ASSETS", "/nowhere")
    monkeypatch.setattr(promises, "CHECKS", (check(python("print('3 seeds')")),))
    assert main([]) == 0
    monkeypatch.setattr(promises, "CHECKS", (check(replace(python("print('3 seeds')"), is_on_real=True)),))
    capsys.readouterr()
    assert main([]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert told.err.startswith("promises: KUBEBUILDER_ASSETS=/nowhere lacks etcd")


def test_the_short_form_is_another(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(promises, "CHECKS", (check(python("print('3 seeds')"), python("print('1 seeds')")),))
    assert main(["--short"]) == 0
    assert "1 seeds" in capsys.readouterr().out


def test_one_that_fails_decides_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    well, ill = python("print('3 seeds')"), python("print('nothing of the kind')")
    monkeypatch.setattr(promises, "CHECKS", (check(well),))
    assert main([]) == 0
    monkeypatch.setattr(promises, "CHECKS", (check(ill),))
    assert main([]) == 1
    assert "said nothing" in capsys.readouterr().out


def test_where_nothing_would_be_run_that_is_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--short", "--only", "auditor"]) == 2
    assert capsys.readouterr().err == "promises: auditor has no short form\n"


def test_every_check_names_what_is_there() -> None:
    """Modules and folders that are handed to Python exist."""
    for check in CHECKS:
        for form in filter(None, (check.whole, check.short)):
            paths = [word.removeprefix("--ignore=") for word in form.words if "tests/" in word]
            assert all((promises.REPOSITORY / path).exists() for path in paths), paths
            assert importlib.util.find_spec(form.words[1]) is not None, form.words[1]


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
