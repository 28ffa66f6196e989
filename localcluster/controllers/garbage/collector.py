"""The garbage collector: follows every kind that can be deleted, and deletes what has no owner left.

It never acts on a guess. An owner it does not know is looked up at the server; every delete names the UID and the version
it was decided by, so an object that got a new owner meanwhile stays. Kinds are found by discovery: at once when a CRD
changes, and every `DISCOVERY_SECONDS`.
"""

import asyncio
import contextlib
import logging
import random as randomness
from collections.abc import Callable
from typing import Any, Final

import msgspec

from api.meta import OwnerReference
from kube.cache.decoding import ListDecoder, ObjectHead
from kube.cache.informer import Change, Informer
from kube.cache.workqueue import WorkQueue
from kube.client.client import Client, PatchKind
from kube.client.errors import Conflict, Invalid, KubeError, NotFound
from kube.client.resources import CUSTOM_RESOURCE_DEFINITIONS, Resource
from localcluster.controllers.garbage.graph import (
    FOREGROUND,
    ORPHAN,
    Graph,
    Node,
    Owner,
    Step,
    next_step,
    remaining_owners,
)
from localcluster.controllers.served import served_kinds

_log = logging.getLogger(__name__)

WORKERS: Final = 16
DISCOVERY_SECONDS: Final = 300.0
"""Kinds come and go with CRDs, whose changes are followed: this is for one that is served much later than it changed."""

DISCOVERY_RETRY_SECONDS: Final = 5.0
CRD_SECONDS: Final = 0.3
EAGER_LOOKS: Final = 5
"""After a CRD has changed, discovery is asked so many times, so far apart."""

FIRST_LISTS_SECONDS: Final = 10.0
UNKNOWN_KIND_SECONDS: Final = 5.0

Verdicts = list[tuple[OwnerReference, Owner]]


