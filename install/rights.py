"""Asking before acting: does a user hold every right that is about to be used?

Half an installation is worse than none, so missing rights are found before the first write and named in one line. And a
process that is started the moment its role was made would be refused: the API server learns of roles a little later.
"""

import asyncio
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

from api.errors import ConfigurationError
from install.kinds import CLUSTER_ROLES, ROLES, WEBHOOKS
from install.manifests import Manifest
from kube.client.client import Client
from kube.client.errors import NotFound
from kube.client.resources import (
    CONFIG_MAPS,
    JOB_SETS,
    JOBS,
    LEADER_WORKER_SETS,
    LEASES,
    PODS,
    SECRETS,
    SERVICE_ACCOUNTS,
    Resource,
)
from kube.groups.group_api import BUILT_IN, BUILT_IN_COMPOSITES, OWN, OWN_COMPOSITES

_REVIEWS: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_SHOWN: Final = 6


@dataclass(frozen=True, slots=True, order=True)
class Right:
    """One verb on one resource.

    Attributes:
        verb: as RBAC names it.
        group: the API group, "" for the core group.
        resource: the plural, with its subresource after a slash if it has one.
        namespace: "" when it is needed in all of them or the resource has none.
        name: of the only object it is needed for, "" for all.
    """

    verb: str
    group: str
    resource: str
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        """As a person says it: verb, resource, and where."""
        plural, slash, subresource = self.resource.partition("/")
        full = f"{plural}{'.' if self.group else ''}{self.group}{slash}{subresource}"
        name = f" {self.name}" if self.name else ""
        return f"{self.verb} {full}{name}" + (f" in {self.namespace}" if self.namespace else "")


def needed_to_install(manifests: Iterable[Manifest], system_namespace: str) -> frozenset[Right]:
    """What `tutti run` uses: apply these manifests, take the webhooks off again, and get tokens for its processes."""
    rights = _on_kinds(manifests, ("get", "create", "update"))
    rights |= {_right("delete", resource) for resource in WEBHOOKS}
    rights.add(_right("create", SERVICE_ACCOUNTS, system_namespace, subresource="token"))
    rights.add(_right("get", CONFIG_MAPS, system_namespace))
    return frozenset(rights)


def needed_to_uninstall(manifests: Iterable[Manifest], system_namespace: str) -> frozenset[Right]:
    """What `tutti uninstall` uses whatever is installed: delete all that, and give Jobs and pods back."""
    rights = _on_kinds(manifests, ("get", "delete"))
    rights |= {_right(verb, resource) for verb in ("get", "list", "patch") for resource in (JOBS, PODS)}
    rights |= {_right("list", resource) for resource in (LEADER_WORKER_SETS, JOB_SETS)}
    for api in (OWN, BUILT_IN):
        rights |= {
            _right(v, each) for v in ("get", "list", "patch", "delete") for each in (api.workloads, api.pod_groups)
        }
    for composites in (OWN_COMPOSITES, *BUILT_IN_COMPOSITES):
        rights |= {_right(verb, composites) for verb in ("list", "delete")}
    for resource in (CONFIG_MAPS, LEASES, SECRETS):
        rights |= {_right(verb, resource, system_namespace) for verb in ("get", "list", "delete")}
    return frozenset(rights)


def granted_to(account: str, manifests: Collection[Manifest]) -> frozenset[Right]:
    """Every right that the manifests give to a service account through roles of its own name."""
    rights: set[Right] = set()
    for manifest in manifests:
        if manifest.resource in {CLUSTER_ROLES, ROLES} and manifest.name == account:
            for rule in manifest.body["rules"]:
                parts = product(rule["verbs"], rule["apiGroups"], rule["resources"], rule.get("resourceNames", [""]))
                rights |= {
                    Right(verb, group, resource, manifest.namespace or "", name)
                    for verb, group, resource, name in parts
                }
    return frozenset(rights)


async def missing(client: Client, rights: Iterable[Right]) -> list[Right]:
    """Those that the client's user does not hold. A server without access reviews guards nothing: none is missing."""
    wanted = sorted(rights)
    try:
        held = await asyncio.gather(*(_holds(client, each) for each in wanted))
    except NotFound:
        return []
    return [each for each, ok in zip(wanted, held, strict=True) if not ok]


async def require(client: Client, rights: Iterable[Right], *, purpose: str) -> None:
    """Pass only if all of them are held.

    Raises:
        ConfigurationError: some are missing; they are named.
    """
    lacking = [str(each) for each in await missing(client, rights)]
    if lacking:
        more = f" and {len(lacking) - _SHOWN} more" if len(lacking) > _SHOWN else ""
        raise ConfigurationError(f"{purpose} needs rights that this user lacks: {', '.join(lacking[:_SHOWN])}{more}")


def _on_kinds(manifests: Iterable[Manifest], verbs: Iterable[str]) -> set[Right]:
    kinds = {(each.resource, each.namespace or "") for each in manifests}
    return {_right(verb, resource, namespace) for (resource, namespace), verb in product(kinds, verbs)}


def _right(verb: str, resource: Resource, namespace: str = "", *, subresource: str = "") -> Right:
    plural = f"{resource.plural}/{subresource}" if subresource else resource.plural
    return Right(verb, resource.group, plural, namespace)


async def _holds(client: Client, wanted: Right) -> bool:
    plural, _, subresource = wanted.resource.partition("/")
    attributes: dict[str, Any] = {"verb": wanted.verb, "group": wanted.group, "resource": plural}
    optional = {"subresource": subresource, "namespace": wanted.namespace, "name": wanted.name}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes | {key: value for key, value in optional.items() if value}},
    }
    answer = await client.request_json("POST", _REVIEWS, review)
    return bool((answer.get("status") or {}).get("allowed"))
