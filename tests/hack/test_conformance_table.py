"""What hack/conformance.py makes of reports, and what it says when there is no control plane."""

import os
import sys
from pathlib import Path

import pytest

from hack.conformance import (
    REPOSITORY,
    SERVERS,
    at_once,
    find_assets,
    group_apis,
    is_right,
    parse_arguments,
    run_side_by_side,
)
from hack.conformance_report import FORGIVEN, Result, failures, forgiven, read_report, table, to_run_again
from hack.kubernetes_versions import suites
from verify.clusters.versions import minor_of

REPORT = """<testsuites><testsuite>
<testcase classname="tests.conformance.test_a" name="test_fine" time="1.4"/>
<testcase classname="tests.conformance.test_a" name="test_wrong" time="2"><failure message="no">why</failure></testcase>
<testcase classname="tests.conformance.test_a" name="test_absent" time="0"><skipped message="no data"/></testcase>
<testcase classname="tests.conformance.test_a" name="test_dirty" time="1"/>
<testcase classname="tests.conformance.test_a" name="test_dirty" time="1"><error message="promise broken"/></testcase>
<testcase classname="tests.conformance.test_a" name="test_both" time="1"><failure message="late"/></testcase>
<testcase classname="tests.conformance.test_a" name="test_both" time="1"><error message="promise broken"/></testcase>
</testsuite></testsuites>"""


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "report.xml"
    path.write_text(REPORT)
    return path


def test_each_test_has_one_verdict_and_a_broken_promise_counts(report: Path) -> None:
    verdicts = {test: result.verdict for test, result in read_report(report).items()}
    assert verdicts == {
        "test_a: test_fine": "passed",
        "test_a: test_wrong": "FAILED",
        "test_a: test_absent": "skipped",
        "test_a: test_dirty": "ERROR",
        "test_a: test_both": "ERROR",
    }


def test_a_run_without_a_report_has_no_results(tmp_path: Path) -> None:
    assert read_report(tmp_path / "never-written.xml") == {}


def test_the_table_has_one_line_per_test_and_one_of_sums_per_run() -> None:
    runs = {
        "own": {"t: one": Result("passed", 1.2), "t: two": Result("FAILED", 3.0)},
        "built-in": {"t: one": Result("passed", 2.0)},
    }
    text = "\n".join(table(runs))
    (one,) = [line for line in text.splitlines() if line.startswith("t: one")]
    (two,) = [line for line in text.splitlines() if line.startswith("t: two")]
    assert one.split()[2:] == ["passed", "passed", "1/2"]
    assert two.split()[2:] == ["FAILED", "-", "3/0"]
    assert "own: 1 FAILED, 1 passed" in text
    assert "built-in: 1 passed" in text


def test_what_went_wrong_stands_at_the_end_with_the_error_and_its_place() -> None:
    reason = (
        "def test_two():\n>   assert x == 1\nE   assert 2 == 1\nE    +  where 2 = x\n\ntests/t.py:7: AssertionError\n"
    )
    runs = {
        "own": {"t: one": Result("passed", 1.2), "t: two": Result("FAILED", 3.0, reason)},
        "built-in": {"t: two": Result("ERROR", 2.0, "promise broken"), "t: no": Result("skipped", 0.0, "no data")},
    }
    assert failures(runs) == [
        "own: FAILED t: two",
        "    assert 2 == 1",
        "    +  where 2 = x",
        "    tests/t.py:7: AssertionError",
        "built-in: ERROR t: two",
        "    promise broken",
    ]


def test_of_a_long_error_the_beginning_and_the_end_are_told() -> None:
    log = [f"line {number}" for number in range(20)]
    reason = "\n".join(
        ["def test_one():", *(f"E   {line}" for line in ["ended with code 2; its log:", *log]), "t.py:7: Died"]
    )
    told = [line.strip() for line in failures({"own": {"t: one": Result("ERROR", 1.0, reason)}})[1:]]
    assert told == ["ended with code 2; its log:", *log[:2], *log[-5:], "t.py:7: Died"]


def test_a_few_that_failed_have_another_try_and_the_end_says_so() -> None:
    first = {
        "replicas.test_t: test_one[a b]": Result("FAILED", 3.0, "E   late\n"),
        "test_t: test_two": Result("passed", 1.0),
    }
    assert to_run_again(first, at_most=3) == ["tests/conformance/replicas/test_t.py::test_one[a b]"]
    better = forgiven(first, {"replicas.test_t: test_one[a b]": Result("passed", 1.0)})
    assert better["replicas.test_t: test_one[a b]"].verdict == FORGIVEN
    assert is_right(1, better)
    assert failures({"own": better}) == ["own: 2nd time replicas.test_t: test_one[a b]", "    late"]
    assert not is_right(1, forgiven(first, first))
    assert not is_right(1, forgiven(first, {}))


