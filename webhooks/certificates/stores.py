"""Where certificate bundles live: a Secret that several replicas share, or a folder of one process.

A store never overwrites what it has not read: `save` fails when somebody else was faster, and the caller reads again. So all
replicas end up with the same bundle.
"""

import base64
import binascii
import contextlib
import hashlib
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from api.constants import CERTIFICATE_SECRET, MANAGED_BY, MANAGED_BY_TUTTI
from api.errors import ConfigurationError
from kube.client.client import Client
from kube.client.errors import AlreadyExists, Conflict, NotFound, OutcomeUnknown
from kube.client.resources import SECRETS
from webhooks.certificates.bundle import CertBundle
from webhooks.certificates.files import NAMES, PRIVATE, from_files, to_files

NOTHING_THERE: Final = ""


@dataclass(frozen=True, slots=True)
class Stored:
    """What a store holds: the bundle (None: nothing usable) and the version that was read."""

    bundle: CertBundle | None
    version: str = NOTHING_THERE


class BundleStore(Protocol):
    """A place that outlives the process."""

    async def load(self) -> Stored:
        """What is there now."""

    async def save(self, bundle: CertBundle, version: str) -> bool:
        """Stores it if the version is still that; False when somebody else was faster, or may have been: read again."""


class SecretStore:
    """The Secret of the system namespace, guarded by its resourceVersion."""

    def __init__(self, client: Client, namespace: str, name: str = CERTIFICATE_SECRET) -> None:
        self._client = client
        self._namespace = namespace
        self._name = name

    async def load(self) -> Stored:
        """What the Secret holds; nothing when there is none."""
        try:
            secret = await self._client.get(SECRETS, self._name, self._namespace)
        except NotFound:
            return Stored(None)
        version = str(secret["metadata"]["resourceVersion"])
        try:
            files = {name: base64.b64decode(text) for name, text in (secret.get("data") or {}).items()}
        except (binascii.Error, ValueError):
            files = {}
        return Stored(from_files(files), version)

    async def save(self, bundle: CertBundle, version: str) -> bool:
        """Creates or replaces the Secret."""
        metadata: dict[str, object] = {
            "name": self._name,
            "namespace": self._namespace,
            "annotations": {MANAGED_BY: MANAGED_BY_TUTTI},
        }
        body = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": metadata,
            "data": {name: base64.b64encode(pem).decode() for name, pem in to_files(bundle).items()},
        }
        try:
            if version == NOTHING_THERE:
                await self._client.create(SECRETS, body, self._namespace, parse=False)
            else:
                metadata["resourceVersion"] = version
                await self._client.replace(SECRETS, body, self._name, self._namespace)
        except (AlreadyExists, Conflict, OutcomeUnknown):
            return False
        except NotFound as error:
            if version != NOTHING_THERE:
                return False
            raise ConfigurationError(
                f"the namespace {self._namespace} does not exist: create it, or set system_namespace"
            ) from error
        return True


class FolderStore:
    """A folder that only this user may read; one file after the other is replaced whole."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def load(self) -> Stored:
        """What the folder holds; nothing when it is not there."""
        files: dict[str, bytes] = {}
        for name in NAMES:
            with contextlib.suppress(OSError):
                files[name] = (self._folder / name).read_bytes()
        return Stored(from_files(files), _digest(files))

    async def save(self, bundle: CertBundle, version: str) -> bool:
        """Writes the files.

        Raises:
            ConfigurationError: the folder cannot be written.
        """
        if (await self.load()).version != version:
            return False
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for name, pem in to_files(bundle).items():
                _replace(self._folder / name, pem, mode=0o600 if name in PRIVATE else 0o644)
        except OSError as error:
            raise ConfigurationError(
                f"cannot write certificates to {self._folder}: {error.strerror or error}"
            ) from error
        return True


def _digest(files: dict[str, bytes]) -> str:
    if not files:
        return NOTHING_THERE
    return hashlib.sha256(b"\0".join(name.encode() + b"\0" + pem for name, pem in sorted(files.items()))).hexdigest()


def _replace(path: Path, content: bytes, *, mode: int) -> None:
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
    fresh.replace(path)
