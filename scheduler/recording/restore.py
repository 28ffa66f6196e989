"""Makes the deciding parts of a scheduler of recorded inputs: they decide as those did from which the inputs were taken.

Nothing is read from anywhere and nothing is written: the clock stands still until somebody moves it.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from api.meta import controller_of
from api.pod import TERMINAL_PHASES, Pod
from api.storage import CsiNode
from kube.cache.decoding import cyclic_gc_paused
from kube.process.settings import load_settings
from scheduler.algorithm.decision import Decision
from scheduler.algorithm.idle_claims import claims_in_the_way, with_deallocation
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.cluster import ClusterState
from scheduler.cache.default_topology_spread import SelectorOwner
from scheduler.cache.demand import Demand
from scheduler.cache.devices.records import DeviceId, HeldDevice
from scheduler.cache.nominator import Nomination
from scheduler.cache.records import EntityKey
from scheduler.cache.reservations import KeptDevices, Reservation, Reservations
from scheduler.cache.selectors import RawSelector
from scheduler.cache.storage import DriverFacts
from scheduler.cache.volume_records import capacity_record, claim_record, class_record, volume_record
from scheduler.core import Core, build_core
from scheduler.preemption.evaluator import PastAttempts
from scheduler.preemption.result import PreemptionResult, with_post_filter
from scheduler.recording.devices import assume_claims, take_in_devices
from scheduler.recording.inputs import (
    NO_STATE,
    ClusterObjects,
    DecisionInputs,
    KeptDevice,
    Layout,
    NominationState,
    ReservationState,
    SchedulerState,
)
from scheduler.reservations.future_reservations import Places, of_existing_pods
from scheduler.reservations.starvation import Past
from scheduler.settings import SchedulerSettings


class StandingClock:
    """Time as it was, until somebody moves it.

    Attributes:
        now_seconds: monotonic.
    """

    def __init__(self, inputs: DecisionInputs) -> None:
        self.now_seconds = inputs.monotonic_seconds
        self._offset_seconds: Final = inputs.epoch_seconds - inputs.monotonic_seconds

    def __call__(self) -> float:
        """Monotonic seconds."""
        return self.now_seconds

    def epoch(self) -> float:
        """Seconds since 1970."""
        return self.now_seconds + self._offset_seconds


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of trying an item once.

    Attributes:
        decision: with what came of preemption in its status, as it would be written to the item.
        found: the same before anybody looked for victims.
        future: what is counted on for pods to come.
        preemption: what was found when it had no place; None when nobody looked.
    """

    decision: Decision
    found: Decision
    future: Places
    preemption: PreemptionResult | None = None


@dataclass(frozen=True, slots=True)
class Restored:
    """The deciding parts, as they were.

    Attributes:
        inputs: what they were made of.
        settings: those they decide by.
        core: state, queue and so on.
        clock: may be moved forward.
    """

    inputs: DecisionInputs
    settings: SchedulerSettings
    core: Core
    clock: StandingClock

    def decide(self, key: EntityKey, aim: int | None = None) -> Decision:
        """Where the pods of an item go, or why nowhere, before anybody is asked to leave. Changes nothing.

        Args:
            key: the item.
            aim: members that are to be placed together for the time being; None: what the queue says.
        """
        core = self.core
        wanted = core.queue.aim(key, core.state) if aim is None else aim
        return decide(core.seen.view, key, wanted)

    def attempt(self, key: EntityKey, aim: int | None = None) -> Outcome:
        """One attempt as the scheduler makes it. Of what it remembers, nominations and past preemptions are changed."""
        core = self.core
        decision, future = of_existing_pods(self.decide(key, aim), core.seen)
        if decision.is_hope:
            return Outcome(decision, decision, future)
        if decision.result == "error" or not core.may_evict:
            core.evaluator.unresolvable(key)
        if decision.result == "unschedulable" and claims_in_the_way(core.state, key):
            return Outcome(with_deallocation(decision), decision, future)
        if decision.result != "unschedulable" or not core.may_evict:
            return Outcome(decision, decision, future)
        result = core.evaluator.preempt(key, self.clock())
        return Outcome(with_post_filter(decision, result), decision, future, result)


