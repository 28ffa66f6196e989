"""The stand-in beside the stock StatefulSet controller on a real API server: the recorded objects, once more.

Needs KUBEBUILDER_ASSETS, and the better part of a minute.
"""

from collections.abc import AsyncIterator, Iterator

import pytest

from kube.client.client import Client
from kube.client.resources import LEADER_WORKER_SETS, PODS, STATEFUL_SETS
from localcluster.controllers.leaderworkersets.admission.configurations import VALIDATING_NAME
from tests.localcluster.leaderworkersets.groups import NAMESPACE
from tests.localcluster.leaderworkersets.groups import eventually as async_eventually
from tests.localcluster.leaderworkersets.records import Record, parameters
from tests.localcluster.leaderworkersets.test_records import compared
from tests.localcluster.stand_ins import administrator_of, on_real_server
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually

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
    with on_real_server("leaderworkerset", "own") as plane:
        eventually(
            lambda: plane.admin.find("validatingwebhookconfigurations", VALIDATING_NAME), within_seconds=START_SECONDS
        )
        plane.restart_controller_manager()
        yield plane


@pytest.fixture
async def client(control_plane: ControlPlane) -> AsyncIterator[Client]:
    async with administrator_of(control_plane) as opened:
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
