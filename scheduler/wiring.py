"""Puts one scheduler together from its parts. No part makes another; what is shared is made here, once."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass

from api.podgroup import PodGroup
from kube.cache.decoding import ListDecoder
from kube.cache.informer import Informer
from kube.client.client import Client
from kube.client.events import EventRecorder
from kube.groups.group_api import GroupAPI
from scheduler.assumptions import Assumptions
from scheduler.caches import Caches, build_caches
from scheduler.cycle.decision import Decision
from scheduler.cycle.remainder import RemainderKeeper
from scheduler.cycle.reserver import Reserver
from scheduler.ingest import Ingest
from scheduler.item_errors import ItemErrors
from scheduler.loop import Pace, SchedulingLoop, Waker
from scheduler.placement.remainder import Foreseen
from scheduler.preemption.evaluator import Evaluator, PreemptionLimits
from scheduler.preemption.executor import Executor
from scheduler.preemption.manager import Preemptor
from scheduler.preemption.suspensions import Suspensions
from scheduler.preemption.victim_priorities import VictimPriorities
from scheduler.queue.queue import Queue
from scheduler.queue.settings import QueueSettings
from scheduler.reporting.metrics import SchedulerMetrics
from scheduler.reporting.preemption_metrics import PreemptionMetrics
from scheduler.reporting.progress import Progress
from scheduler.reporting.reporter import Reporter
from scheduler.reporting.voice import Voice
from scheduler.selfcheck import SelfCheck
from scheduler.set_aside import SetAside
from scheduler.settings import SchedulerSettings
from scheduler.state.cluster import ClusterState
from scheduler.state.records import ItemKey
from scheduler.storage_feed import StorageFeed
from scheduler.writes.binder import Binder
from scheduler.writes.claim_writes import ClaimWriter
from scheduler.writes.group_conditions import GroupConditions
from scheduler.writes.lanes import BIND_LANE, EVICTION_LANE, STATUS_LANE, WriteLanes
from scheduler.writes.pod_conditions import PodConditions
from scheduler.writes.retry import Retries
from scheduler.writes.volume_binding import VolumeBinding


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a scheduler is given from outside.

    Attributes:
        reader: for lists and watches.
        writer: for everything that changes the cluster; refuses to send without the lease.
        group_api: where PodGroups are kept.
        settings: of the process.
        metrics: where to count.
        may_write: whether the lease is held now.
        clock: monotonic seconds.
        jitter: spreads retries.
    """

    reader: Client
    writer: Client
    group_api: GroupAPI
    settings: SchedulerSettings
    metrics: SchedulerMetrics
    may_write: Callable[[], bool]
    clock: Callable[[], float]
    epoch: Callable[[], float]
    jitter: random.Random


@dataclass(frozen=True, slots=True)
class Scheduler:
    """The parts that the process starts and stops."""

    caches: Caches
    loop: SchedulingLoop
    lanes: WriteLanes
    recorder: EventRecorder
    self_check: SelfCheck
    state: ClusterState


@dataclass(frozen=True, slots=True)
class _Core:
    state: ClusterState
    errors: ItemErrors
    seen: Foreseen
    queue: Queue
    waker: Waker


@dataclass(frozen=True, slots=True)
class _Writes:
    lanes: WriteLanes
    retries: Retries
    recorder: EventRecorder
    groups: GroupConditions
    pods: PodConditions


