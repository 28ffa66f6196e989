"""What is to be done about one Job, from the facts alone. Pure: the whole behaviour of the controller is decided here.

The rules, in the order of the code:

- A Job that has finished or is being deleted needs nothing; owner references clean up.
- A Job that admission did not take in stays plain; if it would have been a gang, its user gets one event.
- A Job of a JobSet that was taken in has its group from there; its pods are told the name where admission did not.
- A managed Job whose template names no group yet gets Workload and PodGroup, then one patch associates its template
  and opens the gate. If it runs already, its pods get the name of the group instead, as long as none has been placed alone.
- A managed Job whose template names a group keeps it: what is missing of our own is made again under the same name.
- Whatever cannot be understood, or comes too late, falls back to plain scheduling, in one step and with a reason.

Nothing here changes, adopts or deletes what others made, and a Job at rest plans no steps.
"""

from dataclasses import replace

from api.compile import delegated_pod_group_name, workload_for_job
from api.constants import EVENT_NAME_TAKEN, EVENT_NOT_ADMITTED_AS_GANG, EVENT_SCHEDULING_DEPENDENCY_NOT_FOUND
from api.gang import Delegated, GroupIntent, delegation_of, is_managed_template
from api.job import Job
from api.names import pod_group_name, template_name, workload_name
from api.parents.children import Child, child_of
from api.podgroup import PodGroup, SchedulingPolicy, Workload
from api.replica import group_to_come
from controllers.gangs.common_steps import (
    NAME_TAKEN_SECONDS,
    CreateWorkload,
    Refusal,
    Rules,
    SetWorkloadMinimum,
    Warn,
    condition_steps,
)
from controllers.gangs.ownership import is_ours
from controllers.gangs.schedulers import kind_missing
from controllers.jobs.desired_group import (
    DesiredGroup,
    desired_group,
    structure_problem,
    too_late,
)
from controllers.jobs.group_objects import group_object_steps, minimum_now, provider_of
from controllers.jobs.observed import (
    ObservedJob,
    group_named_by,
    is_gated,
    is_over,
    is_suspended,
)
from controllers.jobs.steps import (
    NOTHING,
    AnnotatePods,
    ConfirmJob,
    CreatePodGroup,
    JobPlan,
    PatchJob,
    SetPodGroupMinimum,
    Step,
    UnlabelPods,
)
from controllers.jobs.suspension import (
    is_disruption_target,
    is_timed_out,
    preemption_steps,
    requeue_steps,
    timeout_steps,
)
from controllers.provider_groups import MISSING_SECONDS
from providers.base import Capabilities


def plan(seen: ObservedJob, rules: Rules) -> JobPlan:
    """The steps that bring one Job nearer to what it should be; none when it is there.

    Args:
        seen: the facts about the Job.
        rules: what else the plan depends on.
    """
    job = seen.job
    if is_over(job):
        return NOTHING
    child = child_of(job)
    if child is not None:
        return _plan_child(seen, child)
    if not is_managed_template(job):
        planned = _plan_unmanaged(seen, rules)
    elif group_named_by(job):
        planned = _plan_associated(seen, desired_group(job, rules.providers), rules)
    else:
        planned = _plan_unassociated(seen, desired_group(job, rules.providers), rules)
    if seen.is_parent_suspended:
        planned = replace(planned, steps=tuple(_leaving_suspended(step) for step in planned.steps))
    provider = provider_of(job, rules.providers)
    waits = provider is not None and seen.kind_missing and is_gated(job)
    conditions = condition_steps(
        job.status.conditions or (), kind_missing(provider).note if provider is not None and waits else ""
    )
    return replace(planned, steps=(*planned.steps, *conditions)) if conditions else planned


def _leaving_suspended(step: Step) -> Step:
    """The gate goes, the suspension stays: it is the parent's by now, who resumes the Job with itself."""
    return replace(step, resume=False) if isinstance(step, PatchJob) else step


