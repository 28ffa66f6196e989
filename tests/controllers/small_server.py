"""A small API server on loopback: enough of discovery, lists, watches and writes for one run of the whole operator.

It is no judge of our manifests; the conformance tests ask a real server about those.
"""

import asyncio
import copy
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from kube.client.credentials import Credentials
from tests.controllers.fake_cluster import json_patched, merged

Manifest = dict[str, Any]

SERVED: dict[str, list[str]] = {
    "v1": ["pods", "configmaps", "events", "namespaces"],
    "apiextensions.k8s.io/v1": ["customresourcedefinitions"],
    "batch/v1": ["jobs"],
    "tutti.scheduler/v1beta1": ["workloads", "podgroups"],
    "coordination.k8s.io/v1": ["leases"],
    "events.k8s.io/v1": ["events"],
}
KINDS = {"jobs": "Job", "workloads": "Workload", "podgroups": "PodGroup", "pods": "Pod"}


@dataclass(frozen=True)
class Write:
    """One request that was no GET."""

    agent: str
    method: str
    path: str


@dataclass(frozen=True)
class Target:
    """What a path names."""

    api: str
    plural: str
    namespace: str
    name: str


class SmallServer:
    """Objects by (plural, namespace, name), and every change of them in order."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str, str], Manifest] = {}
        self.writes: list[Write] = []
        self.refuse: Callable[[web.Request], web.Response | None] = lambda _: None
        self.port = 0
        self._held: tuple[str, str, asyncio.Event, asyncio.Event] | None = None
        self._changes: list[tuple[int, str, str, Manifest]] = []
        self._changed = asyncio.Condition()
        self._version = 100

    @property
    def credentials(self) -> Credentials:
        return Credentials(server=f"http://127.0.0.1:{self.port}")

    @asynccontextmanager
    async def running(self) -> AsyncIterator["SmallServer"]:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.port = runner.addresses[0][1]
        try:
            yield self
        finally:
            await runner.cleanup()

    async def put(self, plural: str, manifest: Manifest) -> Manifest:
        """Add or replace an object."""
        metadata = manifest["metadata"]
        key = (plural, metadata["namespace"], metadata["name"])
        return await self._store("MODIFIED" if key in self.objects else "ADDED", key, manifest)

    async def remove(self, plural: str, namespace: str, name: str) -> None:
        """Delete an object."""
        await self._note("DELETED", plural, self.objects.pop((plural, namespace, name)))

    def break_watch_of(self, plural: str) -> None:
        """Refuse every watch of this kind for good, in a way that kopf does not survive."""
        self.refuse = lambda request: (
            _status(410, "Expired") if request.query.get("watch") and request.path.endswith(plural) else None
        )

    def forbid(self, plural: str) -> None:
        """Refuse every request for this kind."""
        self.refuse = lambda request: _status(403, "Forbidden", plural) if request.path.endswith(plural) else None

    def hold(self, method: str, part: str) -> tuple[asyncio.Event, asyncio.Event]:
        """Requests with this in their path are not carried out before the second event is set; the first says that one has come."""
        arrived, go_on = asyncio.Event(), asyncio.Event()
        self._held = (method, part, arrived, go_on)
        return arrived, go_on

    async def until(self, reached: Callable[[], object]) -> None:
        """Wait until the objects or writes are such."""
        async with asyncio.timeout(20), self._changed:
            await self._changed.wait_for(reached)

    # --- requests --------------------------------------------------------------------------------------------------------

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if request.method != "GET":
            self.writes.append(Write(request.headers.get("User-Agent", ""), request.method, request.path))
        if self._held is not None and request.method == self._held[0] and self._held[1] in request.path:
            self._held[2].set()
            await self._held[3].wait()
        refusal = self.refuse(request)
        if refusal is not None:
            return refusal
        discovery = _discovery(request.path)
        if discovery is not None:
            return web.json_response(discovery)
        target = _target(request.path)
        if target is None or target.plural not in SERVED.get(target.api, []):
            return _status(404, "NotFound")
        if request.method == "GET" and request.query.get("watch"):
            return await self._watch(request, target.plural)
        body = await request.json() if request.method != "GET" else {}
        return await self._answer(request.method, target, body)

    async def _answer(self, method: str, target: Target, body: Any) -> web.Response:
        name = target.name or body["metadata"]["name"] if method == "POST" else target.name
        key = (target.plural, target.namespace, name)
        known = self.objects.get(key)
        if method == "GET" and not target.name:
            return web.json_response(self._list(target.plural))
        if method == "POST":
            if known is not None:
                return _status(409, "AlreadyExists")
            made = copy.deepcopy(body)
            made["metadata"] |= {"uid": f"uid-{self._version}", "namespace": target.namespace}
            return web.json_response(await self._store("ADDED", key, made), status=201)
        if known is None:
            return _status(404, "NotFound")
        if method == "GET":
            return web.json_response(known)
        new = _changed(known, body) if method == "PATCH" else body
        if new["metadata"].get("resourceVersion") != known["metadata"]["resourceVersion"]:
            return _status(409, "Conflict")
        return web.json_response(await self._store("MODIFIED", key, new))

    def _list(self, plural: str) -> Manifest:
        items = [found for (kind, _, _), found in self.objects.items() if kind == plural]
        return {"metadata": {"resourceVersion": str(self._version)}, "items": items, "kind": f"{KINDS.get(plural)}List"}

    async def _watch(self, request: web.Request, plural: str) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        sent = int(request.query.get("resourceVersion") or 0)
        while True:
            for version, kind, of, manifest in list(self._changes):
                if of == plural and version > sent:
                    sent = version
                    line = json.dumps({"type": kind, "object": manifest}) + "\n"
                    await response.write(line.encode())
            async with self._changed:
                await self._changed.wait_for(lambda: any(v > sent and of == plural for v, _, of, _ in self._changes))  # noqa: B023

    # --- changes ---------------------------------------------------------------------------------------------------------

    async def _store(self, kind: str, key: tuple[str, str, str], manifest: Manifest) -> Manifest:
        kept = copy.deepcopy(manifest)
        kept["metadata"]["resourceVersion"] = str(self._version + 1)
        self.objects[key] = kept
        await self._note(kind, key[0], kept)
        return kept

    async def _note(self, kind: str, plural: str, manifest: Manifest) -> None:
        self._version += 1
        async with self._changed:
            self._changes.append((self._version, kind, plural, copy.deepcopy(manifest)))
            self._changed.notify_all()


def _discovery(path: str) -> Manifest | None:
    if path == "/version":
        return {"gitVersion": "v1.37.0", "major": "1", "minor": "37"}
    if path == "/api":
        return {"versions": ["v1"]}
    if path == "/apis":
        groups = [api.split("/") for api in SERVED if "/" in api]
        versions = [(group, {"groupVersion": f"{group}/{version}", "version": version}) for group, version in groups]
        return {"groups": [{"name": group, "versions": [v], "preferredVersion": v} for group, v in versions]}
    api = path.removeprefix("/apis/").removeprefix("/api/")
    if api not in SERVED:
        return None
    verbs = ["get", "list", "watch", "create", "patch"]
    return {
        "groupVersion": api,
        "resources": [
            {"name": plural, "singularName": "", "kind": KINDS.get(plural, plural), "namespaced": True, "verbs": verbs}
            for plural in SERVED[api]
        ],
    }


def _target(path: str) -> Target | None:
    parts = path.strip("/").split("/")
    api, rest = ("/".join(parts[1:3]), parts[3:]) if parts[0] == "apis" else (parts[1], parts[2:])
    if not rest:
        return None
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2:
        namespace, rest = rest[1], rest[2:]
    return Target(api, rest[0], namespace, rest[1] if len(rest) > 1 else "")


def _status(code: int, reason: str, message: str = "no") -> web.Response:
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason}
    return web.json_response(body | {"message": message}, status=code)


def _changed(known: Manifest, patch: Any) -> Manifest:
    return json_patched(known, patch) if isinstance(patch, list) else merged(known, patch)
