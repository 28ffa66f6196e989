"""A cluster of each sort: the embedded server with the stand-in, and a real one with the stock controller."""

import os
import secrets
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from kube.client.client import Client
from kube.client.credentials import load_credentials
from kube.client.resources import NAMESPACES
from localcluster.nodes import create_nodes
from localcluster.shapes import NodeShape, parse_resources
from tests.localcluster.leaderworkersets.conftest import Cluster, cluster, files
from tests.localcluster.statefulsets.play import Play
from verify.clusters.cluster_files import ADMIN
from verify.clusters.controlplane import ControlPlane
from verify.clusters.hollow import kubelet_process
from verify.clusters.real import RealControlPlane

__all__ = ["cluster", "files"]

STAND_INS = ("statefulset", "garbage", "serviceaccount", "scheduler")
NODES = ["n0", "n1"]
SHAPE = NodeShape(parse_resources("cpu=64,memory=64Gi"))


@pytest.fixture(scope="session")
def control_plane() -> Iterator[ControlPlane]:
    folder = os.environ.get("KUBEBUILDER_ASSETS")
    if not folder:
        pytest.skip("KUBEBUILDER_ASSETS names no folder with kube-apiserver and etcd; see `make conformance`")
    with RealControlPlane(group_api="own", assets=Path(folder)) as plane:
        kubelet = kubelet_process(plane)
        try:
            yield plane
        finally:
            kubelet.kill()


@pytest.fixture(params=["stand-in", "stock"])
async def play(request: pytest.FixtureRequest, cluster: Cluster) -> AsyncIterator[Play]:
    """A namespace of its own in either cluster."""
    namespace = f"test-{secrets.token_hex(3)}"
    if request.param == "stand-in":
        async with cluster(*STAND_INS, kubelet=True) as client:
            await create_nodes(client, NODES, SHAPE)
            await client.create(NAMESPACES, _namespace(namespace))
            yield Play(client, namespace)
        return
    plane: ControlPlane = request.getfixturevalue("control_plane")
    credentials = load_credentials(str(plane.kubeconfig_of(ADMIN)))
    async with Client(credentials, user_agent="test") as client:
        await create_nodes(client, NODES, SHAPE)
        made = await client.create(NAMESPACES, _namespace(namespace))
        yield Play(client, namespace)
        await client.delete(NAMESPACES, namespace, uid=made["metadata"]["uid"])


def _namespace(name: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
