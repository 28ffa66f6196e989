"""What a Job or JobSet itself says of why it waits, before any of its pods can be looked at. Pure."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from api.constants import EVENT_FAILED_POD_GROUP_CREATE, EVENT_FAILED_WORKLOAD_CREATE, GATE, GATE_POD_GROUP, MANAGED
from api.constants import STOCK_SCHEDULER_NAME as _STOCK
from api.job import Job
from api.jobset import JobSet
from explain.answer import Answer, Item, Members, Verdict
from explain.reasons import Reason

FAILED_CREATE: Final = "FailedCreate"
"""The reason of the events that tell of pods which the API server refused."""

_SUSPENDED: Final = "it is suspended (spec.suspend), by its user or by a queue such as Kueue"


class Event(msgspec.Struct, frozen=True):
    """An event, as far as it tells why pods are missing."""

    reason: str = ""
    note: str = ""


def answer_of_job(
    job: Job, events: Sequence[Event], now_seconds: float, *, scheduler_names: frozenset[str], created_seconds: float
) -> Answer | None:
    """The answer that the Job gives by itself; None when its pods decide.

    Args:
        job: as it is stored.
        events: about it.
        now_seconds: since 1970.
        scheduler_names: those of our scheduler.
        created_seconds: when the Job was created.
    """
    found = _reason(job, events, scheduler_names)
    if found is None:
        return None
    verdict, reason, message = found
    return Answer(
        item=Item("job", job.metadata.namespace, job.metadata.name, f"job/{job.metadata.name}"),
        verdict=verdict,
        reason=reason,
        message=message,
        waiting_seconds=0.0 if verdict is Verdict.STARTED else max(now_seconds - created_seconds, 0.0),
        members=Members(need=job.pods_at_once, missing=max(job.pods_at_once - job.status.active, 0)),
    )


def answer_of_job_set(
    jobset: JobSet, now_seconds: float, *, scheduler_names: frozenset[str], created_seconds: float
) -> Answer | None:
    """The answer that the JobSet gives by itself; None when its pods decide. The arguments are those of `answer_of_job`."""
    found = _reason_of_job_set(jobset, scheduler_names)
    if found is None:
        return None
    verdict, reason, message = found
    metadata = jobset.metadata
    pods = sum(part.pods for part in jobset.parts)
    return Answer(
        item=Item("jobset", metadata.namespace, metadata.name, f"jobset/{metadata.name}"),
        verdict=verdict,
        reason=reason,
        message=message,
        waiting_seconds=0.0 if verdict is Verdict.STARTED else max(now_seconds - created_seconds, 0.0),
        members=Members(need=pods, missing=0 if verdict is Verdict.STARTED else pods),
    )


def _reason_of_job_set(jobset: JobSet, scheduler_names: frozenset[str]) -> tuple[Verdict, Reason | None, str] | None:
    if jobset.is_finished:
        return Verdict.STARTED, None, "it has finished"
    if jobset.is_suspended:
        return Verdict.WAITS, Reason.SUSPENDED, _SUSPENDED
    templates = [part.template.spec.template for part in jobset.parts]
    names = {template.spec.scheduler_name or _STOCK for template in templates}
    if not names or names & scheduler_names:
        return None
    hint = "" if any(one.metadata.label(MANAGED) for one in templates) else ": it was not taken in as a gang"
    return Verdict.WAITS, Reason.OTHER_SCHEDULER, f"its pods are placed by the scheduler {min(names)}{hint}"


def _reason(
    job: Job, events: Sequence[Event], scheduler_names: frozenset[str]
) -> tuple[Verdict, Reason | None, str] | None:
    template = job.spec.template
    if job.is_finished:
        return Verdict.STARTED, None, "it has finished"
    if job.spec.suspend and job.metadata.annotation(GATE) == GATE_POD_GROUP:
        held = "Tutti holds it until its Workload and PodGroup are made"
        refused = _latest(events, EVENT_FAILED_WORKLOAD_CREATE, EVENT_FAILED_POD_GROUP_CREATE)
        if refused:
            return Verdict.WAITS, Reason.QUOTA, f"{held}, and the API server refuses that: {refused}"
        return Verdict.WAITS, Reason.HELD, f"{held}: are the controllers running?"
    if job.spec.suspend:
        return Verdict.WAITS, Reason.SUSPENDED, _SUSPENDED
    name = template.spec.scheduler_name or _STOCK
    if name not in scheduler_names:
        hint = "" if template.metadata.label(MANAGED) else ": it was not taken in as a gang"
        return Verdict.WAITS, Reason.OTHER_SCHEDULER, f"its pods are placed by the scheduler {name}{hint}"
    refused = _latest(events, FAILED_CREATE)
    if refused and job.status.active + job.status.succeeded < job.pods_at_once:
        return Verdict.WAITS, Reason.QUOTA, f"the API server refuses to create its pods: {refused}"
    return None


def _latest(events: Sequence[Event], *reasons: str) -> str:
    return next((event.note for event in events if event.reason in reasons), "")


def events_of(document: dict[str, Any]) -> list[Event]:
    """The events of a list, the latest first."""
    items = [item for item in document.get("items") or () if isinstance(item, dict)]
    items.sort(key=_when, reverse=True)
    return [Event(str(item.get("reason") or ""), str(item.get("note") or item.get("message") or "")) for item in items]


def _when(event: dict[str, Any]) -> str:
    series = event.get("series") or {}
    metadata = event.get("metadata") or {}
    found = series.get("lastObservedTime") or event.get("eventTime") or event.get("deprecatedLastTimestamp")
    return str(found or metadata.get("creationTimestamp") or "")
