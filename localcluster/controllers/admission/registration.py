"""Puts webhook configurations into the cluster for as long as somebody answers, and takes them away again.

Configurations of somebody else mean that the real controller is installed, which leaves nothing to do for a stand-in. Ours are
those of whoever runs the controller now: they replace what an earlier run left behind, and go when this one ends.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Final

from api.errors import ConfigurationError
from kube.client.client import Client
from kube.client.errors import KubeError
from kube.client.resources import Resource
from localcluster.controllers.definitions import Object, is_ours, put

REMOVAL_SECONDS: Final = 5.0


@contextlib.asynccontextmanager
async def in_force(client: Client, kind: str, *configurations: tuple[Resource, Object]) -> AsyncIterator[None]:
    """The API server asks as these configurations say for as long as the block runs.

    Raises:
        ConfigurationError: another controller of this kind is installed.
        KubeError: a configuration cannot be written.
    """
    made: list[tuple[Resource, Object]] = []
    try:
        for resource, wanted in configurations:
            made_now = await put(client, resource, wanted)
            if not is_ours(made_now):
                name = made_now["metadata"]["name"]
                raise ConfigurationError(f"{name} belongs to another {kind} controller: run without this one")
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