def build_scheduler(given: Surroundings) -> Scheduler:
    """A scheduler, ready to be started. To be called in the event loop it will run in."""
    settings = given.settings
    state = _cluster_state(settings)
    errors = ItemErrors()
    state.nodes.steps.most, state.nodes.steps.exceeded = settings.decision_steps, given.metrics.over_budget
    core = _Core(
        state,
        errors,
        Foreseen(state),
        Queue(given.clock, _queue_settings(settings), given.epoch, errors),
        Waker(),
    )
    groups: Informer[PodGroup] = Informer(given.reader, given.group_api.pod_groups, ListDecoder(PodGroup))
    writes = _writes(given, core.state, groups)
    voice = _voice(given, core.state, writes)
    reporter = _reporter(given, core, writes, voice)
    priorities = VictimPriorities(core.state, writes.groups)
    preemptor = _preemptor(given, core, writes, voice, priorities)
    ingest = Ingest(
        state=core.state,
        queue=core.queue,
        reporter=reporter,
        groups=writes.groups,
        pods=writes.pods,
        preemptor=preemptor,
        errors=errors,
        wake=core.waker,
    )
    loop = _loop(given, core, writes, reporter, ingest, preemptor)
    scheduler = Scheduler(
        caches=build_caches(
            given.reader,
            groups,
            state,
            ingest,
            priorities,
            StorageFeed(state, ingest.apply, loop.storage_changed),
            errors,
        ),
        loop=loop,
        lanes=writes.lanes,
        recorder=writes.recorder,
        self_check=SelfCheck(
            given.reader, core.state, every_seconds=settings.self_check_seconds, export=given.metrics.drift
        ),
        state=core.state,
    )
    _export(given.metrics, scheduler, core.queue)
    return scheduler


def _cluster_state(settings: SchedulerSettings) -> ClusterState:
    profiles = settings.profiles
    most_members = {
        profile.scheduler_name: profile.limits.members for profile in profiles if profile.limits.members is not None
    }
    return ClusterState(
        settings.scheduler_names,
        {profile.scheduler_name: profile.scoring() for profile in profiles},
        most_members,
    )


def _queue_settings(settings: SchedulerSettings) -> QueueSettings:
    return QueueSettings(
        initial_backoff_seconds=settings.initial_backoff_seconds,
        max_backoff_seconds=settings.max_backoff_seconds,
        desired_wait_seconds=settings.desired_wait_seconds,
        set_aside_seconds=settings.set_aside_seconds,
        reserve_after_seconds=settings.reserve_after_seconds,
        reserve_seconds=settings.reserve_seconds,
    )


def _writes(given: Surroundings, state: ClusterState, groups: Informer[PodGroup]) -> _Writes:
    settings = given.settings
    lanes = WriteLanes(
        concurrency=settings.bind_concurrency,
        may_write=given.may_write,
        clock=given.clock,
        patience_seconds=settings.status_patience_seconds,
        count=given.metrics.write,
    )
    retries = Retries(asyncio.get_running_loop().call_later, given.jitter)

    def is_waiting(uid: str) -> bool:
        pod = state.pod(uid)
        return pod is not None and not pod.is_bound and not pod.is_terminal and state.assumption(uid) is None

    return _Writes(
        lanes=lanes,
        retries=retries,
        recorder=EventRecorder(
            given.writer,
            component=settings.scheduler_name,
            instance=settings.identity,
            clock=given.clock,
            gate=lanes.quiet,
        ),
        groups=GroupConditions(
            given.writer, lanes, given.group_api.pod_groups, shown=groups.store.get, retries=retries
        ),
        pods=PodConditions(given.writer, lanes, is_waiting=is_waiting, retries=retries),
    )


def _voice(given: Surroundings, state: ClusterState, writes: _Writes) -> Voice:
    return Voice(
        writes.recorder,
        given.group_api.pod_groups,
        scheduler_name=state.items.scheduler_name,
        clock=given.clock,
        repeat_seconds=given.settings.repeat_event_seconds,
    )


def _preemptor(
    given: Surroundings, core: _Core, writes: _Writes, voice: Voice, priorities: VictimPriorities
) -> Preemptor:
    settings = given.settings
    limits = PreemptionLimits(
        victim_deadline_seconds=settings.victim_deadline_seconds,
        initial_pause_seconds=settings.eviction_pause_seconds,
        max_pause_seconds=settings.max_eviction_pause_seconds,
    )
    evaluator = Evaluator(core.seen.view, limits)
    suspensions = Suspensions(core.state, writes.groups)
    metrics = PreemptionMetrics(given.metrics.registry)
    executor = Executor(
        given.writer,
        writes.lanes,
        retries=writes.retries,
        later=asyncio.get_running_loop().call_later,
        state=core.state,
        evaluator=evaluator,
        suspensions=suspensions,
        voice=voice,
        metrics=metrics,
        scheduler_name=settings.scheduler_name,
    )
    return Preemptor(
        state=core.state,
        queue=core.queue,
        evaluator=evaluator,
        executor=executor,
        suspensions=suspensions,
        priorities=priorities,
        metrics=metrics,
        clock=given.clock,
        wake=core.waker,
        may_evict=settings.preemption,
    )


