"""A cluster in memory with the calls the controllers make, and faults at any write one likes.

It keeps what the real server was seen to do: a version per write, a conflict for an old version, `Invalid` for another UID,
merge patches that remove on null, no new version for a patch that changes nothing.
"""

import copy
from collections.abc import AsyncIterator, Callable
from typing import Any, Final, Literal

import orjson

from api.constants import GROUP
from controllers.jobs.execute import TEST_FAILED
from kube.client.client import PatchKind
from kube.client.errors import AlreadyExists, Conflict, Invalid, KubeError, NotFound, NotSent, OutcomeUnknown
from kube.client.resources import JOBS, KUEUE_WORKLOADS, PODS, Resource
from tests.controllers.builders import NAMESPACE, Manifest

Fault = Literal["crash before", "crash after", "lost before", "lost after", "conflict", "no lease"]


class Crash(BaseException):
    """The process was killed at this moment."""


OURS: Final = ("", "batch", GROUP)


def kind_of(resource: Resource) -> str:
    """The plural, with the group where that is neither ours nor Kubernetes'."""
    return resource.plural if resource.group in OURS else f"{resource.plural}.{resource.group}"


class FakeCluster:
    """Objects by (plural, name) in one namespace; every call is noted as (verb, plural, name)."""

    def __init__(self) -> None:
        self.unknown_kinds: set[str] = set()
        self.kueue_versions: set[str] = set()
        self.objects: dict[tuple[str, str], Manifest] = {}
        self.calls: list[tuple[str, str, str]] = []
        self.bodies: list[Any] = []
        self.writes = 0
        self.fault: Callable[[int], Fault | None] = lambda _: None
        self.before_write: Callable[[int], None] = lambda _: None
        self._version = 100
        self._made = 0

    # --- what the tests do -----------------------------------------------------------------------------------------------

    def put(self, resource: Resource, manifest: Manifest) -> Manifest:
        """Add an object as it is, or replace it."""
        self._version += 1
        kept = copy.deepcopy(manifest)
        kept["metadata"]["resourceVersion"] = str(self._version)
        self.objects[kind_of(resource), manifest["metadata"]["name"]] = kept
        return kept

    def remove(self, resource: Resource, name: str) -> None:
        """Delete an object."""
        del self.objects[kind_of(resource), name]

    def all(self, resource: Resource) -> list[Manifest]:
        """All objects of a kind."""
        return [found for (plural, _), found in self.objects.items() if plural == kind_of(resource)]

    def one(self, resource: Resource, name: str) -> Manifest:
        """The object."""
        return self.objects[kind_of(resource), name]

    def written(self) -> list[tuple[str, str, str]]:
        """The writes among the calls."""
        return [call for call in self.calls if call[0] in {"create", "patch"}]

    # --- what the controllers do -----------------------------------------------------------------------------------------

    async def get(self, resource: Resource, name: str, namespace: str | None = None) -> Manifest:
        assert namespace == NAMESPACE
        self.calls.append(("get", kind_of(resource), name))
        return copy.deepcopy(self._existing(resource, name))

    async def list_pages(
        self,
        resource: Resource,
        namespace: str | None = None,
        *,
        label_selector: str | None = None,
        field_selector: str | None = None,
    ) -> AsyncIterator[bytes]:
        assert namespace == (NAMESPACE if resource.namespaced else None)
        is_selected = label_selector is not None or field_selector is not None
        assert is_selected == (resource is PODS or resource in KUEUE_WORKLOADS)
        self.calls.append(("list", kind_of(resource), ""))
        if resource.group == KUEUE_WORKLOADS[0].group and resource.version not in self.kueue_versions:
            raise NotFound(404, "NotFound", "the server could not find the requested resource")
        key, _, value = (label_selector or "").partition("=")
        wanted = {key: value} if key else {}
        items = [p for p in self.all(resource) if wanted.items() <= (p["metadata"].get("labels") or {}).items()]
        if field_selector is not None:
            field, _, name = field_selector.partition("=")
            assert field == "metadata.name"
            items = [found for found in items if found["metadata"]["name"] == name]
        yield orjson.dumps({"metadata": {"resourceVersion": str(self._version)}, "items": items})

    async def create(self, resource: Resource, body: Manifest, namespace: str | None = None) -> Manifest:
        assert namespace == NAMESPACE
        name = body["metadata"]["name"]
        after = self._begin("create", resource, name, body)
        if kind_of(resource) in self.unknown_kinds:
            raise NotFound(404, "NotFound", "the server could not find the requested resource")
        if (kind_of(resource), name) in self.objects:
            raise AlreadyExists(409, "AlreadyExists", f"{kind_of(resource)} {name!r} already exists")
        self._made += 1
        made = copy.deepcopy(body)
        made["metadata"]["uid"] = f"uid-{self._made}-of-{name}"
        answer = self.put(resource, made)
        return self._finish(after, answer)

    async def patch(
        self,
        resource: Resource,
        body: Any,
        name: str,
        namespace: str | None = None,
        *,
        subresource: str | None = None,
        kind: PatchKind = PatchKind.MERGE,
    ) -> Manifest:
        assert namespace == NAMESPACE
        after = self._begin("patch", resource, name, body, subresource)
        old = self._existing(resource, name)
        new = json_patched(old, body) if kind is PatchKind.JSON else merged(old, body)
        if new["metadata"]["resourceVersion"] != old["metadata"]["resourceVersion"]:
            raise Conflict(409, "Conflict", "the object has been modified")
        if new["metadata"]["uid"] != old["metadata"]["uid"]:
            raise Invalid(422, "Invalid", "metadata.uid: field is immutable")
        started = resource is JOBS and (old.get("status") or {}).get("startTime")
        if started and new["spec"]["template"] != old["spec"]["template"]:
            raise Invalid(422, "Invalid", "spec.template: field is immutable")
        answer = old if new == old else self.put(resource, new)
        return self._finish(after, answer)

    # --- inside ----------------------------------------------------------------------------------------------------------

    def _begin(
        self, verb: str, resource: Resource, name: str, body: Any, subresource: str | None = None
    ) -> Fault | None:
        number = self.writes
        self.writes += 1
        self.before_write(number)
        fault = self.fault(number)
        if fault == "crash before":
            raise Crash
        if fault == "lost before":
            raise OutcomeUnknown("the answer was lost")
        if fault == "no lease":
            raise NotSent("the lease is not held, nothing was sent")
        if fault == "conflict" and verb == "patch":
            raise Conflict(409, "Conflict", "the object has been modified")
        what = kind_of(resource)
        self.calls.append((verb, f"{what}/{subresource}" if subresource else what, name))
        self.bodies.append(copy.deepcopy(body))
        return fault

    def _finish(self, fault: Fault | None, answer: Manifest) -> Manifest:
        if fault == "crash after":
            raise Crash
        if fault == "lost after":
            raise OutcomeUnknown("the answer was lost")
        return copy.deepcopy(answer)

    def _existing(self, resource: Resource, name: str) -> Manifest:
        try:
            return self.objects[kind_of(resource), name]
        except KeyError:
            raise NotFound(404, "NotFound", f"{kind_of(resource)} {name!r} not found") from None


