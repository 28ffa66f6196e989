"""What is to be done about one JobSet, from the facts alone. Pure.

The rules, in the order of the code:

- A JobSet that is being deleted needs nothing; its Workload and groups belong to it and go with it.
- One that admission did not take in stays plain; if it would have had gangs, its user gets one event.
- One that was taken in has one Workload, and a PodGroup for each unit in the attempt it is in. While it is suspended none is made:
  there are no pods.
- The Jobs of a group that is asked to leave (`DisruptionTarget`) are suspended, once for each request. Their pods end without
  counting as failures, the JobSet resumes them at once, and the new pods wait for room like those of any gang.
- Groups of former attempts are deleted: their pods are leaving and nobody will name them again. So are all groups of one that is
  done.

Nothing here changes, adopts or deletes what others made, and a JobSet at rest plans no steps.
"""

from typing import Final

from api.compile_jobset import unit_group_name, workload_for_job_set
from api.constants import EVENT_INVALID_GANG_SETTINGS, EVENT_NAME_TAKEN, EVENT_NOT_ADMITTED_AS_GANG, JOBSET_ATTEMPT
from api.errors import InvalidGangSettings
from api.jobset import JobSet
from api.parents.jobset import JobSetIntent, job_set_intent, scheduler_of, taken_in
from api.podgroup import PodGroup
from api.preemption import is_asked_to_leave
from controllers.gangs.common_steps import NAME_TAKEN_SECONDS, CreateWorkload, Rules, Warn
from controllers.jobsets.observed import ObservedJobSet
from controllers.jobsets.steps import (
    NOTHING,
    ConfirmJobSet,
    CreateUnitGroups,
    DeleteGroups,
    JobSetPlan,
    Step,
    SuspendChildren,
)
from providers.selection import Providers, choose_provider

LOOK_AGAIN_SECONDS: Final = 2.0
"""While a group is asked to leave: its JobSet may resume a Job before the Job controller has seen the suspension."""


def plan(seen: ObservedJobSet, rules: Rules) -> JobSetPlan:
    """The steps that bring one JobSet nearer to what it should be; none when it is there.

    Args:
        seen: the facts about the JobSet.
        rules: what else the plan depends on.
    """
    jobset = seen.jobset
    if jobset.metadata.is_terminating:
        return NOTHING
    intent = taken_in(jobset)
    if intent is None:
        return _plan_plain(jobset, rules)
    steps: list[Step] = []
    if past := tuple(group for group in seen.groups if _is_past(group, jobset)):
        steps.append(DeleteGroups(past))
    is_at_work = not (jobset.is_finished or jobset.is_suspended)
    asked = tuple(
        each for each in seen.groups if is_asked_to_leave(each.status.conditions) and not _is_past(each, jobset)
    )
    if asked and is_at_work:
        steps.append(SuspendChildren(asked))
    present = {group.metadata.name for group in seen.groups}
    missing = tuple(unit for unit in intent.units if unit_group_name(jobset, unit) not in present)
    if missing and is_at_work:
        if seen.name_taken:
            note = f"waits for a name: {seen.name_taken}"
            steps.append(Warn(EVENT_NAME_TAKEN, note, action="CreateGroup"))
            return JobSetPlan(tuple(steps), requeue_after_seconds=NAME_TAKEN_SECONDS)
        if seen.workload is None:
            manifest = workload_for_job_set(jobset, intent, api_version=rules.group_api_version)
            steps.append(CreateWorkload(manifest))
        steps.append(CreateUnitGroups(missing, seen.workload))
    if not steps:
        return NOTHING
    return JobSetPlan((ConfirmJobSet(), *steps), requeue_after_seconds=LOOK_AGAIN_SECONDS if asked else None)


def _is_past(group: PodGroup, jobset: JobSet) -> bool:
    attempt = group.metadata.label(JOBSET_ATTEMPT) or ""
    return jobset.is_finished or (attempt.isdigit() and int(attempt) < jobset.status.restarts)


def _plan_plain(jobset: JobSet, rules: Rules) -> JobSetPlan:
    if not rules.makes_gangs or jobset.is_finished:
        return NOTHING
    try:
        intent = job_set_intent(jobset)
        is_missed = isinstance(intent, JobSetIntent) and _is_for_us(jobset, intent, rules.providers)
    except InvalidGangSettings as error:
        return JobSetPlan((Warn(EVENT_INVALID_GANG_SETTINGS, str(error), action="Admit"),))
    if not is_missed:
        return NOTHING
    note = (
        "its pods are placed one by one: Tutti did not see its creation; delete it and create it again to have its pods start "
        "together"
    )
    return JobSetPlan((Warn(EVENT_NOT_ADMITTED_AS_GANG, note, action="Admit"),))


def _is_for_us(jobset: JobSet, intent: JobSetIntent, providers: Providers) -> bool:
    for part in jobset.parts:
        if part.name in intent.parts:
            name = scheduler_of(part)
            provider = choose_provider(providers, annotations=jobset.metadata.annotations, scheduler_name=name)
            if provider is None or not provider.capabilities.holds_unsuspended:
                return False
    return True
