"""The cluster as its caller may list it, as the inputs of decisions. Only GET and LIST are ever sent."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import msgspec

from api.constants import SYSTEM_NAMESPACE
from api.errors import ConfigurationError
from api.job import Job
from explain.owner_facts import Event, events_of
from kube.cache.decoding import ListDecoder
from kube.client.client import Client
from kube.client.credentials import load_credentials
from kube.client.errors import Forbidden, Gone, KubeError, NotFound
from kube.client.resources import EVENTS, JOBS, NODES, PODS, Resource
from kube.groups.discovery import decide, read_record, served_group_apis
from kube.groups.group_api import GroupAPI
from kube.process.run import preflight
from scheduler.main import FOLLOWED
from scheduler.recording.inputs import DecisionInputs
from scheduler.recording.listed import KINDS, objects_of

USER_AGENT: Final = "tutti-explain"
_TRIES: Final = 3
_NEEDED: Final = frozenset({PODS.plural, NODES.plural, "podgroups"})
"""Without these nothing can be said; of other kinds what cannot be seen is left out and named."""


class Reading(msgspec.Struct, frozen=True):
    """What was read: the inputs of decisions, and the kinds that the caller may not see."""

    inputs: DecisionInputs
    unseen: tuple[str, ...] = ()


@asynccontextmanager
async def cluster(kubeconfig: str | None, context: str | None = None) -> AsyncIterator[Client]:
    """A client that sends nothing but reads.

    Raises:
        ConfigurationError: the cluster cannot be reached.
    """
    async with Client(load_credentials(kubeconfig, context=context), user_agent=USER_AGENT) as client:
        await preflight(client)
        yield client


async def read_cluster(client: Client, settings: Mapping[str, Any]) -> Reading:
    """All that decisions look at.

    Args:
        client: with the caller's rights.
        settings: of the scheduler, as far as they decide.

    Raises:
        ConfigurationError: the caller may not list pods, nodes or PodGroups, or nobody serves PodGroups.
    """
    group_api = await _group_api(client)
    resources = [*FOLLOWED, group_api.pod_groups]
    answers = await asyncio.gather(*(_list(client, resource) for resource in resources))
    found = {resource.plural: objects for resource, objects in zip(resources, answers, strict=True)}
    unseen = tuple(sorted(plural for plural, objects in found.items() if objects is None))
    objects = objects_of({plural: objects for plural, objects in found.items() if objects is not None})
    inputs = DecisionInputs(
        epoch_seconds=time.time(),
        monotonic_seconds=time.monotonic(),
        settings=dict(settings),
        group_api=group_api.name,
        server_version="",
        objects=objects,
    )
    return Reading(inputs, unseen)


async def _group_api(client: Client) -> GroupAPI:
    try:
        record = await read_record(client, SYSTEM_NAMESPACE)
    except Forbidden:
        record = None
    return decide(record, "auto", await served_group_apis(client))


async def _list(client: Client, resource: Resource) -> list[Any] | None:
    decoder: ListDecoder[Any] = ListDecoder(KINDS[resource.kind].type)
    for _ in range(_TRIES):
        found: list[Any] = []
        try:
            async for page in client.list_pages(resource, resource_version="0"):
                found += decoder.page(page).items
        except Gone:
            continue
        except (Forbidden, NotFound) as error:
            if resource.plural in _NEEDED:
                raise ConfigurationError(f"{resource.plural} cannot be listed: {error}") from error
            return None
        return found
    raise ConfigurationError(f"{resource.plural} cannot be listed: they change faster than they can be read; try again")


async def read_job(client: Client, namespace: str, name: str) -> tuple[Job | None, list[Event]]:
    """A Job, None when there is none or the caller may not see it, and the events about it."""
    try:
        job = msgspec.convert(await client.get(JOBS, name, namespace), Job)
    except (NotFound, Forbidden):
        return None, []
    selector = f"regarding.kind=Job,regarding.name={name}"
    try:
        return job, events_of(await client.list(EVENTS, namespace, field_selector=selector))
    except KubeError:
        return job, []
