"""The demo's view of the cluster, kept up to date, and how it creates objects there."""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from api.node import Node
from api.pod import Pod
from api.podgroup import PodGroup
from kube.cache.decoding import ListDecoder
from kube.cache.informer import Informer
from kube.client.client import Client
from kube.client.errors import AlreadyExists, KubeError
from kube.client.resources import JOBS, NODES, PODS, Resource
from kube.groups.group_api import OWN
from localcluster.controllers.jobs.model import Job
from localcluster.controllers.served import served_kinds
from localcluster.demo.jobs import NAMESPACE, Manifest
from localcluster.demo.overview import Overview, overview_of
from localcluster.demo.screen import Screen, Step

FRAME_SECONDS: Final = 0.2


class ClusterView:
    """A cluster with Tutti on it. `run` keeps the view and the screen up to date until cancelled."""

    def __init__(self, client: Client, screen: Screen) -> None:
        self._client = client
        self._screen = screen
        self.steps: list[Step] = []
        self._groups = Informer[PodGroup](client, OWN.pod_groups, ListDecoder(PodGroup))
        self._jobs = Informer[Job](client, JOBS, ListDecoder(Job))
        self._pods = Informer[Pod](client, PODS, ListDecoder(Pod))
        self._nodes = Informer[Node](client, NODES, ListDecoder(Node))

    async def run(self) -> None:
        """Follows the cluster and shows it."""
        async with asyncio.TaskGroup() as tasks:
            for informer in (self._groups, self._jobs, self._pods, self._nodes):
                tasks.create_task(informer.run())
            while True:
                self._screen.show(self.overview(), self.steps)
                await asyncio.sleep(FRAME_SECONDS)

    async def ready(self) -> None:
        """Returns once everything that is there is known."""
        for informer in (self._groups, self._jobs, self._pods, self._nodes):
            await informer.synced.wait()

    def say(self, lines: Sequence[str]) -> None:
        """Lines that stay."""
        for line in lines:
            self._screen.say(line)

    def overview(self) -> Overview:
        """What is to be seen now."""
        return overview_of(self._groups.store, self._jobs.store, self._pods.store.all(), self._nodes.store)

    async def until(self, check: Callable[[Overview], bool], within_seconds: float) -> bool:
        """Whether it came true in time."""
        deadline = time.monotonic() + within_seconds
        while not check(self.overview()):
            if time.monotonic() >= deadline:
                return False
            await asyncio.sleep(FRAME_SECONDS / 4)
        return True

    async def create(self, manifests: Sequence[Manifest]) -> list[str]:
        """Creates objects of any kinds the cluster has; one line for each that it refused."""
        kinds = {
            (each.resource.api_version, each.resource.kind): each.resource for each in await served_kinds(self._client)
        }
        refused: list[str] = []
        for manifest in manifests:
            meta: dict[str, Any] = manifest.get("metadata") or {}
            name = f"{manifest['kind']} {meta.get('name', meta.get('generateName', '?'))}"
            resource = kinds.get((str(manifest.get("apiVersion")), str(manifest["kind"])))
            if resource is None:
                refused.append(f"{name}: this cluster has no {manifest.get('apiVersion')} {manifest['kind']}")
                continue
            try:
                await self._client.create(resource, manifest, _namespace(resource, meta), parse=False)
            except AlreadyExists:
                continue
            except KubeError as error:
                refused.append(f"{name}: {error}")
        return refused


def _namespace(resource: Resource, meta: dict[str, Any]) -> str | None:
    return str(meta.get("namespace") or NAMESPACE) if resource.namespaced else None