def settings_of(inputs: DecisionInputs, **changes: Any) -> SchedulerSettings:
    """The settings that inputs were taken under, with some of them changed.

    Raises:
        ConfigurationError: a value is unusable, or nobody knows a setting of that name.
    """
    return load_settings(SchedulerSettings, None, **{**inputs.settings, **changes})


def restore(inputs: DecisionInputs, settings: SchedulerSettings | None = None) -> Restored:
    """The deciding parts of the scheduler that these inputs were taken from.

    Args:
        inputs: what decisions read.
        settings: others than those the inputs were taken under.
    """
    chosen = settings if settings is not None else settings_of(inputs)
    clock = StandingClock(inputs)
    core = build_core(chosen, clock=clock, epoch=clock.epoch, apply=lambda _: None)
    known = inputs.scheduler if inputs.scheduler is not None else NO_STATE
    with cyclic_gc_paused():
        _take_in(core.state, inputs)
    _assume(core.state, known)
    assume_claims(core.state.devices, known)
    for name, claim in known.given_volumes:
        core.state.storage.give({claim: name}, {})
    core.state.storage.give({}, dict(known.chosen_nodes))
    _reserve(core.state, core.state.reservations, known.reservations)
    _reserve(core.state, core.state.future_reservations, known.future_reservations)
    _remember(core, known)
    if inputs.scheduler is not None:
        core.queue.restore(known.queue, core.state)
    else:
        for key in list(core.state.entities):
            core.queue.activate(key, core.state)
    return Restored(inputs, chosen, core, clock)


# --- objects -----------------------------------------------------------------------------------------------------------


def _take_in(state: ClusterState, inputs: DecisionInputs) -> None:
    """All objects, in the order in which they were met."""
    objects, layout = inputs.objects, inputs.layout
    nodes = {node.metadata.name: node for node in objects.nodes}
    for namespace in objects.namespaces:
        state.upsert_namespace(namespace.metadata.name, namespace.metadata.labels)
    for priority_class in objects.priorityclasses:
        state.set_priority_class(priority_class)
    with state.nodes.images.many_set():
        for name in state.nodes.lay_out(layout.nodes, nodes) if layout is not None else nodes:
            state.upsert_node(state.slim_node(nodes[name]))
    for budget in objects.poddisruptionbudgets:
        state.budgets.upsert(budget)
    _take_in_owners(state, objects)
    _take_in_storage(state, objects)
    take_in_devices(state.devices, inputs)
    for composite in objects.compositepodgroups:
        state.composites.upsert(composite)
    for group in objects.podgroups:
        state.upsert_group(group)
    state.take_in_pods(_bound_first(state, objects.pods, layout))


def _bound_first(state: ClusterState, pods: Iterable[Pod], layout: Layout | None) -> list[Pod]:
    """Those that have a node first, in the order in which the rows of the layout are given out."""
    bound: list[Pod] = []
    others: list[Pod] = []
    for pod in pods:
        (bound if pod.spec.node_name and pod.status.phase not in TERMINAL_PHASES else others).append(pod)
    if layout is not None:
        by_uid = {pod.metadata.uid: pod for pod in bound}
        bound = [by_uid[uid] for uid in state.assigned_pods.lay_out(layout.pods, by_uid)]
    return bound + others


def _take_in_owners(state: ClusterState, objects: ClusterObjects) -> None:
    spreads = state.default_spreads
    for service in objects.services:
        spreads.set_service(service.metadata.namespace, service.metadata.name, service.spec.selector)
    for controller in objects.replicationcontrollers:
        selector = RawSelector(controller.spec.selector) if controller.spec.selector else None
        spreads.set_owner("ReplicationController", controller.metadata.namespace, controller.metadata.name, selector)
    for kind, owners in (("ReplicaSet", objects.replicasets), ("StatefulSet", objects.statefulsets)):
        for owner in owners:
            if owner.metadata.name:
                spreads.set_owner(kind, owner.metadata.namespace, owner.metadata.name, owner.spec.selector)
    for owner in objects.statefulsets:
        _lead(state, owner)