# --- a Job that admission did not take in --------------------------------------------------------------------------------


def _plan_unmanaged(seen: ObservedJob, rules: Rules) -> JobPlan:
    steps: list[Step] = []
    if is_gated(seen.job):
        steps.append(PatchJob(open_gate=True))
    if not rules.makes_gangs:
        return JobPlan(tuple(steps))
    desired = desired_group(seen.job, rules.providers)
    if isinstance(desired, Refusal):
        steps += _warning(desired, action="Admit")
    elif structure_problem(seen) is None:
        missed = "Tutti did not see its creation"
        if isinstance(desired, Delegated):
            missed += f", or the Workload of its parent {desired.parent.kind} {desired.parent.name} came after it"
        note = (
            f"runs as an ordinary Job, its pods are placed one by one: {missed}; "
            "delete it and create it again to have its pods start together"
        )
        steps.append(Warn(EVENT_NOT_ADMITTED_AS_GANG, note, action="Admit"))
    return JobPlan(tuple(steps))


# --- a Job whose parent has the group ---------------------------------------------------------------------------------------


def _plan_child(seen: ObservedJob, child: Child) -> JobPlan:
    """Its pods wait for a group that the controller of its parent makes; they are told its name where admission did not."""
    group = group_to_come(child.group_name, seen.job.metadata.namespace)
    if group_named_by(seen.job):
        return NOTHING
    if is_suspended(seen.job):
        return JobPlan((PatchJob(associate=True, group=group),)) if seen.job.status.start_time is None else NOTHING
    unassociated = tuple(pod for pod in seen.pods if not (pod.names_group or pod.is_over or pod.is_bound))
    return JobPlan((AnnotatePods(unassociated, group),)) if unassociated else NOTHING


# --- a managed Job whose template names no group yet ---------------------------------------------------------------------


def _plan_unassociated(seen: ObservedJob, desired: DesiredGroup | Refusal, rules: Rules) -> JobPlan:
    if isinstance(desired, Refusal):
        if seen.job.spec.scheduling is not None:
            return _leave_to_native_controller(seen)
        return _fall_back(seen, Refusal(desired.note, desired.reason or EVENT_NOT_ADMITTED_AS_GANG))
    capabilities = _capabilities(seen.job, rules)
    problem = structure_problem(seen) or (too_late(seen) if capabilities.needs_group else None)
    if problem is not None:
        # Whoever suspended it may yet describe the group; once it is resumed admission holds it until that is settled.
        return NOTHING if _may_be_described_yet(seen, problem) else _fall_back(seen, problem)
    if seen.name_taken:
        return _wait_for_name(seen)
    group = seen.pod_groups[0] if seen.pod_groups else None
    steps = _creations(seen, desired, group, rules)
    steps += _minimum(seen, desired, seen.workload, group, rules)
    steps += group_object_steps(seen, group, rules.providers)
    if seen.kind_missing:
        return JobPlan(tuple(steps), requeue_after_seconds=MISSING_SECONDS)
    if not is_suspended(seen.job):
        steps += _late_association(seen, group, capabilities)
    elif seen.job.status.start_time is None:
        # A template that pods were made from is frozen until the Job controller has seen the suspension and cleared the start time.
        steps.append(PatchJob(associate=True, group=group, open_gate=is_gated(seen.job)))
    return JobPlan(tuple(steps))


def _may_be_described_yet(seen: ObservedJob, problem: Refusal) -> bool:
    is_described_later = problem.reason == EVENT_SCHEDULING_DEPENDENCY_NOT_FOUND
    return is_described_later and is_suspended(seen.job) and not is_gated(seen.job)


def _leave_to_native_controller(seen: ObservedJob) -> JobPlan:
    """The server kept `spec.scheduling`: the cluster's own Job controller makes this Job's group, so we take our hands off."""
    can_unmanage = seen.job.status.start_time is None
    if not (can_unmanage or is_gated(seen.job)):
        return NOTHING
    return JobPlan((PatchJob(unmanage=can_unmanage, open_gate=is_gated(seen.job)),))