def test_nothing_is_tried_again_after_a_broken_promise_or_when_many_failed() -> None:
    late = {f"t: {number}": Result("FAILED", 1.0) for number in range(3)}
    assert len(to_run_again(late, at_most=3)) == 3
    assert to_run_again(late, at_most=2) == []
    assert to_run_again({**late, "t: broken": Result("ERROR", 1.0)}, at_most=9) == []


@pytest.mark.parametrize(("code", "results"), [(2, {"t: a": Result("passed", 1.0)}), (3, {}), (0, {})])
def test_a_run_that_did_not_get_to_its_end_is_wrong_whatever_passed(code: int, results: dict[str, Result]) -> None:
    assert not is_right(code, results)


def test_a_folder_without_servers_is_named_with_what_it_lacks(tmp_path: Path) -> None:
    (tmp_path / "etcd").touch()
    with pytest.raises(LookupError, match="lacks kube-apiserver"):
        find_assets({"KUBEBUILDER_ASSETS": str(tmp_path)})


def test_a_folder_with_all_servers_is_used(tmp_path: Path) -> None:
    for name in SERVERS:
        (tmp_path / name).touch()
    assert find_assets({"KUBEBUILDER_ASSETS": str(tmp_path)}) == tmp_path


def test_without_servers_and_without_go_one_line_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(LookupError, match="KUBEBUILDER_ASSETS"):
        find_assets({})


def test_the_embedded_cluster_is_asked_for_by_name_and_has_one_group_api(capsys: pytest.CaptureFixture[str]) -> None:
    assert group_apis(parse_arguments([])) == ("own", "built-in")
    assert group_apis(parse_arguments(["--group-api", "built-in"])) == ("built-in",)
    assert group_apis(parse_arguments(["--cluster", "embedded"])) == ("own",)
    with pytest.raises(SystemExit):
        parse_arguments(["--cluster", "embedded", "--group-api", "built-in"])
    assert "serves our own group API only" in capsys.readouterr().err


def test_servers_without_the_built_in_group_api_are_run_with_our_own_kinds_and_the_suites_of_older_ones() -> None:
    assert group_apis(parse_arguments([]), 30) == ("own",)
    with pytest.raises(LookupError, match="has no built-in group API"):
        group_apis(parse_arguments(["--group-api", "built-in"]), 30)
    assert suites(37) == ["tests/conformance"]
    missing = [path for path in suites(30) if not (REPOSITORY / path).exists()]
    assert not missing, missing
    assert {"tests/conformance/test_job_life.py", "tests/conformance/test_uninstall.py"} <= set(suites(30))


@pytest.mark.parametrize(("said", "minor"), [("Kubernetes v1.30.14", 30), ("Kubernetes v1.38.0-alpha.2+dirty", 38)])
def test_servers_say_which_version_they_are(tmp_path: Path, said: str, minor: int) -> None:
    server = tmp_path / "kube-apiserver"
    server.write_text(f"#!/bin/sh\necho {said}\n")
    server.chmod(0o755)
    assert minor_of(tmp_path) == minor
    server.write_text("#!/bin/sh\necho who knows\n")
    with pytest.raises(LookupError, match="who knows"):
        minor_of(tmp_path)


def test_one_group_api_goes_after_the_other_where_that_is_asked_for() -> None:
    apis = ("own", "built-in")
    assert at_once(apis, in_turn=parse_arguments([]).in_turn) == [apis]
    assert at_once(apis, in_turn=parse_arguments(["--in-turn"]).in_turn) == [["own"], ["built-in"]]


def test_runs_are_made_side_by_side_and_each_line_says_whose_it_is(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    # Each waits for the other's file: one after the other they would never end.
    meet = (
        "import pathlib, sys, time\n"
        "own, other = map(pathlib.Path, sys.argv[1:3])\n"
        "own.touch()\n"
        "while not other.exists(): time.sleep(0.01)\n"
        "print('met'); print('and left', file=sys.stderr)\n"
        "sys.exit(int(sys.argv[3]))\n"
    )
    a, b = str(tmp_path / "a"), str(tmp_path / "b")
    commands = {"own": [sys.executable, "-c", meet, a, b, "0"], "other": [sys.executable, "-c", meet, b, a, "3"]}

    codes = run_side_by_side(commands, os.environ)

    assert codes == {"own": 0, "other": 3}
    lines = capfd.readouterr().out.splitlines()
    assert sorted(lines) == ["other | and left", "other | met", "own   | and left", "own   | met"]
