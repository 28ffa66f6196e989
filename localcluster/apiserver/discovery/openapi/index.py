"""The index of the OpenAPI documents: a path for every group-version, with a hash by which clients keep documents.

Documents are made when they are first asked for and encoded once; whoever asks for an old hash is sent to the present one,
as a real server does.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import orjson

from localcluster.apiserver.discovery.groups import Group, GroupVersion
from localcluster.apiserver.discovery.openapi.document import document

ROOT = "/openapi/v3"


@dataclass(frozen=True, slots=True)
class Encoded:
    """A document as it is sent, and the hash of its bytes."""

    body: bytes
    hash: str


class OpenApi:
    """The documents for one state of the registry."""

    def __init__(self, groups: Iterable[Group]) -> None:
        self._members = {_key(each): each for group in groups for each in group.versions}
        self._encoded: dict[str, Encoded] = {}

    def index(self) -> bytes:
        """The answer to `/openapi/v3`."""
        paths = {
            key: {"serverRelativeURL": f"{ROOT}/{key}?hash={encoded.hash}"}
            for key in sorted(self._members)
            if (encoded := self.find(key)) is not None
        }
        return orjson.dumps({"paths": paths})

    def find(self, key: str) -> Encoded | None:
        """The document behind `/openapi/v3/KEY`, None when there is no such group-version."""
        if key not in self._members:
            return None
        if key not in self._encoded:
            body = orjson.dumps(document(self._members[key]))
            self._encoded[key] = Encoded(body, content_hash(body))
        return self._encoded[key]


def content_hash(body: bytes) -> str:
    """The hash that names a document's content, in the upper-case form Kubernetes uses."""
    return hashlib.sha512(body).hexdigest().upper()


def _key(group_version: GroupVersion) -> str:
    return f"apis/{group_version.api_version}" if group_version.group else f"api/{group_version.version}"
