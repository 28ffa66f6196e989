"""One StatefulSet in a cluster, what is done to it, and what became of it."""

from typing import Any

from kube.client.client import Client
from kube.client.errors import NotFound
from kube.client.resources import CONTROLLER_REVISIONS, PERSISTENT_VOLUME_CLAIMS, PODS, STATEFUL_SETS, Resource
from tests.localcluster.leaderworkersets.groups import eventually

Object = dict[str, Any]

NAME = "web"
LABELS = {"app": NAME}
NOWHERE = {"no": "node"}


def manifest(image: str = "x:1", **spec: Any) -> Object:
    """A StatefulSet; `node_selector` keeps its pods from running."""
    pods: Object = {"containers": [{"name": "main", "image": image}], "terminationGracePeriodSeconds": 0}
    selector = spec.pop("node_selector", None)
    if selector:
        pods["nodeSelector"] = selector
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": NAME},
        "spec": {
            "serviceName": NAME,
            "selector": {"matchLabels": LABELS},
            "template": {"metadata": {"labels": LABELS}, "spec": pods},
            **spec,
        },
    }


class Play:
    """The set and its pods."""

    def __init__(self, client: Client, namespace: str) -> None:
        self.client = client
        self.namespace = namespace

    async def make(self, image: str = "x:1", **spec: Any) -> None:
        await self.client.create(STATEFUL_SETS, manifest(image, **spec), self.namespace)

    async def change(self, **spec: Any) -> None:
        await self.client.patch(STATEFUL_SETS, {"spec": spec}, NAME, self.namespace)

    async def use_image(self, image: str) -> None:
        containers = [{"name": "main", "image": image}]
        await self.change(template={"spec": {"containers": containers, "nodeSelector": None}})

    async def now(self) -> Object:
        return await self.client.get(STATEFUL_SETS, NAME, self.namespace)

    async def status(self) -> Object:
        return dict((await self.now()).get("status") or {})

    async def all(self, resource: Resource) -> list[Object]:
        return list((await self.client.list(resource, self.namespace))["items"])

    async def pods(self) -> dict[str, Object]:
        found = await self.client.list(PODS, self.namespace, label_selector=f"app={NAME}")
        return {each["metadata"]["name"]: each for each in found["items"]}

    async def images(self) -> dict[str, str]:
        return {name: pod["spec"]["containers"][0]["image"] for name, pod in (await self.pods()).items()}

    async def claims(self) -> list[str]:
        return sorted(each["metadata"]["name"] for each in await self.all(PERSISTENT_VOLUME_CLAIMS))

    async def revisions(self) -> dict[str, int]:
        return {each["metadata"]["name"]: each["revision"] for each in await self.all(CONTROLLER_REVISIONS)}

    async def uid(self, name: str) -> str:
        try:
            return str((await self.client.get(PODS, name, self.namespace))["metadata"]["uid"])
        except NotFound:
            return ""

    async def delete_pod(self, name: str) -> str:
        uid = await self.uid(name)
        await self.client.delete(PODS, name, self.namespace, uid=uid)
        return uid

    async def has(self, images: dict[str, str], *, ready: int | None = None) -> None:
        """Until exactly these pods are there with these images, so many (all, if left out) of them ready."""
        wanted = len(images) if ready is None else ready

        async def so() -> bool:
            found, status = await self.now(), await self.status()
            counts = (status.get("replicas", 0), status.get("readyReplicas", 0))
            observed = status.get("observedGeneration") == found["metadata"]["generation"]
            return observed and counts == (len(images), wanted) and await self.images() == images

        await eventually(so, within_seconds=60.0)
