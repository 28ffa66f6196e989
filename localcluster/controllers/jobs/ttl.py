"""Deletes Jobs `ttlSecondsAfterFinished` after they have ended, with their pods."""

import datetime

from kube.client.client import Client
from kube.client.errors import Conflict, NotFound
from kube.client.resources import JOBS
from localcluster.controllers.jobs.model import Job
from localcluster.controllers.times import parse_time


def seconds_left(job: Job, now: datetime.datetime) -> float | None:
    """Seconds until the Job is to go, 0 or less when it is due; None when it stays."""
    if job.spec.ttl_seconds_after_finished is None or not job.is_finished or job.metadata.is_terminating:
        return None
    ends = (each for each in job.status.conditions if each.type in {"Complete", "Failed"} and each.status == "True")
    ended = parse_time(next(ends).last_transition_time)
    return None if ended is None else job.spec.ttl_seconds_after_finished - (now - ended).total_seconds()


async def delete_expired(client: Client, job: Job) -> None:
    """Deletes the Job as it was judged: one that changed meanwhile is judged again by its own event."""
    meta = job.metadata
    try:
        await client.delete(
            JOBS,
            meta.name,
            meta.namespace,
            uid=meta.uid,
            resource_version=meta.resource_version,
            propagation="Foreground",
        )
    except (NotFound, Conflict):
        return