def merged(old: Any, patch: Any) -> Any:
    """What an RFC 7386 merge patch makes of a document."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = copy.deepcopy(old) if isinstance(old, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def json_patched(old: Manifest, patch: list[Manifest]) -> Manifest:
    """What an RFC 6902 patch makes of a document; a test for null passes when there is nothing, as on the real server."""
    result = copy.deepcopy(old)
    for operation in patch:
        parts = operation["path"].removeprefix("/").split("/")
        *path, last = [part.replace("~1", "/").replace("~0", "~") for part in parts]
        target: Any = result
        for part in path:
            target = target[int(part)] if isinstance(target, list) else target.get(part)
        if not isinstance(target, dict):
            raise Invalid(422, "Invalid", TEST_FAILED)
        known = target.get(last)
        match operation["op"]:
            case "test" if known != operation["value"]:
                raise Invalid(422, "Invalid", TEST_FAILED)
            case "remove" if last not in target:
                raise Invalid(422, "Invalid", TEST_FAILED)
            case "remove":
                del target[last]
            case "add" | "replace":
                target[last] = copy.deepcopy(operation["value"])
    return result


def refuse(error: KubeError, *, verb: str, plural: str) -> Callable[[FakeCluster], None]:
    """Makes every such write end with this error."""

    def install(cluster: FakeCluster) -> None:
        original = getattr(cluster, verb)

        async def refusing(resource: Resource, *arguments: Any, **settings: Any) -> Manifest:
            if resource.plural == plural:
                raise error
            answer: Manifest = await original(resource, *arguments, **settings)
            return answer

        setattr(cluster, verb, refusing)

    return install
