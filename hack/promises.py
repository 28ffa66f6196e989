"""Has every promise of docs/promises.md checked again, and prints one table: what was run, what it said, whether it holds.

    python -m hack.promises            # everything: hours; builds a real control plane when there is none
    python -m hack.promises --short    # a little of everything that says something in minutes
    python -m hack.promises --only simulator --only soak

A check that ran nothing, or skipped all it had, does not count as passed. The exit code is 1 when a check failed or ran nothing.
"""

import argparse
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
PYTEST = ("-m", "pytest", "-q")
TESTS_SAY = r"\d+ (?:passed|failed|skipped|error).* in .*"
HOLDS, FAILED, NOTHING = "holds", "FAILED", "NOT RUN"
EXIT_USAGE = 2
OUTPUT_LINES = 15
"""Of the end of what a check that failed has printed."""
ERROR_LINES = 15
"""Of what it has marked as errors before that, as pytest does."""

FAULTS_QUICK = (
    "suspend-and-resume-answer-lost or set-rolls-out-conflict or pod-preempts-pod-beside-a-budget-crash-after-a-write"
)
"""Cells of the matrix of the short form; `make test` runs others (`QUICK_FAULTS` in the Makefile)."""


@dataclass(frozen=True)
class Check:
    """One way in which promises are checked.

    Attributes:
        name: as `--only` has it.
        about: what is checked.
        whole: arguments of Python that run it all.
        short: those of the short form; empty where it has none: `make test` or `make conformance` show it for every change, or it
            says nothing in a minute.
        says: a pattern of the line with the figure; the last such line is told.
    """

    name: str
    about: str
    whole: Sequence[str]
    short: Sequence[str]
    says: str = TESTS_SAY


CHECKS = (
    Check(
        "auditor",
        "the judge sees each promise broken once",
        (*PYTEST, "tests/verify/auditor"),
        (),
    ),
    Check(
        "faults",
        "workflows under faults end as undisturbed ones",
        (*PYTEST, "--cluster", "embedded", "tests/faults"),
        (*PYTEST, "--cluster", "embedded", "tests/faults/test_matrix.py", "-k", FAULTS_QUICK),
    ),
    Check(
        "conformance",
        "the same on a real control plane, with every test judged",
        ("-m", "hack.conformance", "--slow"),
        (),
        r"(?:own|built-in): \d+ .*passed.*",
    ),
    Check(
        "simulator",
        "seeded runs in virtual time break no promise",
        ("-m", "verify.simulator", "--seeds", "10000"),
        ("-m", "verify.simulator", "--seeds", "6"),
        r"all [1-9]\d* runs kept every promise",
    ),
    Check(
        "planted",
        "a planted bug is found by a test",
        ("-m", "verify.planted"),
        (),
        r"\d+ of \d+ planted bugs.*",
    ),
    Check(
        "mutation",
        "random mutants of the core are noticed",
        ("-m", "verify.mutation"),
        (),
        r"all +\d+ .*%",
    ),
    Check(
        "soak",
        "users, faults and other schedulers for a long time",
        ("-m", "verify.soak", "--minutes", "90"),
        (*PYTEST, "--cluster", "embedded", "tests/faults/test_soak.py"),
        r"violations.*|" + TESTS_SAY,
    ),
)


@dataclass(frozen=True)
class Outcome:
    """What became of a check; `figure` is the line that it ended with."""

    verdict: str
    figure: str
    seconds: float
    command: str
    output: str = ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; the exit code."""
    asked = parse_arguments(sys.argv[1:] if arguments is None else arguments)
    chosen = [
        check for check in CHECKS if (not asked.only or check.name in asked.only) and (check.short or not asked.short)
    ]
    if not chosen:
        print(f"promises: {', '.join(asked.only)} has no short form", file=sys.stderr)
        return EXIT_USAGE
    outcomes = {}
    for check in chosen:
        outcomes[check.name] = outcome = run(check, is_short=asked.short)
        print(f"{check.name}: {outcome.verdict} after {outcome.seconds:.0f} s", flush=True)
    print("\n".join(report(outcomes)))
    return 0 if all(outcome.verdict == HOLDS for outcome in outcomes.values()) else 1


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m hack.promises", description="Check docs/promises.md again.")
    parser.add_argument("--short", action="store_true", help="a little of everything, in minutes")
    names = [check.name for check in CHECKS]
    parser.add_argument("--only", action="append", choices=names, default=[], help="this one; may be repeated")
    return parser.parse_args(arguments)


def run(check: Check, *, is_short: bool) -> Outcome:
    """Runs it to its end."""
    words = check.short if is_short else check.whole
    begin = time.monotonic()
    done = subprocess.run(
        [sys.executable, *words],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    figure = figure_of(check.says, done.stdout)
    seconds = time.monotonic() - begin
    command = " ".join(["python", *(f'"{word}"' if " " in word else word for word in words)])
    return Outcome(verdict_of(done.returncode, figure), figure, seconds, command, done.stdout)


def figure_of(pattern: str, output: str) -> str:
    """The last that the output says of itself; empty when it says nothing."""
    found = re.findall(pattern, output)
    return str(found[-1]).strip(" =") if found else ""


def verdict_of(code: int, figure: str) -> str:
    """Whether it holds; what tests skipped they have not shown."""
    if code:
        return FAILED
    is_empty = not figure or (re.search(r"\d+ skipped", figure) and not re.search(r"[1-9]\d* passed", figure))
    return NOTHING if is_empty else HOLDS


def report(outcomes: dict[str, Outcome]) -> list[str]:
    """The table; below it the end of what those have printed that failed."""
    about = {check.name: check.about for check in CHECKS}
    lines = [""]
    for name, outcome in outcomes.items():
        lines += [
            f"{outcome.verdict:<8} {name:<10} {about[name]}",
            f"{'':<8} {'':<10} {outcome.figure or 'said nothing'}",
        ]
        lines += [f"{'':<8} {'':<10} {outcome.command}, {outcome.seconds:.0f} s"]
    for name, outcome in outcomes.items():
        if outcome.verdict != HOLDS:
            lines += ["", f"{name}:", *excerpt(outcome.output)]
    return lines


def excerpt(output: str) -> list[str]:
    """What went wrong, and how it ended: a log that a failing test has left may be long."""
    lines = output.splitlines()
    errors = [line for line in lines[:-OUTPUT_LINES] if line.startswith("E  ")]
    return [*errors[:ERROR_LINES], *lines[-OUTPUT_LINES:]]


if __name__ == "__main__":
    sys.exit(main())
