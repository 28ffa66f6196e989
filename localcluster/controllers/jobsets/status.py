"""The status of a JobSet. Pure."""

from collections.abc import Sequence

import msgspec

from api.job import Job
from localcluster.controllers.jobsets.model import (
    FAILED,
    IN_PROGRESS,
    RESTARTING,
    STARTED,
    SUSPENDED,
    Condition,
    JobSet,
    JobSetStatus,
    Part,
    PartStatus,
    ended,
    part_of,
)
from localcluster.controllers.jobsets.plan import Plan, is_ready

Said = tuple[str, bool, str, str]
"""Type, status, reason and message of a condition."""


def status_of(jobset: JobSet, plan: Plan, now: str) -> JobSetStatus:
    """The status after the plan; `now` is what new conditions are stamped with."""
    status = jobset.status
    counts = tuple(_counts(part, plan.present) for part in _in_order(jobset))
    conditions = list(status.conditions or ())
    for said in _said(jobset, plan):
        conditions = _with(conditions, said, now)
    restarts, counted, terminal = status.restarts, status.restarts_count_towards_max, status.terminal_state
    if plan.end is not None and plan.end.is_final:
        terminal = plan.end.condition
    elif plan.end is not None:
        restarts += 1
        counted = (counted or 0) + int(plan.end.counts) or msgspec.UNSET
    return JobSetStatus(
        restarts=restarts,
        restarts_count_towards_max=counted,
        terminal_state=terminal,
        conditions=tuple(conditions) or msgspec.UNSET,
        replicated_jobs_status=counts,
    )


def _in_order(jobset: JobSet) -> list[Part]:
    """The replicated Jobs in the order in which they are told: as before, those not told yet at the end."""
    told = [each.name for each in jobset.status.replicated_jobs_status or ()]
    places = {name: place for place, name in enumerate(told)}
    return sorted(jobset.spec.replicated_jobs, key=lambda part: places.get(part.name, len(told)))


def _counts(part: Part, children: Sequence[Job]) -> PartStatus:
    jobs = [job for job in children if part_of(job) == part.name]
    running = [job for job in jobs if not job.is_finished]
    return PartStatus(
        name=part.name,
        ready=sum(is_ready(job) for job in running),
        succeeded=sum(ended(job, "Complete") for job in jobs),
        failed=sum(ended(job, "Failed") for job in jobs),
        active=sum(job.status.active > 0 for job in running),
        suspended=sum(bool(job.spec.suspend) for job in running),
    )


def _said(jobset: JobSet, plan: Plan) -> list[Said]:
    said: list[Said] = []
    status = jobset.status
    if plan.end is not None:
        said.append((plan.end.condition, True, plan.end.reason, plan.end.message))
        if plan.end.is_final and status.holds(RESTARTING):
            message = "jobset failed" if plan.end.condition == FAILED else plan.end.message
            said.append((RESTARTING, False, f"JobSet{plan.end.condition}", message))
        return said
    if jobset.is_finished:
        return said
    if jobset.spec.suspend:
        said.append((SUSPENDED, True, "SuspendedJobs", "jobset is suspended"))
    elif plan.starts is not True and status.holds(SUSPENDED):
        said.append((SUSPENDED, False, "ResumeJobs", "jobset is resumed"))
    if plan.starts is not None:
        said.append(
            (IN_PROGRESS, plan.starts, "InOrderStartupPolicyInProgress", "in order startup policy is in progress")
        )
        if not plan.starts or status.condition(STARTED) is not None:
            message = "in order startup policy has completed"
            said.append((STARTED, not plan.starts, "InOrderStartupPolicyCompleted", message))
    return said


def _with(conditions: list[Condition], said: Said, now: str) -> list[Condition]:
    name, holds, reason, message = said
    value = "True" if holds else "False"
    made = Condition(name, value, reason, message, now)
    for place, known in enumerate(conditions):
        if known.type == name:
            since = known.last_transition_time if known.status == value else now
            kept = msgspec.structs.replace(made, last_transition_time=since)
            return [*conditions[:place], kept, *conditions[place + 1 :]]
    return [*conditions, made]
