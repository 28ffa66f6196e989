"""The stand-in beside the stock StatefulSet controller on a real API server: the recorded objects, once more.

Needs KUBEBUILDER_ASSETS, and the better part of a minute.
"""

import os
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from kube.client.client import Client
from kube.client.credentials import load_credentials
from kube.client.resources import LEADER_WORKER_SETS, PODS, STATEFUL_SETS
from localcluster.controllers.leaderworkersets.admission.configurations import VALIDATING_NAME
from tests.localcluster.leaderworkersets.groups import NAMESPACE
from tests.localcluster.leaderworkersets.groups import eventually as async_eventually
from tests.localcluster.leaderworkersets.records import Record, parameters
from tests.localcluster.leaderworkersets.test_records import compared
from verify.clusters.cluster_files import ADMIN
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.hollow import REPOSITORY
from verify.clusters.real import RealControlPlane
from verify.clusters.server import Server

START_SECONDS = 60.0
CHOSEN = (
    "lws-gke-jetstream-pathways-disagg",
    "lws-kueue-tas",
    "lws-leader-ready",
    "lws-rollout-strategy",
    "lws-vllm-tpu",
    "lws-volume-claim-templates",
)


@pytest.fixture(scope="module")
def control_plane() -> Iterator[ControlPlane]:
    folder = os.environ.get("KUBEBUILDER_ASSETS")
    if not folder:
        pytest.skip("KUBEBUILDER_ASSETS names no folder with kube-apiserver and etcd; see `make conformance`")
    with RealControlPlane(group_api="own", assets=Path(folder), stock_scheduler=False) as plane:
        command = [sys.executable, "-m", "localcluster.controllers", "--only=leaderworkerset"]
        server = Server(
            "stand-in LeaderWorkerSet controller",
            [*command, "--kubeconfig", str(plane.kubeconfig_of(ADMIN))],
            log=plane.folder / "stand-in.log",
            environment={"PYTHONPATH": str(REPOSITORY)},
        )
        server.start()
        try:
            eventually(
                lambda: plane.admin.find("validatingwebhookconfigurations", VALIDATING_NAME),
                within_seconds=START_SECONDS,
            )
            plane.restart_controller_manager()
            yield plane
        finally:
            server.kill()


@pytest.fixture
async def client(control_plane: ControlPlane) -> AsyncIterator[Client]:
    credentials = load_credentials(str(control_plane.kubeconfig_of(ADMIN)))
    async with Client(credentials, user_agent="test") as opened:
        yield opened
        await remove_everything(opened)


async def remove_everything(client: Client) -> None:
    """No set is left, nor anything of one, for the next has the same names."""
    for lws in (await client.list(LEADER_WORKER_SETS, NAMESPACE))["items"]:
        meta = lws["metadata"]
        await client.delete(LEADER_WORKER_SETS, meta["name"], NAMESPACE, uid=meta["uid"], propagation="Foreground")

    async def nothing_left() -> bool:
        return not any([(await client.list(kind, NAMESPACE))["items"] for kind in (PODS, STATEFUL_SETS)])

    await async_eventually(nothing_left)


@pytest.mark.parametrize("record", parameters(*CHOSEN))
async def test_the_same_objects_are_made_beside_the_stock_controllers(record: Record, client: Client) -> None:
    assert not await compared(client, record)
