"""A copy of the tree, in which bugs are planted and suites are run. The tree itself is only read."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from verify.planted.bug import Bug, planted

ROOT: Final = Path(__file__).parents[2]
SIMULATE: Final = "simulate"
"""First word of a suite that is seeds of the simulator and no tests."""

_LEFT_OUT: Final = (".git", ".venv", ".hypothesis", "__pycache__", ".*_cache", "build", "dist", "*.egg-info")
_QUIET: Final = ("-x", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "--no-header", "--tb=no")
_TIMED_OUT: Final = "no end"
_NO_TEST: Final = 4
"""Exit codes of pytest from here on mean that nothing was run."""


class SuiteError(Exception):
    """A suite could not be run at all, which says nothing about a bug."""


class Verdict(NamedTuple):
    """What suites said.

    Attributes:
        found_by: the first test that failed, empty when none did.
        seconds: how long that took.
    """

    found_by: str
    seconds: float


def copy_tree(folder: Path, root: Path = ROOT) -> "Tree":
    """Copies all that suites need to `folder`, which is not there yet."""
    shutil.copytree(root, folder, ignore=shutil.ignore_patterns(*_LEFT_OUT), symlinks=True)
    return Tree(folder)


class Tree:
    """A copy of the tree in which one bug is planted at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder: Final = folder

    def try_bug(self, bug: Bug, timeout_seconds: float) -> Verdict:
        """Plants the bug, runs its suites until one fails, and takes it out again.

        Raises:
            BugError: it cannot be planted.
            SuiteError: a suite cannot be run.
        """
        path = self._folder / bug.file
        source = path.read_text(encoding="utf-8")
        self._write(path, planted(bug, source))
        try:
            return self.run(bug.suites, timeout_seconds)
        finally:
            self._write(path, source)

    def run(self, suites: tuple[str, ...], timeout_seconds: float) -> Verdict:
        """Runs suites one after the other until one fails; one that does not end in time has failed.

        Raises:
            SuiteError: a suite cannot be run.
        """
        begun = time.monotonic()
        found_by = ""
        for suite in suites:
            found_by = self._run_suite(suite, timeout_seconds)
            if found_by:
                break
        return Verdict(found_by, time.monotonic() - begun)

    def _run_suite(self, suite: str, timeout_seconds: float) -> str:
        first, *rest = suite.split()
        is_simulation = first == SIMULATE
        arguments = (
            ["verify.simulator", "--workers", "1", "--shrink", "0", *rest]
            if is_simulation
            else ["pytest", *_QUIET, suite]
        )
        try:
            done = subprocess.run(  # noqa: S603 (our own suites)
                [sys.executable, "-m", *arguments],
                cwd=self._folder,
                env=self._environment(os.environ),
                capture_output=True,
                text=True,
                timeout=timeout_seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"{suite} ({_TIMED_OUT} in {timeout_seconds:.0f} s)"
        if done.returncode == 0:
            return ""
        return _promise_broken(suite, done) if is_simulation else _failed_test(suite, done)

    def _environment(self, present: Mapping[str, str]) -> dict[str, str]:
        # The folder comes before the tree that is installed, in processes that tests start, too.
        kept = {key: value for key, value in present.items() if key != "PYTEST_ADDOPTS"}
        return {**kept, "PYTHONPATH": str(self._folder)}

    def _write(self, path: Path, source: str) -> None:
        path.write_text(source, encoding="utf-8")
        # Written within one second and as long as before, a file would count as the one that was compiled.
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            compiled.unlink()


def _failed_test(suite: str, done: "subprocess.CompletedProcess[str]") -> str:
    for line in done.stdout.splitlines():
        word, _, rest = line.partition(" ")
        if word in {"FAILED", "ERROR"}:
            return rest.partition(" - ")[0]
    if done.returncode >= _NO_TEST:
        raise SuiteError(f"{suite}: {(done.stdout + done.stderr).strip()[-300:]}")
    return f"{suite} (exit code {done.returncode})"


def _promise_broken(suite: str, done: "subprocess.CompletedProcess[str]") -> str:
    if done.returncode != 1:
        raise SuiteError(f"{suite}: {done.stderr.strip()[-300:]}")
    broken = next((line.strip() for line in done.stdout.splitlines() if line.startswith("  ")), "")
    return f"{suite}: {broken[:60]}"
