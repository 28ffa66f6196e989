"""A serving certificate that somebody else makes (cert-manager, an operator by hand): it is read, and read again when it changes.

Nothing is made, stored or told to the API server then, so the process needs no right to any of it.
"""

import datetime as dt
import logging
import random as randomness
import ssl
from collections.abc import Callable
from pathlib import Path

from cryptography import x509

from api.errors import ConfigurationError
from webhooks.certificates.files import CERTIFICATE, KEY
from webhooks.certificates.refresh import refresh_periodically
from webhooks.certificates.tls import load_pem

_log = logging.getLogger(__name__)


class CertWatcher:
    """Puts the certificate of a folder into the context of the running server (controller-runtime's CertWatcher).

    Args:
        folder: holds `tls.crt` (the certificate, then those that lead to its authority) and `tls.key`.
        context: gets the certificate.
        random: spreads the checks of replicas over time.
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
        """Refreshes again and again until cancelled; errors are logged once per reason and waited out."""
        await refresh_periodically(self.refresh, what="certificates", log=_log, random=self._random)
