"""Has every promise of docs/promises.md checked again, and prints one table: what was run, what it said, whether it holds.

    python -m hack.promises            # everything: most of a day; builds a real control plane when there is none
    python -m hack.promises --short    # a little of everything that says something in minutes
    python -m hack.promises --only simulator --only soak

A check that ran nothing, or skipped all it had, does not count as passed. The exit code is 1 when a check failed or ran nothing, 2
when there is no control plane for one that was asked for.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hack.conformance import find_assets

REPOSITORY = Path(__file__).resolve().parents[1]
PYTEST = ("-m", "pytest", "-q")
TESTS_SAY = r"\d+ (?:passed|failed|skipped|error).* in .*"
BOTH_GROUP_APIS = ("-m", "hack.conformance")
ALONE = (*BOTH_GROUP_APIS, "--slow", "--workers", "0", "--in-turn")
"""Nothing beside it: these tests measure times, or have so many objects that others would be late."""

BOTH_SAY = r"(?m)^own: \d+ .*passed.*\nbuilt-in: \d+ .*passed.*"
"""The sums of both runs of `hack.conformance`: one without the other has not shown what is claimed."""

NEW_SEED = str(random.SystemRandom().randrange(1_000_000))
"""Of simulated runs and mutants: tests were written for what earlier ones had found. The command in the table repeats them."""

ALL_RUNS = r"all [1-9]\d* runs kept every promise"
SOAK_SAYS = r"violations .*(?:\n.*)*?\nwrites at rest.*"
"""With the lines between them: memory and orphans."""

HOLDS, FAILED, NOTHING = "holds", "FAILED", "NOT RUN"
EXIT_USAGE = 2
LOGS = REPOSITORY / "build" / "promises"
"""All that the checks have printed, each in a file of its name."""

OUTPUT_LINES = 15
"""Of the end of what a check that failed has printed."""
ERROR_LINES = 15
"""Of what it has marked as errors before that, as pytest does."""

FAULTS_QUICK = (
    "suspend-and-resume-answer-lost or set-rolls-out-conflict or pod-preempts-pod-beside-a-budget-crash-after-a-write"
)
"""Cells of the matrix of the short form; `make test` runs others (`QUICK_FAULTS` in the Makefile)."""


@dataclass(frozen=True)
class Form:
    """How a check is run.

    Attributes:
        words: arguments of Python.
        says: a pattern of what it says of itself; the last that is found is told.
        is_on_real: whether it runs on a real control plane, as the figures of docs/promises.md did.
    """

    words: Sequence[str]
    says: str = TESTS_SAY
    is_on_real: bool = False


@dataclass(frozen=True)
class Check:
    """One way in which promises are checked.

    Attributes:
        name: as `--only` has it.
        about: what is checked.
        whole: all of it.
        short: some of it; None where `make test` or `make conformance` show it for every change, or it says nothing in a minute.
    """

    name: str
    about: str
    whole: Form
    short: Form | None = None


CHECKS = (
    Check(
        "auditor",
        "the judge sees each promise broken once",
        Form((*PYTEST, "tests/verify/auditor")),
    ),
    Check(
        "faults",
        "workflows under faults end as undisturbed ones",
        # By files, as usual, one worker would have nearly all of it. A soak of seconds is no part of the matrix.
        Form(
            (*BOTH_GROUP_APIS, "--", "tests/faults", "--ignore=tests/faults/test_soak.py", "--dist", "load"),
            BOTH_SAY,
            is_on_real=True,
        ),
        Form((*PYTEST, "--cluster", "embedded", "tests/faults/test_matrix.py", "-k", FAULTS_QUICK)),
    ),
    Check(
        "conformance",
        "every test on a real control plane, judged at its end",
        Form(BOTH_GROUP_APIS, BOTH_SAY, is_on_real=True),
    ),
    Check(
        "slow",
        "those that take minutes each: upgrades, kills, gangs of hundreds",
        Form(
            (*ALONE, "--", "tests/conformance", "-m", "slow", "--ignore=tests/conformance/tenants"),
            BOTH_SAY,
            is_on_real=True,
        ),
    ),
    Check(
        "tenants",
        "who attacks does no more than double another one's times",
        # Medians are printed, for the log.
        Form((*ALONE, "--", "-s", "tests/conformance/tenants"), BOTH_SAY, is_on_real=True),
    ),
    Check(
        "simulator",
        "seeded runs in virtual time break no promise",
        Form(("-m", "verify.simulator", "--seeds", "10000", "--first", NEW_SEED), ALL_RUNS),
        Form(("-m", "verify.simulator", "--seeds", "6"), ALL_RUNS),
    ),
    Check(
        "trace",
        "nor does a week of a recorded cluster",
        Form(
            ("-m", "verify.simulator.trace", "--every", "1", "--every-node", "300", "--together", "60"),
            r".* [1-9]\d* gangs started.*",
        ),
    ),
    Check(
        "planted",
        "a planted bug is found by a test",
        Form(("-m", "verify.planted"), r"\d+ of \d+ planted bugs.*"),
    ),
    Check(
        "mutation",
        "random mutants of the core are noticed",
        Form(("-m", "verify.mutation", "--count", "3", "--seconds", "20", "--seed", NEW_SEED), r"all +\d+ .*%"),
    ),
    Check(
        "soak",
        "users, faults and other schedulers for a long time",
        Form(("-m", "verify.soak", "--minutes", "90", "--cluster", "real"), SOAK_SAYS, is_on_real=True),
        Form((*PYTEST, "tests/faults/test_soak.py")),
    ),
)


@dataclass(frozen=True)
class Outcome:
    """What became of a check; `figure` is what it said of itself, in one line or a few."""

    verdict: str
    figure: str
    seconds: float
    command: str
    output: str = ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; the exit code."""
    asked = parse_arguments(sys.argv[1:] if arguments is None else arguments)
    named = [check for check in CHECKS if not asked.only or check.name in asked.only]
    forms = {check.name: form for check in named if (form := check.short if asked.short else check.whole)}
    if not forms:
        print(f"promises: {', '.join(asked.only)} has no short form", file=sys.stderr)
        return EXIT_USAGE
    try:
        environment = environment_for(forms.values(), os.environ)
    except LookupError as error:
        print(f"promises: {error}", file=sys.stderr)
        return EXIT_USAGE
    outcomes = {}
    for name, form in forms.items():
        outcomes[name] = outcome = run(form, environment)
        LOGS.mkdir(parents=True, exist_ok=True)
        (LOGS / f"{name}.log").write_text(outcome.output)
        print(f"{name}: {outcome.verdict} after {outcome.seconds:.0f} s", flush=True)
    print("\n".join(report(outcomes)))
    return 0 if all(outcome.verdict == HOLDS for outcome in outcomes.values()) else 1


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m hack.promises", description="Check docs/promises.md again.")
    parser.add_argument("--short", action="store_true", help="a little of everything, in minutes")
    names = [check.name for check in CHECKS]
    parser.add_argument("--only", action="append", choices=names, default=[], help="this one; may be repeated")
    return parser.parse_args(arguments)


