"""Levels of single loggers follow a file while the process runs."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from kube.process.log_levels import LogLevels

NAMES = ("scheduler.preemption", "kube.cache")


@pytest.fixture(autouse=True)
def levels_as_before() -> Iterator[None]:
    before = {name: logging.getLogger(name).level for name in NAMES}
    yield
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)


def level(name: str) -> int:
    return logging.getLogger(name).level


def test_the_file_is_followed(tmp_path: Path) -> None:
    file = tmp_path / "levels.yaml"
    levels = LogLevels(file)
    file.write_text("scheduler.preemption: debug\n")
    levels.look()
    assert level("scheduler.preemption") == logging.DEBUG
    file.write_text("kube.cache: ERROR\n")
    levels.look()
    assert (level("scheduler.preemption"), level("kube.cache")) == (logging.NOTSET, logging.ERROR)


def test_without_the_file_everything_is_as_at_the_start(tmp_path: Path) -> None:
    file = tmp_path / "levels.yaml"
    logging.getLogger("kube.cache").setLevel(logging.WARNING)
    levels = LogLevels(file)
    file.write_text("kube.cache: debug\n")
    levels.look()
    file.unlink()
    levels.look()
    assert level("kube.cache") == logging.WARNING


@pytest.mark.parametrize("text", ["- debug", "kube.cache: loud", "kube.cache: [", "just words"])
def test_what_cannot_be_understood_changes_nothing_and_is_said_once(
    text: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "levels.yaml"
    file.write_text("scheduler.preemption: debug\n")
    levels = LogLevels(file)
    levels.look()
    file.write_text(text)
    with caplog.at_level(logging.WARNING):
        levels.look()
        levels.look()
    assert level("scheduler.preemption") == logging.DEBUG
    assert len([record for record in caplog.records if "changes nothing" in record.getMessage()]) == 1
