"""Which libfaketime is taken, and that the clock of a process can be stepped while it runs."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from verify.clusters import wall_clock
from verify.clusters.wall_clock import WallClock, folder_without_blanks, libraries, working_library

TELL = "import sys, time\nfor line in sys.stdin: print(time.time(), time.monotonic(), flush=True)"
HALF_AN_HOUR = 1800


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=folder_without_blanks()) as made:
        yield Path(made)


@pytest.fixture
def library(folder: Path) -> Path:
    if "FAKETIME" in os.environ or not libraries():
        pytest.skip("the clock is shifted already, or there is no libfaketime for this machine")
    found = working_library(folder)
    assert found is not None, "the one of the development requirements shifts the clock and leaves waiting alone"
    return found


def test_a_library_that_shifts_nothing_is_not_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    useless = tmp_path / "useless.so"
    useless.write_bytes(b"")
    monkeypatch.setattr(wall_clock, "libraries", lambda: [useless])
    assert working_library(tmp_path) is None


def test_a_temporary_folder_with_blanks_is_no_place_for_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "gettempdir", lambda: "/any where")
    assert " " not in folder_without_blanks()


def test_a_clock_is_stepped_while_a_process_runs_and_waits_stay_as_they_are(library: Path, folder: Path) -> None:
    clock = WallClock(library, folder)
    with subprocess.Popen(
        [sys.executable, "-c", TELL],
        env={**os.environ, **clock.variables},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for seconds in (0, HALF_AN_HOUR, -HALF_AN_HOUR, 0):
            clock.step(seconds)
            begun = time.monotonic()
            process.stdin.write("\n")
            process.stdin.flush()
            told, monotonic = map(float, process.stdout.readline().split())
            assert told - time.time() == pytest.approx(seconds, abs=60)
            assert begun <= monotonic <= time.monotonic()
        process.stdin.close()