def environment_for(forms: Iterable[Form], environment: Mapping[str, str]) -> Mapping[str, str]:
    """What the checks are run with: the servers are found, or built, before hours are spent on what needs none.

    Raises:
        LookupError: there are none, and a check needs them.
    """
    if not any(form.is_on_real for form in forms):
        return environment
    return {**environment, "KUBEBUILDER_ASSETS": str(find_assets(environment))}


def run(form: Form, environment: Mapping[str, str]) -> Outcome:
    """Runs it to its end."""
    begin = time.monotonic()
    done = subprocess.run(
        [sys.executable, *form.words],
        cwd=REPOSITORY,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    figure = figure_of(form.says, done.stdout)
    seconds = time.monotonic() - begin
    command = " ".join(["python", *(f'"{word}"' if " " in word else word for word in form.words)])
    return Outcome(verdict_of(done.returncode, figure), figure, seconds, command, done.stdout)


def figure_of(pattern: str, output: str) -> str:
    """The last that the output says of itself; empty when it says nothing."""
    found = re.findall(pattern, output)
    return str(found[-1]).strip(" =") if found else ""


def verdict_of(code: int, figure: str) -> str:
    """Whether it holds; what tests skipped they have not shown, and who lacks what he needs has run nothing."""
    if code == EXIT_USAGE:
        return NOTHING
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
            *(f"{'':<8} {'':<10} {line}" for line in (outcome.figure or "said nothing").splitlines()),
        ]
        lines += [f"{'':<8} {'':<10} {outcome.command}, {outcome.seconds:.0f} s"]
    for name, outcome in outcomes.items():
        if outcome.verdict != HOLDS:
            lines += ["", f"{name} (all of it in {LOGS / name}.log):", *excerpt(outcome.output)]
    return lines


def excerpt(output: str) -> list[str]:
    """What went wrong, and how it ended: a log that a failing test has left may be long."""
    lines = output.splitlines()
    errors = [line for line in lines[:-OUTPUT_LINES] if line.startswith("E  ")]
    return [*errors[:ERROR_LINES], *lines[-OUTPUT_LINES:]]


if __name__ == "__main__":
    sys.exit(main())
