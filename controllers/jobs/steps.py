"""The effects a pass over a Job may have, as values. What each does to the API server is in `controllers.jobs.execute`."""

from dataclasses import dataclass
from typing import Final

from api.podgroup import PodGroup, PodGroupTemplate, Workload
from controllers.gangs.common_steps import CreateWorkload, Plan, SetWorkloadMinimum, ShowKindMissing, Warn
from controllers.gangs.pod import GangPod
from controllers.jobs.kueue import SetKueueWorkloadActive


@dataclass(frozen=True, slots=True)
class ConfirmJob:
    """Reads the Job from the server and ends the pass unless it is still the one the plan was made for.

    Comes before every creation: the store may hold a Job whose deletion nobody reported. One that the server has shown just now
    is not read: the objects of a Job that ended since are garbage either way, and the Job's patch names its UID. When some of its
    objects went meanwhile, it is read all the same: they go with their Job, and making them anew would be a race with the
    garbage collector, round after round.
    """


@dataclass(frozen=True, slots=True)
class CreatePodGroup:
    """Creates the PodGroup from the template of a Workload.

    Attributes:
        workload: None stands for the one this pass has just created.
        template: the template that the Job's parent named; None for the only template of the Job's own Workload.
    """

    workload: Workload | None
    template: PodGroupTemplate | None = None


@dataclass(frozen=True, slots=True)
class ApplyGroupObjects:
    """Creates the group objects of a gang scheduler that is not ours, or brings their minimum up to date.

    Attributes:
        group: the PodGroup they stand for; None stands for the one this pass has just created.
        current: the minimum they have now, None when they are not there.
    """

    group: PodGroup | None
    current: int | None = None


@dataclass(frozen=True, slots=True)
class PatchJob:
    """One patch of the Job, valid only for the version the plan was made for.

    Attributes:
        associate: write what ties the pods to the group into the template.
        group: that group; None stands for the one this pass has just created.
        unmanage: take our label off the template.
        open_gate: resume the Job if it is suspended, unless that is left to Kueue, and take the gate annotation off.
        resume: False: whoever suspended the Job meanwhile resumes it, and an open gate is all it gets.
        close_gate: suspend the Job and put the gate annotation on.
        suspend: suspend the Job until somebody else resumes it, and say on it that it was us.
    """

    associate: bool = False
    group: PodGroup | None = None
    unmanage: bool = False
    open_gate: bool = False
    resume: bool = True
    close_gate: bool = False
    suspend: bool = False


@dataclass(frozen=True, slots=True)
class AnnotatePods:
    """Writes to existing pods which group they belong to.

    Attributes:
        pods: of the Job.
        group: None stands for the one this pass has just created.
    """

    pods: tuple[GangPod, ...]
    group: PodGroup | None


@dataclass(frozen=True, slots=True)
class UnlabelPods:
    """Gives existing pods back to plain scheduling."""

    pods: tuple[GangPod, ...]


@dataclass(frozen=True, slots=True)
class SetPodGroupMinimum:
    """Changes the minimum of our PodGroup."""

    group: PodGroup
    min_count: int


Step = (
    ConfirmJob
    | CreateWorkload
    | CreatePodGroup
    | ApplyGroupObjects
    | PatchJob
    | AnnotatePods
    | UnlabelPods
    | SetWorkloadMinimum
    | SetPodGroupMinimum
    | ShowKindMissing
    | SetKueueWorkloadActive
    | Warn
)


JobPlan = Plan[Step]
"""What one pass over a Job does."""

NOTHING: Final[JobPlan] = Plan()
