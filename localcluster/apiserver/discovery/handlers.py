"""The HTTP side of discovery: which document answers which path.

Documents are made anew when kinds have come or gone, and kept as bytes until then: every kubectl command begins with two
of these requests. Whoever sends back the ETag of the present document is told 304.
"""

from collections.abc import Callable
from dataclasses import dataclass

import orjson

from localcluster.apiserver.discovery import documents
from localcluster.apiserver.discovery.accept import AGGREGATED, JSON, discovery_type
from localcluster.apiserver.discovery.groups import Group, arrange
from localcluster.apiserver.discovery.openapi.index import ROOT, OpenApi, content_hash
from localcluster.apiserver.discovery.version import version_info
from localcluster.apiserver.http import HttpRequest, Reply, text_reply
from localcluster.apiserver.kinds.registry import Registry
from localcluster.apiserver.status import CONTENT_TYPES, StatusError, method_not_allowed, no_such_path

READING = ("GET", "HEAD")
_PRIVATE = {"Cache-Control": "no-cache, private"}
_PUBLIC = {"Cache-Control": "public", "Vary": "Accept"}
_FOREVER = {"Cache-Control": "public, immutable", "Vary": "Accept"}


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """The documents for one state of the registry."""

    groups: list[Group]
    openapi: OpenApi
    aggregated: dict[str, tuple[bytes, str]]
    legacy: dict[str, bytes]


class Discovery:
    """Answers the paths that are no resources."""

    def __init__(self, registry: Registry, address: Callable[[], str]) -> None:
        """`address` gives host and port under which clients reach the server."""
        self._registry = registry
        self._address = address
        self._snapshot: _Snapshot | None = None
        registry.on_change(self._forget)

    def _forget(self) -> None:
        self._snapshot = None

    def _now(self) -> _Snapshot:
        if self._snapshot is None:
            groups = arrange(self._registry.all())
            self._snapshot = _Snapshot(groups, OpenApi(groups), _aggregated(groups), {})
        return self._snapshot

    async def discover(self, request: HttpRequest) -> Reply:
        """`/api`, `/apis` and what is below them without being a resource."""
        _require_reading(request)
        path = request.path.rstrip("/")
        wanted = discovery_type(request.headers.get("Accept", ""), aggregated=path in {"/api", "/apis"})
        if wanted is None:
            raise _not_acceptable()
        if wanted == AGGREGATED:
            return self._aggregated(path, request)
        legacy = self._now().legacy
        body = legacy.get(path)
        if body is None:
            found = self._document(path)
            if found is None:
                return text_reply(404, "404 page not found\n")
            body = orjson.dumps(found)
            if path != "/api":  # the one that says under which address the server is reached
                legacy[path] = body
        return Reply(200, body, JSON, _PRIVATE)

    def _aggregated(self, path: str, request: HttpRequest) -> Reply:
        body, tag = self._now().aggregated[path]
        headers = {**_PUBLIC, "ETag": tag}
        if request.headers.get("If-None-Match") == tag:
            return Reply(304, b"", AGGREGATED, headers)
        return Reply(200, body, AGGREGATED, headers)

    def _document(self, path: str) -> documents.Document | None:
        """The legacy document at a path; None when there is no such group at all."""
        groups = self._now().groups
        if path == "/api":
            return documents.api_versions(self._address())
        if path == "/apis":
            return documents.group_list(groups)
        segments = path.split("/")[2:]
        if path.startswith("/api/"):
            segments = ["", *segments]
        if group := next((each for each in groups if each.name == segments[0]), None):
            if len(segments) == 1:
                return documents.group_document(group)
            for version in group.versions:
                if [version.version] == segments[1:]:
                    return documents.resource_list(version)
            raise no_such_path()
        return None

    async def root(self, request: HttpRequest) -> Reply:
        """`/`: the paths there are."""
        _require_reading(request)
        return _json(documents.paths(self._now().groups))

    async def version(self, request: HttpRequest) -> Reply:
        """`/version`."""
        _require_reading(request)
        return _json(version_info())

    async def openapi(self, request: HttpRequest) -> Reply:
        """`/openapi/v3` and the documents below it; `/openapi/v2` does not exist here."""
        _require_reading(request)
        path = request.path.rstrip("/")
        if path == ROOT:
            return Reply(200, self._now().openapi.index(), JSON, _PRIVATE)
        key = path.removeprefix(ROOT + "/")
        found = self._now().openapi.find(key) if path.startswith(ROOT + "/") else None
        if found is None:
            return Reply(404, b"", "", _PRIVATE)
        tag = f'"{found.hash}"'
        given = request.query.get("hash")
        if given is not None and given != found.hash:
            return Reply(301, b"", JSON, {**_PRIVATE, "Location": f"{ROOT}/{key}?hash={found.hash}", "ETag": tag})
        if request.headers.get("If-None-Match") == tag:
            return Reply(304, b"", JSON, {"ETag": tag})
        return Reply(200, found.body, JSON, {**(_FOREVER if given else _PRIVATE), "ETag": tag})


def _aggregated(groups: list[Group]) -> dict[str, tuple[bytes, str]]:
    """Body and ETag for `/api` and `/apis`."""
    core = [group for group in groups if not group.name]
    others = [group for group in groups if group.name]
    bodies = {path: orjson.dumps(documents.aggregated(part)) for path, part in (("/api", core), ("/apis", others))}
    return {path: (body, f'"{content_hash(body)}"') for path, body in bodies.items()}


def _json(body: documents.Document) -> Reply:
    return Reply(200, orjson.dumps(body), JSON, _PRIVATE)


def _require_reading(request: HttpRequest) -> None:
    if request.method not in READING:
        raise method_not_allowed()


def _not_acceptable() -> StatusError:
    return StatusError(406, "NotAcceptable", f"only the following media types are accepted: {CONTENT_TYPES}")
