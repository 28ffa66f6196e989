"""The first half of `tutti run`: what must be on the cluster before the processes start."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from api.constants import SYSTEM_NAMESPACE
from install.apply import apply, wait_until_served
from install.manifests import Manifest, load
from install.poller import Poller
from install.rights import needed_to_install, require
from kube.client.client import Client
from kube.client.resources import NAMESPACES
from kube.groups.composites import find_composites
from kube.groups.discovery import decide, read_record, served_group_apis
from kube.groups.group_api import BUILT_IN_COMPOSITES, OWN, OWN_COMPOSITES, GroupAPI

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Prepared:
    """What the rest of `tutti run` goes on with.

    Attributes:
        group_api: the group API in force.
        rbac: the manifests that give the processes their rights.
        webhooks: the webhook configurations, to be created later.
    """

    group_api: GroupAPI
    rbac: tuple[Manifest, ...]
    webhooks: tuple[Manifest, ...]


async def prepare(client: Client, *, pinned: Literal["auto", "built-in", "own"], poller: Poller, say: Say) -> Prepared:
    """Bring CRDs (where they are needed), accounts, rights and the admission policy onto the cluster.

    Raises:
        ConfigurationError: a right is missing, or the group API cannot be had.
        KubeError: the API server refused, or cannot be reached.
    """
    crds, rbac, policy, webhooks = load("crd"), load("rbac"), load("policy"), load("webhook")
    await require(client, needed_to_install(crds + rbac + policy + webhooks, SYSTEM_NAMESPACE), purpose="tutti run")
    record = await read_record(client, SYSTEM_NAMESPACE)
    # Our own kinds count as served: what is missing of them is installed right away.
    group_api = decide(record, pinned, await served_group_apis(client) | {OWN})
    namespaces = tuple(each for each in rbac if each.resource == NAMESPACES)
    outcomes = [await apply(client, each, poller) for each in namespaces]
    wanted = crds if group_api is OWN else await _for_trees(client, group_api, crds)
    outcomes += [await apply(client, each, poller) for each in wanted]
    if wanted:
        await wait_until_served(client, wanted, poller)
    outcomes += [await apply(client, each, poller) for each in rbac + policy if each not in namespaces]
    counts = Counter(outcomes)
    say(
        f"cluster prepared for {group_api.pod_groups.api_version}: {counts['created']} objects created, "
        f"{counts['changed']} changed, {counts['unchanged']} found in order"
    )
    return Prepared(group_api, rbac, webhooks)


async def _for_trees(client: Client, group_api: GroupAPI, crds: tuple[Manifest, ...]) -> tuple[Manifest, ...]:
    """The CRD of CompositePodGroups, where the server has the other kinds and not this one."""
    if await find_composites(client, group_api) in BUILT_IN_COMPOSITES:
        return ()
    return tuple(each for each in crds if each.name == f"{OWN_COMPOSITES.plural}.{OWN_COMPOSITES.group}")
