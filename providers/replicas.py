"""A replica of a LeaderWorkerSet as a gang, from what its leader pod says. Admission and the controllers share it.

At its creation a leader is all that is known of its replica, so what the pods of every incarnation are told alike is written
into the templates when the set is admitted (`template_metadata`), and only what differs is written into the pods.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from api.constants import LEADER_FIRST, LWS_EXCLUSIVE_TOPOLOGY
from api.errors import InvalidQuantity
from api.gang import GroupIntent
from api.job import PodTemplate
from api.meta import Metadata
from api.replica import size_of
from api.revision import RevisionTemplates, spec_of
from providers.base import MinMemberRule, PodMetadata, Provider
from providers.gang import LEADER, WORKER, Gang, Role, StartupPolicy, role_of

TRUE: Final = "true"


def why_not(provider: Provider, intent: GroupIntent, *, leads_alone: bool) -> str | None:
    """Why replicas cannot be gangs of this provider, None when they can."""
    able = provider.capabilities
    if not able.needs_group:
        return f"provider {provider.name} takes LeaderWorkerSets in by itself and is told nothing"
    if able.reads_pod_groups:
        apart = provider.min_member_rule(StartupPolicy.LEADER_READY) is MinMemberRule.LEADER_APART
        if leads_alone and apart and intent.policy == "gang":
            return (
                f"provider {provider.name} cannot hold the workers of a leader that starts before them; use the "
                "startupPolicy LeaderCreated without an exclusive topology, or the provider embedded"
            )
        return None
    if intent.policy == "basic":
        return f"provider {provider.name} has no use for a group without a minimum (policy basic)"
    return None


def comes_first(leader: Metadata) -> bool:
    """Whether the workers of this leader are created only once it is ready, or has a node."""
    return leader.annotation(LEADER_FIRST) == TRUE or bool(leader.annotation(LWS_EXCLUSIVE_TOPOLOGY))


def roles(size: int) -> tuple[Role, ...]:
    """The roles of a replica of which nothing but the size is known."""
    return (Role(LEADER, 1), Role(WORKER, size - 1)) if size > 1 else (Role(LEADER, 1),)


def replica_gang(leader: Metadata, name: str, namespace: str, template: Metadata | None = None) -> Gang:
    """The gang of this leader, without what its pods ask for.

    Args:
        leader: its metadata; the size of its replica stands there.
        name: its PodGroup.
        namespace: of all of it; a pod under creation may not say it.
        template: whose labels and annotations count, those of the leader when left out.
    """
    told, size = template or leader, size_of(leader) or 1
    return Gang(
        name=name,
        namespace=namespace,
        min_count=size,
        roles=roles(size),
        startup=StartupPolicy.LEADER_READY if comes_first(leader) else StartupPolicy.LEADER_CREATED,
        labels=told.labels or {},
        annotations=told.annotations or {},
    )


def roles_of(templates: RevisionTemplates, size: int) -> tuple[Role, ...]:
    """The roles of a replica that is made from these templates.

    Raises:
        InvalidQuantity: a template asks for something that is no sane quantity.
    """
    made = [(LEADER, 1, templates.leader), (WORKER, size - 1, templates.worker_template)]
    try:
        return tuple(role_of(name, count, spec_of(template)) for name, count, template in made if count > 0)
    except msgspec.ValidationError as error:
        raise InvalidQuantity(str(error)) from error


def pod_metadata(provider: Provider, gang: Gang, role_name: str) -> PodMetadata:
    """What a pod of that role is told, by the scheduler's own terms only."""
    role = next((each for each in gang.roles if each.name == role_name), gang.roles[0])
    return provider.pod_metadata(gang, role)


def template_metadata(provider: Provider, gang: Gang) -> PodMetadata:
    """What every pod of every replica is told, whichever its role and incarnation: it can stand in the templates."""
    told = provider.pod_metadata(gang, gang.roles[0])
    return PodMetadata(_only(told.labels, provider), _only(told.annotations, provider))


def _only(values: Mapping[str, str], provider: Provider) -> dict[str, str]:
    return {key: value for key, value in values.items() if key in provider.template_keys}


def own_group_key(provider: Provider, templates: tuple[PodTemplate, ...]) -> str | None:
    """The key by which a pod template names a group of this scheduler itself, None when none does."""
    for template in templates:
        for key in provider.group_keys:
            if template.metadata.label(key) or template.metadata.annotation(key):
                return key
    return None
