"""Starts schedulers that hurt themselves (`crashing_scheduler.py`), one after the other, none waits for a lease."""

import json
import os
import sys

from api.constants import SYSTEM_NAMESPACE
from verify.clusters import cluster_files as files
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.hollow import REPOSITORY
from verify.clusters.server import Server

START_SECONDS = 60
DIES_SECONDS = 60


class FaultySchedulers:
    """One at a time."""

    def __init__(self, control_plane: ControlPlane) -> None:
        self._control_plane = control_plane
        self._number = 0
        self.running: Server | None = None

    def start(self, **faults: int) -> Server:
        """A new process with these faults, which schedules when this returns; a former one is killed."""
        self.kill()
        self._number += 1
        folder = self._control_plane.folder
        kubeconfig = files.write_kubeconfig(
            folder / "faulty-scheduler.kubeconfig",
            server=self._control_plane.url,
            ca=self._control_plane.ca,
            user="scheduler",
            token=self._control_plane.token_of_account("tutti-scheduler"),
        )
        server = self.running = Server(
            f"faulty scheduler {self._number}",
            [sys.executable, "-m", "tests.conformance.crashing_scheduler", str(kubeconfig), json.dumps(faults)],
            log=folder / f"faulty-scheduler-{self._number}.log",
            environment={"PYTHONPATH": os.pathsep.join(filter(None, [str(REPOSITORY), os.environ.get("PYTHONPATH")]))},
        )
        server.start()

        def schedules() -> bool:
            # It may have died already: what an earlier one left behind is enough for some writes.
            return not server.running or "scheduling:" in server.last_log_lines(2000)

        eventually(schedules, within_seconds=START_SECONDS)
        return server

    def await_death(self) -> None:
        """Waits until the process has killed itself."""
        server = self.running
        assert server is not None
        eventually(lambda: not server.running, within_seconds=DIES_SECONDS)

    def kill(self) -> None:
        """SIGKILL, when it still lives; its lease goes with it, so that a successor need not wait until it has run out."""
        if self.running is not None:
            self.running.kill()
        self._control_plane.admin.delete("leases", "tutti-scheduler", SYSTEM_NAMESPACE)
