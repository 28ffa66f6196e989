"""`python -m verify.planted`: plants one bug after the other in copies of the tree, and prints who noticed."""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
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


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m verify.planted", description="Plants bugs, one after the other.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only bugs with this in their name or file")
    parser.add_argument("--list", action="store_true", help="print the bugs and plant none")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="N", help="copies of the tree")
    parser.add_argument("--timeout", type=float, default=TIMEOUT_SECONDS, metavar="SECONDS", help="of one suite")
    parser.add_argument(
        "--minutes",
        type=positive,
        default=float("inf"),
        metavar="N",
        help="begin no bug later than this; default: try all",
    )
    parser.add_argument("--no-sound-run", action="store_true", help="do not run the suites without a bug first")
    return parser.parse_args(arguments)


def positive(text: str) -> float:
    """A number above zero."""
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text} is not above zero")
    return value


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
    deadline = begun + asked.minutes * 60
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        workers = max(1, min(asked.workers, len(bugs)))
        trees: SimpleQueue[Tree] = SimpleQueue()
        for number in range(workers):
            trees.put(copy_tree(Path(folder) / f"tree-{number}"))
        with ThreadPoolExecutor(workers) as pool:
            if not asked.no_sound_run:
                _sound_run(bugs, pool, trees, asked.timeout)

            def verdict_of(bug: Bug) -> Verdict | None:
                if time.monotonic() >= deadline:
                    return None
                return _with_tree(trees, lambda tree: tree.try_bug(bug, asked.timeout))

            results = list(_told(zip(bugs, pool.map(verdict_of, bugs), strict=True)))
    return _conclude(results, time.monotonic() - begun)


def _conclude(results: Sequence[tuple[Bug, Verdict | None]], seconds: float) -> int:
    """Prints the score and who survived; the exit code. What was not tried is not passed."""
    tried = [(bug, verdict) for bug, verdict in results if verdict is not None]
    survivors = [bug for bug, verdict in tried if not verdict.found_by]
    score = f"{len(tried) - len(survivors)} of {len(tried)} planted bugs were found"
    missing = f", {len(results) - len(tried)} were not tried" if len(tried) < len(results) else ""
    _say(f"{score}{missing}, in {seconds:.0f} s")
    for bug in survivors:
        _say(f"nobody noticed {bug.name}: {bug.wrong}")
    return EXIT_SURVIVED if survivors or missing else EXIT_OK


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


def _told(results: Iterable[tuple[Bug, Verdict | None]]) -> Iterator[tuple[Bug, Verdict | None]]:
    """The same, each printed as soon as it is tried."""
    for bug, verdict in results:
        if verdict is None:
            _say(f"{bug.name:<44} {'':6}    NOT TRIED: the time was over")
        else:
            _say(f"{bug.name:<44} {verdict.seconds:6.1f} s  {verdict.found_by or 'NOBODY NOTICED'}")
        yield bug, verdict


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
