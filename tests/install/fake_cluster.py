"""A cluster in memory, behind the interface of `kube.client.client.Client`, as far as installing and uninstalling use it.

It keeps what real servers promise and these tests rely on: UIDs, versions, preconditions, finalizers, no-op replacements.
"""

import copy
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from kube.client.client import Client, PatchKind
from kube.client.credentials import Credentials
from kube.client.errors import AlreadyExists, Conflict, Invalid, NotFound, OutcomeUnknown
from kube.client.resources import CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES, Resource

Object = dict[str, Any]
Key = tuple[str, str, str, str]


class FakeCluster(Client):
    """Objects by (group, plural, namespace, name). `writes` lists what was done, `lose_answer_of` drops one answer.

    `served` names groups whose Workloads and PodGroups are built in, and `compositepodgroups.GROUP` where these are.
    """

    def __init__(self, *, served: set[str] | None = None, denied: set[tuple[str, str]] | None = None) -> None:
        self.credentials = Credentials("https://127.0.0.1:6443")
        self.objects: dict[Key, Object] = {}
        self.version = "v1.37.0"
        self.writes: list[tuple[str, str, str]] = []
        self.lose_answer_of: set[str] = set()
        self.fail: dict[str, Exception] = {}
        self.denied = denied or set()
        self.tokens = 0
        self._served = served or set()
        self._version = 0

    async def close(self) -> None:
        """Nothing is open."""

    def put(self, resource: Resource, name: str, namespace: str = "", **body: Any) -> Object:
        """An object that is there from the beginning."""
        metadata = body.pop("metadata", {})
        found = {**body, "metadata": {"name": name, **({"namespace": namespace} if namespace else {}), **metadata}}
        return self._store(resource, found)

    def find(self, resource: Resource, name: str, namespace: str = "") -> Object | None:
        """The object as it is, None when there is none."""
        return self.objects.get((resource.group, resource.plural, namespace, name))

    def names(self, resource: Resource) -> list[str]:
        """The names of all objects of a kind."""
        return [name for group, plural, _, name in self.objects if (group, plural) == (resource.group, resource.plural)]

    async def get(
        self,
        resource: Resource,
        name: str,
        namespace: str | None = None,
        *,
        subresource: str | None = None,
        timeout_seconds: float | None = None,
    ) -> Object:
        self._answer("get", resource, name)
        return copy.deepcopy(self._live(resource, name, namespace))

    async def list(
        self,
        resource: Resource,
        namespace: str | None = None,
        *,
        label_selector: str | None = None,
        field_selector: str | None = None,
        resource_version: str | None = None,
        timeout_seconds: float | None = None,
    ) -> Object:
        if not self._serves(resource):
            raise NotFound(404, "NotFound", f"no {resource.plural}")
        items = [
            copy.deepcopy(found)
            for (group, plural, where, _), found in self.objects.items()
            if (group, plural) == (resource.group, resource.plural)
            and namespace in {None, where}
            and _matches(found, label_selector or "")
        ]
        return {"items": items}

    async def create(
        self,
        resource: Resource,
        body: Mapping[str, Any],
        namespace: str | None = None,
        *,
        name: str | None = None,
        subresource: str | None = None,
        dry_run: bool = False,
        parse: bool = True,
        timeout_seconds: float | None = None,
    ) -> Object:
        if subresource == "token":
            self.tokens += 1
            expires = datetime.now(UTC) + timedelta(hours=1)
            return {"status": {"token": f"token-{self.tokens}", "expirationTimestamp": expires.isoformat()}}
        made = copy.deepcopy(dict(body))
        name = made["metadata"]["name"]
        if namespace and self.find(NAMESPACES, namespace) is None:
            raise NotFound(404, "NotFound", f"namespaces {namespace!r} not found")
        if self.find(resource, name, namespace or "") is not None:
            raise AlreadyExists(409, "AlreadyExists", name)
        self._refuse("create")
        stored = self._store(resource, made)
        if resource == CUSTOM_RESOURCE_DEFINITIONS:
            stored["status"] = {"conditions": [{"type": "Established", "status": "True"}]}
        self.writes.append(("create", resource.kind, name))
        self._answer("create", resource, name)
        return copy.deepcopy(stored)

    async def replace(
        self,
        resource: Resource,
        body: Mapping[str, Any],
        name: str,
        namespace: str | None = None,
        *,
        subresource: str | None = None,
        timeout_seconds: float | None = None,
    ) -> Object:
        live = self._live(resource, name, namespace)
        if body["metadata"]["resourceVersion"] != live["metadata"]["resourceVersion"]:
            raise Conflict(409, "Conflict", name)
        if body != live:
            live.clear()
            live.update(copy.deepcopy(dict(body)))
            self._touch(live)
            self.writes.append(("update", resource.kind, name))
        self._answer("update", resource, name)
        return copy.deepcopy(live)

    async def patch(
        self,
        resource: Resource,
        body: Any,
        name: str,
        namespace: str | None = None,
        *,
        subresource: str | None = None,
        kind: PatchKind = PatchKind.MERGE,
        field_manager: str | None = None,
        parse: bool = True,
        timeout_seconds: float | None = None,
    ) -> Object:
        live = self._live(resource, name, namespace)
        for key in ("uid", "resourceVersion"):
            if body["metadata"].get(key, live["metadata"][key]) != live["metadata"][key]:
                raise Conflict(409, "Conflict", name)
        self._refuse("patch")
        if live.get("frozen") and "template" in body.get("spec", {}):
            raise Invalid(422, "Invalid", "spec.template: field is immutable")
        merge(live, body)
        self._touch(live)
        self.writes.append(("patch", resource.kind, name))
        self._drop_if_finished(resource, live)
        self._answer("patch", resource, name)
        return {}

    async def delete(
        self,
        resource: Resource,
        name: str,
        namespace: str | None = None,
        *,
        uid: str,
        resource_version: str | None = None,
        propagation: str = "Background",
        grace_seconds: int | None = None,
        timeout_seconds: float | None = None,
    ) -> None:
        live = self._live(resource, name, namespace)
        if live["metadata"]["uid"] != uid:
            raise Conflict(409, "Conflict", name)
        self._refuse("delete")
        live["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        self.writes.append(("delete", resource.kind, name))
        self._drop_if_finished(resource, live)
        self._answer("delete", resource, name)

    async def request_json(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        params: Mapping[str, str] | None = None,
        timeout_seconds: float | None = None,
    ) -> Object:
        if path == "/version":
            return {"gitVersion": self.version}
        if path.endswith("selfsubjectaccessreviews"):
            asked = body["spec"]["resourceAttributes"]
            return {"status": {"allowed": (asked["verb"], asked["resource"]) not in self.denied}}
        if path == "/apis":
            return {"groups": []}
        if path == "/api/v1":
            verbs = ["list", "delete"]
            kinds = [("configmaps", "ConfigMap"), ("secrets", "Secret"), ("pods", "Pod"), ("events", "Event")]
            return {"resources": [{"name": n, "kind": k, "namespaced": True, "verbs": verbs} for n, k in kinds]}
        group = path.removeprefix("/apis/").partition("/")[0]
        if not self._serves_group(group):
            raise NotFound(404, "NotFound", path)
        ours = [
            name.partition(".")[0] for name in self.names(CUSTOM_RESOURCE_DEFINITIONS) if name.endswith(f".{group}")
        ]
        built_in = [] if ours else ["workloads", "podgroups"]
        trees = ["compositepodgroups"] if f"compositepodgroups.{group}" in self._served else []
        return {"resources": [{"name": name} for name in (*ours, *built_in, *trees)]}

    def _serves(self, resource: Resource) -> bool:
        return resource.plural not in {"workloads", "podgroups"} or self._serves_group(resource.group)

    def _serves_group(self, group: str) -> bool:
        if group == "kueue.x-k8s.io":
            return any(key[0] == group for key in self.objects)
        return group in self._served or any(
            name.endswith(f".{group}") for name in self.names(CUSTOM_RESOURCE_DEFINITIONS)
        )

    def _live(self, resource: Resource, name: str, namespace: str | None) -> Object:
        found = self.find(resource, name, namespace or "")
        if found is None:
            raise NotFound(404, "NotFound", f"{resource.plural} {name!r} not found")
        return found

    def _store(self, resource: Resource, found: Object) -> Object:
        metadata = found["metadata"]
        self._touch(found)
        metadata.setdefault("uid", f"uid-{self._version}")
        self.objects[resource.group, resource.plural, metadata.get("namespace", ""), metadata["name"]] = found
        return found

    def _touch(self, found: Object) -> None:
        self._version += 1
        found["metadata"]["resourceVersion"] = str(self._version)

    def _drop_if_finished(self, resource: Resource, live: Object) -> None:
        metadata = live["metadata"]
        if metadata.get("deletionTimestamp") and not metadata.get("finalizers"):
            del self.objects[resource.group, resource.plural, metadata.get("namespace", ""), metadata["name"]]
            if resource == CUSTOM_RESOURCE_DEFINITIONS:
                plural, _, group = metadata["name"].partition(".")
                self.objects = {key: each for key, each in self.objects.items() if key[:2] != (group, plural)}

    def _refuse(self, verb: str) -> None:
        if verb in self.fail:
            raise self.fail[verb]

    def _answer(self, verb: str, resource: Resource, name: str) -> None:
        if verb in self.lose_answer_of:
            self.lose_answer_of.discard(verb)
            raise OutcomeUnknown(f"{verb} {resource.plural} {name}: no answer in time")


def _matches(found: Object, selector: str) -> bool:
    key, equals, value = selector.partition("=")
    labels = found["metadata"].get("labels") or {}
    return not key or (labels.get(key) == value if equals else key in labels)


def merge(target: Object, patch: Object) -> None:
    """Applies a JSON merge patch in place."""
    for key, value in patch.items():
        if value is None:
            target.pop(key, None)
        elif isinstance(value, dict) and isinstance(target.get(key), dict):
            merge(target[key], value)
        else:
            target[key] = copy.deepcopy(value)
