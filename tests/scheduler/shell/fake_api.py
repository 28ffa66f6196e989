"""An API server in memory behind the client's own interface, with faults on demand.

It keeps to what the scheduler relies on: resource versions, UID and version preconditions, the rules of `pods/binding`, merge
patches (lists replaced), strategic patches of conditions (merged by type), lists and watches.
"""

import asyncio
import itertools
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from typing import Any

import orjson

from kube.client.client import Client, PatchKind
from kube.client.errors import AlreadyExists, Conflict, KubeError, NotFound
from kube.client.resources import PODS, Resource

Object = dict[str, Any]
Fault = Callable[[str, str, str], KubeError | None]
"""(verb, what, name) -> the error to raise, None for none; `what` is plural or plural/subresource."""

PATIENCE_SECONDS = 30.0


class FakeApi(Client):
    """The client that is its own server."""

    def __init__(self) -> None:
        self.log: list[tuple[str, str, str]] = []
        self.before: list[Fault] = []
        """Faults that hit before the request is carried out."""
        self.after: list[Fault] = []
        """Faults that hit the answer only: the request is carried out."""
        self.events: list[Object] = []
        self.hold_watches = False
        self.graceful = False
        """Deleted pods stay, terminating, until a test removes them."""
        self._objects: dict[tuple[str, str, str], Object] = {}
        self._versions: Iterator[int] = itertools.count(1)
        self._uids: Iterator[int] = itertools.count(1)
        self._watchers: dict[str, list[asyncio.Queue[bytes]]] = {}
        self._moved = asyncio.Event()

    # --- for tests ---------------------------------------------------------------------------------------------------

    def put(self, plural: str, body: Object) -> Object:
        """Create the object, or replace it as another writer would."""
        stored = copied(body)
        meta = stored.setdefault("metadata", {})
        key = (plural, meta.get("namespace", ""), meta["name"])
        kind = "MODIFIED" if key in self._objects else "ADDED"
        meta.setdefault("uid", f"uid-{next(self._uids)}")
        self._store(key, stored, kind)
        return copied(stored)

    def remove(self, plural: str, namespace: str, name: str) -> None:
        """Delete the object at once."""
        stored = self._objects.pop((plural, namespace, name))
        stored["metadata"]["resourceVersion"] = str(next(self._versions))
        self._announce(plural, "DELETED", stored)

    def peek(self, plural: str, namespace: str, name: str) -> Object:
        """The object as it is."""
        return copied(self._objects[plural, namespace, name])

    def exists(self, plural: str, namespace: str, name: str) -> bool:
        """Whether there is such an object."""
        return (plural, namespace, name) in self._objects

    def names(self, plural: str) -> list[str]:
        """Names of all objects of a kind."""
        return [name for kind, _, name in self._objects if kind == plural]

    def bound(self) -> dict[str, str]:
        """Node name of every bound pod."""
        return {
            name: node
            for (plural, _, name), stored in self._objects.items()
            if plural == "pods" and (node := stored["spec"].get("nodeName"))
        }

    def condition(self, plural: str, namespace: str, name: str, kind: str) -> Object:
        """A condition of the object, {} when absent."""
        conditions = self._objects[plural, namespace, name].get("status", {}).get("conditions", [])
        return next((entry for entry in conditions if entry["type"] == kind), {})

    def sent(self, verb: str, what: str) -> list[str]:
        """Names of the objects of all such requests, in order."""
        return [name for done, target, name in self.log if (done, target) == (verb, what)]

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until this is true; looked at after every request and change."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not holds():
                self._moved.clear()
                await self._moved.wait()

    def moved(self) -> None:
        """Something happened that `until` should look at."""
        self._moved.set()

    # --- the client's interface --------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Nothing to close."""

    async def get(self, resource: Resource, name: str, namespace: str | None = None, **_: Any) -> Object:
        """The object."""
        await self._request("get", resource.plural, name)
        found = copied(self._find(resource, name, namespace))
        self._answer("get", resource.plural, name)
        return found

    async def create(
        self,
        resource: Resource,
        body: Mapping[str, Any],
        namespace: str | None = None,
        *,
        name: str | None = None,
        subresource: str | None = None,
        **_: Any,
    ) -> Object:
        """A bind, an event or a claim."""
        what = f"{resource.plural}/{subresource}" if subresource else resource.plural
        target = name or body["metadata"].get("name", "")
        await self._request("create", what, target)
        if subresource == "binding":
            self._bind(self._find(PODS, target, namespace), body)
        elif resource.plural == "events":
            self.events.append(copied(dict(body)))
        elif resource.plural == "resourceclaims":
            if self.exists(resource.plural, namespace or "", target):
                raise AlreadyExists(409, "AlreadyExists", f"{target} already exists")
            made = copied(body)
            made["metadata"]["namespace"] = namespace or ""
            made.setdefault("status", {})
            stored = self.put(resource.plural, made)
            self._answer("create", what, target)
            return stored
        self._answer("create", what, target)
        return {}

    async def patch(
        self,
        resource: Resource,
        body: Any,
        name: str,
        namespace: str | None = None,
        *,
        subresource: str | None = None,
        kind: PatchKind = PatchKind.MERGE,
        **_: Any,
    ) -> Object:
        """A change of a status, or of spec and annotations."""
        what = f"{resource.plural}/{subresource}" if subresource else resource.plural
        await self._request("patch", what, name)
        if resource.plural == "events":
            return {}
        stored = self._find(resource, name, namespace)
        for field in ("uid", "resourceVersion"):
            wanted = body.get("metadata", {}).get(field)
            if wanted is not None and wanted != stored["metadata"][field]:
                raise Conflict(409, "Conflict", f"precondition on {field} failed")
        changed = copied(stored)
        if subresource is None:
            annotations = body["metadata"].get("annotations", {})
            changed["metadata"]["annotations"] = {**changed["metadata"].get("annotations", {}), **annotations}
            if "finalizers" in body["metadata"]:
                changed["metadata"]["finalizers"] = list(body["metadata"]["finalizers"] or ())
            changed["spec"] = {**changed.get("spec", {}), **copied(body.get("spec", {}))}
            self._store((resource.plural, namespace or "", name), changed, "MODIFIED")
            self._answer("patch", what, name)
            return copied(changed)
        status = changed.setdefault("status", {})
        if kind is PatchKind.STRATEGIC:
            new = body["status"]["conditions"]
            names = {entry["type"] for entry in new}
            kept = [entry for entry in status.get("conditions", []) if entry["type"] not in names]
            status["conditions"] = kept + list(new)
        else:
            status.update(copied(body["status"]))
            for field in [field for field, value in status.items() if value is None]:
                del status[field]
        self._store((resource.plural, namespace or "", name), changed, "MODIFIED")
        self._answer("patch", what, name)
        return copied(changed)

    async def delete(self, resource: Resource, name: str, namespace: str | None = None, *, uid: str, **_: Any) -> None:
        """Ends the object of that UID."""
        await self._request("delete", resource.plural, name)
        stored = self._find(resource, name, namespace)
        if stored["metadata"]["uid"] != uid:
            raise Conflict(409, "Conflict", "precondition on uid failed")
        if self.graceful:
            changed = copied(stored)
            changed["metadata"]["deletionTimestamp"] = "2026-01-02T00:00:00Z"
            self._store((resource.plural, namespace or "", name), changed, "MODIFIED")
        else:
            self.remove(resource.plural, namespace or "", name)
        self._answer("delete", resource.plural, name)

    async def list_pages(self, resource: Resource, namespace: str | None = None, **_: Any) -> AsyncIterator[bytes]:
        """Everything as one page."""
        await self._request("list", resource.plural, "")
        items = [stored for (plural, _, _), stored in self._objects.items() if plural == resource.plural]
        yield orjson.dumps({"metadata": {"resourceVersion": str(next(self._versions))}, "items": items})

    async def watch(self, resource: Resource, namespace: str | None = None, **_: Any) -> AsyncGenerator[bytes, None]:
        """Changes from now on; nothing happens between our list and watch, as no time passes there."""
        lines: asyncio.Queue[bytes] = asyncio.Queue()
        self._watchers.setdefault(resource.plural, []).append(lines)
        while True:
            line = await lines.get()
            while self.hold_watches:
                await self._moved.wait()
                await asyncio.sleep(0)
            yield line
            self._moved.set()

    # --- inside ------------------------------------------------------------------------------------------------------

    async def _request(self, verb: str, what: str, name: str) -> None:
        await asyncio.sleep(0)
        self.log.append((verb, what, name))
        self._moved.set()
        _raise_first(self.before, verb, what, name)

    def _answer(self, verb: str, what: str, name: str) -> None:
        _raise_first(self.after, verb, what, name)

    def _find(self, resource: Resource, name: str, namespace: str | None) -> Object:
        found = self._objects.get((resource.plural, namespace or "", name))
        if found is None:
            raise NotFound(404, "NotFound", f"{resource.plural} {name!r} not found")
        return found

    def _bind(self, pod: Object, body: Mapping[str, Any]) -> None:
        if body["metadata"].get("uid") not in {None, pod["metadata"]["uid"]}:
            raise Conflict(409, "Conflict", "Precondition failed: UID in precondition")
        node = pod["spec"].get("nodeName")
        if node:
            raise Conflict(409, "Conflict", f"pod is already assigned to node {node!r}")
        changed = copied(pod)
        changed["spec"]["nodeName"] = body["target"]["name"]
        meta = pod["metadata"]
        self._store(("pods", meta["namespace"], meta["name"]), changed, "MODIFIED")

    def _store(self, key: tuple[str, str, str], stored: Object, kind: str) -> None:
        stored["metadata"]["resourceVersion"] = str(next(self._versions))
        self._objects[key] = stored
        self._announce(key[0], kind, stored)

    def _announce(self, plural: str, kind: str, stored: Object) -> None:
        line = orjson.dumps({"type": kind, "object": stored})
        for lines in self._watchers.get(plural, []):
            lines.put_nowait(line)
        self._moved.set()


def copied(value: Any) -> Object:
    """A copy that shares nothing."""
    made: Object = orjson.loads(orjson.dumps(value))
    return made


def _raise_first(faults: list[Fault], verb: str, what: str, name: str) -> None:
    for fault in list(faults):
        error = fault(verb, what, name)
        if error is not None:
            raise error


def once(verb: str, what: str, error: KubeError) -> Fault:
    """A fault that hits the first such request only."""
    left = [error]

    def fault(done: str, target: str, _name: str) -> KubeError | None:
        return left.pop() if left and (done, target) == (verb, what) else None

    return fault


def always(verb: str, what: str, error: KubeError) -> Fault:
    """A fault that hits every such request."""
    return lambda done, target, _name: error if (done, target) == (verb, what) else None
