"""Tutti's processes in live tests: whatever a test has done to them, the next one can end them."""

import os
import signal
import sys
from pathlib import Path

import pytest

from verify.clusters import tutti_process
from verify.clusters.server import Server
from verify.clusters.tutti_process import Tutti


def test_a_supervisor_that_a_test_has_stopped_can_be_asked_to_end(tmp_path: Path) -> None:
    tutti = Tutti.__new__(Tutti)
    tutti.server = Server("tutti run", [sys.executable, "-c", "import time; time.sleep(60)"], log=tmp_path / "log")
    tutti.server.start()
    os.kill(tutti.server.pid, signal.SIGSTOP)
    assert tutti.stop() == -signal.SIGTERM
    assert not tutti.server.running


def test_a_process_that_ends_while_it_is_looked_at_breaks_no_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its lease a scheduler ends, and one that has ended shows no command line."""
    tutti = Tutti.__new__(Tutti)
    tutti.server = Server("tutti run", [], log=Path(os.devnull))
    monkeypatch.setattr(Server, "pid", 1)
    monkeypatch.setattr(tutti_process, "_descendants", lambda _pid: [2, 3])
    shown = {
        2: iter([["tutti", "scheduler", "--metrics=127.0.0.1:20524"], [""]]),
        3: iter([["tutti", "webhooks", "--metrics=127.0.0.1:22484"]] * 2),
    }
    monkeypatch.setattr(tutti_process, "_command_line", lambda pid: next(shown[pid]))
    assert tutti.metrics_ports() == {"scheduler": 20524, "webhooks": 22484}
    assert tutti.children() == {"webhooks": 3}
