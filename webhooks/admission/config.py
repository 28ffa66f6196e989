"""What admission depends on beside the object in question."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from providers.selection import Providers
from webhooks.admission.gang_defaults import NO_ANNOTATIONS
from webhooks.admission.preemption_priority import Classes

JobIntegration = Literal["auto", "tutti", "kubernetes"]
"""Who makes the groups of Jobs: whoever the server's answer shows, always we, or always the cluster's own Job controller."""


@dataclass(frozen=True, slots=True)
class AdmissionConfig:
    """The configuration of admission, and what of the cluster it reads from caches.

    Attributes:
        providers: the gang schedulers.
        add_pod_failure_policy: whether preempted pods are kept out of a Job's backoffLimit.
        gang_jobs: whether new Jobs become gangs at all.
        gang_sets: whether the replicas of new LeaderWorkerSets become gangs at all.
        gang_job_sets: whether new JobSets become gangs at all.
        integration: who makes the groups of Jobs.
        defaults: the cluster's defaults, as annotations.
        namespace: the annotations of the Namespace of that name.
        classes: the PriorityClasses as known now, None before they are known.
    """

    providers: Providers
    add_pod_failure_policy: bool = True
    gang_jobs: bool = True
    gang_sets: bool = True
    gang_job_sets: bool = True
    integration: JobIntegration = "tutti"
    defaults: Mapping[str, str] = field(default_factory=dict)
    namespace: Callable[[str], Mapping[str, str]] = lambda _: NO_ANNOTATIONS
    classes: Callable[[], Classes] = lambda: None
