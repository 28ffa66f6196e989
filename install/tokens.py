"""A kubeconfig of its own for each process that `tutti run` starts, with a token of its own service account.

The processes then have exactly the rights that `config/rbac` gives them, as in a cluster, and not those of the person who
started them. Tokens are short-lived and asked for again at half their life; the processes re-read the file.
"""

import base64
import json
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from kube.client.client import Client
from kube.client.credentials import Credentials
from kube.client.errors import KubeError, OutcomeUnknown
from kube.client.resources import SERVICE_ACCOUNTS

TOKEN_SECONDS: Final = 3600
RETRY_SECONDS: Final = 10.0
_LEAST_SECONDS: Final = 5.0


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class TokenManager:
    """Renews the token files of some service accounts (as the kubelet's token manager does).

    Attributes:
        client: a client with the right to create tokens.
        namespace: where the service accounts live.
        folder: a private folder for the files.
        say: gets a line when a token cannot be renewed.
        sleep: sleeps so many seconds.
        now: the time of day, which is what a token's expiry is given in.
    """

    client: Client
    namespace: str
    folder: Path
    say: Callable[[str], None]
    sleep: Callable[[float], Awaitable[None]]
    now: Callable[[], datetime] = _utc_now

    def kubeconfig_path(self, account: str) -> Path:
        """The kubeconfig file of an account."""
        return self.folder / f"{account}.kubeconfig"

    async def issue(self, account: str) -> float:
        """Write the account's files; the seconds after which to do it again.

        Raises:
            KubeError: the server gave no token.
        """
        token, expires = await self._request(account)
        file = self.folder / f"{account}.token"
        write_private(file, token)
        write_private(
            self.kubeconfig_path(account), json.dumps(kubeconfig(self.client.credentials, account, file), indent=1)
        )
        return max((expires - self.now()).total_seconds() / 2, _LEAST_SECONDS)

    async def renew_periodically(self, account: str, first_pause_seconds: float) -> None:
        """Renew the token for ever; a failure is said once and tried again soon."""
        pause, is_failing = first_pause_seconds, False
        while True:
            await self.sleep(pause)
            try:
                pause, is_failing = await self.issue(account), False
            except KubeError as error:
                if not is_failing:
                    self.say(f"the token of {account} cannot be renewed, trying on: {error}")
                pause, is_failing = RETRY_SECONDS, True

    async def _request(self, account: str) -> tuple[str, datetime]:
        body = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": TOKEN_SECONDS},
        }
        answer = await self.client.create(SERVICE_ACCOUNTS, body, self.namespace, name=account, subresource="token")
        status = answer.get("status") or {}
        try:
            return str(status["token"]), datetime.fromisoformat(status["expirationTimestamp"])
        except (KeyError, TypeError, ValueError) as error:
            raise OutcomeUnknown(f"the token of {account}: the answer is no token request") from error


def kubeconfig(credentials: Credentials, account: str, token_file: Path) -> dict[str, Any]:
    """A kubeconfig for the same server, with the token read from a file."""
    cluster: dict[str, Any] = {"server": credentials.server}
    if credentials.insecure:
        cluster["insecure-skip-tls-verify"] = True
    elif credentials.ca_path:
        data = Path(credentials.ca_path).read_bytes()
        cluster["certificate-authority-data"] = base64.b64encode(data).decode("ascii")
    if credentials.server_name:
        cluster["tls-server-name"] = credentials.server_name
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": account,
        "contexts": [{"name": account, "context": {"cluster": "cluster", "user": account}}],
        "clusters": [{"name": "cluster", "cluster": cluster}],
        "users": [{"name": account, "user": {"tokenFile": str(token_file)}}],
    }


def write_private(path: Path, content: str) -> None:
    """Put the content in place at once, readable by this user only; a reader never sees half of it."""
    new = path.with_name(path.name + ".new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(content)
    new.replace(path)
