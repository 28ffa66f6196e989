"""A real Kubernetes control plane for one test session: etcd, API server, controller manager, stock scheduler.

Every server has its own free port and its own log. The flags are the ones under which hollow nodes work: no service
account or taint admission, no node lifecycle controller. The group API is a matter of flags too: `built-in` serves
scheduling.k8s.io/v1beta1, `own` is a cluster as it comes.
"""

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from urllib3.exceptions import HTTPError

from tests.conformance import cluster_files as files
from tests.conformance.client import Api
from tests.conformance.eventually import eventually
from tests.conformance.server import Server, free_ports

GroupApi = Literal["own", "built-in"]

READY_SECONDS = 90
KUBECTL_SECONDS = 60
GATES = "--feature-gates=GenericWorkload=true,TopologyAwareWorkloadScheduling=true"
UNTHROTTLED = ["--kube-api-qps=1000", "--kube-api-burst=2000"]


@dataclass(frozen=True, slots=True)
class Ran:
    """What a finished command did."""

    code: int
    out: str
    err: str


class ControlPlane:
    """The servers, and kubectl and API access to them. Use as a context manager."""

    def __init__(
        self, *, group_api: GroupApi, assets: Path, stock_scheduler: bool = True, audited: bool = True
    ) -> None:
        self.group_api: GroupApi = group_api
        self._audited = audited
        self._assets = assets
        self._temporary = tempfile.TemporaryDirectory(prefix="conformance-", ignore_cleanup_errors=True)
        self.folder = Path(self._temporary.name)
        self.audit_log = self.folder / "audit.log"
        etcd, peer, api, manager, scheduler = free_ports(5)
        self.url = f"https://127.0.0.1:{api}"
        self.ca, self._certificate, self._key = files.write_certificates(self.folder)
        self.admin = self.api(files.ADMIN)
        self.kubeconfig = self.kubeconfig_of(files.ADMIN)
        self.etcd = self._server("etcd", _etcd_flags(self.folder, etcd, peer))
        self.apiserver = self._server("kube-apiserver", self._apiserver_flags(api, etcd))
        self.controller_manager = self._server("kube-controller-manager", self._manager_flags(manager))
        self._servers = [self.etcd, self.apiserver, self.controller_manager]
        if stock_scheduler:
            self._servers.append(self._server("kube-scheduler", self._scheduler_flags(scheduler)))

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
        """Starts the servers and waits until the API server is ready; ServerDiedError when one ends early."""
        self.etcd.start()
        self.apiserver.start()
        eventually(self._ready, within_seconds=READY_SECONDS)
        for server in self._servers[2:]:
            server.start()
        eventually(lambda: self.admin.find("serviceaccounts", "default", "default"), within_seconds=READY_SECONDS)
        self.require_running()

    def stop(self) -> None:
        """Kills the servers and removes their files."""
        for server in reversed(self._servers):
            server.kill()
        self.admin.close()
        self._temporary.cleanup()

    def restart_controller_manager(self) -> None:
        """Makes the garbage collector know kinds that are new: by itself it looks for them every 30 s only."""
        self.controller_manager.kill()
        self.controller_manager.start()

    def require_running(self) -> None:
        """ServerDiedError when a server has ended."""
        for server in self._servers:
            server.require_running()

    def api(self, user: str) -> Api:
        """The API as this user sees it."""
        return Api(self.url, token=files.token_of(user), ca=self.ca, group_api=self.group_api)

    def kubeconfig_of(self, user: str) -> Path:
        """A kubeconfig file for this user."""
        path = self.folder / (user.replace(":", "-") + ".kubeconfig")
        return files.write_kubeconfig(path, server=self.url, ca=self.ca, user=user)

    def kubectl(self, *arguments: str, stdin: str | None = None, user: str = files.ADMIN, code: int | None = 0) -> Ran:
        """Runs kubectl; AssertionError when its exit code is another one than `code` (None: any will do)."""
        done = subprocess.run(
            [self._assets / "kubectl", "--kubeconfig", self.kubeconfig_of(user), *arguments],
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
        self.etcd.require_running()
        self.apiserver.require_running()
        try:
            return bool(self.admin.request("GET", "/readyz")["text"] == "ok")
        except (AssertionError, HTTPError):
            return False

    def _server(self, name: str, flags: list[str]) -> Server:
        return Server(name, [str(self._assets / name), *flags], log=self.folder / f"{name}.log")

    def _gates(self) -> list[str]:
        return [GATES] if self.group_api == "built-in" else []

    def _apiserver_flags(self, port: int, etcd: int) -> list[str]:
        key = files.write_service_account_key(self.folder / "service-accounts.key")
        flags = [
            f"--etcd-servers=http://127.0.0.1:{etcd}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--secure-port={port}",
            f"--tls-cert-file={self._certificate}",
            f"--tls-private-key-file={self._key}",
            f"--token-auth-file={files.write_tokens(self.folder / 'tokens.csv')}",
            "--authorization-mode=RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            "--service-cluster-ip-range=10.0.0.0/16",
            "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
            "--allow-privileged=true",
            "--endpoint-reconciler-type=none",
        ]
        if self._audited:
            policy = files.write_audit_policy(self.folder / "audit-policy.json")
            flags += [f"--audit-policy-file={policy}", f"--audit-log-path={self.audit_log}"]
        if self.group_api == "built-in":
            flags += [GATES, "--runtime-config=scheduling.k8s.io/v1beta1=true"]
        return flags

    def _manager_flags(self, port: int) -> list[str]:
        return [
            f"--kubeconfig={self.kubeconfig_of(files.CONTROLLER_MANAGER)}",
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
            "--leader-elect=false",
            "--controllers=*,-nodelifecycle,-taint-eviction-controller",
            f"--service-account-private-key-file={self.folder / 'service-accounts.key'}",
            f"--root-ca-file={self.ca}",
            *UNTHROTTLED,
            *self._gates(),
        ]

    def _scheduler_flags(self, port: int) -> list[str]:
        return [
            f"--kubeconfig={self.kubeconfig_of(files.STOCK_SCHEDULER)}",
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
            "--leader-elect=false",
            *self._gates(),
        ]


def _etcd_flags(folder: Path, port: int, peer_port: int) -> list[str]:
    client, peer = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peer_port}"
    return [
        "--unsafe-no-fsync",
        "--log-level=warn",
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
    ]
