"""Kubeconfigs with tokens of their own for the supervised processes."""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from install.tokens import RETRY_SECONDS, TokenManager, kubeconfig
from kube.client.credentials import Credentials, load_credentials
from kube.client.errors import Unreachable
from tests.install.fake_cluster import FakeCluster, Object

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Issuer(FakeCluster):
    """Gives tokens that end an hour after `NOW`, or fails as often as told."""

    def __init__(self, failures: int = 0) -> None:
        super().__init__()
        self.failures = failures

    async def create(self, *arguments: object, **more: object) -> Object:
        if self.failures:
            self.failures -= 1
            raise Unreachable("refused", request="POST")
        self.tokens += 1
        return {"status": {"token": f"token-{self.tokens}", "expirationTimestamp": "2026-01-01T01:00:00Z"}}


def tokens(issuer: Issuer, folder: Path, slept: list[float], said: list[str], rounds: int = 0) -> TokenManager:
    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) > rounds:
            raise asyncio.CancelledError

    return TokenManager(issuer, "tutti-system", folder, said.append, sleep, lambda: NOW)


def modes(folder: Path) -> set[int]:
    return {path.stat().st_mode & 0o777 for path in folder.iterdir()}


async def test_only_the_user_can_read_the_files_and_the_kubeconfig_points_to_the_token(tmp_path: Path) -> None:
    made = tokens(Issuer(), tmp_path, [], [])
    assert await made.issue("tutti-scheduler") == 1800
    assert (tmp_path / "tutti-scheduler.token").read_text() == "token-1"
    assert modes(tmp_path) == {0o600}
    loaded = load_credentials(str(made.kubeconfig_path("tutti-scheduler")))
    assert loaded.server == "https://127.0.0.1:6443"
    assert await loaded.headers() == {"Authorization": "Bearer token-1"}


async def test_a_token_is_renewed_at_half_its_life(tmp_path: Path) -> None:
    slept: list[float] = []
    made = tokens(Issuer(), tmp_path, slept, [], rounds=2)
    with pytest.raises(asyncio.CancelledError):
        await made.renew_periodically("a", await made.issue("a"))
    assert slept == [1800, 1800, 1800]
    assert (tmp_path / "a.token").read_text() == "token-3"


async def test_a_failed_renewal_is_said_once_and_tried_again_soon(tmp_path: Path) -> None:
    slept: list[float] = []
    said: list[str] = []
    made = tokens(Issuer(failures=2), tmp_path, slept, said, rounds=3)
    with pytest.raises(asyncio.CancelledError):
        await made.renew_periodically("a", 7)
    assert slept == [7, RETRY_SECONDS, RETRY_SECONDS, 1800]
    assert len(said) == 1
    assert said[0].startswith("the token of a cannot be renewed, trying on: ")
    assert "refused" in said[0]


@pytest.mark.parametrize("insecure", [True, False])
def test_trust_in_the_server_is_handed_on(tmp_path: Path, insecure: bool) -> None:
    ca = tmp_path / "ca.crt"
    ca.write_text("pem")
    credentials = Credentials("https://x", ca_path=str(ca), server_name="kubernetes", insecure=insecure)
    cluster = json.loads(json.dumps(kubeconfig(credentials, "a", tmp_path / "t")))["clusters"][0]["cluster"]
    trust = {"insecure-skip-tls-verify": True} if insecure else {"certificate-authority-data": "cGVt"}
    assert cluster == {"server": "https://x", "tls-server-name": "kubernetes", **trust}
