"""From decoded objects to slim records; what a stranger wrote never raises here."""

import functools
import sys
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from api.compositepodgroup import CompositePodGroup
from api.constants import (
    CONDITION_COMPOSITE_SCHEDULED,
    CONDITION_POD_GROUP_SATISFIED,
    CONDITION_SCHEDULED,
    CONDITION_TIMED_OUT,
    MANAGED_BY,
    MANAGED_BY_TUTTI,
    MAX_INT32,
    MIN_RESOURCES,
    PREEMPTION_PRIORITY_CLASS,
    PROVIDER,
)
from api.degraded import when_degraded
from api.membership import group_name, is_managed
from api.meta import Metadata, condition_of, controller_of
from api.node import ContainerImage, Node, NodeStatus
from api.pod import Pod, PodSpec
from api.podgroup import PodGroup
from api.preemption import is_asked_to_restart, preemptor_of
from api.waiting import waiting_of
from scheduler.cache.demand import Demand
from scheduler.cache.devices.pod_claims import parse_pod_claims
from scheduler.cache.node_rules import NodeRules
from scheduler.cache.pod_rules import AffinityTerms
from scheduler.cache.pod_signature import PodSignature, SignatureTable, Texts
from scheduler.cache.pod_volumes import parse_volumes
from scheduler.cache.records import NO_OWNER, AgreedFields, CompositeRecord, GroupRecord, Owner, Phase, PodRecord
from scheduler.cache.scoring import DEFAULT, Scoring

_PHASES: Final = {"Succeeded": Phase.SUCCEEDED, "Failed": Phase.FAILED}
_MOST_SHARED: Final = 10_000
_MOST_SHARED_BY_PODS: Final = 256
"""Sets of labels, and owners: most belong to one pod or one gang, whose pods come together. A set takes some 1.2 KiB."""
_MOST_TIMES: Final = 256
_NO_LABELS: Final[dict[str, str]] = {}


