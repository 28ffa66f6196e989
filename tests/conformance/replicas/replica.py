"""One replica: a process of ours under its service account, as a pod of a Deployment would run it."""

import base64
import json
import os
import signal
import ssl
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import urllib3
from cryptography import x509
from urllib3.exceptions import HTTPError

from verify.clusters import cluster_files as files
from verify.clusters.client import Object
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.ports import free_ports
from verify.clusters.server import Server
from verify.clusters.tutti_process import COMMAND, READY_SECONDS, STOP_SECONDS, environment

REPOSITORY = Path(__file__).parents[3]
LOOPBACK = "127.0.0.1"


class Replica:
    """A process `tutti COMPONENT`, not started yet.

    Args:
        control_plane: its cluster.
        component: scheduler, controllers or webhooks.
        name: its identity; no two replicas ever have the same.
        settings: beside that.
        through: the port of a proxy on this machine by which it reaches the API server; 0: directly.
        command: what to start instead of `tutti COMPONENT`.
    """

    def __init__(
        self,
        control_plane: ControlPlane,
        component: str,
        name: str,
        *,
        settings: dict[str, object] | None = None,
        through: int = 0,
        command: Sequence[str] = (),
    ) -> None:
        self.component = component
        self.name = name
        self.metrics_port = free_ports(1)[0]
        folder = control_plane.folder
        url = f"https://{LOOPBACK}:{through}" if through else control_plane.url
        token = control_plane.token_of_account(f"tutti-{component}")
        kubeconfig = folder / f"{name}.kubeconfig"
        files.write_kubeconfig(kubeconfig, server=url, ca=control_plane.ca, user=name, token=token)
        config = folder / f"{name}.json"
        config.write_text(json.dumps({**(settings or {}), "identity": name}))
        own = ["--kubeconfig", str(kubeconfig), "--config", str(config), f"--metrics={LOOPBACK}:{self.metrics_port}"]
        paths = os.pathsep.join(filter(None, [str(REPOSITORY), os.environ.get("PYTHONPATH")]))
        self.server = Server(
            name,
            [*(command or [COMMAND, component]), *own],
            log=folder / f"{name}.log",
            environment={**environment(folder), "KUBECONFIG": "", "PYTHONPATH": paths},
        )

    def start(self) -> "Replica":
        """Starts it."""
        self.server.start()
        return self

    def ready(self) -> bool:
        """What its readiness probe says; ServerDiedError when it has ended."""
        self.server.require_running()
        try:
            answer = urllib3.request("GET", f"http://{LOOPBACK}:{self.metrics_port}/readyz", retries=False, timeout=2)
        except HTTPError:
            return False
        assert answer.status == 200, f"{self.name}: {answer.data.decode()}"
        return True

    def wait_until_ready(self) -> "Replica":
        """Waits until a kubelet would call it ready."""
        eventually(self.ready, within_seconds=READY_SECONDS)
        return self

    def send(self, number: signal.Signals) -> None:
        """Sends it a signal."""
        os.kill(self.server.pid, number)

    def says(self, text: str) -> bool:
        """Whether this is in its log."""
        return text in self.server.last_log_lines(100_000)

    def end(self) -> None:
        """Ends it, kindly where possible: a lease that is given back need not run out."""
        if self.server.running:
            self.send(signal.SIGCONT)
            with suppress(AssertionError):
                self.server.terminate(within_seconds=STOP_SECONDS)
        self.server.kill()


class WebhooksReplica(Replica):
    """A replica of the webhooks, on an address that the API server may be sent to."""

    def __init__(
        self, control_plane: ControlPlane, name: str, *, host: str, clock: Path, settings: dict[str, object]
    ) -> None:
        self.host = host
        self.port = free_ports(1, host)[0]
        hurried = [sys.executable, "-m", "tests.conformance.replicas.hurried_webhooks", str(clock)]
        super().__init__(
            control_plane,
            "webhooks",
            name,
            settings={"listen": f"{host}:{self.port}", "leave_seconds": 1, **settings},
            command=hurried,
        )

    def serves_by(self, secret: Object) -> bool:
        """Whether it serves with the certificate that is in this Secret."""
        stored = x509.load_pem_x509_certificate(base64.b64decode(secret["data"]["tls.crt"]))
        return self.certificate() == stored

    def certificate(self) -> x509.Certificate:
        """What it shows to whoever connects now."""
        return x509.load_pem_x509_certificate(ssl.get_server_certificate((self.host, self.port), timeout=5).encode())