def _late_association(seen: ObservedJob, group: PodGroup | None, capabilities: Capabilities) -> list[Step]:
    if capabilities.needs_group and not capabilities.late_association:
        # This scheduler reads the group of a pod at its creation only. Behind the gate they are made anew; none has a node yet.
        return [PatchJob(close_gate=True)]
    steps: list[Step] = []
    unassociated = tuple(pod for pod in seen.pods if not pod.names_group and not pod.is_over)
    if unassociated and capabilities.needs_group:
        steps.append(AnnotatePods(unassociated, group))
    if is_gated(seen.job):
        steps.append(PatchJob(open_gate=True))
    return steps


# --- a managed Job whose template names its group ------------------------------------------------------------------------


def _plan_associated(seen: ObservedJob, desired: DesiredGroup | Refusal, rules: Rules) -> JobPlan:
    group = seen.named_group
    steps: list[Step] = []
    if _can_recreate(seen):
        if seen.name_taken:
            return _wait_for_name(seen)
        if not isinstance(desired, Refusal) or seen.workload is not None:
            steps += _creations(seen, desired, group, rules)
        elif group is None:
            return JobPlan(tuple(_warning(desired, action="CreateWorkload")))
    if isinstance(desired, Refusal):
        steps += _warning(desired, action="FollowParallelism")
    else:
        steps += _minimum(seen, desired, seen.workload, group, rules)
    created_group = any(isinstance(step, CreatePodGroup) for step in steps)
    if group is not None or created_group:
        steps += group_object_steps(seen, group, rules.providers)
        if seen.kind_missing:
            return JobPlan(tuple(steps), requeue_after_seconds=MISSING_SECONDS)
    steps += _gate_of_associated(seen, created_group=created_group, rules=rules)
    return JobPlan(tuple(steps))


def _can_recreate(seen: ObservedJob) -> bool:
    """Whether something of the named group is missing that we would make under exactly that name."""
    workload, template = seen.workload, seen.template
    delegated = delegation_of(seen.job)
    if delegated is not None:
        ours = group_named_by(seen.job) == delegated_pod_group_name(seen.job, delegated.template)
        return seen.named_group is None and template is not None and ours
    if workload is None:
        name = workload_name(seen.job.metadata.name, seen.job.metadata.uid)
        group = pod_group_name(name, template_name(seen.job.metadata.name))
        return not seen.workloads and group == group_named_by(seen.job)
    if seen.named_group is not None or template is None:
        return False
    return pod_group_name(workload.metadata.name, template.name) == group_named_by(seen.job)


def _gate_of_associated(seen: ObservedJob, *, created_group: bool, rules: Rules) -> list[Step]:
    if is_disruption_target(seen.named_group) and not seen.is_preemptor_gone:
        return preemption_steps(seen.job, seen.kueue_workload)
    if is_timed_out(seen.named_group):
        return timeout_steps(seen.job, seen.named_group, seen.kueue_workload)
    if steps := requeue_steps(seen.kueue_workload):
        return steps
    job, gated = seen.job, is_gated(seen.job)
    can_reassociate = is_suspended(job) and job.status.start_time is None
    if can_reassociate and (created_group or _is_stale(seen, rules)):
        return [PatchJob(associate=True, group=None if created_group else seen.named_group, open_gate=gated)]
    return [PatchJob(open_gate=True)] if gated else []


def _is_stale(seen: ObservedJob, rules: Rules) -> bool:
    """Whether the template ties its pods to a predecessor of the group."""
    template = seen.job.spec.template.metadata
    provider = provider_of(seen.job, rules.providers)
    if provider is None or seen.named_group is None:
        return False
    wanted = provider.association(seen.named_group)
    return any(template.annotation(key) != value for key, value in wanted.annotations.items())


