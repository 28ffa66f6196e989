"""The embedded cluster of `localcluster/` as a control plane: its API server and its stand-ins, each a process of its own.

It serves our own group kinds only and needs no binaries. Its audit log, users and rights are those of the real one, made from
the same files. What the API server has acknowledged is in a file, so that it can be ended and started again as a real one can.
"""

import os
import sys
import unittest
from pathlib import Path

from localcluster.controllers.settings import NAMES
from verify.clusters import cluster_files as files
from verify.clusters.controlplane import ControlPlane
from verify.clusters.ports import free_ports
from verify.clusters.server import Server

REPOSITORY = Path(__file__).parents[2]
STOP_SECONDS = 10.0
SCHEDULER = "scheduler"
NOT_STOCK = {SCHEDULER, "leaderworkerset", "jobset"}
"""Stand-ins that are no part of a stock controller manager; tests that need LeaderWorkerSets or JobSets start theirs."""


class NoKubectlError(unittest.SkipTest):
    """There is no kubectl on this machine; a test that asks for it is skipped."""


class KeepingServer(Server):
    """A server that is asked to end first: its file follows a moment behind, and is whole once it has ended."""

    def kill(self) -> None:
        """SIGTERM, and SIGKILL when that is not enough."""
        if self.running:
            try:
                self.terminate(within_seconds=STOP_SECONDS)
            except AssertionError:
                super().kill()
        super().kill()


class EmbeddedControlPlane(ControlPlane):
    """The embedded server, the stand-ins of the controllers, and that of the stock scheduler."""

    def __init__(self) -> None:
        (port,) = free_ports(1)
        super().__init__(group_api="own", port=port)
        controllers = ",".join(name for name in NAMES if name not in NOT_STOCK)
        self.apiserver = KeepingServer(
            "apiserver",
            _command("localcluster.apiserver", *self._apiserver_flags(port)),
            log=self.folder / "apiserver.log",
            environment=_environment(),
        )
        self.controller_manager = self._stand_ins("controller-manager", controllers, files.CONTROLLER_MANAGER)
        self._first = [self.apiserver]
        self._then = [self.controller_manager, self._stand_ins(SCHEDULER, SCHEDULER, files.STOCK_SCHEDULER)]

    def kubectl_binary(self) -> Path:
        """The stock kubectl, when somebody has one."""
        found = Path(os.environ.get("KUBEBUILDER_ASSETS", ""), "kubectl")
        if not found.is_file():
            raise NoKubectlError("this needs kubectl: KUBEBUILDER_ASSETS names no folder that has it")
        return found

    def _stand_ins(self, name: str, names: str, user: str) -> Server:
        command = _command("localcluster.controllers", "--only", names, "--kubeconfig", str(self.kubeconfig_of(user)))
        return Server(name, command, log=self.folder / f"{name}.log", environment=_environment())

    def _apiserver_flags(self, port: int) -> list[str]:
        paths = {
            "--folder": self.folder / "apiserver",
            "--tokens": files.write_tokens(self.folder / "tokens.csv"),
            "--certificate": self._certificate,
            "--key": self._key,
            "--ca": self.ca,
            "--service-account-key": files.write_service_account_key(self.folder / "service-accounts.key"),
            "--audit-log": self.audit_log,
            "--audit-policy": files.write_audit_policy(self.folder / "audit-policy.json"),
            "--keep": self.folder / "objects.sqlite",
        }
        return ["--port", str(port), *(str(part) for flag in paths.items() for part in flag)]


def _command(module: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", module, *arguments]


def _environment() -> dict[str, str]:
    return {"PYTHONPATH": os.pathsep.join(filter(None, [str(REPOSITORY), os.environ.get("PYTHONPATH")]))}
