"""The facts about one Job on which its plan rests.

Everything in here has been sorted already: a Workload or PodGroup that is being deleted, or that belongs to another Job of
the same name, is not among the facts (it may still hold a name we need, which `name_taken` says).
"""

from dataclasses import dataclass

from api.constants import GATE, GATE_POD_GROUP, POD_GROUP
from api.gang import delegation_of, is_managed_template
from api.job import Job
from api.podgroup import PodGroup, PodGroupTemplate, Workload
from controllers.gangs.pod import GangPod
from controllers.jobs.kueue import ServedKueueWorkload
from controllers.provider_groups import ProviderGroup


@dataclass(frozen=True, slots=True)
class ObservedJob:
    """One Job and what belongs to it.

    Attributes:
        job: the Job.
        workloads: the Workloads that name it (of a delegated Job: its parent) as their controller and count.
        pod_groups: the PodGroups of the Workload that count; empty unless there is exactly one Workload.
        named_group: the PodGroup that the pod template names, if it is there and counts.
        name_taken: what holds the name of a missing Workload or PodGroup, for people; empty when it is free.
        pods: the Job's pods; looked at only when `needs_pods` says so.
        group_objects: the objects that the Job's gang scheduler has for it, if it brings its own kind.
        kind_missing: the cluster does not know that kind.
        kueue_workload: Kueue's Workload for the Job; looked at only when the Job may have to be stopped.
        is_preemptor_gone: the group is a disruption target for a preemptor that is gone or placed; not looked up once the Job is
            suspended.
        is_parent_suspended: the Job waits at our gate, and what owns its `spec.suspend` is suspended by now.
    """

    job: Job
    workloads: tuple[Workload, ...] = ()
    pod_groups: tuple[PodGroup, ...] = ()
    named_group: PodGroup | None = None
    name_taken: str = ""
    pods: tuple[GangPod, ...] = ()
    group_objects: tuple[ProviderGroup, ...] = ()
    kind_missing: bool = False
    kueue_workload: ServedKueueWorkload | None = None
    is_preemptor_gone: bool = False
    is_parent_suspended: bool = False

    @property
    def workload(self) -> Workload | None:
        """The Workload, None when there is none or more than one."""
        return self.workloads[0] if len(self.workloads) == 1 else None

    @property
    def template(self) -> PodGroupTemplate | None:
        """The template the group is made from: the only one, or the one that the Job's parent named."""
        templates = self.workload.spec.pod_group_templates if self.workload is not None else ()
        delegated = delegation_of(self.job)
        if delegated is not None:
            return next((each for each in templates if each.name == delegated.template), None)
        return templates[0] if len(templates) == 1 else None


def group_named_by(job: Job) -> str | None:
    """Name of the PodGroup that the Job's template names, None when it names none."""
    return job.spec.template.metadata.annotation(POD_GROUP) or None


def is_gated(job: Job) -> bool:
    """True when admission suspended the Job and it is on us to resume it."""
    return job.metadata.annotation(GATE) == GATE_POD_GROUP


def is_suspended(job: Job) -> bool:
    """True while the Job controller makes no pods for it."""
    return bool(job.spec.suspend)


def is_over(job: Job) -> bool:
    """True when nothing is to be done for the Job any more: it has finished or is being deleted."""
    return job.is_finished or job.metadata.is_terminating


def waits_for_group(job: Job) -> bool:
    """True for a managed Job that has no pods yet and no group either."""
    is_new = job.status.start_time is None and not is_over(job)
    return is_managed_template(job) and is_new and group_named_by(job) is None


def needs_pods(job: Job) -> bool:
    """True for a managed Job that runs although its template names no group: only its pods can still be associated."""
    return is_managed_template(job) and not is_over(job) and not is_suspended(job) and group_named_by(job) is None
