"""Puts one scheduler together from its parts. No part makes another; what is shared is made here, once."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from api.names import ALPHABET
from kube.client.events import EventRecorder
from scheduler.apicalls.dispatcher import EVICTION_LANE, STATUS_LANE, URGENT_LANE, APIDispatcher
from scheduler.binding.assumptions import Assumptions
from scheduler.binding.binder import Binder
from scheduler.binding.claim_binding import ClaimBinding
from scheduler.binding.claim_writes import ClaimWriter
from scheduler.binding.extended_claims import SUFFIX_CHARACTERS
from scheduler.binding.permit import Permit
from scheduler.binding.resource_claim_writes import ResourceClaimWriter
from scheduler.binding.results_with_claims import ResultsWithClaims
from scheduler.binding.volume_binding import VolumeBinding
from scheduler.cache.cluster import ClusterState
from scheduler.cache.records import StateChange
from scheduler.eventhandlers.cache_comparer import CacheComparer
from scheduler.eventhandlers.devices import DeviceEventHandlers
from scheduler.eventhandlers.event_handlers import EventHandlers, FanOut
from scheduler.eventhandlers.informers import Informers, build_informers
from scheduler.eventhandlers.storage import StorageEventHandlers
from scheduler.preemption.executor import Executor
from scheduler.preemption.manager import PreemptionManager
from scheduler.preemption.restarts import Restarts
from scheduler.queue.scheduling_queue import SchedulingQueue
from scheduler.recording.recordings import Recordings
from scheduler.reporting.begun_trees import BegunTrees
from scheduler.reporting.metrics import CountedProgress, PreemptionMetrics, SchedulerMetrics
from scheduler.reporting.preemption_priority import PreemptionPriorityReporter
from scheduler.reporting.progress import Progress
from scheduler.reporting.reporter import Reporter
from scheduler.reporting.trees import TreeReporter
from scheduler.reservations.future_reservations import FutureReservations
from scheduler.reservations.lost_members import LostMembers
from scheduler.reservations.spare_nodes import SpareNodes
from scheduler.reservations.starvation import StarvationReservations
from scheduler.run import Pace, SchedulingLoop, Stages
from scheduler.schedule_one import ItemScheduler
from scheduler.shared_parts import SharedParts, Surroundings


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


class _Binding(NamedTuple):
    assumptions: Assumptions
    permit: Permit
    volumes: VolumeBinding
    claims: ClaimBinding

    def sending(self) -> int:
        """Binds under way. Who waits for volumes, claims or others keeps no connection and may do so for minutes."""
        waiting = self.volumes.waiting + self.claims.waiting + self.permit.waiting
        return self.assumptions.open_binds - waiting


def build_scheduler(given: Surroundings) -> Scheduler:
    """A scheduler, ready to be started. To be called in the event loop it will run in."""
    # Who tells of changes hears of them, too: this one is looked up when it is called.
    apply: Callable[[StateChange], None] = lambda change: changes.apply(change)  # noqa: E731, PLW0108
    shared = SharedParts(given, apply)
    state, queue, errors = shared.state, shared.queue, shared.errors
    restarts = _restarts(shared)
    reporter = _reporter(shared, restarts)
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
        composites=shared.composites.conditions,
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
            shared.composites.informer,
        ),
        loop=_loop(shared, reporter, preemption, changes, binding, restarts),
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


def _restarts(shared: SharedParts) -> Restarts:
    return Restarts(
        shared.given.writer,
        shared.dispatcher,
        retries=shared.retries,
        state=shared.state,
        suspensions=shared.suspensions,
        event_writer=shared.event_writer,
        count=shared.given.metrics.restarted,
    )


def _reporter(shared: SharedParts, restarts: Restarts) -> Reporter:
    given = shared.given
    begun_trees = BegunTrees(
        state=shared.state,
        composites=shared.composites.conditions,
        give_up=restarts.give_up,
        give_up_below=restarts.give_up_below,
        clock=given.clock,
        after_seconds=given.settings.degraded_after_seconds,
        errors=shared.errors,
    )
    progress = Progress(
        state=shared.state,
        groups=shared.groups,
        event_writer=shared.event_writer,
        clock=given.clock,
        degraded_after_seconds=given.settings.degraded_after_seconds,
        lost_report_seconds=given.settings.lost_report_seconds,
        give_up=begun_trees.give_up,
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
        trees=TreeReporter(
            state=shared.state,
            groups=shared.groups,
            composites=shared.composites.conditions,
            progress=progress,
            event_writer=shared.event_writer,
        ),
        begun_trees=begun_trees,
        group_error_reason=given.group_error_reason,
    )
    shared.hints.tell = reporter.advised
    return reporter


def _preemption(
    shared: SharedParts, priorities: PreemptionPriorityReporter, apply: Callable[[StateChange], None]
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


def _binding(shared: SharedParts, reporter: Reporter, changes: FanOut) -> _Binding:
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
    # It stands between these parts, so two of them are looked up when they are called.
    permit = Permit(
        shared.state,
        assumptions,
        is_open=assumptions.is_open,
        send=lambda binds, need: binder.submit(binds, need),  # noqa: PLW0108
        give_back=lambda bind, reason: results.failed(bind, reason),  # noqa: PLW0108
        later=shared.later,
        clock=given.clock,
    )
    claims = ClaimBinding(
        state=shared.state,
        writer=ResourceClaimWriter(given.writer, shared.dispatcher, shared.retries),
        results=permit,
        tell=reporter.decided,
        apply=changes.apply,
        later=shared.later,
        clock=given.clock,
        now=lambda: datetime.fromtimestamp(given.epoch(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        new_share_id=lambda: str(uuid.uuid4()),
        new_suffix=lambda: "".join(given.jitter.choices(ALPHABET, k=SUFFIX_CHARACTERS)),
    )
    results = ResultsWithClaims(permit, claims)
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
        bind=permit.submit,
        results=results,
        tell=reporter.decided,
        later=shared.later,
        clock=given.clock,
        timeout_seconds=settings.volume_bind_seconds,
    )
    return _Binding(assumptions, permit, volumes, claims)


class _Rooms(NamedTuple):
    """Who keeps room for whom."""

    starvation: StarvationReservations
    future: FutureReservations
    lost: LostMembers
    spare: SpareNodes

    def tick_before_each(self) -> None:
        """What must be kept before anybody else is decided on; spare nodes after lost members."""
        self.lost.tick()
        self.spare.tick()


def _rooms(shared: SharedParts, changes: FanOut, restarts: Restarts) -> _Rooms:
    given, state, errors = shared.given, shared.state, shared.errors
    rooms = _Rooms(
        starvation=shared.core.starvation,
        future=FutureReservations(
            state,
            clock=given.clock,
            reserve_seconds=given.settings.keep_remainder_seconds,
            apply=changes.apply,
            errors=errors,
        ),
        lost=LostMembers(
            state,
            clock=given.clock,
            epoch=given.epoch,
            apply=changes.apply,
            restart=restarts.restart,
            errors=errors,
        ),
        spare=SpareNodes(state, clock=given.clock, apply=changes.apply, errors=errors),
    )
    given.metrics.follow_spare_pods(rooms.spare.pods)
    return rooms


def _stages(shared: SharedParts, reporter: Reporter, assumptions: Assumptions, rooms: _Rooms) -> Stages:
    stages = Stages(shared.given.clock, shared.errors)
    stages.add("report", reporter.say_what_is_due, reporter.next_due_seconds)
    stages.add("recheck", assumptions.recheck_old, assumptions.next_due_seconds)
    stages.add("reserve", rooms.starvation.tick, rooms.starvation.next_due_seconds)
    stages.add("keep", rooms.future.tick, rooms.future.next_due_seconds)
    stages.add("repair", rooms.lost.tick, rooms.lost.next_due_seconds)
    stages.add("repair", rooms.spare.tick, rooms.spare.next_due_seconds)
    stages.add("hint", shared.hints.tick, shared.hints.next_due_seconds)
    return stages


def _item_scheduler(
    shared: SharedParts, reporter: Reporter, preemption: PreemptionManager, binding: _Binding, rooms: _Rooms
) -> ItemScheduler:
    settings, metrics = shared.given.settings, shared.given.metrics
    return ItemScheduler(
        state=shared.state,
        seen=shared.core.seen,
        queue=shared.queue,
        assumptions=binding.assumptions,
        volumes=binding.volumes,
        claims=binding.claims,
        permit=binding.permit,
        preemption=preemption,
        starvation=rooms.starvation,
        future=rooms.future,
        reporter=reporter,
        errors=shared.errors,
        observe=metrics.attempt,
        spent=metrics.spent,
        count=metrics.item_error,
        clock=shared.given.clock,
        slice_seconds=settings.slice_seconds,
    )


def _loop(
    shared: SharedParts,
    reporter: Reporter,
    preemption: PreemptionManager,
    changes: FanOut,
    binding: _Binding,
    restarts: Restarts,
) -> SchedulingLoop:
    rooms = _rooms(shared, changes, restarts)
    scheduler = _item_scheduler(shared, reporter, preemption, binding, rooms)
    settings = shared.given.settings

    def record() -> None:
        scheduler.journal = shared.recordings.begin()

    return SchedulingLoop(
        scheduler=scheduler,
        seen=shared.core.seen,
        queue=shared.queue,
        stages=_stages(shared, reporter, binding.assumptions, rooms),
        at_start={
            "report": reporter.start,
            "restore": rooms.future.restore,
            "repair": rooms.lost.restore,
            "recover": preemption.restore,
            "record": record,
            "release": binding.claims.restore,
        },
        before_each=rooms.tick_before_each,
        collect_news=reporter.collect_news,
        pace=Pace(settings.slice_seconds, settings.bind_backlog, binding.sending, shared.given.clock),
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
