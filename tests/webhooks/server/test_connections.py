"""Who opens connections does not take admission away from the API server."""

import datetime as dt
import gc
import http.client
import json
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from api.constants import PATH_MUTATE_JOBS
from api.errors import ConfigurationError
from kube.process.settings import load_settings
from tests.webhooks.builders import job, review
from tests.webhooks.running import HOST, RunningServer
from webhooks.certificates.bundle import KeyPair, make_authority, pem_of
from webhooks.certificates.tls import server_context
from webhooks.server.connections import ENDED_AT_LEAST, NEAR
from webhooks.server.limits import Limits
from webhooks.settings import WebhooksSettings

LIMIT = 20
REVIEW = json.dumps(review(job())).encode()
HEADERS = {"Content-Type": "application/json"}


@pytest.fixture
def server() -> Iterator[RunningServer]:
    with RunningServer(Limits(max_connections=LIMIT)) as running:
        yield running


@pytest.fixture
def held() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def kept_connection(server: RunningServer, held: ExitStack) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection(HOST, server.port)
    connection.sock = held.enter_context(server.connect())
    return connection


def reviewed(connection: http.client.HTTPConnection) -> int:
    connection.request("POST", PATH_MUTATE_JOBS, body=REVIEW, headers=HEADERS)
    answer = connection.getresponse()
    answer.read()
    return answer.status


def is_open(connection: http.client.HTTPConnection) -> bool:
    try:
        return reviewed(connection) == 200
    except (OSError, http.client.HTTPException):
        return False


def test_idle_connections_that_each_sent_a_valid_review_give_way(server: RunningServer, held: ExitStack) -> None:
    for _ in range(2 * LIMIT):
        assert reviewed(kept_connection(server, held)) == 200
    assert server.post(PATH_MUTATE_JOBS, REVIEW).status == 200


def test_connections_that_never_sent_anything_give_way_before_those_that_did(
    server: RunningServer, held: ExitStack
) -> None:
    trusted = kept_connection(server, held)
    assert reviewed(trusted) == 200
    for _ in range(2 * LIMIT):
        held.enter_context(server.connect())
    assert server.post(PATH_MUTATE_JOBS, REVIEW).status == 200
    assert is_open(trusted)


def test_the_connection_that_was_used_last_stays_longest(server: RunningServer, held: ExitStack) -> None:
    first, second = kept_connection(server, held), kept_connection(server, held)
    for each in (first, second, first):
        assert reviewed(each) == 200
    for _ in range(int(LIMIT * NEAR) - 1):
        assert reviewed(kept_connection(server, held)) == 200
    assert is_open(first)
    assert not is_open(second)


def test_a_connection_with_a_request_under_way_stays(server: RunningServer, held: ExitStack) -> None:
    busy = held.enter_context(server.connect())
    head = f"POST {PATH_MUTATE_JOBS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n"
    busy.sendall(f"{head}Content-Length: {len(REVIEW)}\r\n\r\n".encode())
    assert busy.recv(1000).startswith(b"HTTP/1.1 100")
    for _ in range(2 * LIMIT):
        assert reviewed(kept_connection(server, held)) == 200
    busy.sendall(REVIEW)
    assert busy.recv(65536).startswith(b"HTTP/1.1 200")


def leaves_after_a_request(server: RunningServer) -> None:
    assert server.post(PATH_MUTATE_JOBS, REVIEW).status == 200


def leaves_after_the_handshake(server: RunningServer) -> None:
    server.connect().close()


def leaves_before_the_handshake(server: RunningServer) -> None:
    socket.create_connection((HOST, server.port)).close()


def kept_handlers() -> int:
    gc.collect()
    return sum(type(each) is web.RequestHandler for each in gc.get_objects())


@pytest.mark.parametrize(
    "leave",
    [leaves_after_a_request, leaves_after_the_handshake, leaves_before_the_handshake],
    ids=lambda one: one.__name__,
)
def test_little_is_kept_of_connections_that_have_ended(leave: Callable[[RunningServer], None]) -> None:
    with RunningServer() as server:
        before = kept_handlers()
        for _ in range(3 * ENDED_AT_LEAST):
            leave(server)
        # What has ended is looked for when somebody new comes.
        for _ in range(ENDED_AT_LEAST):
            assert server.post(PATH_MUTATE_JOBS, REVIEW).status == 200
        assert kept_handlers() - before <= ENDED_AT_LEAST + 2


# --- the API server's client certificate ---------------------------------------------------------------------------------


def client_certificate(folder: Path, authority: KeyPair, name: str) -> Path:
    """A file with certificate and key."""
    key, now = ec.generate_private_key(ec.SECP256R1()), dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(authority.certificate.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(minutes=5))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key()), critical=False)
        .sign(authority.key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = folder / f"{name}.pem"
    path.write_bytes(pem_of(certificate) + private)
    return path


def answer_to(server: RunningServer, shown: Path | None) -> int:
    """The status of the answer to a review, 0 when the connection ends without one."""
    try:
        with closing(http.client.HTTPConnection(HOST, server.port)) as connection:
            connection.sock = server.connect(shown=shown)
            return reviewed(connection)
    except (ssl.SSLError, ConnectionError, http.client.HTTPException):
        return 0


def test_who_shows_no_certificate_of_the_authority_gets_no_answer(tmp_path: Path) -> None:
    now = dt.datetime.now(dt.UTC)
    ours, other = make_authority(now), make_authority(now)
    trusted = tmp_path / "authority.pem"
    trusted.write_bytes(pem_of(ours.certificate))
    with RunningServer(Limits(client_names=frozenset({"kube-apiserver"})), client_authority=trusted) as server:
        assert answer_to(server, client_certificate(tmp_path, ours, "kube-apiserver")) == 200
        assert answer_to(server, client_certificate(tmp_path, ours, "somebody")) == 403
        assert answer_to(server, client_certificate(tmp_path, other, "kube-apiserver")) == 0
        assert answer_to(server, None) == 0
        assert server.records.kept == []


def test_an_authority_that_cannot_be_used_is_one_clear_error(tmp_path: Path) -> None:
    empty = tmp_path / "empty.pem"
    empty.write_text("")
    for path, words in ((tmp_path / "none.pem", "No such file"), (empty, "holds no PEM certificates")):
        with pytest.raises(ConfigurationError, match=f"client_authority.*{path.name}: .*{words}"):
            server_context(path)
    with pytest.raises(ConfigurationError, match="client_names needs client_authority"):
        load_settings(WebhooksSettings, None, client_names=["kube-apiserver"])
