"""Claims that are reserved for a whole PodGroup (KEP-5729): which of its pods hold them, and which claims nobody of it uses.

The controller of claims takes the devices off such a claim only when the group is deleted. A gang that is preempted keeps its
group, so its devices would never come free by that: once none of its pods has a place, we take them off for who is more important.
"""

from collections.abc import Container, Iterator

from api.devices import ConsumerReference
from scheduler.cache.cluster import ClusterState
from scheduler.cache.devices.records import GROUP_RESOURCE, ClaimRecord, DeviceId
from scheduler.cache.pod_group_state import MemberState, PodGroupState
from scheduler.cache.records import PodRecord


def cleared_for(state: ClusterState, preemptor: PodGroupState) -> frozenset[DeviceId]:
    """The devices for which somebody was asked to leave, so that this item gets them."""
    nomination = state.nominator.of(preemptor.key)
    kept = nomination.devices.values() if nomination is not None else ()
    return frozenset(one.id for devices in kept for one in devices)


def placed_pods(
    state: ClusterState, claim: ClaimRecord, consumer: ConsumerReference, cleared: Container[DeviceId] = ()
) -> list[PodRecord] | None:
    """The pods of a group that is a consumer which have a place; None when nobody can tell.

    Nobody can of a group of another scheduler, and of one that no pod names: it keeps its devices as long as it exists, unless its
    pods were asked to leave because of them.

    Args:
        state: the cluster.
        claim: the claim.
        consumer: the group.
        cleared: devices for which somebody was asked to leave.
    """
    namespace = claim.metadata.namespace
    members = group_of(state, namespace, consumer)
    if members is None:
        return []
    if members.group is None or members.group.is_foreign or state.foreign_groups.name(namespace, consumer.name):
        return None
    if members.is_empty and not any(one.id in cleared for one in claim.held):
        return None
    return list(members.pods(MemberState.ASSUMED, MemberState.BOUND))


def group_of(state: ClusterState, namespace: str, consumer: ConsumerReference) -> PodGroupState | None:
    """The members of the group that is a consumer; None when the group is gone."""
    members = state.entities.of_group(namespace, consumer.name)
    is_there = members is not None and members.group is not None and members.group.uid == consumer.uid
    return members if is_there else None


def idle_group_claims(state: ClusterState, preemptor: PodGroupState) -> Iterator[ClaimRecord]:
    """Claims with devices that are reserved only for groups less important than this one none of whose pods has a place.

    The least important group's first.
    """
    found = []
    cleared = cleared_for(state, preemptor)
    for claim in state.devices.holding_for_groups():
        consumers = list(claim.reserved_for.values())
        if claim.metadata.is_terminating or state.devices.is_being_released(claim.key):
            continue
        if any(one.resource != GROUP_RESOURCE for one in consumers):
            continue
        groups = [group_of(state, claim.metadata.namespace, one) for one in consumers]
        priorities = [
            state.classes.as_victim(members.group, members.priority) for members in groups if members is not None
        ]
        is_idle = len(priorities) == len(consumers) and max(priorities) < preemptor.priority
        if is_idle and all(placed_pods(state, claim, one, cleared) == [] for one in consumers):
            found.append((max(priorities), claim))
    found.sort(key=lambda one: one[0])
    yield from (claim for _, claim in found)
