"""Claims on the embedded API server: made for pods, held while these run, given back and deleted afterwards."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from kube.client.client import Client
from kube.client.resources import (
    DEVICE_CLASSES,
    EVENTS,
    NODES,
    PODS,
    RESOURCE_CLAIM_TEMPLATES,
    RESOURCE_CLAIMS,
    RESOURCE_SLICES,
)
from localcluster.controllers.main import run
from localcluster.controllers.settings import StandInSettings
from localcluster.lifecycle import RUN_SECONDS
from localcluster.nodes import create_nodes, publish_devices
from localcluster.shapes import NodeShape, parse_resources
from tests.localcluster.controllers.test_on_embedded_server import NAMESPACE, eventually, is_gone, serving

FINALIZER = "resource.kubernetes.io/delete-protection"

Object = dict[str, Any]


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    """An API server with stand-ins and a node that has two devices."""
    stop = asyncio.Event()
    async with serving(tmp_path) as opened:
        await create_nodes(opened, ["n0"], NodeShape(parse_resources("cpu=2,memory=4Gi")))
        await publish_devices(opened, ["n0"], {"gpu": 2})
        works = asyncio.create_task(run(opened, StandInSettings(kubelet=True), stop))
        yield opened
        stop.set()
        assert await works == 0


def template(name: str = "t") -> Object:
    spec = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}
    metadata = {"name": name, "namespace": NAMESPACE}
    return {
        "apiVersion": RESOURCE_CLAIM_TEMPLATES.api_version,
        "kind": RESOURCE_CLAIM_TEMPLATES.kind,
        "metadata": metadata,
        "spec": {"spec": spec},
    }


def pod(*, seconds: float | None = None) -> Object:
    annotations = {RUN_SECONDS: f"{seconds:g}"} if seconds is not None else {}
    container = {"name": "c", "image": "i", "resources": {"claims": [{"name": "gpu"}]}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": NAMESPACE, "annotations": annotations},
        "spec": {
            "schedulerName": "nobody",
            "restartPolicy": "Never",
            "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"}],
            "containers": [container],
        },
    }


async def claims(client: Client) -> list[Object]:
    return list((await client.list(RESOURCE_CLAIMS, NAMESPACE))["items"])


async def made(client: Client) -> Object:
    """The pod's claim, once the pod's status names it."""

    async def is_named() -> bool:
        status = (await client.get(PODS, "p", NAMESPACE)).get("status") or {}
        return bool(status.get("resourceClaimStatuses"))

    await eventually(is_named)
    (claim,) = await claims(client)
    found = await client.get(PODS, "p", NAMESPACE)
    assert found["status"]["resourceClaimStatuses"] == [{"name": "gpu", "resourceClaimName": claim["metadata"]["name"]}]
    return claim


async def allocate(client: Client, claim: Object, uid: str) -> None:
    name = claim["metadata"]["name"]
    await client.patch(RESOURCE_CLAIMS, {"metadata": {"finalizers": [FINALIZER]}}, name, NAMESPACE)
    result = {"request": "r", "driver": "gpu.hollow.tutti.scheduler", "pool": "n0", "device": "gpu-0"}
    here = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n0"]}]}
    allocation = {"devices": {"results": [result]}, "nodeSelector": {"nodeSelectorTerms": [here]}}
    users = [{"resource": "pods", "name": "p", "uid": uid}]
    status = {"status": {"allocation": allocation, "reservedFor": users}}
    await client.patch(RESOURCE_CLAIMS, status, name, NAMESPACE, subresource="status")


async def bind(client: Client) -> None:
    target = {"apiVersion": "v1", "kind": "Node", "name": "n0"}
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"}, "target": target}
    await client.request_json("POST", PODS.path(NAMESPACE, "p", "binding"), body)


async def phase(client: Client) -> str:
    return str((await client.get(PODS, "p", NAMESPACE))["status"]["phase"])


async def test_a_pod_runs_with_its_device_and_afterwards_nothing_is_left(client: Client) -> None:
    await client.create(RESOURCE_CLAIM_TEMPLATES, template(), NAMESPACE)
    uid = (await client.create(PODS, pod(seconds=0.2), NAMESPACE))["metadata"]["uid"]
    claim = await made(client)
    await allocate(client, claim, uid)
    await bind(client)

    async def has_succeeded() -> bool:
        return await phase(client) == "Succeeded"

    await eventually(has_succeeded)

    async def none_left() -> bool:
        return not await claims(client)

    await eventually(none_left)


async def test_a_bound_pod_does_not_start_before_it_has_its_device(client: Client) -> None:
    await client.create(RESOURCE_CLAIM_TEMPLATES, template(), NAMESPACE)
    uid = (await client.create(PODS, pod(), NAMESPACE))["metadata"]["uid"]
    claim = await made(client)
    await bind(client)
    await asyncio.sleep(0.6)
    assert await phase(client) == "Pending"
    await allocate(client, claim, uid)

    async def runs() -> bool:
        return await phase(client) == "Running"

    await eventually(runs)


async def test_the_devices_of_a_deleted_pod_are_given_back(client: Client) -> None:
    await client.create(RESOURCE_CLAIM_TEMPLATES, template(), NAMESPACE)
    uid = (await client.create(PODS, pod(), NAMESPACE))["metadata"]["uid"]
    await allocate(client, await made(client), uid)
    await client.delete(PODS, "p", NAMESPACE, uid=uid)

    async def none_left() -> bool:
        return not await claims(client)

    await eventually(none_left)


async def test_without_its_template_a_pod_is_told_so_and_helped_as_soon_as_it_comes(client: Client) -> None:
    await client.create(PODS, pod(), NAMESPACE)

    async def told() -> bool:
        events = (await client.list(EVENTS, NAMESPACE))["items"]
        notes = [each["note"] for each in events if each["reason"] == "FailedResourceClaimCreation"]
        wanted = (
            'PodResourceClaim gpu: resource claim template "t": resourceclaimtemplate.resource.k8s.io "t" not found'
        )
        return wanted in notes

    await eventually(told)
    await client.create(RESOURCE_CLAIM_TEMPLATES, template(), NAMESPACE)
    await made(client)


async def test_a_claim_that_was_deleted_by_mistake_is_made_again(client: Client) -> None:
    await client.create(RESOURCE_CLAIM_TEMPLATES, template(), NAMESPACE)
    await client.create(PODS, pod(), NAMESPACE)
    first = (await made(client))["metadata"]
    await client.delete(RESOURCE_CLAIMS, first["name"], NAMESPACE, uid=first["uid"])

    async def is_another() -> bool:
        return [each["metadata"]["uid"] != first["uid"] for each in await claims(client)] == [True]

    await eventually(is_another)
    await made(client)


async def test_a_node_that_goes_takes_its_slices_with_it(client: Client) -> None:
    assert (await client.get(DEVICE_CLASSES, "gpu"))["spec"]["selectors"]
    node = await client.get(NODES, "n0")
    found = await client.get(RESOURCE_SLICES, "n0-gpu")
    assert [each["name"] for each in found["spec"]["devices"]] == ["gpu-0", "gpu-1"]
    await client.delete(NODES, "n0", uid=node["metadata"]["uid"])

    async def gone() -> bool:
        return await is_gone(client, RESOURCE_SLICES, "n0-gpu", None)

    await eventually(gone)
