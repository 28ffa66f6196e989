"""`python -m verify.mutation`: draws mutants of each module, has tests judge them, and prints who survived."""

import argparse
import math
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

import pytest

from verify.mutation.areas import AREAS, Area
from verify.mutation.equivalent import Key, key_of, known_equivalents
from verify.mutation.forks import DIED, TIMED_OUT
from verify.mutation.mutants import MutatedFile, drawn
from verify.mutation.session import MutationSession, Result

EXIT_OK: Final = 0
EXIT_BELOW: Final = 1
EXIT_USAGE: Final = 2

ROOT: Final = Path(__file__).parents[2]
ENOUGH_PERCENT: Final = 90.0

Say = Callable[[str], None]


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m verify.mutation", description="Judges the tests by random mutants."
    )
    parser.add_argument("areas", nargs="*", metavar="AREA", help=f"of {', '.join(AREAS)} (default: all)")
    parser.add_argument(
        "--module", action="append", default=[], metavar="FILE", help="only files with this in their path"
    )
    parser.add_argument("--count", type=int, default=20, metavar="N", help="mutants of each module (default 20)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="which of them (default 0)")
    parser.add_argument(
        "--seconds",
        type=float,
        default=math.inf,
        metavar="N",
        help="of the tests that reach a mutant ask the fastest, N CPU seconds of them (default: all); the score may be too low",
    )
    parser.add_argument(
        "--tests",
        action="append",
        default=[],
        metavar="PATH",
        help="ask the tests of this file or folder instead of the area's; the score may be too low",
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="N", help="processes")
    parser.add_argument(
        "--enough", type=float, default=ENOUGH_PERCENT, metavar="PERCENT", help="the score that is asked"
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; the exit code."""
    asked = parse_arguments(sys.argv[1:] if arguments is None else arguments)
    unknown = [name for name in asked.areas if name not in AREAS]
    if unknown:
        sys.stderr.write(f"mutation: no area is called {', '.join(unknown)}; there are {', '.join(AREAS)}\n")
        return EXIT_USAGE
    if not hasattr(os, "fork"):
        sys.stderr.write("mutation: it works by forks, which this system does not have\n")
        return EXIT_USAGE
    # What the tests print is pytest's; this is ours.
    with os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as out:

        def say(line: str) -> None:
            out.write(line + "\n")
            out.flush()

        areas = [AREAS[name] for name in asked.areas or AREAS]
        results = [result for area in areas for result in _judged(area, asked, say)]
        return _tell(results, asked.enough, say)


def _judged(area: Area, asked: argparse.Namespace, say: Say) -> list[Result]:
    names = [name for name in area.files(ROOT) if not asked.module or any(part in name for part in asked.module)]
    files = [file for name in names if (file := MutatedFile(ROOT, name)).mutants]
    chosen = [mutant for file in files for mutant in drawn(file.mutants, asked.count, asked.seed)]
    if not chosen:
        return []
    begun = time.monotonic()
    session = MutationSession(files, chosen, workers=asked.workers, told=say, most_seconds=asked.seconds)
    options = [
        "-q",
        "-p",
        "no:randomly",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "--no-header",
        "--no-summary",
        "--disable-warnings",
    ]
    pytest.main([*options, *(str(ROOT / test) for test in asked.tests or area.tests)], plugins=[session])
    say(f"{len(session.results)} mutants of {len(files)} modules in {time.monotonic() - begun:.0f} s")
    return session.results


def _tell(results: Sequence[Result], enough_percent: float, say: Say) -> int:
    """The table, the survivors, and the exit code."""
    if not results:
        say("no mutant was judged")
        return EXIT_USAGE
    known = known_equivalents()
    say(f"{'module':<52} mutants  noticed  equivalent  score")
    for name in dict.fromkeys(result.mutant.file for result in results):
        say(_row(name, [result for result in results if result.mutant.file == name], known))
    say(_row("all", results, known))
    without_answer = sum(result.killed_by.startswith((TIMED_OUT, DIED)) for result in results)
    if without_answer:
        say(f"{without_answer} of those noticed did not fail a test: they ended the process, or did not end")
    for result in results:
        if not result.killed_by and key_of(result.mutant) not in known:
            reached = "" if result.tests else " (no test comes there)"
            say(f"survived{reached}: {result.mutant}")
    return EXIT_OK if score_percent(results, known) >= enough_percent else EXIT_BELOW


def _row(name: str, results: Sequence[Result], known: dict[Key, str]) -> str:
    killed = sum(bool(result.killed_by) for result in results)
    equivalent = sum(not result.killed_by and key_of(result.mutant) in known for result in results)
    return f"{name:<52} {len(results):7} {killed:8} {equivalent:11} {score_percent(results, known):5.1f} %"


def score_percent(results: Iterable[Result], known: dict[Key, str]) -> float:
    """How many of those that are not known to be equivalent were noticed."""
    counts = Counter(
        "killed" if result.killed_by else "equivalent" if key_of(result.mutant) in known else "survived"
        for result in results
    )
    judged = counts["killed"] + counts["survived"]
    return 100.0 * counts["killed"] / judged if judged else 100.0
