"""`tutti run` that knows no other server than a fault proxy, and neither do the processes that it starts."""

import json
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

from verify.auditor.identities import INSTALLER
from verify.clusters import cluster_files as files
from verify.clusters import profiles
from verify.clusters.controlplane import ControlPlane
from verify.clusters.tutti_process import Tutti
from verify.faults.proxy import LOOPBACK, FaultProxy

HASTY = {"lease_seconds": 8, "renew_seconds": 6, "retry_seconds": 0.5}
"""A leader that was killed is followed at once, so that a fault takes seconds."""


@contextmanager
def proxy_before(control_plane: ControlPlane) -> Iterator[FaultProxy]:
    """A proxy that answers with the API server's certificate, beside this program."""
    to_clients = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    to_clients.load_cert_chain(control_plane.folder / "apiserver.crt", control_plane.folder / "apiserver.key")
    to_server = ssl.create_default_context(cafile=str(control_plane.ca))
    made = FaultProxy(control_plane.url, to_server=to_server, to_clients=to_clients)
    with made.in_thread():
        yield made


def tutti_behind(
    control_plane: ControlPlane,
    proxy: FaultProxy,
    *,
    lease: Mapping[str, float] = MappingProxyType(HASTY),
    variables: Mapping[str, str] = MappingProxyType({}),
) -> Tutti:
    """Not started yet.

    Args:
        control_plane: its cluster.
        proxy: before its API server.
        lease: how long leases last, of scheduler and controllers.
        variables: of its environment, beside those of a user.
    """
    made = Tutti(control_plane, variables=variables)
    kubeconfig = control_plane.kubeconfig_of(INSTALLER)
    files.write_kubeconfig(kubeconfig, server=f"https://{LOOPBACK}:{proxy.port}", ca=control_plane.ca, user=INSTALLER)
    usual = profiles.settings()
    chosen = {**usual, "scheduler": {**usual["scheduler"], **lease}, "controllers": dict(lease)}
    (control_plane.folder / "tutti.yaml").write_text(json.dumps(chosen))
    return made
