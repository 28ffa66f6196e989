"""What a CronJob needs now: a Job, fewer old Jobs, a status.

Pure. Of all times that were missed only the latest counts. A Job's name comes from its scheduled minute, so making it twice
is not possible, whatever was forgotten.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from localcluster.controllers.cronjobs.model import CronJob, CronJobStatus, JobReference
from localcluster.controllers.cronjobs.schedule import BadSchedule, Schedule, parse_schedule
from localcluster.controllers.jobs.conclude import Happening
from localcluster.controllers.jobs.model import Job
from localcluster.controllers.times import parse_time, render_time

MANY_MISSED: Final = 100
_EPOCH: Final = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


@dataclass(frozen=True, slots=True)
class CronPlan:
    """What to do about a CronJob.

    Attributes:
        status: what its status should say.
        start: the scheduled moment of a Job to make, None for none.
        replace: running Jobs to delete before that.
        forget: ended Jobs beyond the history limits, to delete.
        happenings: what to tell.
        next: when to look again; None when only a change of the CronJob can matter.
    """

    status: CronJobStatus
    start: datetime.datetime | None = None
    replace: tuple[JobReference, ...] = ()
    forget: tuple[Job, ...] = ()
    happenings: tuple[Happening, ...] = ()
    next: datetime.datetime | None = None


def plan_cron_job(cron: CronJob, jobs: Sequence[Job], now: datetime.datetime) -> CronPlan:
    """What to do now, given all Jobs that the CronJob controls."""
    status, happenings = _caught_up(cron, jobs)
    plan = CronPlan(status, forget=_beyond_history(cron, jobs), happenings=happenings)
    if cron.metadata.is_terminating:
        return plan
    try:
        schedule = parse_schedule(cron.spec.schedule, cron.spec.time_zone)
    except BadSchedule as error:
        note = f'unparseable schedule: "{cron.spec.schedule}" : {error}'
        return _told(plan, Happening("UnparseableSchedule", note, is_warning=True))
    if cron.spec.suspend:
        return plan
    following = schedule.next(now)
    if following is None:
        note = f"invalid schedule: {cron.spec.schedule} : it matches no day"
        return _told(plan, Happening("InvalidSchedule", note, is_warning=True))
    plan = replace(plan, next=following)
    due, missed = latest_due(cron, schedule, now)
    return plan if due is None else _start(cron, plan, due, missed, now)


def job_name(cron: CronJob, scheduled: datetime.datetime) -> str:
    """The name of the Job of that scheduled moment."""
    return f"{cron.metadata.name}-{int(scheduled.timestamp()) // 60}"


def latest_due(cron: CronJob, schedule: Schedule, now: datetime.datetime) -> tuple[datetime.datetime | None, int]:
    """The latest moment that has come since the last Job, and how many have come; (None, 0) when none has."""
    since = parse_time(cron.status.last_schedule_time) or parse_time(cron.metadata.creation_timestamp) or _EPOCH
    deadline = cron.spec.starting_deadline_seconds
    if deadline is not None:
        since = max(since, now - datetime.timedelta(seconds=deadline))
    first = schedule.next(since)
    if first is None or first > now:
        return None, 0
    second = schedule.next(first)
    if second is None or second > now:
        return first, 1
    distance = (second - first).total_seconds()
    missed = int((now - first).total_seconds() // distance) + 1
    # Uneven schedules have longer pauses too: start a little before the estimate and go on by the schedule itself.
    latest, probe = second, schedule.next(first + datetime.timedelta(seconds=max(0, missed - 2) * distance))
    while probe is not None and probe <= now:
        latest, probe = probe, schedule.next(probe)
    return latest, missed


def _caught_up(cron: CronJob, jobs: Sequence[Job]) -> tuple[CronJobStatus, tuple[Happening, ...]]:
    """The status once ended and vanished Jobs are taken out of it."""
    by_uid = {job.metadata.uid: job for job in jobs}
    active: list[JobReference] = []
    told: list[Happening] = []
    last = cron.status.last_successful_time
    for reference in cron.status.active:
        job = by_uid.get(reference.uid)
        if job is None:
            told.append(Happening("MissingJob", f"Active job went missing: {reference.name}"))
        elif job.is_finished:
            kind = "Complete" if job.status.holds("Complete") else "Failed"
            told.append(Happening("SawCompletedJob", f"Saw completed job: {reference.name}, condition: {kind}"))
        else:
            active.append(reference)
    known = {reference.uid for reference in cron.status.active}
    for job in jobs:
        if not job.is_finished and job.metadata.uid not in known:
            note = f"Saw a job that the controller did not create or forgot: {job.metadata.name}"
            told.append(Happening("UnexpectedJob", note, is_warning=True))
        ended = job.status.completion_time if job.status.holds("Complete") else None
        if ended is not None and (last is None or ended > last):
            last = ended
    status = msgspec.structs.replace(cron.status, active=tuple(active), last_successful_time=last)
    return status, tuple(told)


def _beyond_history(cron: CronJob, jobs: Sequence[Job]) -> tuple[Job, ...]:
    limits = (
        ("Complete", cron.spec.successful_jobs_history_limit),
        ("Failed", cron.spec.failed_jobs_history_limit),
    )
    gone: list[Job] = []
    for condition, limit in limits:
        ended = sorted((job for job in jobs if job.status.holds(condition)), key=_started)
        if limit is not None and len(ended) > limit:
            gone += ended[: len(ended) - limit]
    return tuple(job for job in gone if not job.metadata.is_terminating)


def _started(job: Job) -> tuple[str, str]:
    return (job.status.start_time or "9999", job.metadata.name)


def _start(cron: CronJob, plan: CronPlan, due: datetime.datetime, missed: int, now: datetime.datetime) -> CronPlan:
    if missed > MANY_MISSED:
        note = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"
        plan = _told(plan, Happening("TooManyMissedTimes", note, is_warning=True))
    deadline = cron.spec.starting_deadline_seconds
    if deadline is not None and due + datetime.timedelta(seconds=deadline) < now:
        note = f"Missed scheduled time to start a job: {due.strftime('%a, %d %b %Y %H:%M:%S +0000')}"
        return _told(plan, Happening("MissSchedule", note, is_warning=True))
    name = job_name(cron, due)
    if any(each.name == name for each in plan.status.active) or cron.status.last_schedule_time == render_time(due):
        return plan
    if cron.spec.concurrency_policy == "Forbid" and plan.status.active:
        note = "Not starting job because prior execution is running and concurrency policy is Forbid"
        return _told(plan, Happening("JobAlreadyActive", note))
    replaced = plan.status.active if cron.spec.concurrency_policy == "Replace" else ()
    return replace(plan, start=due, replace=replaced)


def _told(plan: CronPlan, happening: Happening) -> CronPlan:
    return replace(plan, happenings=(*plan.happenings, happening))
