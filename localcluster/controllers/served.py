"""Which kinds the server serves, by discovery: kinds made from CRDs come and go while the cluster runs."""

from dataclasses import dataclass
from typing import Any, Final

from kube.client.client import Client
from kube.client.errors import NotFound
from kube.client.resources import Resource

UNCOLLECTED: Final = frozenset({("", "events"), ("events.k8s.io", "events")})
"""Kinds that own nothing, are owned by nobody, and change all the time."""

FOLLOWABLE: Final = frozenset({"delete", "list", "watch"})


@dataclass(frozen=True, slots=True)
class Served:
    """One kind as discovery tells of it, with the verbs it takes."""

    resource: Resource
    verbs: frozenset[str]

    @property
    def can_be_collected(self) -> bool:
        """Whether the garbage collector can follow it and delete from it."""
        return self.verbs >= FOLLOWABLE and (self.resource.group, self.resource.plural) not in UNCOLLECTED


async def served_kinds(client: Client) -> tuple[Served, ...]:
    """All kinds, each in its group's preferred version.

    Raises:
        KubeError: the server does not answer.
    """
    groups = await client.request_json("GET", "/apis")
    preferred = [group["preferredVersion"]["groupVersion"] for group in groups.get("groups") or []]
    found = list(_kinds(await client.request_json("GET", "/api/v1")))
    for version in preferred:
        try:
            found += _kinds(await client.request_json("GET", f"/apis/{version}"))
        except NotFound:
            continue  # its last kind has just gone
    return tuple(found)


def _kinds(listing: dict[str, Any]) -> list[Served]:
    group, _, version = str(listing["groupVersion"]).rpartition("/")
    return [
        Served(
            Resource(group, version, each["name"], each["kind"], namespaced=bool(each["namespaced"])),
            frozenset(each.get("verbs") or ()),
        )
        for each in listing.get("resources") or []
        if "/" not in each["name"]
    ]
