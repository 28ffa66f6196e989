"""Hollow nodes for tests: one kubelet process for all of them, Node objects made and removed by each test."""

import datetime
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from localcluster.shapes import NodeShape, node_manifest
from verify.clusters.client import Api
from verify.clusters.cluster_files import KUBELET
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.server import Server

REPOSITORY = Path(__file__).parents[2]
START_SECONDS = 60


def kubelet_process(control_plane: ControlPlane) -> Server:
    """Starts the hollow kubelet and waits until it watches the cluster."""
    server = Server(
        "hollow kubelet",
        [
            sys.executable,
            "-m",
            "localcluster.nodes",
            "--kubeconfig",
            str(control_plane.kubeconfig_of(KUBELET)),
            "--nodes=0",
        ],
        log=control_plane.folder / "hollow-kubelet.log",
        environment={"PYTHONPATH": os.pathsep.join(filter(None, [str(REPOSITORY), os.environ.get("PYTHONPATH")]))},
    )

    def ready() -> bool:
        server.require_running()
        assert "hollow nodes ready" in server.last_log_lines(), server.last_log_lines()
        return True

    server.start()
    try:
        eventually(ready, within_seconds=START_SECONDS)
    except BaseException:
        server.kill()
        raise
    return server


class HollowNodes:
    """The nodes of one test."""

    def __init__(self, api: Api, prefix: str) -> None:
        self._api = api
        self._prefix = prefix
        self.names: list[str] = []

    def add(
        self,
        count: int = 1,
        *,
        cpu: str = "8",
        memory: str = "64Gi",
        labels: Mapping[str, str] | None = None,
        taints: tuple[Mapping[str, str], ...] = (),
        resources: Mapping[str, str] | None = None,
    ) -> list[str]:
        """Adds equal nodes; their names."""
        amounts = {"cpu": cpu, "memory": memory, "pods": "110", **(resources or {})}
        shape = NodeShape(amounts, labels=dict(labels or {}), taints=taints)
        now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        first = len(self.names)
        names = [f"{self._prefix}-{number}" for number in range(first, first + count)]
        for name in names:
            self._api.create("nodes", node_manifest(name, shape, now=now))
        self.names += names
        return names

    def remove_all(self) -> None:
        """Removes the nodes of this test."""
        for name in self.names:
            self._api.delete("nodes", name)
        self.names.clear()
