"""A Kubernetes control plane for one test session, as its tests see it: an API, kubectl, and servers that can be hurt.

Which servers stand behind it is a matter of `real.py` (kube-apiserver and its companions) and `embedded.py` (the server and
the stand-ins of `localcluster/`). Tests know this surface only, so they are the same for both.
"""

import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from urllib3.exceptions import HTTPError

from api.constants import SYSTEM_NAMESPACE
from verify.auditor.identities import THIEF
from verify.clusters import cluster_files as files
from verify.clusters.client import Api
from verify.clusters.eventually import eventually
from verify.clusters.server import Server

GroupApi = Literal["own", "built-in"]

READY_SECONDS = 90
KUBECTL_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Ran:
    """What a finished command did."""

    code: int
    out: str
    err: str


class ControlPlane(ABC):
    """The servers, and kubectl and API access to them. Use as a context manager.

    Attributes:
        folder: holds all files and logs; it goes with the control plane.
        audit_log: the API server's, written by the policy of `cluster_files`.
        admin: the API as its administrator sees it.
        apiserver: answers at `url`; what it has acknowledged outlives it.
        controller_manager: the controllers of ordinary kinds.
    """

    apiserver: Server
    controller_manager: Server

    def __init__(self, *, group_api: GroupApi, port: int) -> None:
        self.group_api: GroupApi = group_api
        self._temporary = tempfile.TemporaryDirectory(prefix="conformance-", ignore_cleanup_errors=True)
        self.folder = Path(self._temporary.name)
        self.audit_log = self.folder / "audit.log"
        self.url = f"https://127.0.0.1:{port}"
        self.ca, self._certificate, self._key = files.write_certificates(self.folder)
        self.admin = self.api(files.ADMIN)
        self.kubeconfig = self.kubeconfig_of(files.ADMIN)
        self._first: list[Server] = []
        self._then: list[Server] = []

    def __enter__(self) -> "ControlPlane":
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Starts the servers that do not run and waits until the API is ready; ServerDiedError when one ends early."""
        start_all(self._first)
        eventually(self._ready, within_seconds=READY_SECONDS)
        start_all(self._then)
        eventually(lambda: self.admin.find("serviceaccounts", "default", "default"), within_seconds=READY_SECONDS)
        self.require_running()

    def stop(self) -> None:
        """Kills the servers and removes their files."""
        for server in [*reversed(self._then), *reversed(self._first)]:
            server.kill()
        self.admin.close()
        self._temporary.cleanup()

    def restart_controller_manager(self) -> None:
        """Makes the garbage collector know kinds that are new: by itself it looks for them every 30 s only."""
        self.controller_manager.kill()
        self.controller_manager.start()

    def require_running(self) -> None:
        """ServerDiedError when a server has ended."""
        for server in [*self._first, *self._then]:
            server.require_running()

    def api(self, user: str) -> Api:
        """The API as this user sees it."""
        return Api(self.url, token=files.token_of(user), ca=self.ca, group_api=self.group_api)

    def token_of_account(self, account: str) -> str:
        """A token of one of our accounts, as its process gets it."""
        path = f"{self.admin.path('serviceaccounts', SYSTEM_NAMESPACE, account)}/token"
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
        return str(self.admin.request("POST", path, body)["status"]["token"])

    def api_of_thief(self, account: str) -> Api:
        """The API as somebody sees it who has stolen a token of one of our accounts."""
        return Api(self.url, token=self.token_of_account(account), ca=self.ca, group_api=self.group_api, agent=THIEF)

    def kubeconfig_of(self, user: str) -> Path:
        """A kubeconfig file for this user."""
        path = self.folder / (user.replace(":", "-") + ".kubeconfig")
        return files.write_kubeconfig(path, server=self.url, ca=self.ca, user=user)

    @abstractmethod
    def kubectl_binary(self) -> Path:
        """Where kubectl is; SkipTest when there is none."""

    def kubectl(self, *arguments: str, stdin: str | None = None, user: str = files.ADMIN, code: int | None = 0) -> Ran:
        """Runs kubectl; AssertionError when its exit code is another one than `code` (None: any will do)."""
        done = subprocess.run(
            [self.kubectl_binary(), "--kubeconfig", self.kubeconfig_of(user), *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=KUBECTL_SECONDS,
            check=False,
            env={"HOME": str(self.folder), "PATH": "/usr/bin:/bin"},
        )
        told = f"kubectl {' '.join(arguments)}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
        assert code is None or done.returncode == code, told
        return Ran(done.returncode, done.stdout, done.stderr)

    def _ready(self) -> bool:
        for server in self._first:
            server.require_running()
        try:
            return bool(self.admin.request("GET", "/readyz")["text"] == "ok")
        except (AssertionError, HTTPError):
            return False


def start_all(servers: Iterable[Server]) -> None:
    """Starts those that do not run."""
    for server in servers:
        if not server.running:
            server.start()
