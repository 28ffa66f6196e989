"""`python -m verify.planted`: plants one bug after the other in copies of the tree, and prints who noticed."""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Final

from verify.planted.bug import Bug, BugError, all_bugs, planted
from verify.planted.tree import ROOT, SuiteError, Tree, Verdict, copy_tree

EXIT_OK: Final = 0
EXIT_SURVIVED: Final = 1
EXIT_USAGE: Final = 2

TIMEOUT_SECONDS: Final = 300.0

Try = Callable[[Bug], Verdict]


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m verify.planted", description="Plants bugs, one after the other.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only bugs with this in their name or file")
    parser.add_argument("--list", action="store_true", help="print the bugs and plant none")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="N", help="copies of the tree")
    parser.add_argument("--timeout", type=float, default=TIMEOUT_SECONDS, metavar="SECONDS", help="of one suite")
    parser.add_argument("--no-sound-run", action="store_true", help="do not run the suites without a bug first")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; the exit code."""
    asked = parse_arguments(sys.argv[1:] if arguments is None else arguments)
    try:
        bugs = _chosen(asked.names)
        if asked.list:
            for bug in bugs:
                _say(f"{bug.name}  {bug.file}\n    {bug.wrong}")
            return EXIT_OK
        return _plant(bugs, asked)
    except (BugError, SuiteError) as error:
        sys.stderr.write(f"planted bugs: {error}\n")
        return EXIT_USAGE


def _chosen(names: Sequence[str]) -> list[Bug]:
    """The bugs with one of these in their name or file, all of them when there is none; each can be planted.

    Raises:
        BugError: one cannot, or there is none of that name.
    """
    bugs = [bug for bug in all_bugs() if not names or any(part in f"{bug.name} {bug.file}" for part in names)]
    for bug in bugs:
        planted(bug, (ROOT / bug.file).read_text(encoding="utf-8"))
    if not bugs:
        raise BugError(f"no bug is called like {' or '.join(names)}")
    return bugs


def _plant(bugs: Sequence[Bug], asked: argparse.Namespace) -> int:
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        workers = max(1, min(asked.workers, len(bugs)))
        trees: SimpleQueue[Tree] = SimpleQueue()
        for number in range(workers):
            trees.put(copy_tree(Path(folder) / f"tree-{number}"))
        with ThreadPoolExecutor(workers) as pool:
            if not asked.no_sound_run:
                _sound_run(bugs, pool, trees, asked.timeout)
            verdicts = pool.map(lambda bug: _with_tree(trees, lambda tree: tree.try_bug(bug, asked.timeout)), bugs)
            survivors = _tell(zip(bugs, verdicts, strict=True))
    score = f"{len(bugs) - len(survivors)} of {len(bugs)} planted bugs were found"
    _say(f"{score}, in {time.monotonic() - begun:.0f} s")
    for bug in survivors:
        _say(f"nobody noticed {bug.name}: {bug.wrong}")
    return EXIT_SURVIVED if survivors else EXIT_OK


def _sound_run(
    bugs: Sequence[Bug], pool: ThreadPoolExecutor, trees: "SimpleQueue[Tree]", timeout_seconds: float
) -> None:
    """A suite that fails without a bug notices nothing.

    Raises:
        SuiteError: one does.
    """
    suites = list(dict.fromkeys(suite for bug in bugs for suite in bug.suites))
    verdicts = pool.map(lambda suite: _with_tree(trees, lambda tree: tree.run((suite,), timeout_seconds)), suites)
    failing = [verdict.found_by for verdict in verdicts if verdict.found_by]
    if failing:
        raise SuiteError(f"without any bug these fail: {', '.join(failing)}")


def _with_tree(trees: "SimpleQueue[Tree]", use: Callable[[Tree], Verdict]) -> Verdict:
    tree = trees.get()
    try:
        return use(tree)
    finally:
        trees.put(tree)


def _tell(results: Iterable[tuple[Bug, Verdict]]) -> list[Bug]:
    """Prints a line for each bug as soon as it is tried; those that nobody noticed."""
    survivors = []
    for bug, verdict in results:
        _say(f"{bug.name:<44} {verdict.seconds:6.1f} s  {verdict.found_by or 'NOBODY NOTICED'}")
        if not verdict.found_by:
            survivors.append(bug)
    return survivors


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
