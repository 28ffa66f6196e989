"""Discovery in its two forms: one document per group-version (legacy), and everything at once (aggregated v2).

Pure. kubectl reads the aggregated form; kopf, the dynamic client, `kubectl drain` and `kubectl auth can-i` read the
legacy one.
"""

from collections.abc import Sequence
from typing import Any

from localcluster.apiserver.discovery.groups import Group, GroupVersion, subresources, verbs
from localcluster.apiserver.kinds.kind import KindInfo

Document = dict[str, Any]


def api_versions(server_address: str) -> Document:
    """The answer to `/api`."""
    return {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": server_address}],
    }


def group_list(groups: Sequence[Group]) -> Document:
    """The answer to `/apis`: all groups but the core one."""
    return {
        "kind": "APIGroupList",
        "apiVersion": "v1",
        "groups": [_group_entry(group) for group in groups if group.name],
    }


def group_document(group: Group) -> Document:
    """The answer to `/apis/GROUP`."""
    return {"kind": "APIGroup", "apiVersion": "v1", **_group_entry(group)}


def _group_entry(group: Group) -> Document:
    versions = [{"groupVersion": each.api_version, "version": each.version} for each in group.versions]
    return {"name": group.name, "versions": versions, "preferredVersion": versions[0]}


def resource_list(group_version: GroupVersion) -> Document:
    """The answer to `/api/v1` and `/apis/GROUP/VERSION`."""
    head: Document = {"kind": "APIResourceList"}
    if group_version.group:
        head["apiVersion"] = "v1"
    entries = [entry for kind in group_version.kinds for entry in _resource_entries(kind)]
    return {**head, "groupVersion": group_version.api_version, "resources": entries}


def _resource_entries(kind: KindInfo) -> list[Document]:
    entry: Document = {
        "name": kind.plural,
        "singularName": kind.singular_name,
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": verbs(kind),
        **_words(kind),
    }
    inner = [
        {
            "name": f"{kind.plural}/{each.name}",
            "singularName": "",
            "namespaced": kind.namespaced,
            **({"group": each.group, "version": each.version} if each.group else {}),
            "kind": each.kind,
            "verbs": list(each.verbs),
        }
        for each in subresources(kind)
    ]
    return [entry, *inner]


def _words(kind: KindInfo) -> Document:
    words: Document = {}
    if kind.short_names:
        words["shortNames"] = list(kind.short_names)
    if kind.categories:
        words["categories"] = list(kind.categories)
    return words


def aggregated(groups: Sequence[Group]) -> Document:
    """The answer to `/api` or `/apis` when the aggregated form is asked for."""
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": [_aggregated_group(group) for group in groups],
    }


def _aggregated_group(group: Group) -> Document:
    return {
        "metadata": {"name": group.name} if group.name else {},
        "versions": [
            {
                "version": each.version,
                "resources": [_aggregated_resource(kind) for kind in each.kinds],
                "freshness": "Current",
            }
            for each in group.versions
        ],
    }


def _aggregated_resource(kind: KindInfo) -> Document:
    custom = kind.definition is not None
    own = {"group": kind.group if custom else "", "version": kind.version if custom else ""}
    resource: Document = {
        "resource": kind.plural,
        "responseKind": {**own, "kind": kind.kind},
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": kind.singular_name,
        "verbs": verbs(kind),
        **_words(kind),
    }
    inner = [
        {
            "subresource": each.name,
            "responseKind": {
                "group": each.group or own["group"],
                "version": each.version or own["version"],
                "kind": each.kind,
            },
            "verbs": list(each.verbs),
        }
        for each in subresources(kind)
    ]
    return {**resource, "subresources": inner} if inner else resource


def paths(groups: Sequence[Group]) -> Document:
    """The answer to `/`."""
    named = ["/api", "/api/v1", "/apis", "/apis/"]
    for group in groups:
        if group.name:
            named.append(f"/apis/{group.name}")
            named += [f"/apis/{each.api_version}" for each in group.versions]
    return {"paths": [*sorted(named), "/healthz", "/livez", "/openapi/v3", "/readyz", "/version"]}
