"""Keeps our two webhook configurations pointed at this server, with the authorities of the certificate in use.

They are created by whoever installs Tutti; here only `clientConfig` is filled in, as soon as they exist and whenever it differs
(somebody applied the manifests anew, the authorities were renewed). Several replicas write the same.
"""

import asyncio
import base64
import binascii
import datetime as dt
import logging
import random as randomness
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final

from api.constants import MUTATING_CONFIGURATION, VALIDATING_CONFIGURATION
from api.webhookconfig import point_at
from kube.client.client import Client
from kube.client.errors import Conflict, NotFound
from kube.client.resources import MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS, Resource
from webhooks.certificates.bundle import CertBundle
from webhooks.certificates.refresh import refresh_periodically
from webhooks.certificates.trusted import Trusted

_log = logging.getLogger(__name__)

CHECK_SECONDS: Final = 10.0
LEARN_SECONDS: Final = 5.0
"""From the write until every API server goes by it: each follows the configurations by a watch of its own."""

ATTEMPTS: Final = 5
OURS: Final[tuple[tuple[Resource, str], ...]] = (
    (MUTATING_WEBHOOKS, MUTATING_CONFIGURATION),
    (VALIDATING_WEBHOOKS, VALIDATING_CONFIGURATION),
)


class Registration:
    """Points the configurations at this server.

    Attributes:
        is_done: whether the configurations have been looked at, and named us in the end if they are there.

    Args:
        client: talks to the API server.
        base_url: `https://host:port` when the API server reaches us by URL, None when by Service.
        random: spreads the checks of replicas over time.
        wall_clock: the time of day with a time zone.
        sleep: sleeps so many seconds.
    """

    def __init__(
        self,
        client: Client,
        *,
        base_url: str | None,
        random: randomness.Random,
        wall_clock: Callable[[], dt.datetime],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._client = client
        self._base_url = base_url
        self._random = random
        self._wall_clock = wall_clock
        self._sleep = sleep
        self._wake = asyncio.Event()
        self._trusted = {name: Trusted() for _, name in OURS}
        self.is_done = False
        self.ca_bundle: bytes | None = None

    def trust(self, ca_bundle: bytes) -> None:
        """From now on the API server is to trust these authorities; acted on at once."""
        self.ca_bundle = ca_bundle
        self._wake.set()

    async def introduce(self, bundle: CertBundle) -> None:
        """Returns once API servers trust the authorities of this bundle, beside those in use.

        Raises:
            KubeError: a configuration could not be read or written.
        """
        in_use = self.ca_bundle or b""
        wrote = False
        for resource, name in OURS:
            for _ in range(ATTEMPTS):
                written = await self._point(resource, name, bundle.ca_bundle, in_use)
                wrote |= written is not False
                if written is not None:
                    break
        if wrote:
            await self._sleep(LEARN_SECONDS)

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
        written = [await self._point(resource, name, self.ca_bundle) for resource, name in OURS]
        if None in written:
            # Changed or removed this very moment: whatever it is now is looked at next time.
            self._wake.set()
        else:
            self.is_done = True

    async def _point(self, resource: Resource, name: str, ca_bundle: bytes, *also: bytes) -> bool | None:
        """Whether it had to be written; None: it ought to be, and somebody else was faster."""
        try:
            current = await self._client.get(resource, name)
        except NotFound:
            return False
        trusted = self._trusted[name].wanted(ca_bundle, [*_bundles(current), *also], self._wall_clock())
        wanted = point_at(current, base_url=self._base_url, ca_bundle=trusted)
        if wanted == current:
            return False
        change = {
            "metadata": {"resourceVersion": current["metadata"]["resourceVersion"]},
            "webhooks": wanted["webhooks"],
        }
        try:
            await self._client.patch(resource, change, name, parse=False)
        except (Conflict, NotFound):
            return None
        _log.info("pointed %s at this server", name)
        return True


def _bundles(configuration: dict[str, Any]) -> Iterator[bytes]:
    """Whom the entries of a configuration trust now, PEM."""
    for entry in configuration.get("webhooks") or ():
        try:
            yield base64.b64decode((entry.get("clientConfig") or {}).get("caBundle") or "")
        except (binascii.Error, ValueError):
            continue
