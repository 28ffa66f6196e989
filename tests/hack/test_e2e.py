"""What `make e2e` says where a real node cannot run, and that its tests are skipped where none does."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hack import e2e
from tests.e2e.node import FOLDER

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(("required", "code"), [(False, 0), (True, 1)])
def test_a_machine_that_cannot_run_a_node_is_told_so_in_one_line(
    required: bool, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(os, "geteuid", lambda: 65532)
    monkeypatch.setattr(sys, "argv", ["e2e", *(["--require"] if required else [])])
    assert e2e.main() == code
    assert capsys.readouterr().out == "e2e: skipped: a node needs root\n"


@pytest.mark.parametrize("program", ["apt-get", "go"])
def test_what_is_missing_is_named(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda name: None if name == program else f"/usr/bin/{name}")
    assert (
        e2e.obstacle()
        == {
            "apt-get": "a node needs Debian's apt",
            "go": "a node needs Go to be built",
        }[program]
    )


def test_without_a_node_its_tests_are_skipped_and_say_who_starts_one() -> None:
    environment = {key: value for key, value in os.environ.items() if key != FOLDER}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/e2e/test_installation.py"]
    done = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "no node: `make e2e` starts one" in done.stdout
    assert "7 skipped" in done.stdout


def test_both_agree_on_how_the_node_is_named() -> None:
    assert e2e.FOLDER == FOLDER