def _lead(state: ClusterState, owner: SelectorOwner) -> None:
    leader = controller_of(owner.metadata)
    if leader is not None and leader.kind == "Pod":
        state.set_controller(owner.metadata.uid, leader.uid)


def _take_in_storage(state: ClusterState, objects: ClusterObjects) -> None:
    storage = state.storage
    for storage_class in objects.storageclasses:
        storage.set_class(storage_class.metadata.name, class_record(storage_class))
    for claim in objects.persistentvolumeclaims:
        storage.set_claim(claim.metadata.key, claim_record(claim))
    for volume in objects.persistentvolumes:
        storage.set_volume(volume.metadata.name, volume_record(volume))
    for driver in objects.csidrivers:
        facts = DriverFacts(bool(driver.spec.storage_capacity), bool(driver.spec.prevent_pod_scheduling_if_missing))
        storage.set_driver(driver.metadata.name, facts)
    for node in objects.csinodes:
        storage.attachments.set_node(node.metadata.name, *_drivers(node))
    for capacity in objects.csistoragecapacities:
        record = capacity_record(capacity)
        storage.set_capacity(record.metadata.key, record, record.storage_class)
    for attachment in objects.volumeattachments:
        spec = attachment.spec
        storage.attachments.attached(spec.node_name, attachment.metadata.name, spec.source.persistent_volume_name or "")


def _drivers(node: CsiNode) -> tuple[frozenset[str], Mapping[str, int]]:
    drivers = node.spec.drivers or ()
    limits = {
        driver.name: driver.allocatable.count
        for driver in drivers
        if driver.allocatable is not None and driver.allocatable.count is not None
    }
    return frozenset(driver.name for driver in drivers), limits


# --- what only the scheduler knows -------------------------------------------------------------------------------------


def _assume(state: ClusterState, known: SchedulerState) -> None:
    for one in known.assumed:
        pod = state.pod(one.uid)
        if pod is not None and not (pod.is_bound or pod.is_terminal):
            state.assume(one.uid, one.node_name, one.deadline_seconds)


def _reserve(state: ClusterState, reservations: Reservations, kept: Iterable[ReservationState]) -> None:
    for one in kept:
        reservations.put(reservation_of(state, one))


def reservation_of(state: ClusterState, kept: ReservationState) -> Reservation:
    """The reservation that a value is of."""
    demands: dict[str, Counter[Demand]] = {}
    for room in kept.room:
        demands.setdefault(room.node_name, Counter())[state.demand_of(room.spec)] += room.count
    devices = {
        one.node_name: KeptDevices(one.pods, tuple(map(_held, one.kept))) for one in kept.kept_devices if one.pods > 0
    }
    return Reservation(kept.key, kept.priority, demands, kept.deadline_seconds, devices)


def _remember(core: Core, known: SchedulerState) -> None:
    state = core.state
    if known.nominations:
        state.nominator.replace_all(_nomination(state, one) for one in known.nominations)
    for preemption in known.past_preemptions:
        core.evaluator.history[preemption.key] = PastAttempts(
            preemption.attempts, preemption.is_over_budget, preemption.not_before_seconds
        )
    for reservation in known.past_reservations:
        core.starvation.past[reservation.key] = Past(reservation.times, reservation.not_before_seconds)


def _held(kept: KeptDevice) -> HeldDevice:
    return HeldDevice(DeviceId(kept.driver, kept.pool, kept.device), kept.share_id, kept.consumed)


def _nomination(state: ClusterState, kept: NominationState) -> Nomination:
    places: dict[str, tuple[str, Demand]] = {}
    for place in kept.places:
        pod = state.pod(place.uid)
        demand = state.demand_of(place.spec) if place.spec is not None else pod.demand if pod is not None else None
        if demand is not None:
            places[place.uid] = (place.node_name, demand)
    deadline = kept.deadline_seconds if kept.deadline_seconds is not None else math.inf
    devices = {place.uid: tuple(map(_held, place.devices)) for place in kept.places if place.devices}
    nomination = Nomination(kept.key, kept.priority, places, frozenset(kept.victims), deadline, devices)
    nomination.has_started, nomination.is_overtaken = kept.has_started, kept.is_overtaken
    nomination.evicted = kept.evicted
    return nomination
