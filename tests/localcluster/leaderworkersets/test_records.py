"""For each recorded manifest, the local cluster makes the same objects as the real controllers, field by field."""

import asyncio

import pytest

from api.constants import LWS_NAME
from kube.client.client import Client, PatchKind
from kube.client.resources import PODS, Resource
from tests.localcluster.leaderworkersets.conftest import Cluster
from tests.localcluster.leaderworkersets.groups import NAMESPACE, Groups, eventually
from tests.localcluster.leaderworkersets.records import KINDS, Object, Record, gathered, mismatches, parameters

REST_SECONDS = 10.0
POLL_SECONDS = 0.05
READY = {
    "phase": "Running",
    "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
}


async def looked_up(client: Client, record: Record) -> Object:
    lists: dict[Resource, list[Object]] = {}
    for resource in KINDS:
        lists[resource] = (await client.list(resource, NAMESPACE))["items"]
    return gathered(record, lists.__getitem__)


async def mismatches_at_rest(client: Client, record: Record) -> list[str]:
    """The differences once there are none, or those that stay."""
    left: list[str] = ["nothing was looked at"]
    loop = asyncio.get_running_loop()
    deadline = loop.time() + REST_SECONDS
    while left and loop.time() < deadline:
        await asyncio.sleep(POLL_SECONDS)
        left = mismatches(record, await looked_up(client, record))
    return left


async def compared(client: Client, record: Record) -> list[str]:
    """Creates the recorded set, plays what was done to it, and tells the differences."""
    await Groups(client, record.set_name).make(record.manifest)
    if record.content["startup"] == "LeaderReady":
        await make_leaders_ready(client, record)
    return await mismatches_at_rest(client, record)


async def make_leaders_ready(client: Client, record: Record) -> None:
    """Checks who is there before, then says that all leaders are ready."""
    before: list[str] = sorted(record.content["pods_before_leaders_ready"])

    async def there() -> bool:
        found = await client.list(PODS, NAMESPACE, label_selector=f"{LWS_NAME}={record.set_name}")
        return sorted(each["metadata"]["name"] for each in found["items"]) == before

    await eventually(there)
    for name in before:
        await client.patch(PODS, {"status": READY}, name, NAMESPACE, subresource="status", kind=PatchKind.STRATEGIC)


@pytest.mark.parametrize("record", parameters())
async def test_the_same_objects_are_made(record: Record, cluster: Cluster) -> None:
    async with cluster() as client:
        assert not await compared(client, record)
