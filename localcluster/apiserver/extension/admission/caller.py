"""Calls webhooks over HTTPS, with kept connections, and says what went wrong in the words of the real server.

A Service cannot be resolved here, there is no network of pods: such a webhook is unreachable, as it is on a real cluster whose
Service is missing or has no endpoints.
"""

import asyncio
import socket
import ssl
from collections.abc import Callable
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

import aiohttp
import orjson

from localcluster.apiserver.extension.admission.answers import WebhookFailed
from localcluster.apiserver.extension.admission.hooks import Hook

LARGEST_ANSWER_BYTES: Final = 16 * 1024 * 1024
AGAIN_SECONDS: Final = 0.05
_HEADERS: Final = {
    "Accept": "application/json, */*",
    "Content-Type": "application/json",
    "User-Agent": "kube-apiserver-admission",
}


class Caller:
    """Asks webhooks; to be closed at the end.

    Args:
        service_exists: whether there is a Service of that namespace and name.
    """

    def __init__(self, service_exists: Callable[[str, str], bool]) -> None:
        self._service_exists = service_exists
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """Closes the kept connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def closed_at_the_end(self) -> None:
        """Waits to be cancelled, and closes then."""
        try:
            await asyncio.Event().wait()
        finally:
            await self.close()

    async def call(self, hook: Hook, review: object) -> tuple[int, bytes]:
        """The status code and the body of the webhook's answer.

        Raises:
            WebhookFailed: there was none.
        """
        url = f"{hook.url}?timeout={hook.timeout_seconds}s"
        failed = f'failed to call webhook: Post "{url}": '
        if hook.service is not None:
            raise WebhookFailed(failed + self._no_service(*hook.service))
        try:
            async with asyncio.timeout(hook.timeout_seconds):
                return await self._post(url, hook, orjson.dumps(review))
        except TimeoutError as error:
            raise WebhookFailed(f"{failed}context deadline exceeded") from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise WebhookFailed(failed + _told(error, urlsplit(url))) from error

    async def _post(self, url: str, hook: Hook, body: bytes) -> tuple[int, bytes]:
        """Sends until there is an answer: a connection that ends before it says nothing about the next one."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60.0), timeout=aiohttp.ClientTimeout(None)
            )
        trust = _trust(hook.ca_bundle)
        while True:
            try:
                async with self._session.post(
                    url, data=body, ssl=trust, headers=_HEADERS, allow_redirects=False
                ) as answer:
                    return answer.status, await answer.content.read(LARGEST_ANSWER_BYTES)
            except (aiohttp.ServerDisconnectedError, ConnectionResetError, BrokenPipeError):
                await asyncio.sleep(AGAIN_SECONDS)

    def _no_service(self, namespace: str, name: str) -> str:
        if self._service_exists(namespace, name):
            return f'no endpoints available for service "{name}"'
        return f'service "{name}" not found'


@lru_cache(maxsize=64)
def _trust(bundle: bytes) -> ssl.SSLContext:
    """The same context for the same authorities, so that connections are kept."""
    context = (
        ssl.create_default_context(cadata=bundle.decode("ascii", "replace")) if bundle else ssl.create_default_context()
    )
    # Verification as Go does it: newer OpenSSL defaults refuse authorities that Go accepts.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def _told(error: Exception, url: object) -> str:
    host, port = getattr(url, "hostname", ""), getattr(url, "port", None) or 443
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"tls: failed to verify certificate: {_certificate_trouble(error.certificate_error, host)}"
    inner: BaseException | None = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if isinstance(error, aiohttp.ClientConnectorDNSError) or isinstance(inner, socket.gaierror):
        return f"dial tcp: lookup {host}: no such host"
    if isinstance(inner, ConnectionRefusedError):
        return f"dial tcp {host}:{port}: connect: connection refused"
    if isinstance(inner, ssl.SSLError):
        return f"remote error: tls: {inner.reason or 'handshake failure'}"
    if isinstance(inner, OSError) and inner.strerror:
        return f"dial tcp {host}:{port}: connect: {inner.strerror.lower()}"
    return "EOF"


def _certificate_trouble(error: Exception, host: str) -> str:
    code = getattr(error, "verify_code", 0)
    if code in {62, 64}:
        return f"x509: certificate is not valid for any names, but wanted to match {host}"
    if code == 10:
        return "x509: certificate has expired or is not yet valid"
    return "x509: certificate signed by unknown authority"
