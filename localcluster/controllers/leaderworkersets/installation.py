"""Puts into the cluster what LeaderWorkerSets need: their definition, and the webhook configurations of this process.

A definition that somebody else installed is used as it is. Webhook configurations of somebody else mean that the real
controller is installed, which leaves nothing to do for a stand-in. Ours are those of whoever runs the controller now: they
replace what an earlier run left behind, and go when this one ends.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any, Final

from api.errors import ConfigurationError
from kube.client.client import Client
from kube.client.errors import AlreadyExists, Conflict, KubeError, NotFound
from kube.client.resources import (
    CUSTOM_RESOURCE_DEFINITIONS,
    LEADER_WORKER_SETS,
    MUTATING_WEBHOOKS,
    VALIDATING_WEBHOOKS,
    Resource,
)
from localcluster.controllers.leaderworkersets.admission.configurations import mutating, validating
from localcluster.controllers.leaderworkersets.admission.server import Admission
from localcluster.controllers.leaderworkersets.definition import MANAGED_BY, definition

POLL_SECONDS: Final = 0.1
SERVED_SECONDS: Final = 30.0
REMOVAL_SECONDS: Final = 5.0

Object = dict[str, Any]


async def define(client: Client) -> None:
    """Installs the definition, or brings ours up to date, and waits until the kind is served.

    Raises:
        ConfigurationError: the kind is not served in time.
        KubeError: the definition cannot be installed.
    """
    await _put(client, CUSTOM_RESOURCE_DEFINITIONS, definition())
    try:
        async with asyncio.timeout(SERVED_SECONDS):
            while not await _is_served(client):  # noqa: ASYNC110 (only the server knows, and it does not tell)
                await asyncio.sleep(POLL_SECONDS)
    except TimeoutError as error:
        raise ConfigurationError(f"LeaderWorkerSets are defined but not served after {SERVED_SECONDS:g} s") from error


@contextlib.asynccontextmanager
async def registered(client: Client, admission: Admission) -> AsyncIterator[None]:
    """The API server asks this admission server for as long as the block runs.

    Raises:
        ConfigurationError: another LeaderWorkerSet controller is installed.
        KubeError: a configuration cannot be written.
    """
    made: list[tuple[Resource, Object]] = []
    try:
        for resource, make in ((MUTATING_WEBHOOKS, mutating), (VALIDATING_WEBHOOKS, validating)):
            put = await _put(client, resource, make(admission.base_url, admission.authority))
            if not _is_ours(put):
                name = put["metadata"]["name"]
                raise ConfigurationError(f"{name} belongs to another LeaderWorkerSet controller: run without this one")
            made.append((resource, put))
        yield
    finally:
        for resource, obj in made:
            await _remove(client, resource, obj)


async def _is_served(client: Client) -> bool:
    try:
        await client.request_json("GET", LEADER_WORKER_SETS.path(), params={"limit": "1"})
    except NotFound:
        return False
    return True


async def _put(client: Client, resource: Resource, wanted: Object) -> Object:
    """Creates the object, or makes ours equal to it; gives somebody else's as it is."""
    name = wanted["metadata"]["name"]
    while True:
        try:
            return await client.create(resource, wanted)
        except AlreadyExists:
            with contextlib.suppress(NotFound, Conflict):
                found = await client.get(resource, name)
                return await client.replace(resource, found | _content(wanted), name) if _is_ours(found) else found


def _is_ours(obj: Object) -> bool:
    return (obj["metadata"].get("labels") or {}).items() >= MANAGED_BY.items()


def _content(wanted: Object) -> Object:
    return {key: value for key, value in wanted.items() if key not in {"apiVersion", "kind", "metadata"}}


async def _remove(client: Client, resource: Resource, obj: Object) -> None:
    """Takes it away unless another run has replaced it meanwhile; a server that is gone already needs no answer."""
    meta = obj["metadata"]
    with contextlib.suppress(KubeError, TimeoutError):
        async with asyncio.timeout(REMOVAL_SECONDS):
            await client.delete(resource, meta["name"], uid=meta["uid"], resource_version=meta["resourceVersion"])
