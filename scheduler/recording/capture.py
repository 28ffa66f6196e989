"""Takes the inputs of decisions from a scheduler at work, exactly as its cache is.

Records are values, so taking them is copying references: `take` does only that, at once, and is quick. Making objects of them
again is not, and may be done later, bit by bit or elsewhere: `Taken.inputs`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isinf
from typing import Any, Final

import msgspec

from api.meta import Metadata, OwnerReference
from api.namespace import Namespace
from api.node import ContainerImage
from api.pod import Pod
from api.priorityclass import PriorityClass
from api.storage import (
    Attachment,
    AttachmentSource,
    AttachmentSpec,
    CsiDriver,
    CsiDriverSpec,
    CsiNode,
    CsiNodeSpec,
    DriverLimit,
    NodeDriver,
)
from scheduler.cache.assigned_pods import RowLayout, TakenRows
from scheduler.cache.cluster import ClusterState
from scheduler.cache.default_topology_spread import SelectorOwner, SelectorSpec, SimpleOwner, SimpleSpec
from scheduler.cache.disruption_budgets import Budget
from scheduler.cache.nodes import NodeFacts, SlotLayout
from scheduler.cache.nominator import Nomination
from scheduler.cache.pod_group_state import MemberState, PodGroupState
from scheduler.cache.pod_signature import Texts
from scheduler.cache.records import CompositeRecord, GroupRecord, PodRecord
from scheduler.cache.reservations import Reservations
from scheduler.cache.selectors import Labels, Requirement, Selector
from scheduler.cache.storage import DriverFacts, Storage
from scheduler.cache.volume_records import CapacityRecord, ClaimRecord, ClassRecord, VolumeRecord
from scheduler.core import Core
from scheduler.queue.queue_state import TakenQueue
from scheduler.recording.devices import TakenDevices
from scheduler.recording.inputs import (
    AssumedPod,
    ClusterObjects,
    DecisionInputs,
    Layout,
    NominatedPod,
    NominationState,
    PastPreemption,
    PastReservation,
    ReleasedClaim,
    ReservationState,
    SchedulerState,
)
from scheduler.recording.objects import (
    capacity_object,
    claim_object,
    class_object,
    composite_object,
    group_object,
    node_object,
    selector_object,
    volume_object,
)
from scheduler.recording.pods import PodWriter, kept_device
from scheduler.recording.slim import slim

REPLICATION_CONTROLLER: Final = "ReplicationController"
REPLICA_SET: Final = "ReplicaSet"


@dataclass(frozen=True, slots=True)
class Moment:
    """When, and under which settings; fields are those of `DecisionInputs`."""

    epoch_seconds: float
    monotonic_seconds: float
    settings: Mapping[str, Any]
    group_api: str = ""
    server_version: str = ""


@dataclass(frozen=True, slots=True)
class Taken:
    """References to everything, as it was at one moment."""

    moment: Moment
    texts: Texts
    nodes: list[NodeFacts | None]
    """By slot."""
    images: Mapping[int, tuple[ContainerImage, ...]]
    """By slot."""
    namespaces: Mapping[str, Labels]
    classes: tuple[PriorityClass, ...]
    composites: tuple[CompositeRecord, ...]
    groups: tuple[GroupRecord, ...]
    pods: Mapping[str, PodRecord]
    pending: tuple[str, ...]
    """UIDs of the pods that wait, in the order in which decisions meet them."""
    budgets: tuple[Budget, ...]
    services: tuple[tuple[str, str, Labels], ...]
    owners: tuple[tuple[str, str, str, Selector], ...]
    lineage: Mapping[str, str]
    storage: "TakenStorage"
    devices: TakenDevices
    scheduler: SchedulerState
    """Without the queue and what `devices` says."""
    queue: TakenQueue
    slots: SlotLayout
    rows: TakenRows

    def inputs(self) -> DecisionInputs:
        """The value."""
        rows = self.rows.layout()
        found: dict[str, list[Any]] = {"pods": list(self.each_pod(rows))}
        for kind, made in self.other_objects():
            found.setdefault(kind, []).append(made)
        by_kind: dict[str, Any] = {kind: tuple(objects) for kind, objects in found.items()}
        return self.inputs_with(ClusterObjects(**by_kind), rows)

    def each_pod(self, rows: RowLayout) -> Iterator[Pod]:
        """The pods, in the order in which they are to be met; this is what takes time."""
        writer = PodWriter(self.texts)
        for record in self._in_order(rows):
            yield writer.pod(record)

    def other_objects(self) -> Iterator[tuple[str, msgspec.Struct]]:
        """All other objects with their kinds, one after the other."""
        for slot, facts in enumerate(self.nodes):
            if facts is not None:
                yield "nodes", node_object(facts, self.images.get(slot, ()))
        for name, labels in self.namespaces.items():
            yield "namespaces", Namespace(Metadata(name=name, labels=dict(labels)))
        for priority_class in self.classes:
            yield "priorityclasses", slim(priority_class)
        for composite in self.composites:
            yield "compositepodgroups", composite_object(composite)
        for group in self.groups:
            yield "podgroups", group_object(group)
        for budget in self.budgets:
            yield "poddisruptionbudgets", slim(budget)
        for namespace, name, selected in self.services:
            yield "services", _service(namespace, name, selected)
        for kind, namespace, name, selector in self.owners:
            yield _owner(kind, namespace, name, selector)
        for led in self.lineage.items():
            yield "statefulsets", _led(led)
        yield from self.storage.objects()
        yield from self.devices.objects()

    def inputs_with(self, objects: ClusterObjects, rows: RowLayout) -> DecisionInputs:
        """The value with these objects, and these rows."""
        moment = self.moment
        return DecisionInputs(
            epoch_seconds=moment.epoch_seconds,
            monotonic_seconds=moment.monotonic_seconds,
            settings=dict(moment.settings),
            group_api=moment.group_api,
            server_version=moment.server_version,
            devices=self.devices.are,
            objects=objects,
            scheduler=msgspec.structs.replace(
                self.scheduler, queue=self.queue.state(), assumed_claims=self.devices.assumed_claims()
            ),
            layout=Layout(self.slots, rows),
        )

    def _in_order(self, rows: RowLayout) -> Iterator[PodRecord]:
        first = dict.fromkeys((*rows.row_of, *self.pending))
        for uid in first:
            yield self.pods[uid]
        # Found at once: looking for them one by one among all pods takes longer than anything else here.
        others = self.pods.keys() - first.keys()
        for uid in self.pods if others else ():
            if uid in others:
                yield self.pods[uid]


def take(core: Core, moment: Moment) -> Taken:
    """Everything as it is now. Quick: what is copied are references."""
    state = core.state
    texts = state.texts()
    writer = PodWriter(texts)
    nodes = state.nodes
    return Taken(
        moment=moment,
        texts=texts,
        nodes=nodes.facts.copy(),
        images=nodes.images.by_slot(),
        namespaces=dict(state.topology_index.namespaces),
        classes=tuple(state.classes),
        composites=tuple(state.entities.forest.composites.values()),
        groups=tuple(members.group for members in state.entities.states() if members.group is not None),
        pods=dict(state.pods),
        pending=tuple(_pending(state.entities.states())),
        budgets=tuple(state.budgets),
        services=tuple(state.default_spreads.services()),
        owners=tuple(state.default_spreads.owners()),
        lineage=dict(state.entities.lineage),
        storage=TakenStorage.of(state.storage),
        devices=TakenDevices.of(state.devices),
        scheduler=_scheduler_state(core, writer),
        queue=core.queue.taken(state),
        slots=nodes.layout(),
        rows=state.assigned_pods.taken(),
    )


def _pending(items: Iterable[PodGroupState]) -> Iterator[str]:
    """Signature by signature, for of equals the first one is placed first; then those that are on their way."""
    for members in items:
        for waiting in members.pending.values():
            yield from waiting.uids
        if members.count(MemberState.ASSUMED):
            for pod in members.pods(MemberState.ASSUMED):
                yield pod.uid


# --- what only the scheduler knows -------------------------------------------------------------------------------------


def _scheduler_state(core: Core, writer: PodWriter) -> SchedulerState:
    state = core.state
    return SchedulerState(
        assumed=tuple(AssumedPod(uid, one.node_name, one.deadline_seconds) for uid, one in state.assumptions.items()),
        nominations=tuple(_nomination(nomination, state, writer) for nomination in state.nominator),
        reservations=_reservations(state.reservations, writer),
        future_reservations=_reservations(state.future_reservations, writer),
        given_volumes=tuple(state.storage.given.items()),
        chosen_nodes=tuple(state.storage.chosen.items()),
        released_claims=tuple(ReleasedClaim(key, version) for key, version in state.devices.releases),
        past_preemptions=tuple(
            PastPreemption(key, past.attempts, past.is_over_budget, past.not_before_seconds)
            for key, past in core.evaluator.history.items()
        ),
        past_reservations=tuple(
            PastReservation(key, past.times, past.not_before_seconds) for key, past in core.starvation.past.items()
        ),
    )


def _nomination(nomination: Nomination, state: ClusterState, writer: PodWriter) -> NominationState:
    def place(uid: str) -> NominatedPod:
        node_name, demand = nomination.places[uid]
        pod = state.pod(uid)
        devices = tuple(map(kept_device, nomination.devices.get(uid, ())))
        return NominatedPod(uid, node_name, None if pod and pod.demand is demand else writer.demand(demand), devices)

    deadline = nomination.deadline_seconds
    return NominationState(
        nomination.key,
        nomination.priority,
        tuple(map(place, nomination.places)),
        tuple(sorted(nomination.victims)),
        None if isinf(deadline) else deadline,
        nomination.has_started,
        nomination.is_overtaken,
        nomination.evicted,
    )


def _reservations(reservations: Reservations, writer: PodWriter) -> tuple[ReservationState, ...]:
    return tuple(map(writer.reservation, reservations))


# --- what belongs together ---------------------------------------------------------------------------------------------


def _service(namespace: str, name: str, selector: Labels) -> SimpleOwner:
    return SimpleOwner(Metadata(name=name, namespace=namespace), SimpleSpec(dict(selector)))


def _owner(kind: str, namespace: str, name: str, selector: Selector) -> tuple[str, msgspec.Struct]:
    """A controller with the plural of its kind."""
    if kind == REPLICATION_CONTROLLER:
        return "replicationcontrollers", _service(namespace, name, _equalities(selector))
    plural = "replicasets" if kind == REPLICA_SET else "statefulsets"
    return plural, SelectorOwner(Metadata(name=name, namespace=namespace), SelectorSpec(selector_object(selector)))


def _equalities(selector: Selector) -> Labels:
    return {one.key: one.values[0] for one in selector.requirements or () if _is_equality(one)}


def _is_equality(requirement: Requirement) -> bool:
    return requirement.operator == "In" and len(requirement.values) == 1


def _led(led: tuple[str, str]) -> SelectorOwner:
    """A StatefulSet that a pod controls; its own name and selector are among the others."""
    uid, pod_uid = led
    return SelectorOwner(
        Metadata(uid=uid, owner_references=(OwnerReference("v1", "Pod", "", pod_uid, controller=True),))
    )


# --- storage -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TakenStorage:
    """References to everything about storage."""

    volumes: tuple[VolumeRecord, ...]
    claims: tuple[ClaimRecord, ...]
    classes: tuple[ClassRecord, ...]
    drivers: Mapping[str, DriverFacts]
    capacities: tuple[CapacityRecord, ...]
    drivers_of: Mapping[str, frozenset[str]]
    limits: Mapping[str, Mapping[str, int]]
    attached: tuple[tuple[str, str, str], ...]
    """(node, VolumeAttachment, volume)."""

    @staticmethod
    def of(storage: Storage) -> "TakenStorage":
        """What is known now."""
        attachments = storage.attachments
        return TakenStorage(
            volumes=tuple(storage.volumes.values()),
            claims=tuple(storage.claims.values()),
            classes=tuple(storage.classes.values()),
            drivers=dict(storage.drivers),
            capacities=tuple(record for records in storage.capacities.values() for record in records.values()),
            drivers_of=dict(attachments.drivers_of),
            limits=dict(attachments.limits),
            attached=tuple(
                (node, name, volume)
                for node, there in attachments.attachments.items()
                for name, volume in there.items()
            ),
        )

    def objects(self) -> Iterator[tuple[str, msgspec.Struct]]:
        """The objects with their kinds."""
        for volume in self.volumes:
            yield "persistentvolumes", volume_object(volume)
        for claim in self.claims:
            yield "persistentvolumeclaims", claim_object(claim)
        for storage_class in self.classes:
            yield "storageclasses", class_object(storage_class)
        for name in dict.fromkeys((*self.drivers_of, *self.limits)):
            yield "csinodes", self._csi_node(name)
        for name, facts in self.drivers.items():
            spec = CsiDriverSpec(facts.tracks_capacity, facts.must_be_installed)
            yield "csidrivers", CsiDriver(Metadata(name=name), spec)
        for capacity in self.capacities:
            yield "csistoragecapacities", capacity_object(capacity)
        for node, name, attached in self.attached:
            attachment = AttachmentSpec(node_name=node, source=AttachmentSource(attached or None))
            yield "volumeattachments", Attachment(Metadata(name=name), attachment)

    def _csi_node(self, name: str) -> CsiNode:
        limits = self.limits.get(name, {})
        drivers = sorted(self.drivers_of.get(name, frozenset[str]()))
        return CsiNode(
            Metadata(name=name),
            CsiNodeSpec(
                tuple(
                    NodeDriver(driver, DriverLimit(limits[driver]) if driver in limits else None) for driver in drivers
                )
            ),
        )
