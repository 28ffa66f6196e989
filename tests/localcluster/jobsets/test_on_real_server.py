"""The stand-in beside the stock Job controller on a real API server whose gate GenericWorkload is on: its recording, once more.

Needs KUBEBUILDER_ASSETS, and the better part of a minute.
"""

import os
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from kube.client.client import Client
from kube.client.credentials import load_credentials
from tests.localcluster.jobsets.recordings import NAMESPACE, Replay, recorded, recording
from verify.clusters.cluster_files import ADMIN
from verify.clusters.controlplane import ControlPlane
from verify.clusters.hollow import REPOSITORY
from verify.clusters.real import RealControlPlane
from verify.clusters.server import Server


@pytest.fixture(scope="module")
def control_plane() -> Iterator[ControlPlane]:
    folder = os.environ.get("KUBEBUILDER_ASSETS")
    if not folder:
        pytest.skip("KUBEBUILDER_ASSETS names no folder with kube-apiserver and etcd; see `make conformance`")
    with RealControlPlane(group_api="built-in", assets=Path(folder), stock_scheduler=False) as plane:
        command = [sys.executable, "-m", "localcluster.controllers", "--only=jobset"]
        server = Server(
            "stand-in JobSet controller",
            [*command, "--kubeconfig", str(plane.kubeconfig_of(ADMIN))],
            log=plane.folder / "stand-in.log",
            environment={"PYTHONPATH": str(REPOSITORY)},
        )
        server.start()
        try:
            yield plane
        finally:
            server.kill()


@pytest.fixture
async def client(control_plane: ControlPlane) -> AsyncIterator[Client]:
    credentials = load_credentials(str(control_plane.kubeconfig_of(ADMIN)))
    async with Client(credentials, user_agent="test") as opened:
        yield opened


async def test_jobs_and_pods_keep_the_group_that_their_templates_name_and_nobody_makes_one(
    control_plane: ControlPlane, client: Client
) -> None:
    found = recording("was-jobset-gate-on")
    if found is None:
        pytest.skip("no recordings here; set TUTTI_SHARED_DATA")
    replay = Replay(client, found["manifest"])
    await replay.served()
    await replay.create()
    (step,) = found["steps"]
    await replay.becomes(recorded(step))
    groups = {pod["spec"]["schedulingGroup"]["podGroupName"] for pod in step["pods"]}
    assert groups == {"js-abc-workers-def"}
    assert not control_plane.admin.list("podgroups", NAMESPACE)
    assert not control_plane.admin.list("workloads", NAMESPACE)
