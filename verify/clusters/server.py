"""One server process of the harness: started, watched, killed; its log is shown when it dies early."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

SHOWN_LOG_LINES = 25


class ServerDiedError(RuntimeError):
    """A server ended although nobody asked it to; the message holds the end of its log."""


class Server:
    """A child process in its own process group, with its output in one log file."""

    def __init__(
        self, name: str, command: Sequence[str], *, log: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self.name = name
        self.command = list(command)
        self.log = log
        # A proxy would stand between the API server and webhooks, or between a client and its server on this machine.
        direct = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
        self._environment = {**direct, **(environment or {})}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The process id; AssertionError before the start."""
        assert self._process is not None, f"{self.name} was not started"
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether the process lives (a stopped one does)."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Starts the process; what an earlier run wrote to the log stays."""
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=self._environment,
                start_new_session=True,
            )

    def require_running(self) -> None:
        """ServerDiedError with the last log lines when the process has ended."""
        if not self.running:
            code = self._process.returncode if self._process else None
            raise ServerDiedError(f"{self.name} ended with code {code}; end of its log:\n{self.last_log_lines()}")

    def last_log_lines(self, count: int = SHOWN_LOG_LINES) -> str:
        """The end of the log, for people."""
        if not self.log.exists():
            return "(no log)"
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-count:])

    def terminate(self, *, within_seconds: float) -> int:
        """SIGTERM to the process alone, its exit code; AssertionError when it does not end in time."""
        if self._process is None:
            return 0
        self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(within_seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.name} ignored SIGTERM for {within_seconds:g} s") from None

    def wait(self, *, within_seconds: float) -> int:
        """The exit code; AssertionError when it does not end in time."""
        assert self._process is not None, f"{self.name} was not started"
        try:
            return self._process.wait(within_seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.name} still runs after {within_seconds:g} s") from None

    def kill(self) -> None:
        """SIGKILL to the whole process group: a real API server that is asked kindly holds its port for a minute."""
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
