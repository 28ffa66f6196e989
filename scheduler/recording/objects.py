"""From the scheduler's other records back to objects of the API server that make the same records again."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from api.compositepodgroup import (
    CompositeGangPolicy,
    CompositePodGroup,
    CompositePodGroupSpec,
    CompositePodGroupStatus,
    CompositeSchedulingPolicy,
)
from api.constants import (
    BIND_COMPLETED,
    CONDITION_COMPOSITE_SCHEDULED,
    CONDITION_DISRUPTION_TARGET,
    CONDITION_PREEMPTED_BY,
    CONDITION_SCHEDULED,
    CONDITION_TIMED_OUT,
    DEGRADED,
    DESIRED_COUNT,
    MANAGED_BY,
    MANAGED_BY_TUTTI,
    MIN_RESOURCES,
    ON_SCHEDULING_TIMEOUT,
    PREEMPTION_PRIORITY_CLASS,
    PROVIDER,
    REPAIR_TIMEOUT,
    SCHEDULING_TIMEOUT,
    SELECTED_NODE,
    SPARE_NODES,
    SUSPEND_ON_TIMEOUT,
    WAIT_FOR_FIRST_CONSUMER,
)
from api.degraded import NOTHING_SAID
from api.meta import Condition, Metadata, OwnerReference
from api.node import ContainerImage, Node, NodeSpec, NodeStatus
from api.pod import EMPTY
from api.podgroup import (
    DisruptionMode,
    GangPolicy,
    PodGroup,
    PodGroupSpec,
    PodGroupStatus,
    SchedulingConstraints,
    SchedulingPolicy,
    TopologyConstraint,
)
from api.preemption import Preemptor
from api.storage import (
    Claim,
    ClaimReference,
    ClaimSpec,
    ClaimStatus,
    StorageCapacity,
    StorageClass,
    StorageRequests,
    TopologyExpression,
    TopologyTerm,
    Volume,
    VolumeAffinity,
    VolumeSpec,
    VolumeStatus,
)
from api.topology_annotations import topology_annotations
from api.waiting import Waiting
from scheduler.cache.node_rules import NodeTerm
from scheduler.cache.nodes import NodeFacts
from scheduler.cache.records import CompositeRecord, GroupRecord
from scheduler.cache.selectors import FIELD_PREFIX, RawRequirement, RawSelector, Requirement, Selector
from scheduler.cache.volume_records import (
    BLOCK,
    STORAGE,
    TOO_MUCH,
    CapacityRecord,
    ClaimRecord,
    ClassRecord,
    VolumeRecord,
)
from scheduler.recording.pods import LONG_AGO, owner_references, time_stamp

_UNREADABLE: Final = "unreadable"


def node_object(facts: NodeFacts, images: tuple[ContainerImage, ...]) -> Node:
    """A node that says this of itself."""
    return Node(
        Metadata(name=facts.name, uid=facts.uid, labels=facts.labels),
        NodeSpec(facts.unschedulable, facts.taints),
        NodeStatus(facts.allocatable, images, tuple(sorted(facts.features))),
    )


# --- groups ------------------------------------------------------------------------------------------------------------


def group_object(record: GroupRecord) -> PodGroup:
    """A PodGroup that says this of itself."""
    policy = SchedulingPolicy(gang=GangPolicy(record.min_count)) if record.is_gang else SchedulingPolicy(basic={})
    topology = record.topology_key
    return PodGroup(
        Metadata(
            name=record.name,
            namespace=record.namespace,
            uid=record.uid,
            resource_version=record.resource_version,
            creation_timestamp=time_stamp(record.created_seconds),
            deletion_timestamp=LONG_AGO if record.terminating else None,
            annotations=dict(_group_annotations(record)) or None,
            owner_references=owner_references(record.owner),
        ),
        PodGroupSpec(
            scheduling_policy=policy,
            scheduling_constraints=SchedulingConstraints((TopologyConstraint(topology),)) if topology else None,
            disruption_mode=DisruptionMode(all={}) if record.leaves_whole else None,
            priority=record.priority,
            preemption_policy=record.preemption_policy,
            parent_composite_pod_group_name=record.parent or None,
        ),
        PodGroupStatus(tuple(_group_conditions(record)) or None),
    )


def composite_object(record: CompositeRecord) -> CompositePodGroup:
    """A CompositePodGroup that says this of itself."""
    gang = CompositeGangPolicy(record.min_group_count) if record.is_gang else None
    topology = record.topology_key
    return CompositePodGroup(
        Metadata(
            name=record.name,
            namespace=record.namespace,
            uid=record.uid,
            creation_timestamp=time_stamp(record.created_seconds),
            annotations=dict(_waiting_annotations(record.waiting)) or None,
            owner_references=owner_references(record.owner),
        ),
        CompositePodGroupSpec(
            scheduling_policy=CompositeSchedulingPolicy(gang=gang, basic=None if record.is_gang else {}),
            parent_composite_pod_group_name=record.parent or None,
            scheduling_constraints=SchedulingConstraints((TopologyConstraint(topology),)) if topology else None,
            disruption_mode=DisruptionMode(all={}) if record.leaves_whole else None,
            priority=record.priority,
            preemption_policy=record.preemption_policy,
        ),
        CompositePodGroupStatus(tuple(_composite_conditions(record)) or None),
    )


def _waiting_annotations(waiting: Waiting) -> Iterator[tuple[str, str]]:
    if waiting.desired_count:
        yield DESIRED_COUNT, str(waiting.desired_count)
    if waiting.timeout_seconds:
        yield SCHEDULING_TIMEOUT, f"{waiting.timeout_seconds:.9f}s"
    if waiting.is_suspended_on_timeout:
        yield ON_SCHEDULING_TIMEOUT, SUSPEND_ON_TIMEOUT


def _group_annotations(record: GroupRecord) -> Iterator[tuple[str, str]]:
    if record.takes_only_owner or record.min_resources or record.is_left_behind:
        yield MANAGED_BY, MANAGED_BY_TUTTI
    if record.preemption_class:
        yield PREEMPTION_PRIORITY_CLASS, record.preemption_class
    if record.min_resources:
        yield MIN_RESOURCES, record.min_resources
    if record.provider:
        yield PROVIDER, record.provider
    yield from _waiting_annotations(record.waiting)
    yield from topology_annotations(record.topology).items()
    said = record.when_degraded
    if said.policy != NOTHING_SAID.policy:
        yield DEGRADED, said.policy
    if said.repair_seconds != NOTHING_SAID.repair_seconds:
        yield REPAIR_TIMEOUT, f"{said.repair_seconds:.9f}s"
    if said.spare_nodes:
        yield SPARE_NODES, str(said.spare_nodes)


def _composite_conditions(record: CompositeRecord) -> Iterator[Condition]:
    if record.condition_message:
        yield Condition(CONDITION_COMPOSITE_SCHEDULED, "Unknown", message=record.condition_message)
    if record.has_timed_out:
        yield Condition(CONDITION_TIMED_OUT, "True")


def _group_conditions(record: GroupRecord) -> Iterator[Condition]:
    if record.condition_message:
        yield Condition(CONDITION_SCHEDULED, "Unknown", message=record.condition_message)
    if record.has_timed_out:
        yield Condition(CONDITION_TIMED_OUT, "True")
    if record.preempted_by:
        yield Condition(CONDITION_DISRUPTION_TARGET, "True")
        wanted_by = Preemptor("PodGroup", "", "", record.preempted_by)
        yield Condition(CONDITION_PREEMPTED_BY, "True", wanted_by.kind, wanted_by.reference)


# --- storage -----------------------------------------------------------------------------------------------------------


def claim_object(record: ClaimRecord) -> Claim:
    """A PersistentVolumeClaim that says this of itself."""
    annotations = {BIND_COMPLETED: "yes"} if record.is_bound else {}
    if record.selected_node:
        annotations[SELECTED_NODE] = record.selected_node
    owner = (OwnerReference("v1", "Pod", "", record.owner_uid, controller=True),) if record.owner_uid else None
    return Claim(
        msgspec.structs.replace(record.metadata, annotations=annotations or None, owner_references=owner),
        ClaimSpec(
            access_modes=tuple(sorted(record.modes)),
            selector=_selector_text(record.selector) if record.selector is not None else EMPTY,
            resources=StorageRequests(
                {STORAGE: _quantity(record.size_bytes)} if record.size_bytes is not None else None
            ),
            volume_name=record.volume_name,
            storage_class_name=record.storage_class or None,
            volume_mode=BLOCK if record.is_block else None,
            volume_attributes_class_name=record.attributes_class or None,
        ),
        ClaimStatus("Lost" if record.is_lost else ""),
    )


def volume_object(record: VolumeRecord) -> Volume:
    """A PersistentVolume that says this of itself."""
    claim = record.claim
    required = _json({"nodeSelectorTerms": list(map(_node_term, record.terms))}) if record.terms is not None else EMPTY
    return Volume(
        msgspec.structs.replace(record.metadata, labels=record.labels),
        VolumeSpec(
            capacity={STORAGE: str(record.size_bytes)},
            access_modes=tuple(sorted(record.modes)),
            claim_ref=ClaimReference(*claim, record.claim_uid) if claim is not None else None,
            storage_class_name=record.storage_class,
            volume_mode=BLOCK if record.is_block else None,
            volume_attributes_class_name=record.attributes_class or None,
            node_affinity=VolumeAffinity(required) if record.terms is not None else None,
            csi=record.csi,
        ),
        VolumeStatus("Available" if record.is_available else ""),
    )


def class_object(record: ClassRecord) -> StorageClass:
    """A StorageClass that says this of itself."""
    terms = (
        TopologyTerm(tuple(TopologyExpression(key, tuple(sorted(values))) for key, values in term))
        for term in record.topologies
    )
    return StorageClass(
        record.metadata, record.provisioner, WAIT_FOR_FIRST_CONSUMER if record.waits else None, tuple(terms) or None
    )


def capacity_object(record: CapacityRecord) -> StorageCapacity:
    """A CSIStorageCapacity that says this of itself."""
    return StorageCapacity(
        record.metadata,
        record.storage_class,
        None if record.size_bytes is None else str(record.size_bytes),
        None if record.limit_bytes is None else str(record.limit_bytes),
        _selector_text(record.nodes),
    )


def selector_object(selector: Selector) -> RawSelector | None:
    """A label selector as it is written; None when it selects nothing."""
    if selector.requirements is None:
        return None
    return RawSelector(
        match_expressions=tuple(RawRequirement(one.key, one.operator, one.values) for one in selector.requirements)
    )


def _selector_text(selector: Selector) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(selector_object(selector)))


def _node_term(term: NodeTerm) -> Mapping[str, Any]:
    written: dict[str, Any] = {}
    for one in term:
        is_field = one.key.startswith(FIELD_PREFIX)
        written.setdefault("matchFields" if is_field else "matchExpressions", []).append(_expression(one))
    return written


def _expression(one: Requirement) -> Mapping[str, Any]:
    return {"key": one.key.removeprefix(FIELD_PREFIX), "operator": one.operator, "values": one.values}


def _quantity(size_bytes: int) -> str:
    return _UNREADABLE if size_bytes == TOO_MUCH else str(size_bytes)


def _json(value: Mapping[str, Any]) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))
