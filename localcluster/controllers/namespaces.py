"""Empties namespaces that are being deleted, and lets them go: the server holds them by the finalizer `kubernetes`.

Everything in such a namespace goes, whoever made it. What does not go at once (pods that end gracefully, objects held by
finalizers) is named in the namespace's conditions and asked for again.
"""

import random as randomness
from collections.abc import Callable
from typing import Any, Final

from kube.cache.decoding import ListDecoder, ObjectHead
from kube.cache.informer import Change, Informer
from kube.cache.workqueue import WorkQueue
from kube.client.client import Client
from kube.client.errors import AnsweredError, Conflict, NotFound
from kube.client.resources import NAMESPACES, Resource
from localcluster.controllers.following import follow
from localcluster.controllers.served import Served, served_kinds
from localcluster.controllers.times import Now, render_time

FINALIZER: Final = "kubernetes"
AGAIN_SECONDS: Final = 0.5
METHOD_NOT_ALLOWED: Final = 405


class NamespaceController:
    """Empties namespaces until cancelled."""

    def __init__(self, client: Client, *, now: Now, clock: Callable[[], float], random: randomness.Random) -> None:
        self._client = client
        self._now = now
        self.namespaces = Informer[ObjectHead](client, NAMESPACES, ListDecoder(ObjectHead), clock=clock, random=random)
        self._queue = WorkQueue[str](self._look, workers=4, clock=clock, random=random)
        self.namespaces.add_handler(self._changed)

    async def run(self) -> None:
        """Runs the informer and the queue."""
        await follow((self.namespaces,), self._queue)

    def _changed(self, change: Change[ObjectHead]) -> None:
        if change.new is not None and change.new.metadata.is_terminating:
            self._queue.add(change.new.metadata.name)

    async def _look(self, name: str) -> float | None:
        """Empties the namespace a little more; done when it is empty."""
        try:
            namespace = await self._client.get(NAMESPACES, name)
            finalizers = namespace["spec"].get("finalizers") or []
            if not namespace["metadata"].get("deletionTimestamp") or FINALIZER not in finalizers:
                return None
            left = await self._empty(name)
            if left:
                await self._say(namespace, left)
                return AGAIN_SECONDS
            namespace["spec"]["finalizers"] = [each for each in finalizers if each != FINALIZER]
            await self._client.replace(NAMESPACES, namespace, name, subresource="finalize")
        except NotFound:
            return None
        except Conflict:
            return AGAIN_SECONDS
        return None

    async def _empty(self, namespace: str) -> dict[str, list[dict[str, Any]]]:
        """Deletes what is there; what is left, by kind."""
        left: dict[str, list[dict[str, Any]]] = {}
        for served in await served_kinds(self._client):
            if served.resource.namespaced and "list" in served.verbs and "delete" in served.verbs:
                found = await self._purge(served, namespace)
                if found:
                    left[f"{served.resource.plural}.{served.resource.group}"] = found
        return left

    async def _purge(self, served: Served, namespace: str) -> list[dict[str, Any]]:
        try:
            if not (await self._client.list(served.resource, namespace))["items"]:
                return []
            await self._delete_all(served, namespace)
            return list((await self._client.list(served.resource, namespace))["items"])
        except NotFound:
            return []  # the kind itself has just gone

    async def _delete_all(self, served: Served, namespace: str) -> None:
        options = {"propagationPolicy": "Background"}
        if "deletecollection" in served.verbs:
            try:
                await self._client.request_json("DELETE", served.resource.path(namespace), options)
            except AnsweredError as error:
                if error.status != METHOD_NOT_ALLOWED:
                    raise
            else:
                return
        await self._delete_each(served.resource, namespace)

    async def _delete_each(self, resource: Resource, namespace: str) -> None:
        for item in (await self._client.list(resource, namespace))["items"]:
            meta = item["metadata"]
            try:
                await self._client.delete(resource, meta["name"], namespace, uid=meta["uid"])
            except (NotFound, Conflict):
                continue

    async def _say(self, namespace: dict[str, Any], left: dict[str, list[dict[str, Any]]]) -> None:
        """Writes into the conditions what the namespace waits for, when that has changed."""
        status = namespace.setdefault("status", {})
        known = {each["type"]: each for each in status.get("conditions") or []}
        wanted = conditions(left, render_time(self._now()))
        if all(_same(known.get(each["type"]), each) for each in wanted):
            return
        status["conditions"] = [
            each for each in known.values() if each["type"] not in {w["type"] for w in wanted}
        ] + wanted
        await self._client.replace(NAMESPACES, namespace, namespace["metadata"]["name"], subresource="status")


def conditions(left: dict[str, list[dict[str, Any]]], stamp: str) -> list[dict[str, str]]:
    """What is left in a namespace, as its conditions say it."""
    held: dict[str, int] = {}
    for item in (item for items in left.values() for item in items):
        for finalizer in item["metadata"].get("finalizers") or ():
            held[finalizer] = held.get(finalizer, 0) + 1
    kinds = ", ".join(f"{kind} has {len(items)} resource instances" for kind, items in sorted(left.items()))
    by_finalizer = ", ".join(f"{name} in {count} resource instances" for name, count in sorted(held.items()))
    found = [
        _condition("NamespaceContentRemaining", "SomeResourcesRemain", f"Some resources are remaining: {kinds}", stamp)
    ]
    if by_finalizer:
        message = f"Some content in the namespace has finalizers remaining: {by_finalizer}"
        found.append(_condition("NamespaceFinalizersRemaining", "SomeFinalizersRemain", message, stamp))
    return found


def _condition(kind: str, reason: str, message: str, stamp: str) -> dict[str, str]:
    return {"type": kind, "status": "True", "lastTransitionTime": stamp, "reason": reason, "message": message}


def _same(known: dict[str, Any] | None, wanted: dict[str, str]) -> bool:
    return known is not None and (known["status"], known["message"]) == (wanted["status"], wanted["message"])
