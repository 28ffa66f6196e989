"""How stand-ins put kinds and configurations into the cluster. What somebody else installed is used as it is, and stays."""

import asyncio
import contextlib
from typing import Any, Final

from api.errors import ConfigurationError
from kube.client.client import Client
from kube.client.errors import AlreadyExists, Conflict, NotFound
from kube.client.resources import CUSTOM_RESOURCE_DEFINITIONS, Resource

Schema = dict[str, Any]
Object = dict[str, Any]

MANAGED_BY: Final = {"app.kubernetes.io/managed-by": "tutti-local"}
"""Label of what a stand-in installs: only that is brought up to date by it."""

POLL_SECONDS: Final = 0.1
SERVED_SECONDS: Final = 30.0


async def put_definition(client: Client, resource: Resource, definition: Object) -> None:
    """Installs a definition, or brings ours up to date, and waits until the kind is served.

    Raises:
        ConfigurationError: the kind is not served in time.
        KubeError: the definition cannot be installed.
    """
    await put(client, CUSTOM_RESOURCE_DEFINITIONS, definition)
    try:
        async with asyncio.timeout(SERVED_SECONDS):
            while not await _is_served(client, resource):  # noqa: ASYNC110 (only the server knows, and it does not tell)
                await asyncio.sleep(POLL_SECONDS)
    except TimeoutError as error:
        raise ConfigurationError(f"{resource.kind}s are defined but not served after {SERVED_SECONDS:g} s") from error


async def put(client: Client, resource: Resource, wanted: Object) -> Object:
    """Creates the object, or makes ours equal to it; gives somebody else's as it is."""
    name = wanted["metadata"]["name"]
    while True:
        try:
            return await client.create(resource, wanted)
        except AlreadyExists:
            with contextlib.suppress(NotFound, Conflict):
                found = await client.get(resource, name)
                return await client.replace(resource, found | _content(wanted), name) if is_ours(found) else found


def is_ours(obj: Object) -> bool:
    """Whether a stand-in installed it."""
    return (obj["metadata"].get("labels") or {}).items() >= MANAGED_BY.items()


def _content(wanted: Object) -> Object:
    return {key: value for key, value in wanted.items() if key not in {"apiVersion", "kind", "metadata"}}


async def _is_served(client: Client, resource: Resource) -> bool:
    try:
        await client.request_json("GET", resource.path(), params={"limit": "1"})
    except NotFound:
        return False
    return True
