"""The effects a pass over a LeaderWorkerSet may have, as values. What each does is in `controllers.leaderworkersets.execute`."""

from dataclasses import dataclass
from typing import Final

from api.compile_replica import Replica
from api.compositepodgroup import CompositePodGroup
from api.gang import GroupIntent
from api.podgroup import PodGroup, Workload
from controllers.gangs.common_steps import CreateWorkload, Plan, SetWorkloadMinimum, ShowKindMissing, Warn
from controllers.leaderworkersets.observed import ReplicaPod
from providers.gang import Gang


@dataclass(frozen=True, slots=True)
class ConfirmSet:
    """Reads the set from the server and ends the pass unless it is still the one the plan was made for.

    Comes before the creation of its Workload: the store may hold a set whose deletion nobody reported.
    """


@dataclass(frozen=True, slots=True)
class CreateComposite:
    """Creates the CompositePodGroup over all replicas.

    Attributes:
        intent: what its replicas are.
        workload: name of its Workload; None stands for the one this pass has just created.
    """

    intent: GroupIntent
    workload: str | None


@dataclass(frozen=True, slots=True)
class SetCompositeMinimum:
    """So many replicas start together from now on, where the server lets that be changed."""

    composite: CompositePodGroup
    min_group_count: int


@dataclass(frozen=True, slots=True)
class CreateGroups:
    """Creates the PodGroups of replicas; `workload` None stands for the one this pass has just created."""

    replicas: tuple[Replica, ...]
    workload: Workload | None


@dataclass(frozen=True, slots=True)
class AnnotateReplicaPods:
    """Writes the name of their group to existing pods.

    Attributes:
        pods: each with the name of its group.
    """

    pods: tuple[tuple[ReplicaPod, str], ...]


@dataclass(frozen=True, slots=True)
class LowerMinimumToLeader:
    """Lowers the minimum of a group whose workers are going to come later than was said at its creation."""

    group: PodGroup
    min_resources: str


@dataclass(frozen=True, slots=True)
class ApplyReplicaGroupObjects:
    """Creates the group objects of a replica's own gang scheduler, or brings their minimum up to date."""

    leader: ReplicaPod
    gang: Gang


Step = (
    ConfirmSet
    | CreateWorkload
    | SetWorkloadMinimum
    | CreateComposite
    | SetCompositeMinimum
    | CreateGroups
    | AnnotateReplicaPods
    | LowerMinimumToLeader
    | ApplyReplicaGroupObjects
    | ShowKindMissing
    | Warn
)


SetPlan = Plan[Step]
"""What one pass over a LeaderWorkerSet does."""

NOTHING: Final[SetPlan] = Plan()
