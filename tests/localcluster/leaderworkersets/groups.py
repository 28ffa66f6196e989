"""LeaderWorkerSets for scenarios, and questions about what became of them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from api.constants import LEADER_INDEX, LWS_GROUP_INDEX, LWS_NAME, LWS_REVISION, LWS_WORKER_INDEX
from kube.client.client import Client
from kube.client.errors import KubeError, NotFound
from kube.client.resources import (
    CONTROLLER_REVISIONS,
    LEADER_WORKER_SETS,
    PODS,
    STATEFUL_SETS,
    VALIDATING_WEBHOOKS,
    Resource,
)
from localcluster.controllers.leaderworkersets.admission.configurations import VALIDATING_NAME
from localcluster.nodes import create_nodes
from localcluster.shapes import NodeShape, parse_resources

Object = dict[str, Any]

NAMESPACE = "default"
PATIENCE_SECONDS = 30.0
POLL_SECONDS = 0.05
STAND_INS = ("statefulset", "leaderworkerset", "garbage", "serviceaccount", "scheduler")


def lws(name: str = "g", *, replicas: int = 2, size: int = 2, **spec: Any) -> Object:
    """A LeaderWorkerSet; `template` changes its template, `annotations` those of the set."""
    annotations, template = spec.pop("annotations", {}), spec.pop("template", {})
    return {
        "apiVersion": LEADER_WORKER_SETS.api_version,
        "kind": LEADER_WORKER_SETS.kind,
        "metadata": {"name": name, "namespace": NAMESPACE, "annotations": annotations},
        "spec": {
            "replicas": replicas,
            "leaderWorkerTemplate": {"size": size, "workerTemplate": pods("x:1"), **template},
            **spec,
        },
    }


def pods(image: str, **spec: Any) -> Object:
    """A pod template."""
    return {"spec": {"containers": [{"name": "main", "image": image}], **spec}}


def rolling(**limits: Any) -> Object:
    """A rollout strategy."""
    return {"type": "RollingUpdate", "rollingUpdateConfiguration": limits}


async def eventually(check: Callable[[], Awaitable[object]], *, within_seconds: float = PATIENCE_SECONDS) -> None:
    """Until it is so; a look that fails is repeated like one that says no."""
    async with asyncio.timeout(within_seconds):
        while True:
            try:
                if await check():
                    return
            except KubeError:
                pass
            await asyncio.sleep(POLL_SECONDS)


class Groups:
    """One LeaderWorkerSet in a cluster and what it is made of."""

    def __init__(self, client: Client, name: str = "g") -> None:
        self.client = client
        self.name = name

    async def make(self, manifest: Object) -> None:
        """Creates it, once webhooks answer."""
        await self.admission()
        await self.client.create(LEADER_WORKER_SETS, manifest, NAMESPACE)

    async def admission(self) -> None:
        """Until the webhooks are registered."""
        await eventually(lambda: self.client.get(VALIDATING_WEBHOOKS, VALIDATING_NAME))

    async def change(self, spec: Object) -> None:
        """Changes its spec."""
        await self.client.patch(LEADER_WORKER_SETS, {"spec": spec}, self.name, NAMESPACE)

    async def use_image(self, image: str) -> None:
        """Changes what its pods run."""
        await self.change({"leaderWorkerTemplate": {"workerTemplate": pods(image)}})

    async def now(self) -> Object:
        """The LeaderWorkerSet as it is."""
        return await self.client.get(LEADER_WORKER_SETS, self.name, NAMESPACE)

    async def all(self, resource: Resource) -> list[Object]:
        """All objects that carry its label."""
        found = await self.client.list(resource, NAMESPACE, label_selector=f"{LWS_NAME}={self.name}")
        return list(found["items"])

    async def leaders(self) -> dict[int, Object]:
        """Its leaders by index."""
        return {
            int(pod["metadata"]["labels"][LWS_GROUP_INDEX]): pod
            for pod in await self.all(PODS)
            if pod["metadata"]["labels"][LWS_WORKER_INDEX] == LEADER_INDEX
        }

    async def pod_names(self) -> list[str]:
        """Names of all of its pods."""
        return sorted(pod["metadata"]["name"] for pod in await self.all(PODS))

    async def uid(self, name: str) -> str:
        """UID of a pod, "" when there is none."""
        try:
            return str((await self.client.get(PODS, name, NAMESPACE))["metadata"]["uid"])
        except NotFound:
            return ""

    async def images(self) -> dict[str, str]:
        """What each pod runs."""
        return {pod["metadata"]["name"]: pod["spec"]["containers"][0]["image"] for pod in await self.all(PODS)}

    async def set_named(self, name: str) -> Object:
        """A StatefulSet."""
        return await self.client.get(STATEFUL_SETS, name, NAMESPACE)

    async def revisions(self) -> set[str]:
        """Keys of the revisions that are its own."""
        kind = LEADER_WORKER_SETS.kind
        return {
            each["metadata"]["labels"][LWS_REVISION]
            for each in await self.all(CONTROLLER_REVISIONS)
            if each["metadata"]["ownerReferences"][0]["kind"] == kind
        }

    async def holds(self, condition: str) -> bool:
        """Whether a condition is True of its present generation."""
        found = await self.now()
        status = found.get("status") or {}
        return status.get("observedGeneration") == found["metadata"]["generation"] and any(
            each["type"] == condition and each["status"] == "True" for each in status.get("conditions") or []
        )

    async def is_available(self) -> bool:
        """Whether all groups are ready and of the newest revision."""
        return await self.holds("Available")

    async def available(self) -> None:
        """Until it is."""
        await eventually(self.is_available)

    async def has_pods(self, *names: str) -> None:
        """Until exactly these pods are there, and none of them is going."""

        async def so() -> bool:
            found = await self.all(PODS)
            staying = [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]
            return len(staying) == len(found) and sorted(pod["metadata"]["name"] for pod in found) == sorted(names)

        await eventually(so)


Opened = Callable[..., AbstractAsyncContextManager[Client]]


@asynccontextmanager
async def playing(cluster: Opened, manifest: Object, *, nodes: int = 2) -> AsyncIterator[Groups]:
    """A cluster with nodes in which the LeaderWorkerSet was made."""
    async with cluster(*STAND_INS, kubelet=True) as client:
        shape = NodeShape(parse_resources("cpu=64,memory=64Gi"))
        await create_nodes(client, [f"n{number}" for number in range(nodes)], shape)
        groups = Groups(client, manifest["metadata"]["name"])
        await groups.make(manifest)
        yield groups
