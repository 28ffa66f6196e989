"""Runs the tests that a day, a time zone, a locale, a folder or a user could break, where all of these are others.

Twice, side by side: 400 days ahead and 30 days behind, in zones with odd offsets, from a copy of the repository whose path has
blanks, with four workers and with two, and as `nobody` when root runs it. Both wait for most of the time; each prints what it has
found when it has ended. The clock is shifted by libfaketime, which comes with the development requirements for Linux on x86-64;
what cannot be had on this machine is said, and the rest is run. The exit code is that of the tests.

    python -m hack.anywhere                    # as `make test-anywhere`
    python -m hack.anywhere -- tests -k lease  # other tests, further arguments of pytest
"""

import argparse
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from verify.clusters.wall_clock import folder_without_blanks, shifted, working_library

REPOSITORY = Path(__file__).resolve().parents[1]
NOT_COPIED = shutil.ignore_patterns(".venv", ".git", ".*_cache", ".hypothesis", "__pycache__", "*.egg-info")
SENSITIVE = (
    "tests/config",
    "tests/demo/test_demo.py",
    "tests/install",
    "tests/kube",
    "tests/localcluster/discovery",
    "tests/localcluster/statefulsets/test_plan.py",
    "tests/localcluster/test_control_plane.py",
    "tests/parity",
    "tests/scheduler/shell/test_group_conditions.py",
    "tests/scheduler/shell/test_pod_conditions.py",
    "tests/webhooks/certificates/test_bundle.py",
    "tests/webhooks/certificates/test_rotator.py",
    "tests/webhooks/server/test_server.py",
)
"""Whatever reads the clock or a zone, prints or compares times, makes certificates, or starts processes with files of theirs."""


@dataclass(frozen=True)
class Place:
    """Where tests run."""

    days: int
    zone: str
    locale: str
    workers: int


PLACES = (
    Place(days=400, zone="America/St_Johns", locale="C", workers=4),
    Place(days=-30, zone="Asia/Kolkata", locale="C.UTF-8", workers=2),
)


@dataclass(frozen=True)
class Runner:
    """How a process is started there: the preloaded library that shifts its clock, and another user; None where neither can be."""

    clock: Path | None
    user: str | None


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the tests on other days, in other zones, from elsewhere.")
    parser.add_argument(
        "pytest", nargs="*", metavar="PYTEST_ARGUMENT", help="after --: instead of the usual choice of tests"
    )
    arguments = parser.parse_args().pytest or list(SENSITIVE)
    with (
        tempfile.TemporaryDirectory(prefix="tutti-clock-", dir=folder_without_blanks()) as library,
        tempfile.TemporaryDirectory(prefix="any where ") as folder,
    ):
        runner = Runner(working_library(Path(library)), _other_user())
        tree = Path(folder, "a copy")
        shutil.copytree(REPOSITORY, tree, ignore=NOT_COPIED)
        _hand_over((Path(library), Path(folder)), runner.user)
        with ThreadPoolExecutor(len(PLACES)) as pool:
            return max(pool.map(lambda place: _run(place, runner, tree, arguments), PLACES))


def _run(place: Place, runner: Runner, tree: Path, arguments: Sequence[str]) -> int:
    where = _told(place, runner)
    print(f"anywhere: {where}, in {str(tree)!r}", flush=True)
    begin = time.monotonic()
    command = [sys.executable, "-m", "pytest", "-q", "-n", str(place.workers), *arguments]
    environment = _environment(place, runner.clock, tree.parent)
    done = subprocess.run(
        command,
        cwd=tree,
        env=environment,
        user=runner.user,
        group=_group(runner.user),
        extra_groups=() if runner.user else None,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    end = f"anywhere: {where}: exit code {done.returncode} after {time.monotonic() - begin:.0f} s"
    print(f"{done.stdout}{end}", flush=True)
    return done.returncode


def _told(place: Place, runner: Runner) -> str:
    days = f"{place.days:+} days" if runner.clock else "the true day (no libfaketime works on this machine)"
    user = (
        f"as {runner.user}"
        if runner.user
        else "as root (nobody may not run this Python)"
        if os.geteuid() == 0
        else "as this user"
    )
    return f"{days}, {place.zone}, locale {place.locale}, {place.workers} worker(s), {user}"


def _environment(place: Place, clock: Path | None, home: Path) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("LC_", "LANG", "KUBE", "TUTTI_", "FAKETIME", "LD_PRELOAD"))
    }
    there = {
        "TZ": place.zone,
        "LC_ALL": place.locale,
        "HOME": str(home),
        "TMPDIR": str(home),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return kept | there | (shifted(clock, place.days) if clock else {})


def _other_user() -> str | None:
    """The user to become: `nobody` when root runs this and nobody may run this Python."""
    if os.geteuid() != 0:
        return None
    try:
        probe = [sys.executable, "-c", "import pytest, aiohttp"]
        done = subprocess.run(
            probe, cwd="/", user="nobody", group=_group("nobody"), extra_groups=(), capture_output=True, check=False
        )
    except (OSError, KeyError, subprocess.SubprocessError):
        return None
    return "nobody" if done.returncode == 0 else None


def _group(user: str | None) -> int | None:
    return pwd.getpwnam(user).pw_gid if user else None


def _hand_over(folders: Sequence[Path], user: str | None) -> None:
    if user is None:
        return
    owner = pwd.getpwnam(user)
    for folder in folders:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, owner.pw_uid, owner.pw_gid, follow_symlinks=False)


if __name__ == "__main__":
    sys.exit(main())
