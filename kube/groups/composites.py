"""Where CompositePodGroups are kept: in the built-in API where the server has them there, else as our CRD.

PodGroups may be built-in while CompositePodGroups are ours: the built-in kind is behind a gate of its own, and without
that gate the server drops the field by which a PodGroup names its parent. Then the annotation `parent-composite-pod-group` says it.
"""

from collections.abc import Iterable
from typing import Final

from api.constants import BUILT_IN_GROUP
from kube.client.client import Client
from kube.client.errors import NotFound
from kube.client.resources import Resource
from kube.groups.group_api import BUILT_IN_COMPOSITES, OWN_COMPOSITES, GroupAPI

NOT_AVAILABLE: Final = (
    f"nested groups are not available on this server: it serves neither {OWN_COMPOSITES.plural} of {BUILT_IN_GROUP} (feature "
    f"gate CompositePodGroup) nor our CRD {OWN_COMPOSITES.plural}.{OWN_COMPOSITES.group}; PodGroups that name a parent wait"
)


async def find_composites(client: Client, api: GroupAPI) -> Resource | None:
    """The resource of CompositePodGroups beside this group API; None when the server has none.

    Args:
        client: talks to the cluster in question.
        api: the group API in force.
    """
    built_in = BUILT_IN_COMPOSITES if api.name == "built-in" else ()
    return await first_served(client, (*built_in, OWN_COMPOSITES))


async def first_served(client: Client, resources: Iterable[Resource]) -> Resource | None:
    """The first of these that the server has; None when it has none of them."""
    for resource in resources:
        if await _serves(client, resource):
            return resource
    return None


def has_parent_field(api: GroupAPI, composites: Resource) -> bool:
    """Whether PodGroups keep the field that names their parent."""
    return composites.group == api.pod_groups.group


async def _serves(client: Client, resource: Resource) -> bool:
    try:
        found = await client.request_json("GET", f"/apis/{resource.api_version}")
    except NotFound:
        return False
    return any(each.get("name") == resource.plural for each in found.get("resources") or [])
