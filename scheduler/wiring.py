"""Puts one scheduler together from its parts. No part makes another; what is shared is made here, once."""

import asyncio
import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, NamedTuple

from api.constants import REASON_SCHEDULER_ERROR
from api.names import ALPHABET
from api.podgroup import PodGroup
from kube.cache.decoding import ListDecoder
from kube.cache.informer import Informer
from kube.client.client import Client
from kube.client.events import EventRecorder
from kube.groups.group_api import GroupAPI
from scheduler.apicalls.conditions import PodConditions
from scheduler.apicalls.dispatcher import EVICTION_LANE, STATUS_LANE, URGENT_LANE, APIDispatcher, Retries
from scheduler.apicalls.group_conditions import GroupConditions
from scheduler.binding.assumptions import Assumptions
from scheduler.binding.binder import Binder
from scheduler.binding.claim_binding import ClaimBinding, ResultsWithClaims
from scheduler.binding.claim_writes import ClaimWriter
from scheduler.binding.extended_claims import SUFFIX_CHARACTERS
from scheduler.binding.resource_claim_writes import ResourceClaimWriter
from scheduler.binding.volume_binding import VolumeBinding
from scheduler.cache.cluster import ClusterState
from scheduler.cache.records import StateChange
from scheduler.core import build_core, deciding_settings
from scheduler.eventhandlers.cache_comparer import CacheComparer
from scheduler.eventhandlers.devices import DeviceEventHandlers
from scheduler.eventhandlers.event_handlers import EventHandlers, FanOut
from scheduler.eventhandlers.informers import Informers, build_informers
from scheduler.eventhandlers.storage import StorageEventHandlers
from scheduler.preemption.executor import Executor
from scheduler.preemption.manager import PreemptionManager
from scheduler.preemption.restarts import Restarts
from scheduler.preemption.suspensions import Suspensions
from scheduler.queue.item_errors import ItemErrors
from scheduler.queue.scheduling_queue import SchedulingQueue
from scheduler.recording.capture import Moment
from scheduler.recording.recordings import Recordings
from scheduler.reporting.events import EventWriter
from scheduler.reporting.hints import Hints, StartSearch
from scheduler.reporting.metrics import CountedProgress, PreemptionMetrics, SchedulerMetrics
from scheduler.reporting.preemption_priority import PreemptionPriorityReporter
from scheduler.reporting.progress import Progress
from scheduler.reporting.reporter import Reporter
from scheduler.reservations.future_reservations import FutureReservations
from scheduler.reservations.lost_members import LostMembers
from scheduler.run import Pace, SchedulingLoop, Stages, Waker
from scheduler.schedule_one import ItemScheduler
from scheduler.settings import SchedulerSettings


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
        group_error_reason: what groups say that contradict themselves; the server's version decides.
        find_hint: looks for what would help a group that waits; None: nobody does.
        server_version: of the API server, for recordings.
        device_kinds: plural names of the kinds of `resource.k8s.io` to follow; pods with resource claims are refused when empty.
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
    group_error_reason: str = REASON_SCHEDULER_ERROR
    find_hint: StartSearch | None = None
    server_version: str = ""
    device_kinds: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Scheduler:
    """The parts that the process starts and stops."""

    informers: Informers
    loop: SchedulingLoop
    dispatcher: APIDispatcher
    recorder: EventRecorder
    cache_comparer: CacheComparer
    state: ClusterState
    recordings: Recordings


class _Shared:
    """What most parts have to do with."""

    def __init__(self, given: Surroundings, apply: Callable[[StateChange], None]) -> None:
        """`apply` takes what changes by itself."""
        settings, clock, pod_groups = given.settings, given.clock, given.group_api.pod_groups
        self.given: Final = given
        self.later: Final = asyncio.get_running_loop().call_later
        self.errors: Final = ItemErrors()
        self.waker: Final = Waker()
        self.core: Final = build_core(settings, clock=clock, epoch=given.epoch, apply=apply, errors=self.errors)
        self.core.state.nodes.steps.exceeded = given.metrics.over_budget
        self.core.state.devices.is_followed = bool(given.device_kinds)
        self.state: Final = self.core.state
        self.queue: Final = self.core.queue
        self.recordings: Final = Recordings(self.core, self._moment, clock, settings.record_decisions)
        self._deciding: Final = deciding_settings(settings)
        self.dispatcher: Final = APIDispatcher(
            concurrency=settings.bind_concurrency,
            may_write=given.may_write,
            clock=clock,
            patience_seconds=settings.status_patience_seconds,
            count=given.metrics.write,
        )
        self.retries: Final = Retries(self.later, given.jitter)
        self.informer: Final[Informer[PodGroup]] = Informer(given.reader, pod_groups, ListDecoder(PodGroup))
        self.groups: Final = GroupConditions(
            given.writer, self.dispatcher, pod_groups, shown=self.informer.store.get, retries=self.retries
        )
        self.pods: Final = PodConditions(
            given.writer, self.dispatcher, is_waiting=self._is_waiting, retries=self.retries
        )
        self.recorder: Final = EventRecorder(
            given.writer,
            component=settings.scheduler_name,
            instance=settings.identity,
            clock=clock,
            gate=self.dispatcher.quiet,
        )
        self.event_writer: Final = EventWriter(
            self.recorder,
            pod_groups,
            scheduler_name=self.state.entities.scheduler_name,
            clock=clock,
            repeat_seconds=settings.repeat_event_seconds,
        )
        self.suspensions: Final = Suspensions(self.state, self.groups)
        self.hints: Final = Hints(given.find_hint, self.state, self._is_idle, clock, settings.hint_after_seconds)

    def _moment(self) -> Moment:
        given = self.given
        return Moment(given.epoch(), given.clock(), self._deciding, given.group_api.name, given.server_version)

    def _is_idle(self) -> bool:
        due = self.queue.next_due_seconds()
        return due is None or due > 0.0

    def _is_waiting(self, uid: str) -> bool:
        pod = self.state.pod(uid)
        return pod is not None and not pod.is_bound and not pod.is_terminal and self.state.assumption(uid) is None


