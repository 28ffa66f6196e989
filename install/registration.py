"""Webhook configurations for a server outside the cluster: there when it answers, gone before it stops.

A configuration that points to a dead address would hold up the API server for seconds at each request it matches, so it
is created last and removed first.
"""

from collections.abc import Iterable

from api.webhookconfig import point_at
from install.apply import apply
from install.manifests import Manifest
from install.poller import Poller
from install.removal import remove
from kube.client.client import Client


async def register(
    client: Client, configurations: Iterable[Manifest], *, base_url: str, ca_bundle: bytes, poller: Poller
) -> None:
    """Create the configurations, or point those that are there at the server.

    Raises:
        ConfigurationError: somebody else keeps changing them.
        KubeError: the API server refused, or cannot be reached.
    """
    for each in configurations:
        body = point_at(each.body, base_url=base_url, ca_bundle=ca_bundle)
        await apply(client, Manifest(each.resource, body), poller)


async def unregister(client: Client, configurations: Iterable[Manifest]) -> int:
    """Remove the configurations; how many there were.

    Raises:
        KubeError: the API server refused, or cannot be reached.
    """
    return sum([await remove(client, each.resource, each.name) for each in configurations])
