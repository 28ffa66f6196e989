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
from scheduler.binding.assumptions import Assumptions
from scheduler.binding.binder import Binder
from scheduler.binding.claim_writes import ClaimWriter
from scheduler.binding.volume_binding import VolumeBinding
from scheduler.cycle.decision import Decision
from scheduler.eventhandlers.cache_comparer import CacheComparer
from scheduler.eventhandlers.event_handlers import EventHandlers, StateChanges
from scheduler.eventhandlers.informers import Informers, build_informers
from scheduler.eventhandlers.storage import StorageEventHandlers
from scheduler.placement.remainder import Foreseen
from scheduler.preemption.campaign import Campaigns
from scheduler.preemption.limits import Limits
from scheduler.preemptor import Preemptor
from scheduler.queue.item_errors import ItemErrors
from scheduler.queue.queue import Queue
from scheduler.queue.settings import QueueSettings
from scheduler.reporting.metrics import PreemptionMetrics, SchedulerMetrics
from scheduler.reporting.progress import Progress
from scheduler.reporting.reporter import Reporter
from scheduler.reporting.voice import Voice
from scheduler.reservations.future_pods import FutureReservations
from scheduler.reservations.starvation import StarvationReservations
from scheduler.run import Pace, SchedulingLoop, Stages, Waker
from scheduler.schedule_one import ItemScheduler
from scheduler.settings import SchedulerSettings
from scheduler.state.cluster import ClusterState
from scheduler.state.records import ItemKey
from scheduler.suspensions import Suspensions
from scheduler.victim_priorities import VictimPriorities
from scheduler.writes.evictions import Evictor
from scheduler.writes.group_conditions import GroupConditions
from scheduler.writes.lanes import BIND_LANE, EVICTION_LANE, STATUS_LANE, WriteLanes
from scheduler.writes.pod_conditions import PodConditions
from scheduler.writes.retry import Retries


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
        epoch: seconds since 1970.
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

    informers: Informers
    loop: SchedulingLoop
    lanes: WriteLanes
    recorder: EventRecorder
    cache_comparer: CacheComparer
    state: ClusterState


@dataclass(frozen=True, slots=True)
class _Shared:
    """What most parts have to do with."""

    given: Surroundings
    state: ClusterState
    seen: Foreseen
    queue: Queue
    queue_settings: QueueSettings
    errors: ItemErrors
    waker: Waker
    group_informer: Informer[PodGroup]
    lanes: WriteLanes
    retries: Retries
    recorder: EventRecorder
    groups: GroupConditions
    pods: PodConditions
    voice: Voice


def build_scheduler(given: Surroundings) -> Scheduler:
    """A scheduler, ready to be started. To be called in the event loop it will run in."""
    shared = _shared(given)
    state, queue, errors = shared.state, shared.queue, shared.errors
    reporter = _reporter(shared)
    priorities = VictimPriorities(state, shared.groups)
    preemptor = _preemptor(shared, priorities)
    changes = StateChanges(
        state=state, queue=queue, reporter=reporter, preemptor=preemptor, errors=errors, wake=shared.waker
    )
    handlers = EventHandlers(
        state=state,
        changes=changes,
        queue=queue,
        groups=shared.groups,
        pods=shared.pods,
        preemptor=preemptor,
        errors=errors,
    )
    assumptions = _assumptions(shared, reporter, changes)
    binder = _binder(shared, assumptions)
    volumes = _volume_binding(shared, reporter, binder, assumptions)
    storage = StorageEventHandlers(state, changes.apply, volumes.storage_changed)
    scheduler = Scheduler(
        informers=build_informers(given.reader, shared.group_informer, state, handlers, priorities, storage, errors),
        loop=_loop(shared, reporter, preemptor, changes, assumptions, binder, volumes),
        lanes=shared.lanes,
        recorder=shared.recorder,
        cache_comparer=CacheComparer(
            given.reader, state, every_seconds=given.settings.self_check_seconds, export=given.metrics.drift
        ),
        state=state,
    )
    _export(given.metrics, scheduler, queue)
    return scheduler