class _Binding(NamedTuple):
    assumptions: Assumptions
    binder: Binder
    volumes: VolumeBinding
    claims: ClaimBinding


def build_scheduler(given: Surroundings) -> Scheduler:
    """A scheduler, ready to be started. To be called in the event loop it will run in."""
    # Who tells of changes hears of them, too: this one is looked up when it is called.
    apply: Callable[[StateChange], None] = lambda change: changes.apply(change)  # noqa: E731, PLW0108
    shared = _Shared(given, apply)
    state, queue, errors = shared.state, shared.queue, shared.errors
    reporter = _reporter(shared)
    priorities = PreemptionPriorityReporter(state, shared.groups)
    preemption = _preemption(shared, priorities, apply)
    changes = FanOut(
        state=state, queue=queue, reporter=reporter, preemption=preemption, errors=errors, wake=shared.waker
    )
    handlers = EventHandlers(
        state=state,
        changes=changes,
        queue=queue,
        groups=shared.groups,
        pods=shared.pods,
        preemption=preemption,
        priorities=priorities,
        errors=errors,
    )
    binding = _binding(shared, reporter, changes)
    storage = StorageEventHandlers(state, changes.apply, binding.volumes.storage_changed)
    scheduler = Scheduler(
        informers=build_informers(
            given.reader,
            shared.informer,
            state,
            handlers,
            storage,
            errors,
            (DeviceEventHandlers(state, changes.apply, binding.claims.claims_changed), given.device_kinds)
            if given.device_kinds
            else None,
        ),
        loop=_loop(shared, reporter, preemption, changes, binding),
        dispatcher=shared.dispatcher,
        recorder=shared.recorder,
        cache_comparer=CacheComparer(
            given.reader, state, every_seconds=given.settings.self_check_seconds, export=given.metrics.drift
        ),
        state=state,
        recordings=shared.recordings,
    )
    _export(given.metrics, scheduler, queue)
    return scheduler


def _reporter(shared: _Shared) -> Reporter:
    given = shared.given
    progress = Progress(
        state=shared.state,
        groups=shared.groups,
        event_writer=shared.event_writer,
        clock=given.clock,
        degraded_after_seconds=given.settings.degraded_after_seconds,
        lost_report_seconds=given.settings.lost_report_seconds,
        errors=shared.errors,
        counts=CountedProgress(given.metrics, given.epoch),
    )
    given.metrics.follow_partial(progress.partial_groups)
    reporter = Reporter(
        state=shared.state,
        queue=shared.queue,
        groups=shared.groups,
        pods=shared.pods,
        event_writer=shared.event_writer,
        progress=progress,
        clock=given.clock,
        settings=given.settings,
        errors=shared.errors,
        hints=shared.hints,
        group_error_reason=given.group_error_reason,
    )
    shared.hints.tell = reporter.advised
    return reporter


def _preemption(
    shared: _Shared, priorities: PreemptionPriorityReporter, apply: Callable[[StateChange], None]
) -> PreemptionManager:
    given, settings = shared.given, shared.given.settings
    evaluator = shared.core.evaluator
    suspensions = shared.suspensions
    metrics = PreemptionMetrics(given.metrics.registry)
    executor = Executor(
        given.writer,
        shared.dispatcher,
        retries=shared.retries,
        later=shared.later,
        state=shared.state,
        evaluator=evaluator,
        suspensions=suspensions,
        event_writer=shared.event_writer,
        metrics=metrics,
        scheduler_name=settings.scheduler_name,
    )
    return PreemptionManager(
        state=shared.state,
        queue=shared.queue,
        evaluator=evaluator,
        executor=executor,
        suspensions=suspensions,
        priorities=priorities,
        metrics=metrics,
        clock=given.clock,
        apply=apply,
        may_evict=shared.core.may_evict,
    )