class RecordFactory:
    """Makes records that share whatever repeats."""

    def __init__(self, scheduler_names: frozenset[str], scorings: Mapping[str, Scoring]) -> None:
        """`scorings` are those of profiles that are not scored as usual, by scheduler name."""
        self._scheduler_names = scheduler_names
        self._scorings = scorings
        self._signatures = SignatureTable()
        self._owners: dict[str, Owner] = {}
        self._images: dict[ContainerImage, ContainerImage] = {}
        self._features: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._labels: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
        self._profiles: dict[tuple[str, int, str], AgreedFields] = {}

    def pod(self, pod: Pod) -> PodRecord:
        """The record of a pod."""
        meta, spec, status = pod.metadata, pod.spec, pod.status
        is_ours = spec.scheduler_name in self._scheduler_names
        phase = _PHASES.get(status.phase, Phase.ACTIVE)
        is_to_place = is_ours and not spec.node_name and phase is Phase.ACTIVE
        named = sys.intern(group_name(pod) or "")
        signature = self._signature(spec, meta.namespace, meta.labels or _NO_LABELS) if is_to_place else None
        # In the order of the fields: to name them all takes as long as everything else here.
        return PodRecord(
            sys.intern(meta.namespace),
            meta.name,
            meta.uid,
            meta.resource_version,
            named if is_ours else "",
            sys.intern(spec.node_name),
            phase,
            meta.is_terminating,
            bool(spec.scheduling_gates),
            is_managed(pod),
            self._owner(meta) if is_ours else NO_OWNER,
            epoch_seconds(meta.creation_timestamp),
            self._profile(spec.scheduler_name, spec.priority, spec.preemption_policy),
            signature.demand if signature else self._signatures.demand(spec),
            signature,
            sys.intern(status.nominated_node_name),
            self._shared_labels(meta.labels),
            signature.rules.affinity_terms if signature else self._affinity_terms(spec, meta),
            parse_volumes(spec, meta.name) if spec.volumes else None,
            "" if is_ours else named,
            parse_pod_claims(pod) if is_ours and spec.resource_claims else None,
            self._rules(spec, meta) if is_ours and named and spec.node_name and phase is Phase.ACTIVE else None,
        )

    def signature_of(self, pod: PodRecord) -> PodSignature | None:
        """What a replacement of a member that has its node would have; None when it is none."""
        if pod.rules is None:
            return None
        scoring = self._scorings.get(pod.profile.scheduler_name, DEFAULT)
        return self._signatures.base(pod.demand, pod.rules, scoring)

    def demand(self, spec: PodSpec) -> Demand:
        """What a pod with this spec takes of a node."""
        return self._signatures.demand(spec)

    def texts(self) -> Texts:
        """What the API server's bytes say of everything that records have in common."""
        return self._signatures.texts()

    def node(self, node: Node) -> Node:
        """A node without what nobody reads, and with what nodes have in common shared."""
        meta = node.metadata
        return Node(
            metadata=Metadata(
                name=sys.intern(meta.name),
                uid=meta.uid,
                resource_version=meta.resource_version,
                labels={sys.intern(key): sys.intern(value) for key, value in (meta.labels or {}).items()},
            ),
            spec=node.spec,
            status=NodeStatus(
                allocatable=self._shared_labels(node.status.allocatable),
                images=self._shared_images(node.status.images),
                declared_features=self._shared_features(node.status.declared_features),
            ),
        )

    def group(self, group: PodGroup) -> GroupRecord:
        """The record of a PodGroup."""
        meta, spec = group.metadata, group.spec
        told = condition_of(group.status.conditions or (), CONDITION_SCHEDULED)
        satisfied = condition_of(group.status.conditions or (), CONDITION_POD_GROUP_SATISFIED)
        is_short = satisfied is not None and satisfied.status == "False"
        gave_up = condition_of(group.status.conditions or (), CONDITION_TIMED_OUT)
        owner = self._owner(meta)
        is_ours = meta.annotation(MANAGED_BY) == MANAGED_BY_TUTTI
        preemptor = preemptor_of(group.status.conditions)
        return GroupRecord(
            namespace=sys.intern(meta.namespace),
            name=sys.intern(meta.name),
            uid=meta.uid,
            resource_version=meta.resource_version,
            min_count=max(_int32(group.need), 1),
            is_gang=group.is_gang,
            priority=None if spec.priority is None else _int32(spec.priority),
            preemption_class=sys.intern(meta.annotation(PREEMPTION_PRIORITY_CLASS) or ""),
            preemption_policy=spec.preemption_policy,
            topology=group.topology,
            takes_only_owner=owner.uid if is_ours else "",
            leaves_whole=group.is_disrupted_whole,
            owner=owner,
            created_seconds=epoch_seconds(meta.creation_timestamp),
            terminating=meta.is_terminating,
            condition_message=told.message if told else "",
            waiting=waiting_of(meta),
            has_timed_out=gave_up is not None and gave_up.status == "True",
            # Of other groups anybody could say it.
            min_resources=(meta.annotation(MIN_RESOURCES) or "") if is_ours else "",
            provider=sys.intern(meta.annotation(PROVIDER) or ""),
            preempted_by=preemptor.uid if preemptor else "",
            is_restarting=is_asked_to_restart(group.status.conditions),
            is_left_behind=is_ours and not owner.uid,
            when_degraded=when_degraded(meta),
            short_since_seconds=epoch_seconds(satisfied.last_transition_time) if satisfied and is_short else 0.0,
            parent=sys.intern(group.parent),
        )

    def composite(self, group: CompositePodGroup) -> CompositeRecord:
        """The record of a CompositePodGroup."""
        meta, spec = group.metadata, group.spec
        told = condition_of(group.status.conditions or (), CONDITION_COMPOSITE_SCHEDULED)
        gave_up = condition_of(group.status.conditions or (), CONDITION_TIMED_OUT)
        return CompositeRecord(
            namespace=sys.intern(meta.namespace),
            name=sys.intern(meta.name),
            uid=meta.uid,
            parent=sys.intern(spec.parent_composite_pod_group_name or ""),
            min_group_count=max(_int32(group.need), 1),
            is_gang=group.is_gang,
            priority=None if spec.priority is None else _int32(spec.priority),
            preemption_policy=spec.preemption_policy,
            topology_key=group.topology_key,
            leaves_whole=group.is_disrupted_whole,
            owner=self._owner(meta),
            created_seconds=epoch_seconds(meta.creation_timestamp),
            waiting=waiting_of(meta),
            condition_message=told.message if told else "",
            has_timed_out=gave_up is not None and gave_up.status == "True",
        )

    def _affinity_terms(self, spec: PodSpec, meta: Metadata) -> AffinityTerms | None:
        return (
            self._signatures.affinity_terms(spec, meta.namespace, meta.labels or _NO_LABELS) if spec.affinity else None
        )

    def _rules(self, spec: PodSpec, meta: Metadata) -> NodeRules | None:
        return self._signatures.rules(spec, meta.namespace, meta.labels or _NO_LABELS)

    def _signature(self, spec: PodSpec, namespace: str, labels: dict[str, str]) -> PodSignature:
        return self._signatures.signature(spec, namespace, labels, self._scorings.get(spec.scheduler_name, DEFAULT))

    def _shared_labels(self, labels: dict[str, str] | None) -> dict[str, str]:
        if not labels:
            return _NO_LABELS
        # Servers write keys in order; the same labels in another one are merely not shared.
        key = tuple(labels.items())
        found = self._labels.get(key)
        if found is None:
            if len(self._labels) >= _MOST_SHARED_BY_PODS:
                self._labels.clear()
            found = self._labels[key] = {sys.intern(name): sys.intern(value) for name, value in labels.items()}
        return found

    def _shared_images(self, images: tuple[ContainerImage, ...]) -> tuple[ContainerImage, ...]:
        if len(self._images) >= _MOST_SHARED:
            self._images.clear()
        return tuple(self._images.setdefault(image, image) for image in images)

    def _shared_features(self, features: tuple[str, ...]) -> tuple[str, ...]:
        if len(self._features) >= _MOST_SHARED:
            self._features.clear()
        return self._features.setdefault(features, features)

    def _owner(self, meta: Metadata) -> Owner:
        reference = controller_of(meta)
        if reference is None:
            return NO_OWNER
        owner = self._owners.get(reference.uid)
        if owner is None:
            if len(self._owners) >= _MOST_SHARED_BY_PODS:
                self._owners.clear()
            owner = Owner(reference.uid, sys.intern(reference.kind), reference.name, sys.intern(reference.api_version))
            self._owners[reference.uid] = owner
        return owner

    def _profile(self, scheduler_name: str, priority: int, preemption_policy: str) -> AgreedFields:
        key = (scheduler_name, priority, preemption_policy)
        profile = self._profiles.get(key)
        if profile is None:
            if len(self._profiles) >= _MOST_SHARED:
                self._profiles.clear()
            profile = self._profiles[key] = AgreedFields(scheduler_name, _int32(priority), preemption_policy)
        return profile


def _int32(number: int) -> int:
    """The nearest number that the Kubernetes API has for it: sums of such numbers fit into an int64."""
    return min(max(number, -MAX_INT32 - 1), MAX_INT32)


@functools.lru_cache(maxsize=_MOST_TIMES)
def epoch_seconds(timestamp: str | None) -> float:
    """An RFC 3339 time stamp in seconds since 1970, 0 when absent or unreadable."""
    if not timestamp:
        return 0.0
    try:
        return datetime.fromisoformat(timestamp).timestamp()
    except ValueError:
        return 0.0
