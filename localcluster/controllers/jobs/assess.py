"""What a Job and its pods amount to at one moment: who is active, what has newly ended, and whether the Job is over.

Pure. A pod counts as newly ended while it carries the tracking finalizer and its UID is not yet noted in the status, so
that no pod is ever counted twice or not at all, however often the controller is interrupted.
"""

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from localcluster.controllers.jobs.backoff import Failures, finished_at
from localcluster.controllers.jobs.indexes import parse_indexes
from localcluster.controllers.jobs.model import Job, Uncounted
from localcluster.controllers.jobs.pods import INDEX_FAILURES, INDEX_IGNORED_FAILURES, Pod
from localcluster.controllers.jobs.policies import has_failed, judge, succeeded_by_policy
from localcluster.controllers.times import parse_time

NO_INDEXES: Final[frozenset[int]] = frozenset()


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a Job is over. `type` is the condition that says so first: FailureTarget, SuccessCriteriaMet, or Failed at last."""

    type: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Assessment:
    """A Job at one moment.

    Attributes:
        job: the Job.
        pods: all its pods, those of an Indexed Job in order of their indexes.
        active: pods that have neither ended nor been deleted.
        ready: how many of them are ready.
        terminating: how many pods were deleted and have not ended.
        succeeded: pods (indexes, when Indexed) that have succeeded, counted or not.
        counted_indexes: indexes that the status already has.
        done_indexes: those, and the newly succeeded ones.
        failed_indexes: indexes that have failed for good; None without `backoffLimitPerIndex`.
        waiting: for each index that needs a new pod, the failed pod that the new one follows.
        failures: failures in a row, the new ones included.
        ending: why the Job is over, None while it is not.
        deadline_seconds: seconds until its active deadline, None without one.
    """

    job: Job
    pods: tuple[Pod, ...]
    active: tuple[Pod, ...]
    ready: int
    terminating: int
    succeeded: int
    counted_indexes: frozenset[int]
    done_indexes: frozenset[int]
    failed_indexes: frozenset[int] | None
    waiting: dict[int, Pod]
    failures: Failures
    ending: Ending | None
    deadline_seconds: float | None


def assess(job: Job, pods: Sequence[Pod], failures: Failures, now: datetime.datetime) -> Assessment:
    """Looks at a Job that has not finished, and at all pods it controls."""
    ordered = (
        tuple(sorted(pods, key=lambda pod: -1 if pod.index is None else pod.index)) if job.is_indexed else (*pods,)
    )
    active = tuple(pod for pod in ordered if pod.is_active)
    noted = job.status.uncounted_terminated_pods or Uncounted()
    new_succeeded = _newly(job, ordered, noted.succeeded, lambda pod: pod.status.phase == "Succeeded")
    new_failed = _newly(job, ordered, noted.failed, lambda pod: has_failed(job, pod))
    failed = job.status.failed + len(noted.failed) + sum(1 for pod in new_failed if judge(job, pod).counts)
    counted = parse_indexes(job.status.completed_indexes, job.spec.completions or 0) if job.is_indexed else NO_INDEXES
    done = counted | {pod.index for pod in new_succeeded if pod.index is not None} if job.is_indexed else NO_INDEXES
    failed_indexes = _failed_indexes(job, ordered)
    not_indexed = job.status.succeeded + len(noted.succeeded) + len(new_succeeded)
    ending = (
        _known_ending(job)
        or _ended_by_policy(job, ordered)
        or _ended_by_limits(job, ordered, failed, now)
        or _ended_by_indexes(job, done, failed_indexes)
    )
    return Assessment(
        job=job,
        pods=ordered,
        active=active,
        ready=sum(1 for pod in active if pod.is_ready),
        terminating=sum(1 for pod in ordered if pod.is_terminating),
        succeeded=len(done) if job.is_indexed else not_indexed,
        counted_indexes=counted,
        done_indexes=done,
        failed_indexes=failed_indexes,
        waiting=_waiting(job, ordered, active, done | (failed_indexes or NO_INDEXES)),
        failures=failures.after(new_succeeded, new_failed),
        ending=ending,
        deadline_seconds=_deadline_seconds(job, now),
    )


def failures_of_index(pod: Pod) -> tuple[int, int]:
    """How many predecessors of the pod failed: counted ones, ignored ones."""
    return _number(pod, INDEX_FAILURES), _number(pod, INDEX_IGNORED_FAILURES)


def _newly(job: Job, pods: Sequence[Pod], noted: Sequence[str], ended: Callable[[Pod], bool]) -> list[Pod]:
    known = set(noted)
    return [
        pod
        for pod in pods
        if pod.is_tracked
        and pod.metadata.uid not in known
        and (not job.is_indexed or job.has_place(pod.index))
        and ended(pod)
    ]


def _known_ending(job: Job) -> Ending | None:
    met = job.status.condition("SuccessCriteriaMet")
    if met is not None and met.status == "True":
        return Ending(met.type, met.reason, met.message)
    target = job.status.condition("FailureTarget")
    if target is not None and target.status == "True":
        return Ending("Failed", target.reason, target.message)
    return None


def _ended_by_policy(job: Job, pods: Sequence[Pod]) -> Ending | None:
    if job.spec.pod_failure_policy is None:
        return None
    for pod in pods:
        message = judge(job, pod).ends_job if has_failed(job, pod) else None
        if message is not None:
            return Ending("FailureTarget", "PodFailurePolicy", message)
    return None


def _ended_by_limits(job: Job, pods: Sequence[Pod], failed: int, now: datetime.datetime) -> Ending | None:
    if failed > job.spec.backoff_limit or _restarted_too_often(job, pods):
        return Ending("FailureTarget", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
    left = _deadline_seconds(job, now)
    if left is not None and left <= 0:
        return Ending("FailureTarget", "DeadlineExceeded", "Job was active longer than specified deadline")
    return None


def _ended_by_indexes(job: Job, done: frozenset[int], failed: frozenset[int] | None) -> Ending | None:
    if not job.is_indexed:
        return None
    limit = job.spec.max_failed_indexes
    if failed is not None and limit is not None and len(failed) > limit:
        message = "Job has exceeded the specified maximal number of failed indexes"
        return Ending("FailureTarget", "MaxFailedIndexesExceeded", message)
    if failed and len(failed) + len(done) >= (job.spec.completions or 0):
        return Ending("FailureTarget", "FailedIndexes", "Job has failed indexes")
    matched = succeeded_by_policy(job, done)
    return None if matched is None else Ending("SuccessCriteriaMet", "SuccessPolicy", matched)


def _restarted_too_often(job: Job, pods: Sequence[Pod]) -> bool:
    if job.spec.template.spec.restart_policy != "OnFailure":
        return False
    restarts = sum(
        container.restart_count
        for pod in pods
        if pod.status.phase in {"Running", "Pending"}
        for container in (*pod.status.init_container_statuses, *pod.status.container_statuses)
    )
    return restarts > 0 if job.spec.backoff_limit == 0 else restarts >= job.spec.backoff_limit


def _deadline_seconds(job: Job, now: datetime.datetime) -> float | None:
    if job.spec.active_deadline_seconds is None or job.is_suspended:
        return None
    started = parse_time(job.status.start_time) or now
    return job.spec.active_deadline_seconds - (now - started).total_seconds()


def _failed_indexes(job: Job, pods: Sequence[Pod]) -> frozenset[int] | None:
    if not job.limits_each_index:
        return None
    known = parse_indexes(job.status.failed_indexes, job.spec.completions or 0)
    newly = {
        pod.index
        for pod in pods
        if pod.index is not None and job.has_place(pod.index) and pod.is_tracked and _fails_its_index(job, pod)
    }
    return known | newly


def _fails_its_index(job: Job, pod: Pod) -> bool:
    if not has_failed(job, pod):
        return False
    verdict = judge(job, pod)
    if verdict.fails_index:
        return True
    return verdict.counts and failures_of_index(pod)[0] >= (job.spec.backoff_limit_per_index or 0)


def _waiting(job: Job, pods: Sequence[Pod], active: Sequence[Pod], settled: frozenset[int]) -> dict[int, Pod]:
    """The last failed pod of each index that still needs a successor: it stays until that one carries its count on."""
    if not job.limits_each_index:
        return {}
    taken = settled | {pod.index for pod in active if pod.index is not None}
    last: dict[int, Pod] = {}
    for pod in pods:
        index = pod.index
        if index is None or not job.has_place(index) or index in taken or not (pod.is_tracked and has_failed(job, pod)):
            continue
        known = last.get(index)
        if known is None or _later(pod, known):
            last[index] = pod
    return last


def _later(pod: Pod, known: Pod) -> bool:
    return sum(failures_of_index(known)) <= sum(failures_of_index(pod)) and finished_at(pod) >= finished_at(known)


def _number(pod: Pod, annotation: str) -> int:
    text = pod.metadata.annotation(annotation) or ""
    return int(text) if text.isascii() and text.isdigit() else 0
