"""The stand-in beside the stock Job controller on a real API server whose gate GenericWorkload is on: its recording, once more.

Needs KUBEBUILDER_ASSETS, and the better part of a minute.
"""

from collections.abc import AsyncIterator, Iterator

import pytest

from kube.client.client import Client
from tests.localcluster.jobsets.recordings import NAMESPACE, Replay, recorded, recording
from tests.localcluster.stand_ins import administrator_of, on_real_server
from verify.clusters.controlplane import ControlPlane


@pytest.fixture(scope="module")
def control_plane() -> Iterator[ControlPlane]:
    with on_real_server("jobset", "built-in") as plane:
        yield plane


@pytest.fixture
async def client(control_plane: ControlPlane) -> AsyncIterator[Client]:
    async with administrator_of(control_plane) as opened:
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
