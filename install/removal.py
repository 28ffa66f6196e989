"""Deleting exactly the object that was looked at: by UID, and a lost answer is looked into before anything else is done."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final, TypeVar

from install.manifests import Manifest
from install.poller import Poller
from kube.client.client import Client
from kube.client.errors import Conflict, KubeError, NotFound, OutcomeUnknown
from kube.client.resources import Resource

AT_ONCE: Final = 16
"""Requests under way at a time; enough to be quick, too few to trouble an API server."""

_ATTEMPTS: Final = 5

Object = dict[str, Any]
T = TypeVar("T")


async def each(items: Iterable[T], work: Callable[[T], Awaitable[bool]]) -> int:
    """Do the work for every item, some at a time; how many said True. The first error ends it."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(item: T) -> bool:
        async with slots:
            return await work(item)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(item)) for item in items]
    return sum(task.result() for task in tasks)


async def remove(client: Client, resource: Resource, name: str, namespace: str | None = None) -> bool:
    """Delete whatever has that name now; False when nothing had."""
    was_there = False
    for _ in range(_ATTEMPTS):
        try:
            live = await client.get(resource, name, namespace)
        except NotFound:
            return was_there
        if live["metadata"].get("deletionTimestamp"):
            return True
        was_there = True
        try:
            await client.delete(resource, name, namespace, uid=live["metadata"]["uid"])
        except (Conflict, NotFound, OutcomeUnknown):
            continue
        return True
    raise KubeError(f"{resource.kind} {name} is made again as fast as it is deleted")


async def remove_object(client: Client, resource: Resource, found: Object) -> bool:
    """Delete an object of a list; False when it, by UID, is gone already."""
    metadata = found["metadata"]
    for _ in range(_ATTEMPTS):
        try:
            await client.delete(resource, metadata["name"], metadata.get("namespace"), uid=metadata["uid"])
        except OutcomeUnknown:
            continue
        except (NotFound, Conflict):
            return False
        return True
    raise KubeError(f"{resource.kind} {metadata['name']} cannot be deleted: the server's answers get lost")


async def remove_all(client: Client, manifests: Iterable[Manifest]) -> int:
    """Delete what the manifests name, one after the other; how many were there."""
    return sum([await remove(client, each.resource, each.name, each.namespace) for each in manifests])


async def wait_until_gone(
    client: Client, resource: Resource, name: str, namespace: str | None, poller: Poller, *, within_seconds: float
) -> bool:
    """Wait until nothing has that name any more; False when the time is up."""

    async def is_gone() -> bool:
        try:
            await client.get(resource, name, namespace)
        except NotFound:
            return True
        return False

    return await poller.until(is_gone, within_seconds=within_seconds)


async def list_if_served(client: Client, resource: Resource, label_selector: str | None = None) -> list[Object]:
    """All objects of a kind in all namespaces; none when the server does not know the kind."""
    try:
        found = await client.list(resource, label_selector=label_selector)
    except NotFound:
        return []
    return list(found.get("items") or [])


async def patch_listed(
    client: Client, resource: Resource, found: Object, patch_for: Callable[[Object], Object | None]
) -> bool:
    """Patch an object of a list; `patch_for` sees it as it is then and may say that nothing is to be done (None).

    The patch is applied only to that object, by UID, and only to the version that was seen.
    """
    metadata = found["metadata"]
    name, namespace, live = metadata["name"], metadata.get("namespace"), found
    for _ in range(_ATTEMPTS):
        patch = patch_for(live)
        if patch is None:
            return False
        pinned = {"uid": live["metadata"]["uid"], "resourceVersion": live["metadata"]["resourceVersion"]}
        body = {**patch, "metadata": {**patch.get("metadata", {}), **pinned}}
        try:
            await client.patch(resource, body, name, namespace, parse=False)
        except NotFound:
            return False
        except (Conflict, OutcomeUnknown):
            try:
                live = await client.get(resource, name, namespace)
            except NotFound:
                return False
            if live["metadata"]["uid"] != metadata["uid"]:
                return False
            continue
        return True
    raise KubeError(f"{resource.kind} {namespace}/{name} changes all the time and could not be patched")
