"""Reads a cluster with the rights of whoever asks, as far as decisions look at it. Nothing is written, not even an event."""

import asyncio
from collections.abc import AsyncIterator, Container, Coroutine, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from kube.cache.decoding import ListDecoder
from kube.client.client import Client
from kube.client.errors import Forbidden, NotFound, OutcomeUnknown
from kube.client.resources import (
    CSI_DRIVERS,
    CSI_NODES,
    CSI_STORAGE_CAPACITIES,
    NAMESPACES,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    POD_DISRUPTION_BUDGETS,
    PODS,
    PRIORITY_CLASSES,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    RESOURCE_CLAIM_TEMPLATES,
    RESOURCE_CLAIMS,
    SERVICES,
    STATEFUL_SETS,
    STORAGE_CLASSES,
    VOLUME_ATTACHMENTS,
    Resource,
)
from kube.groups.composites import find_composites
from kube.groups.discovery import decide, read_record, served_group_apis
from kube.groups.group_api import GroupAPI
from kube.process.run import preflight
from scheduler.core import deciding_settings
from scheduler.eventhandlers.devices import DEVICES, serves_devices
from scheduler.recording.inputs import DecisionInputs, Devices
from scheduler.recording.listed import KINDS, objects_of
from scheduler.settings import SchedulerSettings

NEEDED: Final = (NODES, PODS)
"""Without these, and PodGroups, nothing can be said."""

OTHERS: Final[tuple[Resource, ...]] = (
    NAMESPACES,
    POD_DISRUPTION_BUDGETS,
    PRIORITY_CLASSES,
    SERVICES,
    REPLICATION_CONTROLLERS,
    REPLICA_SETS,
    STATEFUL_SETS,
    PERSISTENT_VOLUMES,
    PERSISTENT_VOLUME_CLAIMS,
    STORAGE_CLASSES,
    CSI_NODES,
    CSI_DRIVERS,
    CSI_STORAGE_CAPACITIES,
    VOLUME_ATTACHMENTS,
)

_AT_ONCE: Final = 4
_TURNS_TO_ASK: Final = 3
"""Of the event loop, until a request has gone out over a connection that is there."""

T = TypeVar("T")


class ReadCluster(NamedTuple):
    """What was read.

    Attributes:
        inputs: of decisions; everything that waits is new.
        unreadable: plural names of kinds that the caller may not list: what they would say is not looked at.
    """

    inputs: DecisionInputs
    unreadable: tuple[str, ...]


async def read_cluster(
    client: Client, settings: SchedulerSettings, epoch_seconds: float, *, slims: bool = True
) -> ReadCluster:
    """The inputs of decisions about a cluster, as far as these credentials may read them.

    Args:
        client: reads.
        settings: under which the cluster's scheduler decides.
        epoch_seconds: now, in seconds since 1970.
        slims: whether objects are without what no decision reads, as they must be to be shown to anybody.

    Raises:
        ConfigurationError: the cluster cannot be reached, or has no PodGroups.
        Forbidden: nodes, pods or PodGroups may not be listed.
        KubeError: the API server refused something else.
    """
    version = await preflight(client)
    group_api = await _group_api(client, settings)
    limit = asyncio.Semaphore(_AT_ONCE)
    served = await serves_devices(client)
    of_devices = tuple(one for one in DEVICES if one.plural in served)
    composites = await find_composites(client, group_api)
    optional = (*(() if composites is None else (composites,)), *OTHERS, *of_devices)
    resources = (*NEEDED, group_api.pod_groups, *optional)

    async def listed(resource: Resource) -> list[msgspec.Struct] | None:
        async with limit:
            return await _listed(client, resource, is_needed=resource not in optional)

    found = dict(zip(resources, await _all_or_none([listed(resource) for resource in resources]), strict=True))
    objects: Mapping[str, list[Any]] = {
        KINDS[resource.kind].plural: items for resource, items in found.items() if items is not None
    }
    inputs = DecisionInputs(
        epoch_seconds=epoch_seconds,
        monotonic_seconds=epoch_seconds,
        settings=deciding_settings(settings),
        group_api=group_api.name,
        server_version=str(version.get("gitVersion") or ""),
        devices=_devices(served, {resource for resource, items in found.items() if items is None}),
        objects=objects_of(objects, slims=slims),
    )
    return ReadCluster(inputs, tuple(resource.plural for resource, items in found.items() if items is None))


def _devices(served: Container[str], unreadable: Container[Resource]) -> Devices:
    """Whether devices are among what was read; with one of their kinds missing nothing could be said of them.

    Templates of claims matter only to pods that do not exist.
    """
    if RESOURCE_CLAIMS.plural not in served:
        return "unserved"
    return (
        "unknown"
        if any(resource in unreadable for resource in DEVICES if resource is not RESOURCE_CLAIM_TEMPLATES)
        else "followed"
    )


async def _all_or_none(reads: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """What all of them give; when one fails the others end, so that nobody uses the client any more."""
    tasks = [asyncio.ensure_future(read) for read in reads]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _group_api(client: Client, settings: SchedulerSettings) -> GroupAPI:
    """The one in force; the record of it is for processes of ours, and not everybody may read it."""
    try:
        record = await read_record(client, settings.system_namespace)
    except Forbidden:
        record = None
    return decide(record, settings.group_api, await served_group_apis(client))


async def _listed(client: Client, resource: Resource, *, is_needed: bool) -> list[msgspec.Struct] | None:
    decoder: ListDecoder[Any] = ListDecoder(KINDS[resource.kind].type)
    items: list[msgspec.Struct] = []
    try:
        async for page in _ahead(client.list_pages(resource, looks_through=False)):
            items += decoder.page(page).items
    except msgspec.MsgspecError as error:
        raise OutcomeUnknown(f"list of {resource.plural}: {error}") from error
    except NotFound:
        return []
    except Forbidden:
        if is_needed:
            raise
        return None
    return items


async def _ahead(pages: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The pages; while one is looked at the server has been asked for the next one."""
    following = asyncio.ensure_future(_next(pages))
    try:
        while (page := await following) is not None:
            following = asyncio.ensure_future(_next(pages))
            for _ in range(_TURNS_TO_ASK):
                await asyncio.sleep(0)
            yield page
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


async def _next(pages: AsyncIterator[bytes]) -> bytes | None:
    return await anext(pages, None)
