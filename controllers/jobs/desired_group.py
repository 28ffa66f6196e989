"""The group that a Job should have by its settings, or why it cannot have one. Pure."""

from api.constants import (
    EVENT_INVALID_GANG_SETTINGS,
    EVENT_NOT_ADMITTED_AS_GANG,
    EVENT_SCHEDULING_DEPENDENCY_NOT_FOUND,
    EVENT_UNSUPPORTED_WORKLOAD_STRUCTURE,
    MANAGED,
)
from api.errors import InvalidGangSettings
from api.gang import Delegated, GroupIntent, Plain, delegation_of, is_managed_template, job_intent
from api.job import Job
from controllers.gangs.common_steps import Refusal
from controllers.gangs.schedulers import provider_of_pods
from controllers.jobs.observed import ObservedJob
from providers.selection import Providers, choose_provider

DesiredGroup = GroupIntent | Delegated
"""What a Job asks for: a group of its own, or one that its parent described."""


def desired_group(job: Job, providers: Providers) -> DesiredGroup | Refusal:
    """The group of a Job whose template carries our label, which names its provider; of any other, had admission seen it."""
    is_managed = is_managed_template(job)
    if is_managed:
        provider = provider_of_pods(job.spec.template.metadata, providers)
        if provider is None:
            note = f"label {MANAGED} of the pod template names no provider; known are {providers.names}"
            return Refusal(note, EVENT_INVALID_GANG_SETTINGS)
        if problem := providers.unusable(provider):
            return Refusal(problem, EVENT_INVALID_GANG_SETTINGS)
    try:
        desired = job_intent(job)
        if isinstance(desired, Plain):
            return Refusal(f"runs as an ordinary Job: {desired.reason}")
        if not is_managed:
            scheduler_name = job.spec.template.spec.scheduler_name
            provider = choose_provider(providers, annotations=job.metadata.annotations, scheduler_name=scheduler_name)
            if provider is None:
                return Refusal("its pods belong to a scheduler that is not ours")
    except InvalidGangSettings as error:
        return Refusal(str(error), EVENT_INVALID_GANG_SETTINGS)
    return desired


def structure_problem(seen: ObservedJob) -> Refusal | None:
    """Why the objects that refer to the Job cannot be its group, None when they can."""
    reason = EVENT_UNSUPPORTED_WORKLOAD_STRUCTURE
    if len(seen.workloads) > 1:
        names = ", ".join(sorted(workload.metadata.name for workload in seen.workloads))
        return Refusal(f"its pods are placed one by one: more than one Workload refers to it ({names})", reason)
    delegated = delegation_of(seen.job)
    if delegated is not None and seen.template is None:
        return _missing_dependency(seen, delegated)
    workload = seen.workload
    if workload is None:
        return None
    count = len(workload.spec.pod_group_templates)
    if seen.template is None:
        note = f"its pods are placed one by one: Workload {workload.metadata.name} has {count} pod group templates, not one"
        return Refusal(note, reason)
    if len(seen.pod_groups) > 1:
        names = ", ".join(sorted(group.metadata.name for group in seen.pod_groups))
        note = f"its pods are placed one by one: Workload {workload.metadata.name} has more than one PodGroup ({names})"
        return Refusal(note, reason)
    return None


def _missing_dependency(seen: ObservedJob, delegated: Delegated) -> Refusal:
    parent = f"{delegated.parent.kind} {delegated.parent.name}"
    if seen.workload is None:
        missing = f"its parent {parent} has no Workload"
    else:
        missing = f"Workload {seen.workload.metadata.name} of {parent} has no template {delegated.template[:63]!r}"
    return Refusal(f"its pods are placed one by one: {missing}", EVENT_SCHEDULING_DEPENDENCY_NOT_FOUND)


def too_late(seen: ObservedJob) -> Refusal | None:
    """Why a Job that runs without a group cannot be given one any more, None when it can."""
    # Once one pod names the group, the others must too: half a gang would wait for ever.
    begun = any(pod.names_group for pod in seen.pods)
    if begun or not any(pod.is_bound for pod in seen.pods):
        return None
    note = "runs as an ordinary Job: its first pods were placed before its group could be made"
    return Refusal(note, EVENT_NOT_ADMITTED_AS_GANG)
