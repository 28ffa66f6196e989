"""Collects the facts about one LeaderWorkerSet: leaders, workers and groups by UID, along their chain of controllers.

Labels and names only say where to look: anybody may put them on a pod. All of it comes from stores, except what is needed
rarely: the revision of a replica whose workers come later, and the workers of a replica that admission missed.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from api.compositepodgroup import CompositePodGroup
from api.constants import LWS_GROUP_INDEX, LWS_NAME, SCOPE
from api.lws import LWS_GROUP, LWS_KIND, LeaderWorkerSet
from api.meta import Metadata, controller_of
from api.names import composite_name, workload_name
from api.podgroup import PodGroup, Workload
from api.replica import SCOPE_SET, group_index
from controllers.gangs.indexes import BY_CONTROLLER
from controllers.gangs.ownership import counts_for, describe_holder
from controllers.gangs.schedulers import provider_of_pods
from controllers.leaderworkersets.observed import (
    ObservedReplica,
    ObservedSet,
    ReplicaPod,
    StatefulSet,
    group_named_by,
    is_managed_pod,
    needs_pods,
    needs_revision,
    set_of,
)
from controllers.leaderworkersets.revisions import Revisions
from controllers.mutation_cache import MutationCache
from controllers.provider_groups import KindMissing, ProviderGroup, ProviderGroups
from kube.cache.decoding import ListDecoder
from kube.cache.store import Indexer, Key, Store
from kube.client.client import Client
from kube.client.errors import NotFound
from kube.client.resources import PODS, Resource
from providers.base import GroupKind
from providers.selection import Providers

BY_SET: Final = "set"
"""Index of leaders: (namespace, name) of the LeaderWorkerSet they name."""

BY_OWNER: Final = "owner"
"""Index of StatefulSets: UID of their controller."""

_PODS: Final = ListDecoder(ReplicaPod)


def _by_set(leader: ReplicaPod) -> Iterable[Hashable]:
    return set_of(leader.metadata)


def _by_owner(owned: StatefulSet) -> Iterable[Hashable]:
    owner = controller_of(owned.metadata)
    return () if owner is None else (owner.uid,)


LEADER_INDEXERS: Final[dict[str, Indexer[ReplicaPod]]] = {BY_SET: _by_set}
STATEFUL_SET_INDEXERS: Final[dict[str, Indexer[StatefulSet]]] = {BY_OWNER: _by_owner}


@dataclass(frozen=True, slots=True)
class GroupObjects:
    """The objects that gang schedulers which bring their own kind have for replicas."""

    providers: Providers
    groups: ProviderGroups

    def has_kind(self, leader: ReplicaPod) -> bool:
        """Whether the scheduler of this leader brings a kind of its own."""
        return self._kind(leader) is not None

    async def of(self, leader: ReplicaPod) -> tuple[ProviderGroup, ...]:
        """What there is for this leader.

        Raises:
            KindMissing: the cluster does not know the kind.
            KubeError: they could not be listed.
        """
        kind = self._kind(leader)
        return () if kind is None else await self.groups.owned(kind, leader.metadata.uid)

    def _kind(self, leader: ReplicaPod) -> GroupKind | None:
        provider = provider_of_pods(leader.metadata, self.providers)
        return provider.kind if provider is not None else None


class SetObserver:
    """Looks LeaderWorkerSets up in the stores."""

    def __init__(
        self,
        client: Client,
        *,
        leaders: MutationCache[ReplicaPod],
        stateful_sets: Store[StatefulSet],
        workloads: MutationCache[Workload],
        pod_groups: MutationCache[PodGroup],
        group_objects: GroupObjects,
        composites: Resource | None = None,
    ) -> None:
        """Facts come from these.

        Args:
            client: for what no store has: revisions, workers that admission missed.
            leaders: indexed by `LEADER_INDEXERS`.
            stateful_sets: indexed by `STATEFUL_SET_INDEXERS`.
            workloads: indexed by `WORKLOAD_INDEXERS`.
            pod_groups: all of them.
            composites: where CompositePodGroups are kept; None where the server has none.
            group_objects: gives what the gang scheduler of a leader has for it, and whether it has a kind of its own.
        """
        self._client = client
        self._leaders = leaders
        self._stateful_sets = stateful_sets
        self._workloads = workloads
        self._pod_groups = pod_groups
        self._group_objects = group_objects
        self._composites = composites
        self._revisions = Revisions(client)

    async def observe(self, lws: LeaderWorkerSet) -> ObservedSet:
        """The facts about the set.

        Raises:
            KubeError: a revision or the workers of a replica could not be read.
        """
        metadata = lws.metadata
        key: Hashable = (metadata.namespace, LWS_GROUP, LWS_KIND, metadata.name)
        found = self._workloads.by_index(BY_CONTROLLER, key)
        workloads = tuple(each for each in found if counts_for(each.metadata, metadata.uid))
        replicas = [await self._replica(lws, leader) for leader in self._leaders_of(lws)]
        return ObservedSet(
            lws=lws,
            workloads=workloads,
            replicas=tuple(replicas),
            name_taken="" if workloads else self._workload_name_taken(metadata),
            composite=await self._composite(metadata) if metadata.annotation(SCOPE) == SCOPE_SET else None,
        )

    def sets_of_group(self, group: PodGroup) -> set[Key]:
        """The sets that may be concerned when this group changes."""
        return self.sets_of_owned(group.metadata)

    def sets_of_owned(self, owned: Metadata) -> set[Key]:
        """The sets that may be concerned when this object, which may belong to a leader, changes."""
        owner = controller_of(owned)
        if owner is None or owner.kind != "Pod":
            return set()
        leader = self._leaders.get(owned.namespace, owner.name)
        return set(set_of(leader.metadata if leader is not None else owned))

    def sets_of_workload(self, workload: Workload) -> set[Key]:
        """The sets that may be concerned when this Workload changes."""
        reference = workload.spec.controller_ref
        named = reference is not None and (reference.api_group, reference.kind) == (LWS_GROUP, LWS_KIND)
        return {(workload.metadata.namespace, reference.name)} if reference is not None and named else set()

    # --- inside --------------------------------------------------------------------------------------------------------

    async def _composite(self, metadata: Metadata) -> CompositePodGroup | None:
        if self._composites is None:
            return None
        name = composite_name(metadata.name, metadata.uid)
        try:
            found = msgspec.convert(
                await self._client.get(self._composites, name, metadata.namespace), CompositePodGroup
            )
        except NotFound:
            return None
        return found if counts_for(found.metadata, metadata.uid) else None

    def _leaders_of(self, lws: LeaderWorkerSet) -> list[ReplicaPod]:
        metadata = lws.metadata
        leader_set = self._stateful_sets.get(metadata.namespace, metadata.name)
        owner = controller_of(leader_set.metadata) if leader_set is not None else None
        if leader_set is None or owner is None or owner.uid != metadata.uid:
            return []
        found = self._leaders.by_index(BY_SET, metadata.key)
        mine = [pod for pod in found if _is_controlled_by(pod.metadata, leader_set.metadata.uid)]
        return sorted(mine, key=lambda pod: (group_index(pod.metadata) or 0, pod.metadata.name))

    async def _replica(self, lws: LeaderWorkerSet, leader: ReplicaPod) -> ObservedReplica:
        metadata, named = leader.metadata, group_named_by(leader)
        holder = self._pod_groups.get(metadata.namespace, named) if named else None
        is_mine = holder is not None and counts_for(holder.metadata, metadata.uid)
        owned = self._stateful_sets.by_index(BY_OWNER, metadata.uid)
        seen = ObservedReplica(
            leader=leader,
            group=holder if is_mine else None,
            workers=owned[0] if owned else None,
            name_taken=describe_holder("PodGroup", holder.metadata) if holder is not None and not is_mine else "",
        )
        if leader.is_over or not is_managed_pod(leader):
            return seen
        external = bool(named) and self._group_objects.has_kind(leader)
        if external:
            seen = await self._with_group_objects(seen)
        if external or needs_revision(lws, seen):
            return replace(seen, revision=await self._revisions.find(lws, leader.revision))
        return replace(seen, unassociated=await self._unassociated(seen)) if needs_pods(seen) else seen

    async def _with_group_objects(self, replica: ObservedReplica) -> ObservedReplica:
        try:
            return replace(replica, group_objects=await self._group_objects.of(replica.leader))
        except KindMissing:
            return replace(replica, kind_missing=True)

    async def _unassociated(self, replica: ObservedReplica) -> tuple[ReplicaPod, ...]:
        workers, leader = replica.workers, replica.leader.metadata
        if workers is None:
            return ()
        selector = f"{LWS_NAME}={leader.label(LWS_NAME)},{LWS_GROUP_INDEX}={leader.label(LWS_GROUP_INDEX)}"
        found: list[ReplicaPod] = []
        async for page in self._client.list_pages(PODS, leader.namespace, label_selector=selector):
            found += _PODS.page(page).items
        return tuple(
            pod for pod in found if _is_unassociated(pod) and _is_controlled_by(pod.metadata, workers.metadata.uid)
        )

    def _workload_name_taken(self, metadata: Metadata) -> str:
        holder = self._workloads.get(metadata.namespace, workload_name(metadata.name, metadata.uid))
        return "" if holder is None else describe_holder("Workload", holder.metadata)


def _is_unassociated(pod: ReplicaPod) -> bool:
    return is_managed_pod(pod) and not (pod.names_group or pod.is_over or pod.is_bound)


def _is_controlled_by(metadata: Metadata, uid: str) -> bool:
    owner = controller_of(metadata)
    return owner is not None and owner.uid == uid
