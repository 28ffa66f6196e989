"""What a scheduler is given from outside, and the parts of it that most others have to do with."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from api.constants import REASON_SCHEDULER_ERROR
from api.podgroup import PodGroup
from kube.cache.decoding import ListDecoder
from kube.cache.informer import Informer
from kube.client.client import Client
from kube.client.events import EventRecorder
from kube.client.resources import Resource
from kube.groups.group_api import GroupAPI
from scheduler.algorithm.without_starvation_reservations import ClusterWithoutStarvationReservations
from scheduler.apicalls.composite_objects import CompositeObjects
from scheduler.apicalls.conditions import PodConditions
from scheduler.apicalls.dispatcher import APIDispatcher, Retries
from scheduler.apicalls.group_conditions import GroupConditions
from scheduler.cache.records import StateChange
from scheduler.core import build_core, deciding_settings
from scheduler.preemption.suspensions import Suspensions
from scheduler.queue.item_errors import ItemErrors
from scheduler.recording.capture import Moment
from scheduler.recording.recordings import Recordings
from scheduler.reporting.events import EventWriter
from scheduler.reporting.hints import Hints, StartSearch
from scheduler.reporting.metrics import SchedulerMetrics
from scheduler.run import Waker
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
        composites: where CompositePodGroups are kept; None where the server has none.
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
    composites: Resource | None = None


class SharedParts:
    """The parts that most others have to do with."""

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
        self.composites: Final = CompositeObjects(
            given.reader, given.writer, self.dispatcher, given.composites, self.retries
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
            composites=given.composites,
        )
        self.suspensions: Final = Suspensions(self.state, self.groups)
        lasting = ClusterWithoutStarvationReservations(self.state).view
        self.hints: Final = Hints(given.find_hint, lasting, self._is_idle, clock, settings.hint_after_seconds)

    def _moment(self) -> Moment:
        given = self.given
        return Moment(given.epoch(), given.clock(), self._deciding, given.group_api.name, given.server_version)

    def _is_idle(self) -> bool:
        due = self.queue.next_due_seconds()
        return due is None or due > 0.0

    def _is_waiting(self, uid: str) -> bool:
        pod = self.state.pod(uid)
        return pod is not None and not pod.is_bound and not pod.is_terminal and self.state.assumption(uid) is None
