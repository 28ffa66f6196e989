"""A small HTTPS webhook server for tests: each path answers as a function says."""

import base64
import datetime
import ipaddress
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

Object = dict[str, Any]
Reply = Callable[[Object], Object]


def write_certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that is its own authority, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    begin = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(begin + datetime.timedelta(days=36500))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.IPv4Address("127.0.0.1"))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    paths = folder / f"{name}.crt", folder / f"{name}.key"
    paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    pem, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    paths[1].write_bytes(key.private_bytes(pem, form, serialization.NoEncryption()))
    return paths


class WebhookServer:
    """Answers reviews; `seen` holds every request with the connection it came by."""

    def __init__(self, folder: Path) -> None:
        self.certificate, self._key = write_certificate(folder, "webhook")
        self.replies: dict[str, Reply] = {}
        self.seen: list[tuple[str, Object, int]] = []
        self.url = ""
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self._key)
        application = web.Application()
        application.router.add_post("/{path}", self._handle)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=context)
        await site.start()
        port = self._runner.addresses[0][1]
        self.url = f"https://127.0.0.1:{port}"

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _handle(self, request: web.Request) -> web.Response:
        review = orjson.loads(await request.read())
        path = request.match_info["path"]
        self.seen.append((path, review["request"], id(request.transport)))
        reply = self.replies.get(path)
        response = {"uid": review["request"]["uid"], "allowed": True, **(reply(review["request"]) if reply else {})}
        body = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
        return web.json_response(body)


def patching(*operations: Object) -> Reply:
    """Answers with this patch."""
    return lambda _: {"patchType": "JSONPatch", "patch": base64.b64encode(orjson.dumps(operations)).decode()}
