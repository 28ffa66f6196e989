"""Puts into the cluster what LeaderWorkerSets need: their definition, and the webhook configurations of this process.

A definition that somebody else installed is used as it is. Webhook configurations of somebody else mean that the real
controller is installed, which leaves nothing to do for a stand-in. Ours are those of whoever runs the controller now: they
replace what an earlier run left behind, and go when this one ends.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Final

from api.errors import ConfigurationError
from kube.client.client import Client
from kube.client.errors import KubeError
from kube.client.resources import (
    LEADER_WORKER_SETS,
    MUTATING_WEBHOOKS,
    VALIDATING_WEBHOOKS,
    Resource,
)
from localcluster.controllers.definitions import Object, is_ours, put, put_definition
from localcluster.controllers.leaderworkersets.admission.configurations import mutating, validating
from localcluster.controllers.leaderworkersets.admission.server import Admission
from localcluster.controllers.leaderworkersets.definition import definition

REMOVAL_SECONDS: Final = 5.0


async def define(client: Client) -> None:
    """Installs the definition, or brings ours up to date, and waits until the kind is served.

    Raises:
        ConfigurationError: the kind is not served in time.
        KubeError: the definition cannot be installed.
    """
    await put_definition(client, LEADER_WORKER_SETS, definition())


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
            made_now = await put(client, resource, make(admission.base_url, admission.authority))
            if not is_ours(made_now):
                name = made_now["metadata"]["name"]
                raise ConfigurationError(f"{name} belongs to another LeaderWorkerSet controller: run without this one")
            made.append((resource, made_now))
        yield
    finally:
        for resource, obj in made:
            await _remove(client, resource, obj)


async def _remove(client: Client, resource: Resource, obj: Object) -> None:
    """Takes it away unless another run has replaced it meanwhile; a server that is gone already needs no answer."""
    meta = obj["metadata"]
    with contextlib.suppress(KubeError, TimeoutError):
        async with asyncio.timeout(REMOVAL_SECONDS):
            await client.delete(resource, meta["name"], uid=meta["uid"], resource_version=meta["resourceVersion"])