# --- shared --------------------------------------------------------------------------------------------------------------


def _creations(seen: ObservedJob, desired: DesiredGroup | Refusal, group: PodGroup | None, rules: Rules) -> list[Step]:
    if delegation_of(seen.job) is not None:
        return [ConfirmJob(), CreatePodGroup(seen.workload, seen.template)] if group is None else []
    steps: list[Step] = []
    if seen.workload is None and isinstance(desired, GroupIntent):
        steps.append(CreateWorkload(workload_for_job(seen.job, desired, api_version=rules.group_api_version)))
    if group is None:
        steps.append(CreatePodGroup(seen.workload))
    return [ConfirmJob(), *steps] if steps else []


def _capabilities(job: Job, rules: Rules) -> Capabilities:
    return (provider_of(job, rules.providers) or rules.providers.default).capabilities


def _minimum(
    seen: ObservedJob, desired: DesiredGroup, workload: Workload | None, group: PodGroup | None, rules: Rules
) -> list[Step]:
    """An elastic gang's minimum follows its parallelism, unless it was taken from a Workload that is not ours.

    The minimum of a delegated group follows that of its template, which is for the parent to change. Both are lower at the tail
    of a Job whose scheduler needs that.
    """
    if isinstance(desired, Delegated):
        gang = seen.template.scheduling_policy.gang if seen.template is not None else None
        return [] if gang is None else _group_minimum(seen, group, gang.min_count, rules)
    if not desired.elastic or (workload is not None and not is_ours(workload.metadata, seen.job)):
        return [] if group is None else _group_minimum(seen, group, group.need, rules)
    steps: list[Step] = []
    templates = workload.spec.pod_group_templates if workload is not None else ()
    if workload is not None and templates and _differs(templates[0].scheduling_policy, desired.min_count):
        steps.append(SetWorkloadMinimum(workload, desired.min_count))
    return steps + _group_minimum(seen, group, desired.min_count, rules)


def _group_minimum(seen: ObservedJob, group: PodGroup | None, need: int, rules: Rules) -> list[Step]:
    ours = group is not None and is_ours(group.metadata, seen.job)
    provider = provider_of(seen.job, rules.providers)
    min_count = need
    if group is not None and provider is not None and provider.capabilities.reads_pod_groups:
        min_count = minimum_now(seen.job, provider, need=need, current=group.need)
    if group is not None and ours and _differs(group.spec.scheduling_policy, min_count):
        return [SetPodGroupMinimum(group, min_count)]
    return []


def _differs(policy: SchedulingPolicy, min_count: int) -> bool:
    return policy.gang is not None and policy.gang.min_count != min_count


def _wait_for_name(seen: ObservedJob) -> JobPlan:
    note = f"waits for a name: {seen.name_taken}"
    return JobPlan((Warn(EVENT_NAME_TAKEN, note, action="CreateGroup"),), requeue_after_seconds=NAME_TAKEN_SECONDS)


def _fall_back(seen: ObservedJob, problem: Refusal) -> JobPlan:
    """Gives the Job to plain scheduling: opens the gate with a patch that takes our label away, or frees its pods."""
    steps: list[Step] = []
    job, gated = seen.job, is_gated(seen.job)
    if is_suspended(job):
        if job.status.start_time is None or gated:
            steps.append(PatchJob(unmanage=job.status.start_time is None, open_gate=gated))
    else:
        held = tuple(p for p in seen.pods if p.is_managed and not (p.is_bound or p.names_group or p.is_over))
        if held:
            steps.append(UnlabelPods(held))
        if gated:
            steps.append(PatchJob(open_gate=True))
    steps += _warning(problem, action="FallBack")
    return JobPlan(tuple(steps))


def _warning(refusal: Refusal, *, action: str) -> list[Step]:
    return [Warn(refusal.reason, refusal.note, action=action)] if refusal.reason else []
