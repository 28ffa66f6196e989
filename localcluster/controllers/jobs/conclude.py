"""What a Job's status says after its pods were dealt with.

Pure, in two halves, because counting is a promise in two parts: `note` writes down which pods have ended before their
finalizers go; `flush_uncounted` turns noted pods into counts once the finalizers are gone, and ends the Job when nothing is left.
"""

import datetime
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import msgspec

from localcluster.controllers.jobs.assess import Assessment, Ending
from localcluster.controllers.jobs.indexes import render_indexes
from localcluster.controllers.jobs.model import Job, JobCondition, JobStatus, Uncounted
from localcluster.controllers.jobs.pods import Pod
from localcluster.controllers.jobs.policies import has_failed, judge
from localcluster.controllers.times import render_time

MOST_UNCOUNTED: Final = 500
"""Pods noted at once, so that the status stays small."""

COMPLETIONS_REACHED: Final = Ending(
    "SuccessCriteriaMet", "CompletionsReached", "Reached expected number of succeeded pods"
)


@dataclass(frozen=True, slots=True)
class Handled:
    """What became of the plan for the pods; `complete` is False when something could not be done."""

    created: int = 0
    deleted: int = 0
    deleted_ready: int = 0
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Happening:
    """Something to tell about a Job."""

    reason: str
    note: str
    is_warning: bool = False


@dataclass(frozen=True, slots=True)
class Noted:
    """The first half.

    Attributes:
        status: what to write before any finalizer goes.
        release: pods whose finalizer may go then.
        ending: the last condition of the Job, once everything is counted; None while it goes on.
        is_all: whether all ended pods were noted, not only as many as fit.
        happenings: what to tell.
    """

    status: JobStatus
    release: tuple[Pod, ...]
    ending: Ending | None
    is_all: bool
    happenings: tuple[Happening, ...]


def note(seen: Assessment, handled: Handled, now: datetime.datetime) -> Noted:
    """The status with all ended pods noted, and which pods may be let go then."""
    job, stamp = seen.job, render_time(now)
    active = len(seen.active) + handled.created - handled.deleted
    ending = _ending(seen, active, handled)
    status = job.status
    happenings: tuple[Happening, ...] = ()
    if status.start_time is None and not job.is_suspended:
        status = msgspec.structs.replace(status, start_time=stamp)
    if seen.ending is None and ending is None and not job.metadata.is_terminating:
        status, happenings = _suspension(job, status, stamp)
    tracked = {pod.metadata.uid for pod in seen.pods if pod.is_tracked}
    status = _counted(status, tracked)
    status, release, is_all = _noted_pods(seen, status, ending)
    status = msgspec.structs.replace(
        status,
        active=active,
        ready=seen.ready - handled.deleted_ready,
        terminating=seen.terminating + handled.deleted,
        conditions=status.conditions + _interim(status, ending, stamp),
    )
    return Noted(status, release, ending, is_all, happenings)


def flush_uncounted(noted: Noted, still_tracked: Collection[str], now: datetime.datetime) -> JobStatus:
    """The status after finalizers went: noted pods are counted, and the Job has ended if there is nothing more to wait for."""
    status = _counted(noted.status, still_tracked)
    uncounted = status.uncounted_terminated_pods or Uncounted()
    waits = uncounted.succeeded or uncounted.failed or status.terminating or not noted.is_all
    if noted.ending is None or waits:
        return status
    stamp = render_time(now)
    succeeded = noted.ending.type == "SuccessCriteriaMet"
    last = Ending("Complete" if succeeded else "Failed", noted.ending.reason, noted.ending.message)
    return msgspec.structs.replace(
        status,
        conditions=(*status.conditions, _condition(last, stamp)),
        completion_time=stamp if succeeded else status.completion_time,
    )


def finished_events(ending: Ending) -> tuple[Happening, ...]:
    """What to tell of a Job that has just ended."""
    if ending.type == "SuccessCriteriaMet":
        return (Happening("Completed", "Job completed"),)
    return (Happening(ending.reason, ending.message, is_warning=True),)


def _ending(seen: Assessment, active: int, handled: Handled) -> Ending | None:
    if seen.ending is not None:
        # While pods may be left that nobody has deleted yet, nothing final may be said.
        return seen.ending if handled.complete else None
    completions = seen.job.spec.completions
    enough = seen.succeeded > 0 if completions is None else seen.succeeded >= completions
    return COMPLETIONS_REACHED if enough and active == 0 else None


