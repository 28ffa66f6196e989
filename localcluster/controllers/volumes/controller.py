"""Follows claims, volumes, classes and pods, and writes one step at a time: every write makes the watch show something new."""

import random as randomness
from collections.abc import Callable
from typing import Any, Final

from api.pod import Pod
from api.storage import Claim, StorageClass, Volume
from kube.cache.decoding import ListDecoder
from kube.cache.informer import Change, Informer
from kube.cache.workqueue import WorkQueue
from kube.client.client import Client
from kube.client.errors import AlreadyExists, Conflict, Forbidden, NotFound
from kube.client.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS, STORAGE_CLASSES
from localcluster.controllers.following import follow
from localcluster.controllers.volumes.steps import Step, claim_step, ephemeral_claims, volume_step

AGAIN_SECONDS: Final = 0.2

Key = tuple[str, str, str]
"""(plural, namespace, name)."""


class VolumeController:
    """Binds and makes volumes until cancelled."""

    def __init__(self, client: Client, *, clock: Callable[[], float], random: randomness.Random) -> None:
        self._client = client
        more: Any = {"clock": clock, "random": random}
        self.claims = Informer[Claim](client, PERSISTENT_VOLUME_CLAIMS, ListDecoder(Claim), **more)
        self.volumes = Informer[Volume](client, PERSISTENT_VOLUMES, ListDecoder(Volume), **more)
        self.classes = Informer[StorageClass](client, STORAGE_CLASSES, ListDecoder(StorageClass), **more)
        self.pods = Informer[Pod](client, PODS, ListDecoder(Pod), **more)
        self._queue = WorkQueue[Key](self._look, workers=4, clock=clock, random=random)
        self.claims.add_handler(self._claim_changed)
        self.volumes.add_handler(self._volume_changed)
        self.classes.add_handler(self._class_changed)
        self.pods.add_handler(self._pod_changed)

    async def run(self) -> None:
        """Runs the informers, then the queue."""
        await follow((self.claims, self.volumes, self.classes, self.pods), self._queue)

    def _claim_changed(self, change: Change[Claim]) -> None:
        claim = change.new or change.old
        if claim is not None:
            self._queue.add((PERSISTENT_VOLUME_CLAIMS.plural, *claim.metadata.key))
            for volume in self.volumes.store:
                if volume.spec.claim_ref is not None and volume.spec.claim_ref.name == claim.metadata.name:
                    self._queue.add((PERSISTENT_VOLUMES.plural, *volume.metadata.key))

    def _volume_changed(self, change: Change[Volume]) -> None:
        volume = change.new or change.old
        if volume is None:
            return
        self._queue.add((PERSISTENT_VOLUMES.plural, *volume.metadata.key))
        for claim in self.claims.store:
            if claim.spec.volume_name in {"", volume.metadata.name}:
                self._queue.add((PERSISTENT_VOLUME_CLAIMS.plural, *claim.metadata.key))

    def _class_changed(self, change: Change[StorageClass]) -> None:
        for claim in self.claims.store:
            if not claim.spec.volume_name and change.new is not None:
                self._queue.add((PERSISTENT_VOLUME_CLAIMS.plural, *claim.metadata.key))

    def _pod_changed(self, change: Change[Pod]) -> None:
        if change.new is not None and any(volume.ephemeral for volume in change.new.spec.volumes):
            self._queue.add((PODS.plural, *change.new.metadata.key))

    async def _look(self, key: Key) -> float | None:
        try:
            for step in self._steps(key):
                await self._do(step)
        except (Conflict, NotFound, Forbidden):
            return AGAIN_SECONDS
        return None

    def _steps(self, key: Key) -> list[Step]:
        plural, namespace, name = key
        step: Step | None = None
        if plural == PODS.plural:
            pod = self.pods.store.get(namespace, name)
            return ephemeral_claims(pod) if pod is not None else []
        if plural == PERSISTENT_VOLUME_CLAIMS.plural:
            claim = self.claims.store.get(namespace, name)
            if claim is not None:
                storage_class = self.classes.store.get("", claim.spec.storage_class_name or "")
                step = claim_step(claim, self.volumes.store, storage_class)
        else:
            volume = self.volumes.store.get("", name)
            if volume is not None:
                reference = volume.spec.claim_ref
                owner = self.claims.store.get(reference.namespace, reference.name) if reference else None
                step = volume_step(volume, owner)
        return [step] if step is not None else []

    async def _do(self, step: Step) -> None:
        if step.creates:
            try:
                await self._client.create(step.resource, step.body, step.namespace, parse=False)
            except AlreadyExists:
                return
        elif step.deletes:
            await self._client.delete(step.resource, step.name, step.namespace, uid=step.body["uid"])
        else:
            await self._client.patch(
                step.resource, step.body, step.name, step.namespace, subresource=step.subresource, parse=False
            )
