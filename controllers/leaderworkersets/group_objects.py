"""What a gang scheduler that is not ours needs for one replica: its view of the gang and its group objects. Pure.

The objects belong to the leader pod, as the PodGroup does, and end with it. Their pods name them from their creation on; until
they exist the scheduler holds the pods back. Where the minimum rises once the leader has a node, this is who raises it.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from api.constants import EVENT_INVALID_GANG_SETTINGS
from api.errors import InvalidObject
from api.lws import LeaderWorkerSet
from api.meta import OwnerReference
from api.replica import group_index
from controllers.gangs.common_steps import Warn
from controllers.gangs.schedulers import kind_missing, provider_of_pods, timeout_seconds
from controllers.leaderworkersets.observed import ObservedReplica, group_named_by
from controllers.leaderworkersets.steps import ApplyReplicaGroupObjects
from providers.base import Provider
from providers.gang import Gang
from providers.replicas import replica_gang, roles_of
from providers.selection import Providers


def provider_of(replica: ObservedReplica, providers: Providers) -> Provider | None:
    """The gang scheduler that admission chose for the replica, None when its leader names none."""
    return provider_of_pods(replica.leader.metadata, providers)


def gang_of(lws: LeaderWorkerSet, replica: ObservedReplica) -> Gang:
    """The gang of a replica in the terms of `providers`.

    Raises:
        InvalidQuantity: a template asks for something that is no sane quantity.
    """
    leader = replica.leader
    gang = replica_gang(leader.metadata, group_named_by(leader) or "", leader.metadata.namespace)
    owner = OwnerReference(
        api_version="v1", kind="Pod", name=leader.metadata.name, uid=leader.metadata.uid, controller=True
    )
    return replace(
        gang,
        roles=roles_of(replica.revision.templates, replica.size) if replica.revision is not None else gang.roles,
        leader_is_placed=leader.is_bound,
        owner=owner,
        labels={**gang.labels, **(lws.metadata.labels or {})},
        annotations={**gang.annotations, **(lws.metadata.annotations or {})},
        priority_class_name=leader.spec.priority_class_name,
        timeout_seconds=timeout_seconds(lws.metadata),
    )


def group_object_step(
    lws: LeaderWorkerSet, replica: ObservedReplica, providers: Providers
) -> ApplyReplicaGroupObjects | Warn | None:
    """The step for the group objects of a replica whose leader names its group; None when they are as wanted."""
    provider = provider_of(replica, providers)
    if provider is None or provider.kind is None:
        return None
    if replica.kind_missing:
        return kind_missing(provider)
    try:
        gang = gang_of(lws, replica)
        wanted = provider.group_objects(gang)
    except InvalidObject as error:
        note = f"replica {group_index(replica.leader.metadata)} waits: {error}"
        return Warn(EVENT_INVALID_GANG_SETTINGS, note, action="CreateGroupObject")
    current = {each.metadata.name: each.spec.min_member for each in replica.group_objects}
    return None if all(_is_as(each, current) for each in wanted) else ApplyReplicaGroupObjects(replica.leader, gang)


def missing_kind_note(replicas: Iterable[ObservedReplica], providers: Providers) -> str:
    """What the set waits for, for people; empty unless the kind of some replica's gang scheduler is missing."""
    found = (provider_of(each, providers) for each in replicas if each.kind_missing)
    return next((kind_missing(provider).note for provider in found if provider is not None), "")


def _is_as(wanted: dict[str, Any], current: dict[str, int | None]) -> bool:
    return bool(current.get(wanted["metadata"]["name"]) == wanted["spec"]["minMember"])


def lacks_revision(replica: ObservedReplica, providers: Providers) -> bool:
    """Whether the objects cannot be written yet, because what its pods ask for is not known."""
    provider = provider_of(replica, providers)
    return provider is not None and provider.kind is not None and replica.revision is None
