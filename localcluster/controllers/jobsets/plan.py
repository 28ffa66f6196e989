"""What is to be done about one JobSet, from it and its children. Pure. As recorded of the real controller.

A finished JobSet loses what still runs. Otherwise, in this order: a failure is judged, success is, children of former attempts go,
and those of this attempt are made, suspended or resumed, as far as the order of starting lets them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from api.job import Job
from localcluster.controllers.jobsets.ends import End, failure, is_success
from localcluster.controllers.jobsets.model import BLOCKING, JobSet, Part, attempt_of, ended, index_of, part_of


@dataclass(frozen=True, slots=True)
class Plan:
    """What one look leads to.

    Attributes:
        create: children to be made, as replicated Job and index.
        delete: children to be deleted.
        suspend: children to be suspended.
        resume: children to be resumed.
        end: what a failure or success leads to; nothing else is done then.
        starts: whether the startup policy is still in progress; None without one, and while suspended.
    """

    create: tuple[tuple[Part, int], ...] = ()
    delete: tuple[Job, ...] = ()
    suspend: tuple[Job, ...] = ()
    resume: tuple[Job, ...] = ()
    end: End | None = None
    starts: bool | None = None
    present: tuple[Job, ...] = field(default=())


def plan(jobset: JobSet, children: Sequence[Job]) -> Plan:
    """The plan for a JobSet with these children."""
    mine = tuple(job for job in children if attempt_of(job) >= jobset.status.restarts)
    former = tuple(job for job in children if attempt_of(job) < jobset.status.restarts)
    if jobset.is_finished:
        return Plan(delete=_living(job for job in children if not job.is_finished), present=mine)
    failed = sorted((job for job in mine if ended(job, "Failed")), key=lambda job: job.metadata.name)
    if failed:
        return Plan(end=failure(jobset, failed), present=mine)
    if is_success(jobset, mine):
        return Plan(end=End("Completed", "AllJobsCompleted", "jobset completed successfully"), present=mine)
    return _running(jobset, mine, former)


def _living(jobs: Iterable[Job]) -> tuple[Job, ...]:
    return tuple(job for job in jobs if not job.metadata.is_terminating)


def _running(jobset: JobSet, mine: tuple[Job, ...], former: tuple[Job, ...]) -> Plan:
    create: list[tuple[Part, int]] = []
    suspend: list[Job] = []
    resume: list[Job] = []
    is_suspended = bool(jobset.spec.suspend)
    policy = jobset.spec.failure_policy
    waits_for_former = bool(former) and policy is not None and policy.restart_strategy == BLOCKING
    starts: bool | None = None
    for part in jobset.spec.replicated_jobs:
        jobs = [job for job in mine if part_of(job) == part.name]
        if not waits_for_former and _is_met(part, jobset, mine):
            taken = {index_of(job) for job in jobs} | {index_of(job) for job in former if part_of(job) == part.name}
            create += [(part, index) for index in range(part.replicas) if index not in taken]
        for job in jobs:
            if not job.is_finished and bool(job.spec.suspend) is not is_suspended:
                (suspend if is_suspended else resume).append(job)
        if jobset.in_order and not is_suspended:
            starts = not _has_started(part, jobs)
            if starts:
                break
    return Plan(tuple(create), _living(former), tuple(suspend), tuple(resume), starts=starts, present=mine)


def _is_met(part: Part, jobset: JobSet, children: Sequence[Job]) -> bool:
    """Whether all that the replicated Job depends on is Ready, or Complete."""
    parts = {each.name: each for each in jobset.spec.replicated_jobs}
    for needed in part.depends_on or ():
        other = parts.get(needed.name)
        jobs = [job for job in children if part_of(job) == needed.name]
        if other is None or len(jobs) < other.replicas:
            return False
        if needed.status == "Complete" and not all(ended(job, "Complete") for job in jobs):
            return False
        if needed.status != "Complete" and not _has_started(other, jobs):
            return False
    return True


def _has_started(part: Part, jobs: Sequence[Job]) -> bool:
    return len(jobs) >= part.replicas and all(is_ready(job) or ended(job, "Complete") for job in jobs)


def is_ready(job: Job) -> bool:
    """Whether all pods of a child that run at once are ready, or done."""
    return not job.spec.suspend and (job.status.ready or 0) + job.status.succeeded >= job.pods_at_once
