"""The time of day as a process sees it, shifted by libfaketime: for all of its life, or stepped while it runs.

libfaketime comes with the development requirements for Linux on x86-64. The monotonic clock is left alone: that is what a machine
does whose time of day is set.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

PROBE = """
import threading, time
begin = time.monotonic()
time.sleep(0.05)
threading.Event().wait(0.05)
print(time.time(), 0.1 <= time.monotonic() - begin < 5)
"""
"""Some builds of libfaketime make `sleep` fail or waits endless once the monotonic clock is left alone, others once it is not."""
PROBE_SECONDS = 20
PROBED_DAYS = 400
DAY_SECONDS = 86_400


class WallClock:
    """A clock that can be stepped while those run who see it.

    Attributes:
        variables: the environment of those who see it.

    Args:
        library: of libfaketime, as `working_library` found it.
        folder: where its setting is kept.
    """

    def __init__(self, library: Path, folder: Path) -> None:
        self._setting = folder / "wall-clock"
        self.step(0)
        self.variables = {
            "LD_PRELOAD": str(library),
            "FAKETIME_TIMESTAMP_FILE": str(self._setting),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }

    def step(self, seconds: int) -> None:
        """From now on it differs by so many seconds from the true time; negative: it is behind."""
        changed = self._setting.with_suffix(".new")
        changed.write_text(f"{seconds:+d}\n")
        changed.replace(self._setting)


def shifted(library: Path, days: int) -> dict[str, str]:
    """The environment of a process whose time of day differs by so many days."""
    return {"LD_PRELOAD": str(library), "FAKETIME": f"{days:+}d", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}


def folder_without_blanks() -> str:
    """A folder for temporary files whose path a list that is split at blanks, such as LD_PRELOAD, can hold."""
    return next(path for path in (tempfile.gettempdir(), "/tmp") if " " not in path)


def working_library(folder: Path) -> Path | None:
    """A copy of the first library that shifts the clock and leaves waiting alone; its path may not have blanks."""
    for number, found in enumerate(libraries()):
        copy = Path(shutil.copy(found, folder / f"libfaketime-{number}.so.1"))
        if _shifts(shifted(copy, PROBED_DAYS)):
            return copy
    return None


def libraries() -> list[Path]:
    """Those that are on this machine."""
    package = importlib.util.find_spec("libfaketime")
    own = (
        Path(package.origin).parent.glob("vendor/libfaketime/src/libfaketime.so.1")
        if package and package.origin
        else ()
    )
    return [
        *own,
        *Path("/usr/lib").glob("*/faketime/libfaketime.so.1"),
        *Path("/usr/local/lib").glob("faketime/libfaketime.so.1"),
    ]


def _shifts(variables: Mapping[str, str]) -> bool:
    try:
        said = subprocess.run(
            [sys.executable, "-c", PROBE],
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            timeout=PROBE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    words = said.stdout.split()
    is_ahead = len(words) == 2 and float(words[0]) > time.time() + (PROBED_DAYS - 1) * DAY_SECONDS
    return said.returncode == 0 and is_ahead and words[1] == "True"
