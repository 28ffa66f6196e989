"""The served kinds, put in the order in which discovery lists them.

Pure. Order matters to clients: kubectl takes the first group that knows a short name, kopf the preferred version of a
group. Built-in groups come first, in the real server's order; the groups of CRDs follow by name.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from localcluster.apiserver.kinds.kind import KindInfo

GROUP_ORDER = (
    "",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "resource.k8s.io",
)

READ_AND_WRITE = ("get", "patch", "update")
SUBRESOURCES: dict[str, tuple[tuple[str, str, str] | None, tuple[str, ...]]] = {
    "binding": (("", "v1", "Binding"), ("create",)),
    "eviction": (("policy", "v1", "Eviction"), ("create",)),
    "finalize": (None, ("update",)),
    "log": (None, ("get",)),
    "scale": (("autoscaling", "v1", "Scale"), READ_AND_WRITE),
    "token": (("authentication.k8s.io", "v1", "TokenRequest"), ("create",)),
}
"""The kind of body each sub-resource takes (None: the kind's own), and its verbs."""

CUSTOM_SUBRESOURCES = ("status", "scale")
CUSTOM_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
_VERSION = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?")


@dataclass(frozen=True, slots=True)
class Subresource:
    """One sub-resource of a kind; group and version are empty when the body is in the kind's own."""

    name: str
    group: str
    version: str
    kind: str
    verbs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GroupVersion:
    """One version of a group and its kinds, by plural."""

    group: str
    version: str
    kinds: tuple[KindInfo, ...]

    @property
    def api_version(self) -> str:
        """`apiVersion` as manifests write it."""
        return f"{self.group}/{self.version}" if self.group else self.version


@dataclass(frozen=True, slots=True)
class Group:
    """A group and its versions, the preferred one first."""

    name: str
    versions: tuple[GroupVersion, ...]


def arrange(kinds: Iterable[KindInfo]) -> list[Group]:
    """The kinds by group and version."""
    grouped: dict[str, dict[str, list[KindInfo]]] = {}
    for kind in kinds:
        grouped.setdefault(kind.group, {}).setdefault(kind.version, []).append(kind)
    return [
        Group(
            name,
            tuple(
                GroupVersion(name, version, tuple(sorted(members, key=lambda kind: kind.plural)))
                for version, members in sorted(grouped[name].items(), key=_version_key)
            ),
        )
        for name in sorted(grouped, key=_group_key)
    ]


def subresources(kind: KindInfo) -> list[Subresource]:
    """The sub-resources of a kind, by name; those of custom kinds in an order of their own."""
    found = []
    for name in sorted(kind.subresources, key=_custom_order if kind.definition is not None else None):
        body, verbs = SUBRESOURCES.get(name, (None, READ_AND_WRITE))
        group, version, body_kind = body or ("", "", kind.kind)
        own = not group
        found.append(Subresource(name, "" if own else group, "" if own else version, body_kind, verbs))
    return found


def verbs(kind: KindInfo) -> list[str]:
    """What can be done with a kind; those of custom kinds come in an order of their own, as on a real server."""
    given = set(kind.verbs)
    return [verb for verb in CUSTOM_VERBS if verb in given] if kind.definition is not None else sorted(given)


def _custom_order(name: str) -> int:
    return CUSTOM_SUBRESOURCES.index(name)


def _group_key(name: str) -> tuple[int, str]:
    return (GROUP_ORDER.index(name), "") if name in GROUP_ORDER else (len(GROUP_ORDER), name)


def _version_key(entry: tuple[str, Any]) -> tuple[Any, ...]:
    """Preferred first, then stable before beta before alpha, higher before lower, anything else last by name."""
    name, members = entry
    preferred = not any(kind.preferred for kind in members)
    match = _VERSION.fullmatch(name)
    if match is None:
        return preferred, 1, 0, 0, 0, name
    stage = {None: 0, "beta": 1, "alpha": 2}[match[2]]
    return preferred, 0, stage, -int(match[1]), -int(match[3] or 0), name
