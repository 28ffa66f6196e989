"""A client certificate from an exec plugin is renewed: new connections show the new one, old ones are left to end."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
import yaml
from aiohttp import web
from cryptography import x509

from kube.client.client import Client
from kube.client.credentials import Credentials, load_credentials
from kube.client.errors import Unauthorized
from kube.client.tls import PrivateFiles
from tests.kube.certificates import Certificates, make_certificates

ANSWERS_WITH = """#!/bin/sh
cat '{}'
"""


class Server:
    """Demands a client certificate, says which one a request came with, and turns down those that are `revoked`."""

    def __init__(self) -> None:
        self.revoked: set[str] = set()
        self.go_on = asyncio.Event()
        self.streaming = asyncio.Event()
        self.port = 0

    async def version(self, request: web.Request) -> web.StreamResponse:
        serial = _serial(request)
        if serial in self.revoked:
            return web.json_response({"kind": "Status", "reason": "Unauthorized", "code": 401}, status=401)
        return web.json_response({"you": serial})

    async def slow(self, request: web.Request) -> web.StreamResponse:
        self.streaming.set()
        await self.go_on.wait()
        return web.json_response({"you": _serial(request)})


def _serial(request: web.Request) -> str:
    assert request.transport is not None
    return f"{int(request.transport.get_extra_info('peercert')['serialNumber'], 16)}"


@pytest.fixture
def pairs(tmp_path: Path) -> list[Certificates]:
    """Two client certificates; the first one lives for less than the minute that a renewal comes earlier."""
    made = []
    for name, lifetime in (("first", timedelta(seconds=50)), ("second", timedelta(days=1))):
        (tmp_path / name).mkdir()
        made.append(make_certificates(tmp_path / name, lifetime=lifetime, authority=name))
    return made


@pytest.fixture
async def server(pairs: list[Certificates]) -> AsyncIterator[Server]:
    server = Server()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    for pair in pairs:
        context.load_verify_locations(pair.ca)
    context.load_cert_chain(pairs[1].certificate, pairs[1].key)
    context.verify_mode = ssl.CERT_REQUIRED
    app = web.Application()
    app.router.add_get("/version", server.version)
    app.router.add_get("/slow", server.slow)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    server.port = runner.addresses[0][1]
    yield server
    await runner.cleanup()


def gives(folder: Path, pair: Certificates) -> None:
    """The plugin gives this pair from now on."""
    status = {"clientCertificateData": pair.certificate.read_text(), "clientKeyData": pair.key.read_text()}
    answer = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}
    (folder / "answer").write_text(json.dumps(answer))


def serial(pair: Certificates) -> str:
    number = x509.load_pem_x509_certificate(pair.certificate.read_bytes()).serial_number
    return str(number)


def credentials(folder: Path, server: Server, authority: Path) -> Credentials:
    plugin = folder / "plugin"
    plugin.write_text(ANSWERS_WITH.format(folder / "answer"))
    plugin.chmod(0o700)
    cluster = {"server": f"https://127.0.0.1:{server.port}", "certificate-authority": str(authority)}
    run = {"apiVersion": "client.authentication.k8s.io/v1", "command": str(plugin), "interactiveMode": "Never"}
    document = {
        "current-context": "x",
        "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
        "clusters": [{"name": "x", "cluster": cluster}],
        "users": [{"name": "x", "user": {"exec": run}}],
    }
    path = folder / "config"
    path.write_text(yaml.safe_dump(document))
    return load_credentials(str(path))


async def test_a_certificate_that_is_about_to_end_is_renewed(
    tmp_path: Path, pairs: list[Certificates], server: Server
) -> None:
    first, second = pairs
    gives(tmp_path, first)
    mine = credentials(tmp_path, server, second.ca)
    gives(tmp_path, second)
    async with Client(mine, user_agent="t") as client:
        assert await client.request_json("GET", "/version") == {"you": serial(second)}


async def test_a_certificate_that_the_server_no_longer_takes_is_renewed(
    tmp_path: Path, pairs: list[Certificates], server: Server
) -> None:
    short, first = pairs
    gives(tmp_path, first)
    mine = credentials(tmp_path, server, first.ca)
    async with Client(mine, user_agent="t") as client:
        assert await client.request_json("GET", "/version") == {"you": serial(first)}
        server.revoked.add(serial(first))
        gives(tmp_path, short)
        assert await client.request_json("GET", "/version") == {"you": serial(short)}


async def test_a_plugin_that_gives_the_same_again_keeps_the_connections(
    tmp_path: Path, pairs: list[Certificates], server: Server
) -> None:
    gives(tmp_path, pairs[1])
    mine = credentials(tmp_path, server, pairs[1].ca)
    context = mine.ssl
    async with Client(mine, user_agent="t") as client:
        server.revoked.add(serial(pairs[1]))
        with pytest.raises(Unauthorized):
            await client.request_json("GET", "/version")
    assert mine.ssl is context


async def test_what_was_sent_before_gets_its_answer(tmp_path: Path, pairs: list[Certificates], server: Server) -> None:
    short, first = pairs
    gives(tmp_path, first)
    mine = credentials(tmp_path, server, first.ca)
    async with Client(mine, user_agent="t") as client, asyncio.timeout(10):
        sent_before = asyncio.create_task(client.request_json("GET", "/slow"))
        await server.streaming.wait()
        server.revoked.add(serial(first))
        gives(tmp_path, short)
        assert await client.request_json("GET", "/version") == {"you": serial(short)}
        server.go_on.set()
        assert await sent_before == {"you": serial(first)}


def test_kopf_is_told_the_renewed_one(tmp_path: Path, pairs: list[Certificates], server: Server) -> None:
    short, lasting = pairs
    gives(tmp_path, short)
    mine = credentials(tmp_path, server, lasting.ca)
    gives(tmp_path, lasting)
    info = mine.connection_info()
    assert Path(info["certificate_path"]).read_bytes() == lasting.certificate.read_bytes()


def test_keys_that_were_replaced_do_not_pile_up() -> None:
    files = PrivateFiles()
    pairs = [files.replace("certificate", f"key {number}") for number in range(4)]
    try:
        assert [Path(key).exists() for _, key in pairs] == [False, False, True, True]
        assert {Path(key).stat().st_mode & 0o777 for _, key in pairs[2:]} == {0o600}
    finally:
        files.remove()
    assert not any(Path(path).exists() for pair in pairs for path in pair)
