"""Which pods a Job should lose or get now.

Pure. Either deletions or creations, never both at once; deletions come first. Of the pods that are too many, the ones that
have got least far go first.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from localcluster.controllers.jobs.assess import NO_INDEXES, Assessment, failures_of_index
from localcluster.controllers.jobs.backoff import BASE_SECONDS, Failures, finished_at
from localcluster.controllers.jobs.indexes import first_free
from localcluster.controllers.jobs.model import Job
from localcluster.controllers.jobs.pods import INDEX_FAILURES, INDEX_IGNORED_FAILURES, Pod
from localcluster.controllers.jobs.policies import judge
from localcluster.controllers.times import parse_time

MOST_AT_ONCE: Final = 500
"""Pods made or deleted by one look at a Job."""

_PHASES: Final = {"Pending": 0, "Unknown": 1, "Running": 2}


@dataclass(frozen=True, slots=True)
class NewPod:
    """A pod to make: its completion index (None when not Indexed) and annotations beyond the template's."""

    index: int | None = None
    annotations: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class PodPlan:
    """What to do about a Job's pods.

    Attributes:
        delete: pods to delete.
        uncount: whether those lose the tracking finalizer first, so that they never count as failures.
        create: pods to make, in this order.
        again_seconds: when to look again although nothing may happen until then.
    """

    delete: tuple[Pod, ...] = ()
    uncount: bool = False
    create: tuple[NewPod, ...] = ()
    again_seconds: float | None = None


def plan_pods(seen: Assessment, now: datetime.datetime, *, backoff_seconds: float = BASE_SECONDS) -> PodPlan:
    """What to do now about the pods of a Job."""
    job = seen.job
    if seen.ending is not None:
        return PodPlan(delete=seen.active)
    if job.metadata.is_terminating:
        return PodPlan()
    if job.is_suspended:
        return PodPlan(delete=seen.active, uncount=True)
    wanted = _wanted(seen)
    surplus = _surplus(job, seen.active, len(seen.active) - wanted)
    if surplus:
        return PodPlan(delete=tuple(surplus[:MOST_AT_ONCE]), uncount=True, again_seconds=seen.deadline_seconds)
    held = seen.terminating if job.replaces_only_failed else 0
    missing = min(wanted - held - len(seen.active), MOST_AT_ONCE)
    if missing <= 0:
        return PodPlan(again_seconds=seen.deadline_seconds)
    return _creations(seen, missing, now, backoff_seconds)


def _wanted(seen: Assessment) -> int:
    spec = seen.job.spec
    if spec.completions is None:
        return len(seen.active) if seen.succeeded > 0 else spec.parallelism
    return max(0, min(spec.completions - seen.succeeded, spec.parallelism))


def _creations(seen: Assessment, missing: int, now: datetime.datetime, backoff_seconds: float) -> PodPlan:
    job = seen.job
    if not job.limits_each_index:
        wait = seen.failures.wait_seconds(now, base_seconds=backoff_seconds)
        if wait > 0:
            return PodPlan(again_seconds=_sooner(wait, seen.deadline_seconds))
    if not job.is_indexed:
        return PodPlan(create=(NewPod(),) * missing, again_seconds=seen.deadline_seconds)
    indexes = first_free(_taken(seen), missing, job.spec.completions or 0)
    if not job.limits_each_index:
        return PodPlan(create=tuple(NewPod(index) for index in indexes), again_seconds=seen.deadline_seconds)
    waits = {index: _wait_of_index(seen.waiting.get(index), now, backoff_seconds) for index in indexes}
    ready = tuple(NewPod(index, _counts(job, seen.waiting.get(index))) for index in indexes if waits[index] <= 0)
    later = [wait for wait in waits.values() if wait > 0]
    return PodPlan(create=ready, again_seconds=_sooner(min(later, default=None), seen.deadline_seconds))


def _taken(seen: Assessment) -> frozenset[int]:
    holders = seen.active
    if seen.job.replaces_only_failed:
        holders += tuple(pod for pod in seen.pods if pod.is_terminating)
    held = {pod.index for pod in holders if pod.index is not None}
    return seen.done_indexes | (seen.failed_indexes or NO_INDEXES) | held


def _wait_of_index(failed: Pod | None, now: datetime.datetime, backoff_seconds: float) -> float:
    if failed is None:
        return 0.0
    row = Failures(sum(failures_of_index(failed)) + 1, finished_at(failed))
    return row.wait_seconds(now, base_seconds=backoff_seconds)


def _counts(job: Job, failed: Pod | None) -> tuple[tuple[str, str], ...]:
    """The failure counts that a new pod of an index carries on."""
    if failed is None:
        return ((INDEX_FAILURES, "0"),)
    counted, ignored = failures_of_index(failed)
    if judge(job, failed).counts:
        counted += 1
    else:
        ignored += 1
    carried = [(INDEX_FAILURES, str(counted))]
    if ignored:
        carried.append((INDEX_IGNORED_FAILURES, str(ignored)))
    return tuple(carried)


def _surplus(job: Job, active: Sequence[Pod], at_least: int) -> list[Pod]:
    """Pods to delete: misfits and doubles of an Indexed Job, then so many that `at_least` go in all."""
    gone: list[Pod] = []
    left = sorted(active, key=_progress)
    if job.is_indexed:
        keep: dict[int, Pod] = {}
        for pod in left:
            if pod.index is None or not job.has_place(pod.index):
                gone.append(pod)
            else:
                if pod.index in keep:
                    gone.append(keep[pod.index])
                keep[pod.index] = pod
        left = [pod for pod in left if pod not in gone]
    return gone + left[: max(0, at_least - len(gone))]


def _progress(pod: Pod) -> tuple[bool, int, bool, int, float]:
    """How far a pod has got; the lowest are deleted first. Among equals the younger ones."""
    restarts = max((each.restart_count for each in pod.status.container_statuses), default=0)
    created = parse_time(pod.metadata.creation_timestamp)
    age = -created.timestamp() if created else 0.0
    return (bool(pod.spec.node_name), _PHASES.get(pod.status.phase, 1), pod.is_ready, -restarts, age)


def _sooner(first: float | None, second: float | None) -> float | None:
    known = [each for each in (first, second) if each is not None]
    return min(known, default=None)
