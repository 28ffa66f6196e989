"""`tutti why` and `tutti fit`: where the cluster comes from, what is printed, the exit code."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from api.constants import SYSTEM_NAMESPACE
from api.errors import ConfigurationError
from api.job import Job
from explain.answer import Answer
from explain.asked_scheduler import ask_scheduler
from explain.fit import FitAnswer, add_nodes, fit, fit_lines
from explain.live import USER_AGENT, read_job
from explain.manifests import read_manifests
from explain.owner_facts import Event, answer_of_job
from explain.reasons import Reason
from explain.submitted import Submitter
from explain.targets import Target, items_of, parse_target
from explain.text import screen
from explain.why import why
from kube.cache.decoding import cyclic_gc_paused
from kube.client.client import Client
from kube.client.credentials import load_credentials
from kube.client.errors import Forbidden
from kube.process.settings import load_settings
from providers.selection import standard_providers
from scheduler.cache.record_factory import epoch_seconds
from scheduler.commands.read_cluster import read_cluster
from scheduler.recording.file import read
from scheduler.recording.inputs import DecisionInputs
from scheduler.recording.restore import Restored, restore
from scheduler.settings import SchedulerSettings
from webhooks.admission.config import AdmissionConfig

_MISSING: Final = frozenset({Reason.MEMBERS, Reason.POD_GROUP})
"""Reasons for which the Job itself may know more."""

_ASKED: Final = (
    "you may not list nodes and pods of the whole cluster: the scheduler was asked; "
    "names such as n0000012 stand for what belongs to others\n"
)

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Source:
    """Where the cluster comes from.

    Attributes:
        snapshot: a file; None: the cluster itself, with the caller's rights.
        kubeconfig: how to reach it; None: the usual places.
        config: settings of the scheduler as YAML; None: those of the snapshot, or the defaults.
        context: of the kubeconfig; None: its current one.
        scheduler_namespace: where the scheduler is, which is asked when the caller may not read what decisions read.
    """

    snapshot: Path | None = None
    kubeconfig: str | None = None
    config: str | None = None
    context: str | None = None
    scheduler_namespace: str = SYSTEM_NAMESPACE


@dataclass(frozen=True, slots=True)
class FitRequest:
    """What `tutti fit` is asked: the manifests' text, the namespace of those without one, made-up nodes, evictions."""

    text: str
    namespace: str
    evicts: bool = False
    nodes: int = 0
    like: str = ""


@dataclass(slots=True)
class _Facts:
    """What is known: the cluster or, from the scheduler, the answers; and what a Job says of itself."""

    restored: Restored | None = None
    told: list[Answer] | None = None
    job: Job | None = None
    events: tuple[Event, ...] = ()


async def main_why(source: Source, text: str, namespace: str, *, as_json: bool, say: Say) -> int:
    """Say why what `text` names waits, and what would help; 0 it has started or starts, 3 it waits, 4 it never starts here.

    Raises:
        ConfigurationError: there is nothing of that name, or the cluster cannot be read.
    """
    target = parse_target(text, namespace)
    answers = _answers(await _facts(source, target), target)
    if as_json:
        say(_json(answers))
    else:
        say("\n\n".join(map(screen, answers)))
    return max(answer.exit_code for answer in answers)


async def main_fit(source: Source, request: FitRequest, *, as_json: bool, say: Say) -> int:
    """Say whether what a file describes would start; 0 all of it, 3 some of it waits, 4 some of it never starts here.

    Raises:
        ConfigurationError: the file is wrong, admission would refuse it, or the cluster cannot be read.
    """
    manifests = read_manifests(request.text, request.namespace)
    found = fit_on(await _cluster(source), manifests, request)
    if as_json:
        say(_json(found))
    else:
        say("\n".join(fit_lines(found, [screen(one.answer) for one in found.items if one.answer is not None])))
    return found.exit_code


def fit_on(restored: Restored, manifests: list[dict[str, Any]], request: FitRequest) -> FitAnswer:
    """Whether these would start on a restored cluster, which is changed by it.

    Raises:
        ConfigurationError: admission would refuse one of them, or there is no node to make others like.
    """
    state, settings = restored.core.state, restored.settings
    classes = tuple(state.classes)
    names = settings.scheduler_names - {settings.scheduler_name}
    providers = standard_providers(scheduler_name=settings.scheduler_name, profile_names=sorted(names))
    config = AdmissionConfig(providers, classes=lambda: classes)
    now = restored.clock.epoch()
    submission = Submitter(config, classes, now).submit(manifests)
    if not submission.items:
        raise ConfigurationError("the file holds nothing that is placed on nodes")
    if request.nodes:
        add_nodes(state, request.nodes, request.like)
    return fit(state, submission, now, evicts=request.evicts and restored.core.may_evict)


async def _facts(source: Source, target: Target) -> _Facts:
    if source.snapshot is not None:
        return _Facts(await _cluster(source))
    facts = _Facts()
    async with _client(source) as client:
        if target.kind == "job":
            facts.job, events = await read_job(client, target.namespace, target.name)
            facts.events = tuple(events)
        try:
            facts.restored = await _read(client, _given(source))
        except Forbidden:
            facts.told = await ask_scheduler(client, target, source.scheduler_namespace)
            sys.stderr.write(_ASKED)
    return facts


async def _cluster(source: Source) -> Restored:
    if source.snapshot is not None:
        with cyclic_gc_paused():
            return _restored(read(source.snapshot).inputs, _given(source))
    async with _client(source) as client:
        return await _read(client, _given(source))


def _client(source: Source) -> Client:
    return Client(load_credentials(source.kubeconfig, context=source.context), user_agent=USER_AGENT)


def _given(source: Source) -> SchedulerSettings | None:
    return load_settings(SchedulerSettings, source.config) if source.config is not None else None


async def _read(client: Client, given: SchedulerSettings | None) -> Restored:
    found = await read_cluster(client, given if given is not None else SchedulerSettings(), time.time())
    if found.unreadable:
        sys.stderr.write(f"you may not list {', '.join(found.unreadable)}: the answer is without them\n")
    with cyclic_gc_paused():
        return _restored(found.inputs, given)


def _restored(inputs: DecisionInputs, settings: SchedulerSettings | None) -> Restored:
    restored = restore(inputs, settings)
    if inputs.scheduler is None:
        # What a scheduler at work has nominated can be seen on the pods, as after its restart.
        restored.core.evaluator.restore(restored.clock(), may_evict=restored.core.may_evict)
    return restored


def _answers(known: _Facts, target: Target) -> list[Answer]:
    found, names = known.told or [], SchedulerSettings().scheduler_names
    if known.restored is not None:
        state, now = known.restored.core.state, known.restored.clock.epoch()
        found = [why(state, key, now, preempts=known.restored.core.may_evict) for key in items_of(state, target)]
        names = state.scheduler_names
    by_itself = _of_job(known, names)
    if by_itself is not None and (not found or any(answer.reason in _MISSING for answer in found)):
        return [by_itself]
    if not found:
        raise ConfigurationError(f"{target} in {target.namespace}: nothing of that name is scheduled by Tutti")
    return found


def _of_job(known: _Facts, scheduler_names: frozenset[str]) -> Answer | None:
    if known.job is None:
        return None
    now = known.restored.clock.epoch() if known.restored is not None else time.time()
    created = epoch_seconds(known.job.metadata.creation_timestamp)
    return answer_of_job(known.job, known.events, now, scheduler_names=scheduler_names, created_seconds=created)


def _json(found: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(found), indent=2).decode()