def _shared(given: Surroundings) -> _Shared:
    settings, metrics = given.settings, given.metrics
    state = _cluster_state(settings)
    state.nodes.steps.most, state.nodes.steps.exceeded = settings.decision_steps, metrics.over_budget
    errors = ItemErrors()
    queue_settings = QueueSettings(
        initial_backoff_seconds=settings.initial_backoff_seconds,
        max_backoff_seconds=settings.max_backoff_seconds,
        desired_wait_seconds=settings.desired_wait_seconds,
        set_aside_seconds=settings.set_aside_seconds,
        reserve_after_seconds=settings.reserve_after_seconds,
        reserve_seconds=settings.reserve_seconds,
    )
    lanes = WriteLanes(
        concurrency=settings.bind_concurrency,
        may_write=given.may_write,
        clock=given.clock,
        patience_seconds=settings.status_patience_seconds,
        count=metrics.write,
    )
    retries = Retries(asyncio.get_running_loop().call_later, given.jitter)
    recorder = EventRecorder(
        given.writer, component=settings.scheduler_name, instance=settings.identity, clock=given.clock, gate=lanes.quiet
    )
    pod_groups = given.group_api.pod_groups
    group_informer: Informer[PodGroup] = Informer(given.reader, pod_groups, ListDecoder(PodGroup))

    def is_waiting(uid: str) -> bool:
        pod = state.pod(uid)
        return pod is not None and not pod.is_bound and not pod.is_terminal and state.assumption(uid) is None

    return _Shared(
        given=given,
        state=state,
        seen=Foreseen(state),
        queue=Queue(given.clock, queue_settings, given.epoch, errors),
        queue_settings=queue_settings,
        errors=errors,
        waker=Waker(),
        group_informer=group_informer,
        lanes=lanes,
        retries=retries,
        recorder=recorder,
        groups=GroupConditions(given.writer, lanes, pod_groups, shown=group_informer.store.get, retries=retries),
        pods=PodConditions(given.writer, lanes, is_waiting=is_waiting, retries=retries),
        voice=Voice(
            recorder,
            pod_groups,
            scheduler_name=state.items.scheduler_name,
            clock=given.clock,
            repeat_seconds=settings.repeat_event_seconds,
        ),
    )


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


def _reporter(shared: _Shared) -> Reporter:
    given = shared.given
    progress = Progress(
        state=shared.state,
        groups=shared.groups,
        voice=shared.voice,
        clock=given.clock,
        degraded_after_seconds=given.settings.degraded_after_seconds,
        errors=shared.errors,
    )
    return Reporter(
        state=shared.state,
        queue=shared.queue,
        groups=shared.groups,
        pods=shared.pods,
        voice=shared.voice,
        progress=progress,
        clock=given.clock,
        settings=given.settings,
        errors=shared.errors,
    )


def _preemptor(shared: _Shared, priorities: VictimPriorities) -> Preemptor:
    given, settings = shared.given, shared.given.settings
    limits = Limits(
        victim_deadline_seconds=settings.victim_deadline_seconds,
        initial_pause_seconds=settings.eviction_pause_seconds,
        max_pause_seconds=settings.max_eviction_pause_seconds,
    )
    later = asyncio.get_running_loop().call_later
    return Preemptor(
        state=shared.state,
        queue=shared.queue,
        campaigns=Campaigns(shared.seen.view, limits),
        evictor=Evictor(given.writer, shared.lanes, retries=shared.retries, later=later),
        voice=shared.voice,
        suspensions=Suspensions(shared.state, shared.groups),
        priorities=priorities,
        metrics=PreemptionMetrics(given.metrics.registry),
        clock=given.clock,
        wake=shared.waker,
        scheduler_name=settings.scheduler_name,
        may_evict=settings.preemption,
    )


def _assumptions(shared: _Shared, reporter: Reporter, changes: StateChanges) -> Assumptions:
    return Assumptions(
        client=shared.given.writer,
        lanes=shared.lanes,
        state=shared.state,
        queue=shared.queue,
        reporter=reporter,
        apply=changes.apply,
        wake=shared.waker,
        errors=shared.errors,
        clock=shared.given.clock,
        assume_seconds=shared.given.settings.assume_seconds,
    )


