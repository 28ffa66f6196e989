"""A serving certificate that somebody else keeps (cert-manager, an operator by hand): it is read, and read again when it changes.

Nothing is made, stored or told to the API server then, so the process needs no right to any of it.
"""

import asyncio
import datetime as dt
import logging
import random as randomness
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Final

from cryptography import x509

from api.errors import ConfigurationError
from webhooks.keeper import LOOK_SECONDS, load_pem
from webhooks.material_files import CERTIFICATE, KEY

_log = logging.getLogger(__name__)

RETRY_SECONDS: Final = 2.0
"""The two files are replaced one after the other where no kubelet does it."""


class GivenCertificates:
    """Puts the certificate of a folder into the context of the running server.

    Args:
        folder: holds `tls.crt` (the certificate, then those that lead to its authority) and `tls.key`.
        context: gets the certificate.
        random: spreads the replicas' looks.
        on_change: told when the certificate in use ends.
    """

    def __init__(
        self,
        folder: Path,
        context: ssl.SSLContext,
        *,
        random: randomness.Random,
        on_change: Callable[[dt.datetime], None] = lambda _: None,
    ) -> None:
        self._folder = folder
        self._context = context
        self._random = random
        self._on_change = on_change
        self._in_use: tuple[bytes, bytes] | None = None

    @property
    def is_loaded(self) -> bool:
        """Whether a certificate is in use."""
        return self._in_use is not None

    async def refresh(self) -> None:
        """Puts the certificate in use if it is another one.

        Raises:
            ConfigurationError: the files are missing or do not fit together; what was in use stays so.
        """
        try:
            found = tuple((self._folder / name).read_bytes() for name in (CERTIFICATE, KEY))
        except OSError as error:
            raise ConfigurationError(f"cannot read {error.filename}: {error.strerror or error}") from error
        certificate, key = found
        if (certificate, key) == self._in_use:
            return
        try:
            # Tried out first: a context that got a certificate without its key could not serve at all.
            load_pem(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), certificate + key)
            ends = x509.load_pem_x509_certificates(certificate)[0].not_valid_after_utc
        except (ssl.SSLError, ValueError) as error:
            raise ConfigurationError(
                f"{self._folder}: {CERTIFICATE} and {KEY} are no certificate with its key"
            ) from error
        load_pem(self._context, certificate + key)
        self._in_use = (certificate, key)
        self._on_change(ends)
        _log.info("serving certificate until %s", ends.isoformat(timespec="seconds"))

    async def run(self) -> None:
        """Looks again and again until cancelled; trouble is logged once per reason and waited out."""
        trouble = ""
        while True:
            await asyncio.sleep(LOOK_SECONDS * self._random.uniform(0.8, 1.2) if not trouble else RETRY_SECONDS)
            try:
                await self.refresh()
            except ConfigurationError as error:
                if str(error) != trouble:
                    _log.warning("certificates: %s", error)
                trouble = str(error)
            else:
                trouble = ""
