"""Mutants are judged by the tests that reach them, in forks, and nothing of the session stays behind."""

import subprocess
import sys
import time
from math import inf
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis.strategies import integers

from verify.mutation.equivalent import Key
from verify.mutation.forks import DIED, TIMED_OUT, in_forks
from verify.mutation.main import EXIT_USAGE, main, score_percent
from verify.mutation.mutants import Mutant, MutatedFile
from verify.mutation.session import MOST_EXAMPLES, Result, limit_examples

CODE = "def half(amount):\n    return amount // 2\n\n\ndef unknown(amount):\n    return amount < 3\n"
TESTS = """
import pytest
from half import half

BEEN_HERE = []


@pytest.fixture(scope="module")
def four():
    return 4


def test_half(four):
    assert half(four) == 2


def test_only_once():
    BEEN_HERE.append(1)
    assert len(BEEN_HERE) == 1
    half(2)
"""

SESSION = """
import sys
from pathlib import Path
import pytest
from verify.mutation import session as module
from verify.mutation.mutants import MutatedFile
from verify.mutation.session import MutationSession

file = MutatedFile(Path.cwd(), "half.py")
session = MutationSession(
    [file], file.mutants, workers=2, told=lambda line: print(line, file=sys.stderr), most_seconds=float(sys.argv[1])
)
sys.path.insert(0, str(Path.cwd()))
module._LEAST_CPU_SECONDS = 1.0
pytest.main(["-q", "-p", "no:randomly", "-p", "no:cacheprovider", "-c", "pytest.ini", "test_half.py"], plugins=[session])
for one in sorted(session.results):
    print(one.mutant.before, "|", one.mutant.after, "|", one.tests, "|", one.killed_by, file=sys.stderr)
"""


def mutant(number: int) -> Mutant:
    return Mutant("half.py", number, (2, 2), "constant", "2", str(number), "return amount // 2")


def judged(folder: Path, tests: str, *, most_seconds: float = inf) -> list[str]:
    """What a session tells and what comes of its mutants."""
    (folder / "half.py").write_text(CODE, encoding="utf-8")
    (folder / "test_half.py").write_text(tests, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", SESSION, str(most_seconds)],
        cwd=folder,
        env={"PYTHONPATH": str(root), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    return done.stderr.splitlines()


def test_who_notices_what(tmp_path: Path) -> None:
    told = judged(tmp_path, TESTS)

    assert "left out, it fails when it is repeated: test_half.py::test_only_once" in told
    assert "amount // 2 | amount * 2 | 1 | test_half.py::test_half" in told
    assert "amount < 3 | amount <= 3 | 0 | " in told


def test_for_a_quick_look_only_the_fastest_tests_are_asked(tmp_path: Path) -> None:
    slow = (
        "import time\nfrom half import half\n\n\ndef test_slow():\n    end = time.process_time() + 0.2\n"
        "    while time.process_time() < end:\n        pass\n    assert half(4) == 2\n"
    )
    fast = "\n\ndef test_fast():\n    half(4)\n"

    assert "amount // 2 | amount * 2 | 2 | test_half.py::test_slow" in judged(tmp_path, slow + fast)
    assert "amount // 2 | amount * 2 | 1 | " in judged(tmp_path, slow + fast, most_seconds=0.1)


def test_a_machine_that_is_busy_makes_no_test_slow(tmp_path: Path) -> None:
    waits = "import time\nfrom half import half\n\n\ndef test_waits():\n    time.sleep(0.2)\n    assert half(4) == 2\n"
    fast = "\n\ndef test_fast():\n    half(4)\n"

    assert "amount // 2 | amount * 2 | 2 | test_half.py::test_waits" in judged(tmp_path, waits + fast, most_seconds=0.1)


def test_a_mutant_that_never_ends_is_noticed_by_the_time_it_takes(tmp_path: Path) -> None:
    tests = "from half import half\n\n\ndef test_down():\n    amount = 4\n    while amount:\n        amount = half(amount)\n"

    assert f"amount // 2 | amount * 2 | 1 | {DIED}" in judged(tmp_path, tests)


@pytest.mark.parametrize(("asked", "met"), [(2000, MOST_EXAMPLES), (MOST_EXAMPLES, MOST_EXAMPLES), (3, 3)])
def test_mutants_meet_a_limited_number_of_examples_of_a_property(asked: int, met: int) -> None:
    examples: list[int] = []

    @settings(max_examples=asked, database=None, derandomize=True)
    @given(integers())
    def check(number: int) -> None:
        examples.append(number)

    limit_examples(check)
    check()

    assert len(examples) == met


def test_forks_that_end_say_what_they_found_and_the_others_are_ended() -> None:
    def do(work: str) -> str:
        if work == "sleeps":
            time.sleep(600)
        if work == "dies":
            raise SystemExit(3)
        return f"{work} done"

    works = [("works", 60.0), ("sleeps", 0.2), ("dies", 60.0), ("works too", 60.0)]
    answers = dict(in_forks(works, do, workers=2))

    assert answers == {
        "works": "works done",
        "sleeps": TIMED_OUT,
        "dies": f"{DIED} SystemExit: 3",
        "works too": "works too done",
    }


def test_equivalent_mutants_do_not_count() -> None:
    results = [Result(mutant(3), 1, "test_a"), Result(mutant(4), 1, ""), Result(mutant(5), 1, "")]

    assert score_percent(results, {Key("half.py", "return amount // 2", "2", "4"): "They are the same."}) == 50.0


def test_an_area_that_is_not_there_is_a_mistake_of_the_user(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["quue"]) == EXIT_USAGE
    assert capsys.readouterr().err.startswith("mutation: no area is called quue;")


def test_lines_of_a_statement_with_a_body_are_those_of_its_head(tmp_path: Path) -> None:
    (tmp_path / "half.py").write_text("def f(a):\n    if a < 3:\n        return a\n    return 0\n", encoding="utf-8")

    found = MutatedFile(tmp_path, "half.py").mutants

    assert {one.lines for one in found if one.before == "a < 3"} == {(2, 2)}