def _binder(shared: _Shared, assumptions: Assumptions) -> Binder:
    return Binder(
        shared.given.writer,
        shared.lanes,
        assumptions,
        retries=shared.retries,
        clock=shared.given.clock,
        give_up_seconds=shared.given.settings.bind_give_up_seconds,
        observe_seconds=shared.given.metrics.bound,
    )


def _volume_binding(shared: _Shared, reporter: Reporter, binder: Binder, assumptions: Assumptions) -> VolumeBinding:
    def tell(key: ItemKey, pod_uids: tuple[str, ...], message: str) -> None:
        failures = tuple((uid, message) for uid in pod_uids)
        reporter.decided(Decision(key, "error", failures=failures, condition_message=message))

    return VolumeBinding(
        state=shared.state,
        writer=ClaimWriter(shared.given.writer, shared.lanes, shared.retries),
        bind=binder.submit,
        results=assumptions,
        tell=tell,
        later=asyncio.get_running_loop().call_later,
        clock=shared.given.clock,
        timeout_seconds=shared.given.settings.volume_bind_seconds,
    )


def _loop(
    shared: _Shared,
    reporter: Reporter,
    preemptor: Preemptor,
    changes: StateChanges,
    assumptions: Assumptions,
    binder: Binder,
    volumes: VolumeBinding,
) -> SchedulingLoop:
    clock, settings, metrics = shared.given.clock, shared.given.settings, shared.given.metrics
    state, queue, errors = shared.state, shared.queue, shared.errors
    starvation = StarvationReservations(
        shared.seen.view, queue, clock, shared.queue_settings, apply=changes.apply, errors=errors
    )
    future = FutureReservations(
        state, clock=clock, keep_seconds=settings.keep_remainder_seconds, apply=changes.apply, errors=errors
    )
    stages = Stages(clock, errors)
    stages.add("report", reporter.say_what_is_due, reporter.next_due_seconds)
    stages.add("recheck", assumptions.recheck_old, assumptions.next_due_seconds)
    stages.add("reserve", starvation.tick, starvation.next_due_seconds)
    stages.add("keep", future.tick, future.next_due_seconds)
    return SchedulingLoop(
        scheduler=ItemScheduler(
            state=state,
            seen=shared.seen,
            queue=queue,
            assumptions=assumptions,
            volumes=volumes,
            binder=binder,
            preemptor=preemptor,
            starvation=starvation,
            future=future,
            reporter=reporter,
            errors=errors,
            observe=metrics.attempt,
            count=metrics.item_error,
            clock=clock,
            slice_seconds=settings.slice_seconds,
        ),
        seen=shared.seen,
        queue=queue,
        stages=stages,
        at_start={"report": reporter.start, "restore": future.restore, "recover": preemptor.restore},
        collect_news=reporter.collect_news,
        # Who waits for volumes keeps no connection and may do so for minutes.
        pace=Pace(
            settings.slice_seconds, settings.bind_backlog, lambda: assumptions.open_binds - volumes.waiting, clock
        ),
        waker=shared.waker,
    )


def _export(metrics: SchedulerMetrics, scheduler: Scheduler, queue: Queue) -> None:
    for resource, informer in scheduler.informers.by_resource():
        metrics.follow_silence(resource, informer.last_heard_seconds)
    metrics.follow_queue(tuple(queue.depths()), queue.depths)
    metrics.follow_objects("pods", lambda: scheduler.state.pods_total)
    metrics.follow_objects("nodes", lambda: scheduler.state.nodes_total)
    metrics.follow_objects("podgroups", lambda: len(scheduler.informers.groups.store))
    metrics.follow_writes(BIND_LANE, lambda: scheduler.lanes.queued_binds)
    metrics.follow_writes(EVICTION_LANE, lambda: scheduler.lanes.queued_evictions)
    metrics.follow_writes(STATUS_LANE, lambda: scheduler.lanes.queued_statuses)
