"""Whether a namespace may go: what is in it that we did not put there.

Deleting a namespace deletes everything in it, so everything counts that the server can list there: all its namespaced kinds
that can be deleted, but for those that come and go by themselves.
"""

import asyncio
from typing import Any, Final

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


async def leftovers_in(client: Client, namespace: str) -> list[str]:
    """Kind and name of everything in the namespace that does not come by itself; none when there is no such namespace.

    What this user may not look at counts as something.
    """
    try:
        await client.get(NAMESPACES, namespace)
    except NotFound:
        return []
    slots = asyncio.Semaphore(_AT_ONCE)

    async def listed(resource: Resource) -> list[str]:
        async with slots:
            return await _listed(client, resource, namespace)

    found = await asyncio.gather(*(listed(resource) for resource in await namespaced_resources(client)))
    return sorted({name for names in found for name in names})


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


async def _listed(client: Client, resource: Resource, namespace: str) -> list[str]:
    try:
        found = (await client.list(resource, namespace)).get("items") or []
    except NotFound:
        return []
    except Forbidden:
        return [f"{resource.kind} (may not be listed)"]
    return [f"{resource.kind} {each['metadata']['name']}" for each in found if _is_foreign(resource, each)]


def _is_foreign(resource: Resource, found: dict[str, Any]) -> bool:
    if found["metadata"].get("deletionTimestamp"):
        return False
    if found.get("type") == _OF_ACCOUNTS:
        return False
    return (resource.plural, found["metadata"]["name"]) not in _COMES_BY_ITSELF
