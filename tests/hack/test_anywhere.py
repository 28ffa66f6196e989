"""Where `make test-anywhere` runs tests, and that it says what it could not change."""

from pathlib import Path

import pytest

from hack import anywhere
from hack.anywhere import PLACES, REPOSITORY, SENSITIVE, Runner

AHEAD, BEHIND = PLACES


def test_the_tests_it_takes_are_there() -> None:
    assert [path for path in SENSITIVE if not (REPOSITORY / path).exists()] == []


def test_the_places_differ_in_everything() -> None:
    assert AHEAD.days > 365
    assert BEHIND.days < -28
    assert (AHEAD.workers, BEHIND.workers) == (4, 2)
    assert (AHEAD.zone, AHEAD.locale) != (BEHIND.zone, BEHIND.locale)


def test_of_the_environment_nothing_stays_that_says_where_we_are(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("LC_TIME", "LANG", "KUBECONFIG", "KUBEBUILDER_ASSETS", "TUTTI_SHARED_DATA"):
        monkeypatch.setenv(name, "here")
    found = anywhere._environment(BEHIND, tmp_path / "libfaketime.so.1", tmp_path)
    assert "here" not in found.values()
    assert (found["TZ"], found["LC_ALL"], found["HOME"]) == ("Asia/Kolkata", "C.UTF-8", str(tmp_path))
    assert (found["FAKETIME"], found["LD_PRELOAD"]) == ("-30d", str(tmp_path / "libfaketime.so.1"))


def test_where_no_library_shifts_the_clock_the_true_day_is_told(tmp_path: Path) -> None:
    assert "FAKETIME" not in anywhere._environment(AHEAD, None, tmp_path)
    assert "the true day" in anywhere._told(AHEAD, Runner(None, None))
