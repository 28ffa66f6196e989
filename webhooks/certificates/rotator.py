"""The rotator of our own certificate: loads it, renews it when due, and swaps it into the TLS context of the running server.

New handshakes use the new certificate from then on; connections and requests under way go on with the one they started with.
"""

import asyncio
import datetime as dt
import logging
import random as randomness
import ssl
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from api.errors import TuttiError
from webhooks.certificates.bundle import CertBundle, better, rotated
from webhooks.certificates.files import CERTIFICATE, to_files
from webhooks.certificates.refresh import refresh_periodically
from webhooks.certificates.stores import BundleStore
from webhooks.certificates.tls import load_bundle

_log = logging.getLogger(__name__)

ATTEMPTS: Final = 20


async def _tell_nobody(_: CertBundle) -> None:
    return


class CertRotator:
    """Puts the certificate bundle of a store into the context of the running server (cert-controller's CertRotator).

    Args:
        store: where the bundle outlives the process.
        context: gets the certificate.
        hosts: names the certificate is for.
        wall_clock: the time of day with a time zone.
        random: spreads the requests of replicas over time.
        introduce: awaited before another certificate takes the place of the one in use; returns once whoever connects trusts it.
            An error leaves the old one in use until the next look.
        on_change: told of the bundle whenever another one is in use.
    """

    def __init__(
        self,
        store: BundleStore,
        context: ssl.SSLContext,
        *,
        hosts: Sequence[str],
        wall_clock: Callable[[], dt.datetime],
        random: randomness.Random,
        introduce: Callable[[CertBundle], Awaitable[None]] = _tell_nobody,
        on_change: Callable[[CertBundle], None] = lambda _: None,
    ) -> None:
        self._introduce = introduce
        self._store = store
        self._context = context
        self._hosts = tuple(hosts)
        self._wall_clock = wall_clock
        self._random = random
        self._on_change = on_change
        self.bundle: CertBundle | None = None

    @property
    def is_loaded(self) -> bool:
        """Whether a certificate is in use."""
        return self.bundle is not None

    async def refresh(self) -> CertBundle:
        """Loads the bundle, rotates it if it is due, and puts it in use.

        Raises:
            KubeError: the store, or those who are to trust a new certificate, cannot be reached.
            ConfigurationError: it cannot be written at all.
        """
        for _ in range(ATTEMPTS):
            stored = await self._store.load()
            now = self._wall_clock()
            wanted = rotated(better(stored.bundle, self.bundle, now), hosts=self._hosts, now=now)
            if wanted is stored.bundle or await self._store.save(wanted, stored.version):
                await self._use(wanted)
                return wanted
            await asyncio.sleep(self._random.uniform(0.05, 0.5))
        raise TuttiError("the certificates cannot be stored: somebody else changes them all the time")

    async def run(self) -> None:
        """Refreshes again and again until cancelled; errors are logged once per reason and waited out."""
        await refresh_periodically(self.refresh, what="certificates", log=_log, random=self._random)

    async def _use(self, bundle: CertBundle) -> None:
        known = self.bundle
        if known is not None and to_files(known) == to_files(bundle):
            return
        if known is None or to_files(known)[CERTIFICATE] != to_files(bundle)[CERTIFICATE]:
            if known is not None:
                await self._introduce(bundle)
            load_bundle(self._context, bundle)
        self.bundle = bundle
        self._on_change(bundle)
        _log.info("serving certificate until %s", bundle.leaf.ends.isoformat(timespec="seconds"))