def _suspension(job: Job, status: JobStatus, stamp: str) -> tuple[JobStatus, tuple[Happening, ...]]:
    known = status.condition("Suspended")
    value, reason, note = (
        ("True", "JobSuspended", "Job suspended") if job.is_suspended else ("False", "JobResumed", "Job resumed")
    )
    if known is None and not job.is_suspended:
        return status, ()
    if known is not None and (known.status, known.reason, known.message) == (value, reason, note):
        return status, ()
    condition = JobCondition("Suspended", value, stamp, stamp, reason, note)
    others = tuple(condition if each.type == "Suspended" else each for each in status.conditions)
    conditions = others if known is not None else (*others, condition)
    started = None if job.is_suspended else stamp
    changed = msgspec.structs.replace(status, conditions=conditions, start_time=started)
    return changed, (Happening("Suspended" if job.is_suspended else "Resumed", note),)


def _counted(status: JobStatus, tracked: Collection[str]) -> JobStatus:
    """Noted pods without the finalizer become counts."""
    noted = status.uncounted_terminated_pods or Uncounted()
    succeeded = tuple(uid for uid in noted.succeeded if uid in tracked)
    failed = tuple(uid for uid in noted.failed if uid in tracked)
    return msgspec.structs.replace(
        status,
        succeeded=status.succeeded + len(noted.succeeded) - len(succeeded),
        failed=status.failed + len(noted.failed) - len(failed),
        uncounted_terminated_pods=Uncounted(succeeded, failed),
    )


def _noted_pods(seen: Assessment, status: JobStatus, ending: Ending | None) -> tuple[JobStatus, tuple[Pod, ...], bool]:
    job = seen.job
    before = status.uncounted_terminated_pods or Uncounted()
    succeeded, failed = list(before.succeeded), list(before.failed)
    indexes: set[int] = set()
    release: list[Pod] = []
    is_all = True
    for pod in seen.pods:
        if not pod.is_tracked or not _may_go(seen, pod, ending):
            continue
        release.append(pod)
        uid = pod.metadata.uid
        if pod.status.phase == "Succeeded" and uid not in before.failed:
            if not job.is_indexed and uid not in before.succeeded:
                succeeded.append(uid)
            elif pod.index is not None and job.has_place(pod.index) and pod.index not in seen.counted_indexes:
                indexes.add(pod.index)
        elif _counts_as_failed(job, pod, ending) and uid not in before.failed:
            failed.append(uid)
        if len(indexes) + len(succeeded) + len(failed) >= MOST_UNCOUNTED:
            is_all = False
            break
    status = msgspec.structs.replace(status, uncounted_terminated_pods=Uncounted(tuple(succeeded), tuple(failed)))
    if job.is_indexed:
        done = seen.counted_indexes | indexes
        status = msgspec.structs.replace(
            status,
            succeeded=len(done),
            completed_indexes=render_indexes(done),
            failed_indexes=None if seen.failed_indexes is None else render_indexes(seen.failed_indexes),
        )
    return status, tuple(release), is_all


def _may_go(seen: Assessment, pod: Pod, ending: Ending | None) -> bool:
    if seen.job.metadata.is_terminating or ending is not None or pod.status.phase == "Succeeded":
        return True
    if not has_failed(seen.job, pod):
        return False
    held = seen.waiting.get(pod.index) if pod.index is not None else None
    return held is None or held.metadata.uid != pod.metadata.uid


def _counts_as_failed(job: Job, pod: Pod, ending: Ending | None) -> bool:
    """A failed pod, or any that had not ended when the Job failed."""
    is_failed = has_failed(job, pod) or (ending is not None and ending.type != "SuccessCriteriaMet")
    return is_failed and (not job.is_indexed or job.has_place(pod.index)) and judge(job, pod).counts


def _interim(status: JobStatus, ending: Ending | None, stamp: str) -> tuple[JobCondition, ...]:
    """The condition that announces the end, unless it is there already."""
    if ending is None or ending.type == "Failed" or status.holds(ending.type):
        return ()
    return (_condition(ending, stamp),)


def _condition(ending: Ending, stamp: str) -> JobCondition:
    return JobCondition(ending.type, "True", stamp, stamp, ending.reason, ending.message)
