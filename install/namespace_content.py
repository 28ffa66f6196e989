"""Whether a namespace may go: what is in it that we put there, and what we did not.

Deleting a namespace deletes everything in it, so everything counts that the server can list there: all its namespaced kinds
that can be deleted, but for those that come and go by themselves.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Any, Final

from api.constants import PART_OF, PART_OF_LABEL
from kube.client.client import Client
from kube.client.errors import AnsweredError, Forbidden, NotFound
from kube.client.resources import NAMESPACES, Resource

_COMES_BY_ITSELF: Final = frozenset(
    {
        ("configmaps", "kube-root-ca.crt"),
        ("configmaps", "openshift-service-ca.crt"),
        ("serviceaccounts", "default"),
    }
)
_PASSING: Final = frozenset(
    {"bindings", "controllerrevisions", "endpoints", "endpointslices", "events", "leases", "replicasets"}
)
_OF_ACCOUNTS: Final = "kubernetes.io/service-account-token"
_AT_ONCE: Final = 8


@dataclass(slots=True)
class NamespaceContent:
    """What is in a namespace and does not come by itself.

    Attributes:
        ours: kinds and objects that an overlay of `config/` has put there.
        foreign: kind and name of everything else. What may not be looked at counts as something.
    """

    ours: list[tuple[Resource, dict[str, Any]]] = field(default_factory=list)
    foreign: set[str] = field(default_factory=set)


async def content_of(client: Client, namespace: str) -> NamespaceContent:
    """What is in the namespace; nothing when there is no such namespace."""
    content = NamespaceContent()
    try:
        await client.get(NAMESPACES, namespace)
    except NotFound:
        return content
    slots = asyncio.Semaphore(_AT_ONCE)

    async def look(resource: Resource) -> None:
        async with slots:
            await _add(content, client, resource, namespace)

    await asyncio.gather(*(look(resource) for resource in await namespaced_resources(client)))
    return content


async def namespaced_resources(client: Client) -> list[Resource]:
    """Every namespaced kind the server serves that can be listed and deleted, in its preferred version."""
    groups = (await client.request_json("GET", "/apis")).get("groups") or []
    versions = [("", "v1", "/api/v1")]
    versions += [
        (g["name"], v["version"], f"/apis/{v['groupVersion']}") for g in groups if (v := g["preferredVersion"])
    ]
    resources: list[Resource] = []
    for group, version, path in versions:
        try:
            found = await client.request_json("GET", path)
        except AnsweredError:
            # An aggregated API that is down cannot be looked into; that must not keep anybody from uninstalling.
            continue
        resources += [_resource(group, version, each) for each in found.get("resources") or [] if _counts(each)]
    return resources


def _counts(resource: dict[str, Any]) -> bool:
    verbs = set(resource.get("verbs") or [])
    name = str(resource["name"])
    return bool(resource.get("namespaced")) and {"list", "delete"} <= verbs and "/" not in name and name not in _PASSING


def _resource(group: str, version: str, found: dict[str, Any]) -> Resource:
    return Resource(group, version, str(found["name"]), str(found["kind"]), namespaced=True)


async def _add(content: NamespaceContent, client: Client, resource: Resource, namespace: str) -> None:
    try:
        found = (await client.list(resource, namespace)).get("items") or []
    except NotFound:
        return
    except Forbidden:
        content.foreign.add(f"{resource.kind} (may not be listed)")
        return
    for each in found:
        if not _counts_as_content(resource, each):
            continue
        if (each["metadata"].get("labels") or {}).get(PART_OF_LABEL) == PART_OF:
            content.ours.append((resource, each))
        else:
            content.foreign.add(f"{resource.kind} {each['metadata']['name']}")


def _counts_as_content(resource: Resource, found: dict[str, Any]) -> bool:
    if found["metadata"].get("deletionTimestamp"):
        return False
    if found.get("type") == _OF_ACCOUNTS:
        return False
    return (resource.plural, found["metadata"]["name"]) not in _COMES_BY_ITSELF
