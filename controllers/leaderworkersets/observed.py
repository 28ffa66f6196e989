"""The facts about one LeaderWorkerSet on which its plan rests.

Everything in here has been sorted by UID already: a leader belongs to the leader StatefulSet of this very set, workers and
group to this very leader. What a predecessor of the same name left behind is not among the facts.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from api.compositepodgroup import CompositePodGroup
from api.constants import LWS_EXCLUSIVE_TOPOLOGY, LWS_NAME, LWS_REVISION, MANAGED, POD_GROUP
from api.job import PodTemplate
from api.lws import LeaderWorkerSet
from api.meta import NO_METADATA, Metadata, controller_of
from api.podgroup import PodGroup, Workload
from api.replica import size_of
from api.revision import Revision
from controllers.gangs.pod import GangPod, GangPodSpec
from controllers.provider_groups import ProviderGroup
from kube.cache.store import Key


class ReplicaPodSpec(GangPodSpec, frozen=True, rename="camel"):
    """`spec` of a replica's pod, as far as it matters here."""

    priority_class_name: str = ""


class ReplicaPod(GangPod, frozen=True):
    """A pod of a replica."""

    spec: ReplicaPodSpec = ReplicaPodSpec()

    @property
    def size(self) -> int | None:
        """Pods of its replica in its revision, None when it does not say."""
        return size_of(self.metadata)

    @property
    def revision(self) -> str:
        """The hash of the revision it was made from."""
        return self.metadata.label(LWS_REVISION) or ""


class StatefulSetSpec(msgspec.Struct, frozen=True):
    """`spec` of a StatefulSet, as far as it matters here."""

    template: PodTemplate = PodTemplate()


class StatefulSet(msgspec.Struct, frozen=True):
    """The leaders of a set, or the workers of a replica."""

    metadata: Metadata = NO_METADATA
    spec: StatefulSetSpec = StatefulSetSpec()

    @property
    def names_group(self) -> bool:
        """Whether its pods are born with the name of their group."""
        return bool(self.spec.template.metadata.annotation(POD_GROUP))


@dataclass(frozen=True, slots=True)
class ObservedReplica:
    """One replica.

    Attributes:
        leader: its leader pod.
        group: the PodGroup that the leader names, if it is there and belongs to the leader.
        workers: its worker StatefulSet.
        revision: what it was made from; looked up only when `needs_revision` says so.
        unassociated: its workers that do not name a group; looked up only when `needs_pods` says so.
        name_taken: what holds the name of a missing PodGroup, for people; empty when it is free.
        group_objects: the objects that its gang scheduler has for it, if that one brings its own kind.
        kind_missing: the cluster does not know that kind.
    """

    leader: ReplicaPod
    group: PodGroup | None = None
    workers: StatefulSet | None = None
    revision: Revision | None = None
    unassociated: tuple[ReplicaPod, ...] = ()
    name_taken: str = ""
    group_objects: tuple[ProviderGroup, ...] = ()
    kind_missing: bool = False

    @property
    def size(self) -> int:
        """Its pods; 1 when its leader does not say."""
        return self.leader.size or 1


@dataclass(frozen=True, slots=True)
class ObservedSet:
    """One LeaderWorkerSet and what belongs to it.

    Attributes:
        lws: the set.
        workloads: the Workloads that name it as their controller and count.
        replicas: its replicas, in the order of their leaders' names.
        name_taken: what holds the name of a missing Workload, for people; empty when it is free.
        composite: the CompositePodGroup over all replicas; looked up only where they start together.
    """

    lws: LeaderWorkerSet
    workloads: tuple[Workload, ...] = ()
    replicas: tuple[ObservedReplica, ...] = ()
    name_taken: str = ""
    composite: CompositePodGroup | None = None

    @property
    def workload(self) -> Workload | None:
        """The Workload to make groups from: ours, else the only one of somebody else; None when there is no such one."""
        ours = [each for each in self.workloads if controller_of(each.metadata) is not None]
        chosen = ours or list(self.workloads)
        return chosen[0] if len(chosen) == 1 and len(chosen[0].spec.pod_group_templates) == 1 else None


def is_managed_pod(pod: ReplicaPod) -> bool:
    """Whether admission marked the pod as one of a gang."""
    return pod.metadata.label(MANAGED) is not None


def group_named_by(leader: ReplicaPod) -> str | None:
    """Name of the PodGroup that a leader names, None when it names none."""
    return leader.metadata.annotation(POD_GROUP) or None


def leads_alone(lws: LeaderWorkerSet, leader: Metadata) -> bool:
    """Whether the workers are created only once their leader is ready, or has a node: they cannot start together with it."""
    return lws.waits_for_leader or bool(leader.annotation(LWS_EXCLUSIVE_TOPOLOGY))


def needs_revision(lws: LeaderWorkerSet, replica: ObservedReplica) -> bool:
    """Whether it matters now what the workers of a replica, which are still to come, will ask for."""
    if replica.size < 2 or not leads_alone(lws, replica.leader.metadata) or not group_named_by(replica.leader):
        return False
    return replica.group is None or (replica.workers is None and replica.group.is_gang and replica.group.need > 1)


def needs_pods(replica: ObservedReplica) -> bool:
    """Whether workers may exist that do not name their group: admission missed their StatefulSet."""
    named = group_named_by(replica.leader)
    return named is not None and replica.workers is not None and not replica.workers.names_group


def set_of(metadata: Metadata) -> Iterable[Key]:
    """The LeaderWorkerSet that a pod or StatefulSet belongs to by its label; for indexes, to be checked by UID."""
    name = metadata.label(LWS_NAME)
    return ((metadata.namespace, name),) if name else ()
