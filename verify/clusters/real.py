"""A real Kubernetes control plane: etcd, API server, controller manager, stock scheduler.

Every server has its own free port and its own log. The flags are the ones under which hollow nodes work: no service
account or taint admission, no node lifecycle controller. The group API is a matter of flags too: `built-in` serves
scheduling.k8s.io/v1beta1 and, for CompositePodGroups, v1alpha3; `own` is a cluster as it comes.
"""

import json
from contextlib import suppress
from pathlib import Path

from verify.clusters import cluster_files as files
from verify.clusters.controlplane import ControlPlane, GroupApi
from verify.clusters.ports import free_ports
from verify.clusters.profiles import stock_configuration
from verify.clusters.server import Server
from verify.clusters.versions import NEWEST, minor_of

GATES = "--feature-gates=GenericWorkload=true,TopologyAwareWorkloadScheduling=true,CompositePodGroup=true"
SERVED = "--runtime-config=scheduling.k8s.io/v1beta1=true,scheduling.k8s.io/v1alpha3=true"
FIELD_GATES = "--feature-gates=UserNamespacesHostNetworkSupport=true,VolumeBindMountOptions=true"
"""With these the newest API server keeps the fields by which pods need a feature of their node; it takes the flag more than
once. Older ones do not know them all, and refuse to start with a gate they do not know."""
GRACE_SECONDS = 5
"""To answer what was asked; an API server waits a minute for watches, too."""
UNTHROTTLED = ["--kube-api-qps=1000", "--kube-api-burst=2000"]


class RealControlPlane(ControlPlane):
    """The servers in a folder of binaries."""

    def __init__(
        self, *, group_api: GroupApi, assets: Path, stock_scheduler: bool = True, audited: bool = True
    ) -> None:
        etcd, peer, api, manager, scheduler = free_ports(5)
        super().__init__(group_api=group_api, port=api)
        self._audited = audited
        self.minor = minor_of(assets)
        self._assets = assets
        self.etcd = self._server("etcd", _etcd_flags(self.folder, etcd, peer))
        self.apiserver = self._server("kube-apiserver", self._apiserver_flags(api, etcd))
        self.controller_manager = self._server("kube-controller-manager", self._manager_flags(manager))
        self._first = [self.etcd, self.apiserver]
        self._then = [self.controller_manager]
        if stock_scheduler:
            self._then.append(self._server("kube-scheduler", self._scheduler_flags(scheduler)))

    def kubectl_binary(self) -> Path:
        """The kubectl beside the servers."""
        return self._assets / "kubectl"

    def replace_servers(self, assets: Path) -> None:
        """Goes on with API server, controller manager and scheduler of another folder, as an upgrade does.

        Ports, flags and the data stay, and so does etcd, which holds them. What is being answered is answered, and is in the audit
        log, before they go. Returns when the API server is ready.
        """
        replaced = [self.apiserver, *self._then]
        for server in reversed(replaced):
            with suppress(AssertionError):
                server.terminate(within_seconds=GRACE_SECONDS)
            server.kill()
        for server in replaced:
            server.command[0] = str(assets / server.name)
        self._assets = assets
        self.start()

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
        if self.minor >= NEWEST:
            flags.append(FIELD_GATES)
        if self._audited:
            policy = files.write_audit_policy(self.folder / "audit-policy.json")
            flags += [f"--audit-policy-file={policy}", f"--audit-log-path={self.audit_log}"]
            # From 100 MB on the server would begin another file, and whoever reads this one would lose his place.
            flags.append("--audit-log-maxsize=10000")
        if self.group_api == "built-in":
            flags += [GATES, SERVED]
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
        configuration = self.folder / "kube-scheduler.json"
        kubeconfig = self.kubeconfig_of(files.STOCK_SCHEDULER)
        configuration.write_text(json.dumps(stock_configuration(str(kubeconfig))))
        return [
            f"--config={configuration}",
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
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