def _binding(shared: _Shared, reporter: Reporter, changes: FanOut) -> _Binding:
    given, settings = shared.given, shared.given.settings
    assumptions = Assumptions(
        client=given.writer,
        dispatcher=shared.dispatcher,
        state=shared.state,
        queue=shared.queue,
        reporter=reporter,
        apply=changes.apply,
        wake=shared.waker,
        errors=shared.errors,
        clock=given.clock,
        assume_seconds=settings.assume_seconds,
    )
    claims = ClaimBinding(
        state=shared.state,
        writer=ResourceClaimWriter(given.writer, shared.dispatcher, shared.retries),
        results=assumptions,
        tell=reporter.decided,
        apply=changes.apply,
        later=shared.later,
        clock=given.clock,
        now=lambda: datetime.fromtimestamp(given.epoch(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        new_share_id=lambda: str(uuid.uuid4()),
        new_suffix=lambda: "".join(given.jitter.choices(ALPHABET, k=SUFFIX_CHARACTERS)),
    )
    results = ResultsWithClaims(assumptions, claims)
    binder = Binder(
        given.writer,
        shared.dispatcher,
        results,
        retries=shared.retries,
        clock=given.clock,
        give_up_seconds=settings.bind_give_up_seconds,
        observe_seconds=given.metrics.bound,
    )
    volumes = VolumeBinding(
        state=shared.state,
        writer=ClaimWriter(given.writer, shared.dispatcher, shared.retries),
        bind=binder.submit,
        results=results,
        tell=reporter.decided,
        later=shared.later,
        clock=given.clock,
        timeout_seconds=settings.volume_bind_seconds,
    )
    return _Binding(assumptions, binder, volumes, claims)


def _loop(
    shared: _Shared, reporter: Reporter, preemption: PreemptionManager, changes: FanOut, binding: _Binding
) -> SchedulingLoop:
    assumptions, volumes = binding.assumptions, binding.volumes
    clock, settings, metrics = shared.given.clock, shared.given.settings, shared.given.metrics
    state, queue, errors = shared.state, shared.queue, shared.errors
    starvation = shared.core.starvation
    future = FutureReservations(
        state, clock=clock, reserve_seconds=settings.keep_remainder_seconds, apply=changes.apply, errors=errors
    )
    restarts = Restarts(
        shared.given.writer,
        shared.dispatcher,
        retries=shared.retries,
        state=state,
        suspensions=shared.suspensions,
        event_writer=shared.event_writer,
        count=metrics.restarted,
    )
    lost = LostMembers(
        state,
        clock=clock,
        epoch=shared.given.epoch,
        apply=changes.apply,
        restart=restarts.restart,
        errors=errors,
    )
    stages = Stages(clock, errors)
    stages.add("report", reporter.say_what_is_due, reporter.next_due_seconds)
    stages.add("recheck", assumptions.recheck_old, assumptions.next_due_seconds)
    stages.add("reserve", starvation.tick, starvation.next_due_seconds)
    stages.add("keep", future.tick, future.next_due_seconds)
    stages.add("repair", lost.tick, lost.next_due_seconds)
    stages.add("hint", shared.hints.tick, shared.hints.next_due_seconds)
    scheduler = ItemScheduler(
        state=state,
        seen=shared.core.seen,
        queue=queue,
        assumptions=assumptions,
        volumes=volumes,
        claims=binding.claims,
        binder=binding.binder,
        preemption=preemption,
        starvation=starvation,
        future=future,
        reporter=reporter,
        errors=errors,
        observe=metrics.attempt,
        spent=metrics.spent,
        count=metrics.item_error,
        clock=clock,
        slice_seconds=settings.slice_seconds,
    )

    def record() -> None:
        scheduler.journal = shared.recordings.begin()

    return SchedulingLoop(
        scheduler=scheduler,
        seen=shared.core.seen,
        queue=queue,
        stages=stages,
        at_start={
            "report": reporter.start,
            "restore": future.restore,
            "repair": lost.restore,
            "recover": preemption.restore,
            "record": record,
            "release": binding.claims.restore,
        },
        before_each=lost.tick,
        collect_news=reporter.collect_news,
        # Who waits for volumes or claims keeps no connection and may do so for minutes.
        pace=Pace(
            settings.slice_seconds,
            settings.bind_backlog,
            lambda: assumptions.open_binds - volumes.waiting - binding.claims.waiting,
            clock,
        ),
        waker=shared.waker,
    )


def _export(metrics: SchedulerMetrics, scheduler: Scheduler, queue: SchedulingQueue) -> None:
    for resource, informer in scheduler.informers.by_resource():
        metrics.follow_silence(resource, informer.last_heard_seconds)
    metrics.follow_queue(tuple(queue.depths()), queue.depths)
    metrics.follow_pending(queue.pending_groups)
    metrics.follow_objects("pods", lambda: scheduler.state.pods_total)
    metrics.follow_objects("nodes", lambda: scheduler.state.nodes_total)
    metrics.follow_objects("podgroups", lambda: len(scheduler.informers.groups.store))
    metrics.follow_writes(URGENT_LANE, lambda: scheduler.dispatcher.queued_urgent)
    metrics.follow_writes(EVICTION_LANE, lambda: scheduler.dispatcher.queued_evictions)
    metrics.follow_writes(STATUS_LANE, lambda: scheduler.dispatcher.queued_statuses)
