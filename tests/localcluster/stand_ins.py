"""A stand-in controller beside the stock ones on a real API server, and what it leaves there."""

import contextlib
import os
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from kube.client.client import Client
from kube.client.credentials import load_credentials
from kube.client.errors import NotFound
from kube.client.resources import MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS
from verify.clusters.cluster_files import ADMIN
from verify.clusters.controlplane import ControlPlane, GroupApi
from verify.clusters.hollow import REPOSITORY
from verify.clusters.real import RealControlPlane
from verify.clusters.server import Server


@contextlib.contextmanager
def on_real_server(kind: str, group_api: GroupApi) -> Iterator[ControlPlane]:
    """A real control plane with the stand-in that `localcluster.controllers` has by this name; skips the test without one."""
    folder = os.environ.get("KUBEBUILDER_ASSETS")
    if not folder:
        pytest.skip("KUBEBUILDER_ASSETS names no folder with kube-apiserver and etcd; see `make conformance`")
    with RealControlPlane(group_api=group_api, assets=Path(folder), stock_scheduler=False) as plane:
        server = Server(
            f"stand-in controller of kind {kind}",
            [
                *(sys.executable, "-m", "localcluster.controllers", f"--only={kind}"),
                *("--kubeconfig", str(plane.kubeconfig_of(ADMIN))),
            ],
            log=plane.folder / "stand-in.log",
            environment={"PYTHONPATH": str(REPOSITORY)},
        )
        server.start()
        try:
            yield plane
        finally:
            server.kill()


@contextlib.asynccontextmanager
async def administrator_of(control_plane: ControlPlane) -> AsyncIterator[Client]:
    """A client that may do everything there."""
    credentials = load_credentials(str(control_plane.kubeconfig_of(ADMIN)))
    async with Client(credentials, user_agent="test") as opened:
        yield opened


async def are_there(client: Client, mutating: str, validating: str) -> list[bool]:
    """Whether there are webhook configurations with these names."""
    found = []
    for resource, name in ((MUTATING_WEBHOOKS, mutating), (VALIDATING_WEBHOOKS, validating)):
        try:
            await client.get(resource, name)
        except NotFound:
            found.append(False)
        else:
            found.append(True)
    return found
