"""Where a soak takes place: a control plane, hollow nodes, another scheduler, LeaderWorkerSets, and Tutti behind a fault proxy."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from verify.auditor.audit_log import AuditLog
from verify.clusters.behind_proxy import proxy_before, tutti_behind
from verify.clusters.client import Api
from verify.clusters.controlplane import ControlPlane
from verify.clusters.embedded import EmbeddedControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes, kubelet_process
from verify.clusters.lws import controller_process, is_followed, is_served
from verify.clusters.real import RealControlPlane
from verify.clusters.tutti_process import Tutti
from verify.faults.proxy import FaultProxy
from verify.soak.changes import PRIORITIES

EMBEDDED, REAL = "embedded", "real"
NAMESPACE = "soak"
NODES = 6
NODE_CPU = "8"
SERVED_SECONDS = 180.0
LEASE = {"lease_seconds": 15.0, "renew_seconds": 10.0, "retry_seconds": 2.0}
"""The lease that is shipped: a soak is to show what a cluster sees."""
BINARIES = "KUBEBUILDER_ASSETS"


class NoControlPlaneError(Exception):
    """The real control plane was asked for, and its binaries are not there; the message is for people."""


@dataclass(frozen=True)
class Place:
    """What a soak can reach.

    Attributes:
        notes_webhooks: whether the audit log says which webhooks were asked, and which did not answer.
    """

    control_plane: ControlPlane
    tutti: Tutti
    proxy: FaultProxy
    nodes: tuple[str, ...]
    notes_webhooks: bool

    @property
    def api(self) -> Api:
        """As an administrator sees it."""
        return self.control_plane.admin

    @property
    def log(self) -> AuditLog:
        """The API server's audit log."""
        return AuditLog(self.control_plane.audit_log)


def control_plane_of(kind: str) -> ControlPlane:
    """A control plane that is not started yet.

    Args:
        kind: `embedded` or `real`.

    Raises:
        NoControlPlaneError: there are no binaries for the real one.
    """
    if kind == EMBEDDED:
        return EmbeddedControlPlane()
    folder = os.environ.get(BINARIES, "")
    if not folder or not Path(folder, "kube-apiserver").is_file():
        raise NoControlPlaneError(f"{BINARIES} names no folder with kube-apiserver: `make controlplane` prints one")
    return RealControlPlane(group_api="own", assets=Path(folder))


@contextmanager
def place(kind: str) -> Iterator[Place]:
    """Everything runs, and Tutti follows LeaderWorkerSets; all of it ends afterwards.

    Raises:
        NoControlPlaneError: see `control_plane_of`.
        AssertionError: something did not start in time.
    """
    with control_plane_of(kind) as control_plane, proxy_before(control_plane) as proxy:
        kubelet, sets = kubelet_process(control_plane), controller_process(control_plane)
        tutti = tutti_behind(control_plane, proxy, lease=LEASE)
        try:
            api = control_plane.admin
            if not is_served(api):
                sets.start()
            eventually(lambda: is_served(api), within_seconds=SERVED_SECONDS)
            eventually(lambda: runs(tutti), within_seconds=SERVED_SECONDS)
            eventually(lambda: is_followed(api), within_seconds=SERVED_SECONDS)
            for name, value in PRIORITIES.items():
                api.create("priorityclasses", {"metadata": {"name": name}, "value": value})
            api.create("namespaces", {"metadata": {"name": NAMESPACE}})
            nodes = HollowNodes(api, "soak-node").add(NODES, cpu=NODE_CPU)
            yield Place(control_plane, tutti, proxy, tuple(nodes), notes_webhooks=kind == REAL)
        finally:
            tutti.kill_everything()
            sets.kill()
            kubelet.kill()


def runs(tutti: Tutti) -> bool:
    """Tutti is running, started if it was not; AssertionError while it is not ready."""
    tutti.ensure_running()
    return True
