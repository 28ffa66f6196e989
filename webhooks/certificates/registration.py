"""Keeps our two webhook configurations pointed at this server, with the authorities of the certificate in use.

They are created by whoever installs Tutti; here only `clientConfig` is filled in, as soon as they exist and whenever it differs
(somebody applied the manifests anew, the authorities were renewed). Several replicas write the same.
"""

import asyncio
import logging
import random as randomness
from typing import Final

from api.constants import MUTATING_CONFIGURATION, VALIDATING_CONFIGURATION
from api.webhookconfig import point_at
from kube.client.client import Client
from kube.client.errors import Conflict, NotFound
from kube.client.resources import MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS, Resource
from webhooks.certificates.refresh import refresh_periodically

_log = logging.getLogger(__name__)

CHECK_SECONDS: Final = 10.0
OURS: Final[tuple[tuple[Resource, str], ...]] = (
    (MUTATING_WEBHOOKS, MUTATING_CONFIGURATION),
    (VALIDATING_WEBHOOKS, VALIDATING_CONFIGURATION),
)


class Registration:
    """Points the configurations at this server.

    Args:
        client: talks to the API server.
        base_url: `https://host:port` when the API server reaches us by URL, None when by Service.
        random: spreads the checks of replicas over time.
    """

    def __init__(self, client: Client, *, base_url: str | None, random: randomness.Random) -> None:
        self._client = client
        self._base_url = base_url
        self._random = random
        self._wake = asyncio.Event()
        self.ca_bundle: bytes | None = None

    def trust(self, ca_bundle: bytes) -> None:
        """From now on the API server is to trust these authorities; acted on at once."""
        self.ca_bundle = ca_bundle
        self._wake.set()

    async def run(self) -> None:
        """Refreshes at once and then again and again until cancelled; errors are logged once per reason."""
        self._wake.set()
        await refresh_periodically(
            self.refresh,
            what="webhook configurations",
            log=_log,
            random=self._random,
            every_seconds=CHECK_SECONDS,
            retry_seconds=None,
            wake=self._wake,
        )

    async def refresh(self) -> None:
        """Writes what differs, once.

        Raises:
            KubeError: a configuration could not be read or written.
        """
        if self.ca_bundle is None:
            return
        for resource, name in OURS:
            await self._point(resource, name, self.ca_bundle)

    async def _point(self, resource: Resource, name: str, ca_bundle: bytes) -> None:
        try:
            current = await self._client.get(resource, name)
        except NotFound:
            return
        wanted = point_at(current, base_url=self._base_url, ca_bundle=ca_bundle)
        if wanted == current:
            return
        change = {
            "metadata": {"resourceVersion": current["metadata"]["resourceVersion"]},
            "webhooks": wanted["webhooks"],
        }
        try:
            await self._client.patch(resource, change, name, parse=False)
        except (Conflict, NotFound):
            # Changed or removed this very moment: whatever it is now is looked at next time.
            self._wake.set()
            return
        _log.info("pointed %s at this server", name)