def _reporter(given: Surroundings, core: _Core, writes: _Writes, voice: Voice) -> Reporter:
    settings = given.settings
    progress = Progress(
        state=core.state,
        groups=writes.groups,
        voice=voice,
        clock=given.clock,
        degraded_after_seconds=settings.degraded_after_seconds,
        errors=core.errors,
    )
    return Reporter(
        state=core.state,
        queue=core.queue,
        groups=writes.groups,
        pods=writes.pods,
        voice=voice,
        progress=progress,
        clock=given.clock,
        settings=settings,
        errors=core.errors,
    )


def _loop(
    given: Surroundings,
    core: _Core,
    writes: _Writes,
    reporter: Reporter,
    ingest: Ingest,
    preemptor: Preemptor,
) -> SchedulingLoop:
    settings = given.settings
    assumptions = Assumptions(
        client=given.writer,
        lanes=writes.lanes,
        state=core.state,
        queue=core.queue,
        reporter=reporter,
        apply=ingest.apply,
        wake=core.waker,
        clock=given.clock,
        assume_seconds=settings.assume_seconds,
    )
    binder = Binder(
        given.writer,
        writes.lanes,
        assumptions,
        retries=writes.retries,
        clock=given.clock,
        give_up_seconds=settings.bind_give_up_seconds,
        observe_seconds=given.metrics.bound,
    )
    return SchedulingLoop(
        state=core.state,
        queue=core.queue,
        binder=binder,
        volumes=_volume_binding(given, core, writes, reporter, binder, assumptions),
        assumptions=assumptions,
        reporter=reporter,
        preemptor=preemptor,
        reserver=Reserver(core.seen.view, core.queue, given.clock, _queue_settings(settings), core.errors),
        keeper=RemainderKeeper(
            core.seen,
            core.state,
            core.queue,
            clock=given.clock,
            keep_seconds=settings.keep_remainder_seconds,
            errors=core.errors,
        ),
        errors=core.errors,
        set_aside=SetAside(core.errors, core.queue, core.state, reporter, given.metrics.item_error),
        observe=given.metrics.attempt,
        pace=Pace(settings.slice_seconds, settings.bind_backlog, given.clock),
        waker=core.waker,
    )


def _volume_binding(
    given: Surroundings, core: _Core, writes: _Writes, reporter: Reporter, binder: Binder, assumptions: Assumptions
) -> VolumeBinding:
    def tell(key: ItemKey, pod_uids: tuple[str, ...], message: str) -> None:
        failures = tuple((uid, message) for uid in pod_uids)
        reporter.decided(Decision(key, "error", failures=failures, condition_message=message))

    return VolumeBinding(
        state=core.state,
        writer=ClaimWriter(given.writer, writes.lanes, writes.retries),
        bind=binder.submit,
        ledger=assumptions,
        tell=tell,
        later=asyncio.get_running_loop().call_later,
        clock=given.clock,
        timeout_seconds=given.settings.volume_bind_seconds,
    )


def _export(metrics: SchedulerMetrics, scheduler: Scheduler, queue: Queue) -> None:
    for resource, informer in scheduler.caches.by_resource():
        metrics.follow_silence(resource, informer.last_heard_seconds)
    metrics.follow_queue(tuple(queue.depths()), queue.depths)
    metrics.follow_objects("pods", lambda: scheduler.state.pods_total)
    metrics.follow_objects("nodes", lambda: scheduler.state.nodes_total)
    metrics.follow_objects("podgroups", lambda: len(scheduler.caches.groups.store))
    metrics.follow_writes(BIND_LANE, lambda: scheduler.lanes.queued_binds)
    metrics.follow_writes(EVICTION_LANE, lambda: scheduler.lanes.queued_evictions)
    metrics.follow_writes(STATUS_LANE, lambda: scheduler.lanes.queued_statuses)
