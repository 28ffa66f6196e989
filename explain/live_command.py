"""`tutti why` of a cluster: read with the caller's rights or, where these do not suffice, asked of its scheduler."""

import gc
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NoReturn

from api.job import Job
from api.jobset import JobSet
from explain.answer import Answer
from explain.asked_scheduler import ask_scheduler
from explain.live import USER_AGENT, read_job, read_job_set
from explain.owner_facts import Event, answer_of_job, answer_of_job_set
from explain.reasons import Reason
from explain.source import Source, cluster_of, given_settings
from explain.targets import Target, parse_target
from explain.why_command import Say, answers_of, tell
from kube.cache.decoding import cyclic_gc_paused
from kube.client.client import Client
from kube.client.credentials import load_credentials
from kube.client.errors import Forbidden
from scheduler.cache.record_factory import epoch_seconds
from scheduler.commands.read_cluster import read_cluster
from scheduler.recording.restore import Restored
from scheduler.settings import SchedulerSettings

_MISSING: Final = frozenset({Reason.MEMBERS, Reason.POD_GROUP})
"""Reasons for which the owner itself may know more."""

_ASKED: Final = (
    "you may not list nodes and pods of the whole cluster: the scheduler was asked; "
    "names such as n0000012 stand for what belongs to others\n"
)


async def main_why(
    source: Source,
    text: str,
    namespace: str,
    *,
    as_json: bool,
    say: Say,
    leave: Callable[[int], NoReturn] | None = None,
) -> int:
    """Say why what `text` names waits, and what would help; the exit code, with which `leave` is called as of a file.

    Raises:
        ConfigurationError: there is nothing of that name, or the cluster cannot be read, nor its scheduler asked.
    """
    target = parse_target(text, namespace)
    async with connected(source) as client:
        owner = await _of_owner(client, target)
        try:
            restored = await read_whole(client, source)
        except Forbidden:
            found = await ask_scheduler(client, target, source.scheduler_namespace)
            sys.stderr.write(_ASKED)
            return tell(owner.instead_of(found, time.time()), target, as_json=as_json, say=say)
    names = restored.core.state.scheduler_names
    answers = owner.instead_of(answers_of(restored, target), restored.clock.epoch(), names)
    code = tell(answers, target, as_json=as_json, say=say)
    if leave is not None:
        leave(code)
    return code


def connected(source: Source) -> Client:
    """A client of the cluster, as whoever asks."""
    return Client(load_credentials(source.kubeconfig, context=source.context), user_agent=USER_AGENT)


async def read_whole(client: Client, source: Source) -> Restored:
    """The cluster as decisions see it.

    Raises:
        Forbidden: nodes, pods or PodGroups may not be listed.
        ConfigurationError: it cannot be reached, or has no PodGroups.
    """
    given = given_settings(source)
    # As with a file: what is read stays, and looking for garbage in it would take longer than reading it.
    with cyclic_gc_paused():
        found = await read_cluster(
            client, given if given is not None else SchedulerSettings(), time.time(), slims=False
        )
        restored = cluster_of(found.inputs, given)
        gc.freeze()
    if found.unreadable:
        sys.stderr.write(f"you may not list {', '.join(found.unreadable)}: the answer is without them\n")
    return restored


@dataclass(frozen=True, slots=True)
class _OfOwner:
    """What a Job or JobSet says of itself, and what is said about it."""

    job: Job | None = None
    events: tuple[Event, ...] = ()
    jobset: JobSet | None = None

    def instead_of(
        self, answers: list[Answer], now_seconds: float, scheduler_names: frozenset[str] | None = None
    ) -> list[Answer]:
        """The answer that the owner gives by itself, where these have none or miss something; else these."""
        if answers and not any(answer.reason in _MISSING for answer in answers):
            return answers
        names = scheduler_names if scheduler_names is not None else SchedulerSettings().scheduler_names
        found = self._answer(now_seconds, names)
        return [found] if found is not None else answers

    def _answer(self, now_seconds: float, names: frozenset[str]) -> Answer | None:
        if self.job is not None:
            created = epoch_seconds(self.job.metadata.creation_timestamp)
            return answer_of_job(self.job, self.events, now_seconds, scheduler_names=names, created_seconds=created)
        if self.jobset is not None:
            created = epoch_seconds(self.jobset.metadata.creation_timestamp)
            return answer_of_job_set(self.jobset, now_seconds, scheduler_names=names, created_seconds=created)
        return None


async def _of_owner(client: Client, target: Target) -> _OfOwner:
    if target.kind == "jobset":
        return _OfOwner(jobset=await read_job_set(client, target.namespace, target.name))
    if target.kind != "job":
        return _OfOwner()
    job, events = await read_job(client, target.namespace, target.name)
    return _OfOwner(job, tuple(events))
