"""The TLS context of the admission server, and how a certificate is put into it while it serves."""

import os
import ssl
import tempfile
from pathlib import Path
from typing import Final

from api.errors import ConfigurationError
from webhooks.certificates.bundle import CertBundle
from webhooks.certificates.files import CERTIFICATE, KEY, to_files

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


def load_bundle(context: ssl.SSLContext, bundle: CertBundle) -> None:
    """Puts the serving certificate into the context, for all handshakes from now on."""
    files = to_files(bundle)
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
