"""Keeps the certificate of the running server good: loads it, renews it when due, and swaps it into the live TLS context.

New handshakes use the new certificate from then on; connections and requests under way go on with the one they started with.
"""

import asyncio
import datetime as dt
import logging
import os
import random as randomness
import ssl
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from api.errors import ConfigurationError, TuttiError
from webhooks.certificates import Material, renewed
from webhooks.material_files import CERTIFICATE, KEY, to_files
from webhooks.material_stores import MaterialStore

_log = logging.getLogger(__name__)

LOOK_SECONDS: Final = 60.0
RETRY_SECONDS: Final = 2.0
ATTEMPTS: Final = 20
_NO_PASSWORD: Final = b""
"""A key that needs one is refused; the TLS library would ask for it at the terminal otherwise."""

CIPHERS: Final = "ECDHE+AESGCM:ECDHE+CHACHA20"


def server_context(client_authority: Path | None = None) -> ssl.SSLContext:
    """A TLS context of a server, without a certificate yet: TLS 1.2 or later, AEAD suites, HTTP/1.1.

    Args:
        client_authority: PEM file; clients without a certificate signed by one of these authorities get no connection. None:
            everybody gets one.

    Raises:
        ConfigurationError: the file cannot be read or holds no certificates.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(CIPHERS)
    context.set_alpn_protocols(["http/1.1"])
    context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_COMPRESSION
    if client_authority is not None:
        try:
            context.load_verify_locations(client_authority)
        except OSError as error:
            reason = "it holds no PEM certificates" if isinstance(error, ssl.SSLError) else error.strerror or error
            raise ConfigurationError(f"setting 'client_authority': {client_authority}: {reason}") from error
        context.verify_mode = ssl.CERT_REQUIRED
    return context


class CertificateKeeper:
    """Material from a store, in the context of the running server.

    Args:
        store: where the material outlives the process.
        context: gets the certificate.
        hosts: names the certificate is for.
        wall_clock: the time of day with a time zone.
        random: spreads the replicas' looks at the store.
        on_change: told of the material whenever another one is in use.
    """

    def __init__(
        self,
        store: MaterialStore,
        context: ssl.SSLContext,
        *,
        hosts: Sequence[str],
        wall_clock: Callable[[], dt.datetime],
        random: randomness.Random,
        on_change: Callable[[Material], None] = lambda _: None,
    ) -> None:
        self._store = store
        self._context = context
        self._hosts = tuple(hosts)
        self._wall_clock = wall_clock
        self._random = random
        self._on_change = on_change
        self.material: Material | None = None

    @property
    def is_loaded(self) -> bool:
        """Whether a certificate is in use."""
        return self.material is not None

    async def refresh(self) -> Material:
        """Loads the material, renews it if it is due, and puts it in use.

        Raises:
            KubeError: the store cannot be reached.
            ConfigurationError: it cannot be written at all.
        """
        for _ in range(ATTEMPTS):
            stored = await self._store.load()
            wanted = renewed(stored.material, hosts=self._hosts, now=self._wall_clock())
            if wanted is stored.material or await self._store.save(wanted, stored.version):
                self._use(wanted)
                return wanted
            await asyncio.sleep(self._random.uniform(0.05, 0.5))
        raise TuttiError("the certificates cannot be stored: somebody else changes them all the time")

    async def run(self) -> None:
        """Looks again and again until cancelled; trouble is logged once per reason and waited out."""
        trouble = ""
        while True:
            await asyncio.sleep(LOOK_SECONDS * self._random.uniform(0.8, 1.2) if not trouble else RETRY_SECONDS)
            try:
                await self.refresh()
            except TuttiError as error:
                if str(error) != trouble:
                    _log.warning("certificates: %s", error)
                trouble = str(error)
            else:
                trouble = ""

    def _use(self, material: Material) -> None:
        known = self.material
        if known is not None and to_files(known) == to_files(material):
            return
        if known is None or to_files(known)[CERTIFICATE] != to_files(material)[CERTIFICATE]:
            load_chain(self._context, material)
        self.material = material
        self._on_change(material)
        _log.info("serving certificate until %s", material.leaf.ends.isoformat(timespec="seconds"))


def load_chain(context: ssl.SSLContext, material: Material) -> None:
    """Puts the serving certificate into the context, for all handshakes from now on."""
    files = to_files(material)
    load_pem(context, files[CERTIFICATE] + files[KEY])


def load_pem(context: ssl.SSLContext, content: bytes) -> None:
    """Puts a certificate and its key, both PEM, into the context, for all handshakes from now on.

    The TLS library reads files only, so the key is in one for a moment: in memory where the system can do that.

    Raises:
        ssl.SSLError: it is no certificate with its key.
    """
    if hasattr(os, "memfd_create"):
        with os.fdopen(os.memfd_create("certificate"), "wb") as file:
            file.write(content)
            file.flush()
            context.load_cert_chain(f"/proc/self/fd/{file.fileno()}", password=_NO_PASSWORD)
        return
    with tempfile.TemporaryDirectory(prefix="tutti-") as folder:
        path = Path(folder) / "certificate.pem"
        path.write_bytes(content)
        context.load_cert_chain(path, password=_NO_PASSWORD)
