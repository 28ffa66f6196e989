"""A certificate that a process makes for itself, for clients that encrypt and cannot verify, as the API server's proxy."""

import datetime as dt
import ssl
import tempfile
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from api.errors import ConfigurationError

_BACKDATED: Final = dt.timedelta(minutes=5)
"""For clocks that run behind."""
_LIFE: Final = dt.timedelta(days=3650)
"""Longer than any process lives: nobody verifies it, so nothing is gained by another one."""


def server_context(given: Path | None, *, name: str) -> ssl.SSLContext:
    """A TLS context of a server.

    Args:
        given: folder with `tls.crt` and `tls.key`; None: the certificate is made now.
        name: for which a made one is.

    Raises:
        ConfigurationError: the given ones cannot be used.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if given is None:
        with tempfile.TemporaryDirectory(prefix="tutti-") as folder:
            file = Path(folder) / "certificate.pem"
            file.touch(0o600)
            file.write_bytes(_made(name))
            context.load_cert_chain(file)
        return context
    try:
        # A key with a password is refused; the TLS library would ask for it at the terminal otherwise.
        context.load_cert_chain(given / "tls.crt", given / "tls.key", password=b"")
    except OSError as error:
        raise ConfigurationError(f"{given}: tls.crt and tls.key cannot be used: {error.strerror or error}") from error
    return context


def _made(name: str) -> bytes:
    """Key and certificate, PEM."""
    now, key = dt.datetime.now(dt.UTC), ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name[:64])])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BACKDATED)
        .not_valid_after(now + _LIFE)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return private + certificate.public_bytes(serialization.Encoding.PEM)