class GarbageCollector:
    """Collects garbage until cancelled."""

    def __init__(
        self, client: Client, *, clock: Callable[[], float], random: randomness.Random, workers: int = WORKERS
    ) -> None:
        self._client = client
        self._clock = clock
        self._random = random
        self.graph = Graph()
        self._kinds: dict[tuple[str, str], Resource] = {}
        self._following: dict[Resource, asyncio.Task[None]] = {}
        self._synced: dict[Resource, asyncio.Event] = {}
        self._queue = WorkQueue[str](self._look, workers=workers, clock=clock, random=random)
        self._crds_changed = asyncio.Event()
        self._eager = 0
        self._is_discovered = False

    async def run(self) -> None:
        """Follows all kinds and works."""
        async with asyncio.TaskGroup() as tasks:
            await self._discover(tasks)
            await self._know_all()
            tasks.create_task(self._queue.run())
            while True:
                await self._pause()
                await self._discover(tasks)

    async def _know_all(self) -> None:
        """Until everything was listed once: judging earlier would ask the server for each owner one by one."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FIRST_LISTS_SECONDS):
                for synced in list(self._synced.values()):
                    await synced.wait()

    async def _pause(self) -> None:
        """Until discovery is worth asking again: a changed CRD is served a moment later, not at once."""
        if self._eager > 0:
            self._eager -= 1
            await asyncio.sleep(CRD_SECONDS)
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DISCOVERY_SECONDS if self._is_discovered else DISCOVERY_RETRY_SECONDS):
                await self._crds_changed.wait()
        self._crds_changed.clear()

    # --- what there is -----------------------------------------------------------------------------------------------

    async def _discover(self, tasks: asyncio.TaskGroup) -> None:
        try:
            served = await served_kinds(self._client)
        except KubeError as error:
            _log.warning("cannot tell which kinds there are, trying again: %s", error)
            self._is_discovered = False
            return
        self._is_discovered = True
        self._kinds = {(each.resource.api_version, each.resource.kind): each.resource for each in served}
        wanted = {each.resource for each in served if each.can_be_collected}
        for resource in wanted - self._following.keys():
            informer = Informer[ObjectHead](
                self._client, resource, ListDecoder(ObjectHead), clock=self._clock, random=self._random
            )
            self._synced[resource] = informer.synced
            self._following[resource] = tasks.create_task(self._follow(resource, informer))
        for resource in self._following.keys() - wanted:
            self._following.pop(resource).cancel()
            self._synced.pop(resource, None)

    async def _follow(self, resource: Resource, informer: Informer[ObjectHead]) -> None:
        informer.add_handler(lambda change: self._changed(resource, change))
        try:
            await informer.run()
        finally:
            for head in informer.store:
                self.graph.forget(head.metadata.uid)

    def _changed(self, resource: Resource, change: Change[ObjectHead]) -> None:
        if resource == CUSTOM_RESOURCE_DEFINITIONS:
            self._eager = EAGER_LOOKS
            self._crds_changed.set()
        if change.new is not None:
            self._put(Node(resource, change.new.metadata))
        elif change.old is not None:
            self._removed(change.old.metadata.uid)

    def _put(self, node: Node) -> None:
        before = self.graph.get(node.uid)
        self.graph.put(node)
        is_held = node.has(FOREGROUND) or node.has(ORPHAN)
        if is_held or any(self.graph.judge(node, owner) is not Owner.SOLID for owner in node.owners):
            self._queue.add(node.uid)
        # An owner reference that went away may have been the last to hold a foreground deletion up.
        self._look_at_owners(before)

    def _removed(self, uid: str) -> None:
        node = self.graph.get(uid)
        dependents = self.graph.dependents(uid)
        self.graph.remove(uid)
        for dependent in dependents:
            self._queue.add(dependent.uid)
        self._look_at_owners(node)

    def _look_at_owners(self, node: Node | None) -> None:
        for owner in node.owners if node is not None else ():
            found = self.graph.get(owner.uid)
            if found is not None and found.has(FOREGROUND):
                self._queue.add(found.uid)

    # --- one object --------------------------------------------------------------------------------------------------

    async def _look(self, uid: str) -> float | None:
        node = self.graph.get(uid)
        if node is None:
            return None
        verdicts: Verdicts = []
        for owner in node.owners:
            verdict = await self._judge(node, owner)
            if verdict is Owner.UNKNOWN:
                return UNKNOWN_KIND_SECONDS
            verdicts.append((owner, verdict))
        try:
            await self._act(node, next_step(self.graph, node, verdicts), verdicts)
        except NotFound:
            return None
        except (Conflict, Invalid):
            # It changed meanwhile. Usually its new version is on its way here; should it not be, look again.
            return 1.0
        return None

    async def _judge(self, node: Node, owner: OwnerReference) -> Owner:
        """What is known of the owner, by the server's word when we do not know it."""
        verdict = self.graph.judge(node, owner)
        if verdict is not Owner.UNKNOWN:
            return verdict
        resource = self._kinds.get((owner.api_version, owner.kind))
        if resource is None:
            return Owner.UNKNOWN
        if resource.namespaced and not node.metadata.namespace:
            return Owner.SOLID  # a mistake of its maker that no look-up can settle: nothing is deleted for it
        try:
            found = await self._client.get(
                resource, owner.name, node.metadata.namespace if resource.namespaced else None
            )
        except NotFound:
            return Owner.GONE
        head = msgspec.convert(found, ObjectHead)
        if head.metadata.uid != owner.uid:
            return Owner.GONE
        return Owner.DYING if Node(resource, head.metadata).has(FOREGROUND) else Owner.SOLID

    async def _act(self, node: Node, step: Step, verdicts: Verdicts) -> None:
        if step is Step.DELETE:
            await self._delete(node, _policy(node))
        elif step is Step.DELETE_FOREGROUND:
            await self._delete(node, "Foreground")
        elif step is Step.DROP_OWNERS:
            await self._set_owners(node, remaining_owners(verdicts))
        elif step is Step.PRESS_DEPENDENTS:
            for dependent in self.graph.blockers(node.uid):
                self._queue.add(dependent.uid)
        elif step is Step.FINISH_FOREGROUND:
            await self._drop_finalizer(node, FOREGROUND)
        elif step is Step.ORPHAN:
            for dependent in self.graph.dependents(node.uid):
                await self._set_owners(dependent, [each for each in dependent.owners if each.uid != node.uid])
            await self._drop_finalizer(node, ORPHAN)

    async def _delete(self, node: Node, policy: str) -> None:
        meta = node.metadata
        await self._client.delete(
            node.resource,
            meta.name,
            meta.namespace or None,
            uid=meta.uid,
            resource_version=meta.resource_version,
            propagation=policy,
        )

    async def _set_owners(self, node: Node, owners: list[OwnerReference]) -> None:
        await self._patch(node, {"ownerReferences": [msgspec.to_builtins(owner) for owner in owners] or None})

    async def _drop_finalizer(self, node: Node, finalizer: str) -> None:
        kept = [each for each in node.metadata.finalizers or () if each != finalizer]
        await self._patch(node, {"finalizers": kept or None})

    async def _patch(self, node: Node, change: dict[str, Any]) -> None:
        """Changes the object's metadata if it still is the version that this was decided by."""
        meta = node.metadata
        body = {"metadata": {"uid": meta.uid, "resourceVersion": meta.resource_version, **change}}
        await self._client.patch(
            node.resource, body, meta.name, meta.namespace or None, kind=PatchKind.MERGE, parse=False
        )


def _policy(node: Node) -> str:
    """How a collected object goes: as its own finalizers ask, else with its dependents in the background."""
    finalizers = node.metadata.finalizers or ()
    if ORPHAN in finalizers:
        return "Orphan"
    return "Foreground" if FOREGROUND in finalizers else "Background"
