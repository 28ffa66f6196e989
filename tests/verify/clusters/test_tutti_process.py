"""Tutti's processes in live tests: whatever a test has done to them, the next one can end them."""

import os
import signal
import sys
from pathlib import Path

from verify.clusters.server import Server
from verify.clusters.tutti_process import Tutti


def test_a_supervisor_that_a_test_has_stopped_can_be_asked_to_end(tmp_path: Path) -> None:
    tutti = Tutti.__new__(Tutti)
    tutti.server = Server("tutti run", [sys.executable, "-c", "import time; time.sleep(60)"], log=tmp_path / "log")
    tutti.server.start()
    os.kill(tutti.server.pid, signal.SIGSTOP)
    assert tutti.stop() == -signal.SIGTERM
    assert not tutti.server.running
