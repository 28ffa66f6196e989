"""TLS to the server: who is trusted, and who we say we are."""

import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import yaml
from aiohttp import web

from kube.client.client import Client
from kube.client.credentials import load_credentials
from kube.client.errors import Unreachable
from tests.kube.certificates import Certificates, make_certificates


@pytest.fixture
def certificates(tmp_path: Path) -> Certificates:
    return make_certificates(tmp_path)


@pytest.fixture
async def port(certificates: Certificates) -> AsyncIterator[int]:
    """An HTTPS server that demands a client certificate and says whose it was."""

    async def answer(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        subject = request.transport.get_extra_info("peercert")["subject"]
        return web.json_response({"you": dict(part[0] for part in subject)["commonName"]})

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(certificates.ca))
    context.load_cert_chain(certificates.certificate, certificates.key)
    context.verify_mode = ssl.CERT_REQUIRED
    app = web.Application()
    app.router.add_get("/version", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    yield runner.addresses[0][1]
    await runner.cleanup()


def kubeconfig(folder: Path, cluster: dict[str, str], certificates: Certificates) -> str:
    user = {"client-certificate": str(certificates.certificate), "client-key": str(certificates.key)}
    document = {
        "current-context": "x",
        "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
        "clusters": [{"name": "x", "cluster": cluster}],
        "users": [{"name": "x", "user": user}],
    }
    path = folder / "config"
    path.write_text(yaml.safe_dump(document))
    return str(path)


async def test_both_sides_show_their_certificates(tmp_path: Path, certificates: Certificates, port: int) -> None:
    cluster = {"server": f"https://127.0.0.1:{port}", "certificate-authority": str(certificates.ca)}
    async with Client(load_credentials(kubeconfig(tmp_path, cluster, certificates)), user_agent="t") as client:
        assert await client.request_json("GET", "/version") == {"you": "localhost"}


async def test_the_expected_name_may_differ_from_the_address(
    tmp_path: Path, certificates: Certificates, port: int
) -> None:
    cluster = {"server": f"https://127.0.0.1:{port}", "certificate-authority": str(certificates.ca)}
    for name, trusted in (("localhost", True), ("somebody.else", False)):
        config = kubeconfig(tmp_path, cluster | {"tls-server-name": name}, certificates)
        async with Client(load_credentials(config), user_agent="t") as client:
            if trusted:
                assert await client.request_json("GET", "/version") == {"you": "localhost"}
            else:
                with pytest.raises(Unreachable, match="not trusted"):
                    await client.request_json("GET", "/version")


async def test_a_server_of_another_authority_is_not_trusted(
    tmp_path: Path, certificates: Certificates, port: int
) -> None:
    (tmp_path / "other").mkdir()
    other = make_certificates(tmp_path / "other")
    cluster = {"server": f"https://127.0.0.1:{port}", "certificate-authority": str(other.ca)}
    async with Client(load_credentials(kubeconfig(tmp_path, cluster, certificates)), user_agent="t") as client:
        with pytest.raises(Unreachable, match="the server's certificate is not trusted"):
            await client.request_json("GET", "/version")
