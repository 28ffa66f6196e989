"""Our side of TLS: whom we trust, and the client certificate that we show."""

import atexit
import ssl as tls
import tempfile
from dataclasses import dataclass
from pathlib import Path

from api.errors import ConfigurationError
from kube.client.errors import one_line


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An API server, and the files by which both sides know each other.

    Attributes:
        server: URL without a trailing slash.
        ca_path: the certificate authority's file, None for the system's trust.
        certificate_path: the client certificate's file.
        private_key_path: its key's file.
        insecure: the server's certificate is not to be verified.
    """

    server: str
    ca_path: str | None = None
    certificate_path: str | None = None
    private_key_path: str | None = None
    insecure: bool = False


def tls_context(endpoint: Endpoint, *, source: str) -> tls.SSLContext | bool | None:
    """What aiohttp wants for this server; None for plain HTTP.

    Raises:
        ConfigurationError: a certificate or its key cannot be used; `source` says where they come from.
    """
    if not endpoint.server.startswith("https"):
        return None
    try:
        context = tls.create_default_context(cafile=endpoint.ca_path)
        context.minimum_version = tls.TLSVersion.TLSv1_2
        # Certificates of many clusters predate the strict profile that newer Python versions ask for.
        context.verify_flags &= ~tls.VERIFY_X509_STRICT
        if endpoint.certificate_path:
            context.load_cert_chain(endpoint.certificate_path, endpoint.private_key_path)
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{source}: the certificates are unusable: {one_line(str(error))}") from error
    if endpoint.insecure:
        context.check_hostname = False
        context.verify_mode = tls.CERT_NONE
    return context


class PrivateFiles:
    """A certificate and its key as files, since TLS contexts are made from files; they go when the process ends.

    The pair before the present one stays, because somebody may have been told its names and not have read it yet.
    """

    def __init__(self) -> None:
        self._pairs: list[tuple[Path, Path]] = []
        atexit.register(self.remove)

    def replace(self, certificate_pem: str, key_pem: str) -> tuple[str, str]:
        """Writes a new pair; the paths of certificate and key."""
        pair = (_private_file(certificate_pem), _private_file(key_pem))
        self._pairs.append(pair)
        self._keep(2)
        return str(pair[0]), str(pair[1])

    def remove(self) -> None:
        """Removes all of them."""
        self._keep(0)

    def _keep(self, count: int) -> None:
        while len(self._pairs) > count:
            for path in self._pairs.pop(0):
                path.unlink(missing_ok=True)


def _private_file(content: str) -> Path:
    with tempfile.NamedTemporaryFile("w", prefix="tutti-", suffix=".pem", delete=False) as file:
        file.write(content)
    return Path(file.name)
