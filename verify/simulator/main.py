"""`python -m verify.simulator`: runs seeds, and for those that break a promise the shortest run that does."""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from verify.simulator.actions import Scenario, read, written
from verify.simulator.generate import MOST_ACTIONS, scenario
from verify.simulator.run import Outcome, describe, simulate
from verify.simulator.shrink import MOST_RUNS, shrink
from verify.simulator.workers import in_processes, with_hash_seed

EXIT_OK: Final = 0
EXIT_BROKEN: Final = 1
EXIT_USAGE: Final = 2
PROGRESS_SECONDS: Final = 30.0


class Done(NamedTuple):
    """One seed's run; `shortest`, and what came of it, only if it broke a promise."""

    run: Scenario
    outcome: Outcome
    cpu_seconds: float
    shortest: tuple[Scenario, Outcome] | None = None


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m verify.simulator", description="Runs Tutti in virtual time.")
    parser.add_argument("--seeds", type=int, default=100, metavar="N", help="how many seeds (default 100)")
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="the first of them (default 0)")
    parser.add_argument("--actions", type=int, default=MOST_ACTIONS, metavar="N", help="most actions of a run")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="N", help="processes")
    parser.add_argument("--shrink", type=int, default=MOST_RUNS, metavar="RUNS", help="runs spent on one; 0: none")
    parser.add_argument("--keep-going", type=int, default=5, metavar="N", help="stop after so many that fail")
    parser.add_argument("--scenario", metavar="TEXT", help="this one run, as JSON or @FILE, and nothing else")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; the exit code."""
    asked = parse_arguments(sys.argv[1:] if arguments is None else arguments)
    if asked.scenario is not None:
        return _one(asked.scenario)
    return _many(asked)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _one(text: str) -> int:
    try:
        run = read(Path(text[1:]).read_text(encoding="utf-8") if text.startswith("@") else text)
    except (OSError, msgspec.MsgspecError) as error:
        sys.stderr.write(f"--scenario: no run: {error}\n")
        return EXIT_USAGE
    with_hash_seed(run.hash_seed)
    outcome = simulate(run)
    _tell(outcome)
    return EXIT_BROKEN if outcome.violations else EXIT_OK


def _tell(outcome: Outcome) -> None:
    _say(describe(outcome))
    for violation in outcome.violations:
        _say(f"  {violation}")


def _many(asked: argparse.Namespace) -> int:
    begun, told, failed, totals = time.monotonic(), time.monotonic(), 0, _Totals()
    for done in _runs(asked):
        totals.add(done)
        if done.outcome.violations:
            failed += 1
            _say(f"seed {done.run.seed}: {describe(done.outcome)}")
            _report(done)
            if failed >= asked.keep_going:
                break
        if time.monotonic() - told > PROGRESS_SECONDS:
            told = time.monotonic()
            _say(totals.line(told - begun))
    _say(totals.line(time.monotonic() - begun))
    _say(f"{failed} of {totals.runs} runs broke a promise" if failed else f"all {totals.runs} runs kept every promise")
    return EXIT_BROKEN if failed else EXIT_OK


def _runs(asked: argparse.Namespace) -> Iterator[Done]:
    work = partial(_run_seed, actions=asked.actions, shrink_runs=asked.shrink)
    return in_processes(work, range(asked.first, asked.first + asked.seeds), asked.workers)


def _run_seed(seed: int, *, actions: int, shrink_runs: int) -> Done:
    begun = time.process_time()
    run = scenario(seed, actions=actions)
    outcome = simulate(run)
    cpu_seconds = time.process_time() - begun
    if not outcome.violations:
        return Done(run, outcome, cpu_seconds)
    shortest = shrink(run, same_failure(outcome), most_runs=shrink_runs) if shrink_runs else run
    return Done(run, outcome, cpu_seconds, (shortest, simulate(shortest)))


def _report(done: Done) -> None:
    for violation in done.outcome.violations:
        _say(f"  {violation}")
    if done.shortest is None:
        return
    shortest, outcome = done.shortest
    _say(f"  {len(shortest.actions)} of {len(done.run.actions)} actions are enough:")
    for violation in outcome.violations:
        _say(f"    {violation}")
    _say(f"  python -m verify.simulator --scenario '{written(shortest).decode()}'")


def same_failure(outcome: Outcome) -> Callable[[Scenario], bool]:
    """Whether another run breaks one of the promises that were broken here."""
    broken = kinds(outcome)

    def fails(other: Scenario) -> bool:
        return bool(kinds(simulate(other)) & broken)

    return fails


def kinds(outcome: Outcome) -> frozenset[str]:
    """Which promises were broken, whoever it was about."""
    return frozenset(violation.partition(":")[0] for violation in outcome.violations)


class _Totals:
    def __init__(self) -> None:
        self.runs = 0
        self._steps = 0
        self._starts = 0
        self._seconds = 0.0
        self._cpu_seconds = 0.0

    def add(self, done: Done) -> None:
        self.runs += 1
        self._steps += done.outcome.steps
        self._starts += done.outcome.starts
        self._seconds += done.outcome.seconds
        self._cpu_seconds += done.cpu_seconds

    def line(self, wall_seconds: float) -> str:
        cpu = max(self._cpu_seconds, 1e-9)
        return (
            f"{self.runs} runs in {wall_seconds:.0f} s: {self._steps} steps ({self._steps / cpu:.0f} per CPU second), "
            f"{self._starts} gangs started ({self._starts / cpu:.0f} per CPU second), "
            f"{self._seconds / 3600:.1f} h of virtual time ({self._seconds / cpu:.0f} s per CPU second)"
        )
