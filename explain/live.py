"""What a cluster shows beside the inputs of decisions, with the caller's rights. Only GET and LIST are ever sent."""

from typing import Final

import msgspec

from api.job import Job
from api.jobset import JobSet
from explain.owner_facts import Event, events_of
from kube.client.client import Client
from kube.client.errors import Forbidden, KubeError, NotFound
from kube.client.resources import EVENTS, JOB_SETS, JOBS

USER_AGENT: Final = "tutti-explain"


async def read_job(client: Client, namespace: str, name: str) -> tuple[Job | None, list[Event]]:
    """A Job, None when there is none or the caller may not see it, and the events about it."""
    try:
        job = msgspec.convert(await client.get(JOBS, name, namespace), Job)
    except (NotFound, Forbidden):
        return None, []
    selector = f"regarding.kind=Job,regarding.name={name}"
    try:
        return job, events_of(await client.list(EVENTS, namespace, field_selector=selector))
    except KubeError:
        return job, []


async def read_job_set(client: Client, namespace: str, name: str) -> JobSet | None:
    """A JobSet; None when there is none, or the caller may not see it."""
    try:
        return msgspec.convert(await client.get(JOB_SETS, name, namespace), JobSet)
    except (NotFound, Forbidden):
        return None
