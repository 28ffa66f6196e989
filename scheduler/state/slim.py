"""From decoded objects to slim records; what a stranger wrote never raises here."""

import sys
from datetime import datetime
from typing import Final

from api.constants import CONDITION_POD_SCHEDULED, CONDITION_SCHEDULED, MANAGED_BY, MANAGED_BY_TUTTI
from api.membership import group_name, is_managed
from api.meta import Metadata, condition_of, controller_of
from api.pod import Pod
from api.podgroup import PodGroup
from scheduler.state.records import NO_OWNER, GroupRecord, Owner, Phase, PodRecord, Profile
from scheduler.state.shapes import ShapeTable

_PHASES: Final = {"Succeeded": Phase.SUCCEEDED, "Failed": Phase.FAILED}
_MOST_SHARED: Final = 10_000
_NO_LABELS: Final[dict[str, str]] = {}


class Slimmer:
    """Makes records that share whatever repeats."""

    def __init__(self, scheduler_names: frozenset[str]) -> None:
        self._scheduler_names = scheduler_names
        self._shapes = ShapeTable()
        self._owners: dict[str, Owner] = {}
        self._labels: dict[frozenset[tuple[str, str]], dict[str, str]] = {}
        self._profiles: dict[tuple[str, int, str], Profile] = {}

    def pod(self, pod: Pod) -> PodRecord:
        """The record of a pod."""
        meta, spec, status = pod.metadata, pod.spec, pod.status
        is_ours = spec.scheduler_name in self._scheduler_names
        phase = _PHASES.get(status.phase, Phase.ACTIVE)
        is_to_place = is_ours and not spec.node_name and phase is Phase.ACTIVE
        labels = meta.labels or _NO_LABELS
        shape = self._shapes.shape(spec, meta.namespace, labels) if is_to_place else None
        told = condition_of(status.conditions, CONDITION_POD_SCHEDULED)
        return PodRecord(
            namespace=sys.intern(meta.namespace),
            name=meta.name,
            uid=meta.uid,
            resource_version=meta.resource_version,
            group=sys.intern(group_name(pod) or "") if is_ours else "",
            node_name=sys.intern(spec.node_name),
            phase=phase,
            terminating=meta.is_terminating,
            gated=bool(spec.scheduling_gates),
            managed=is_managed(pod),
            owner=self._owner(meta) if is_ours else NO_OWNER,
            created_seconds=epoch_seconds(meta.creation_timestamp),
            profile=self._profile(spec.scheduler_name, spec.priority, spec.preemption_policy),
            demand=shape.demand if shape else self._shapes.demand(spec),
            shape=shape,
            nominated_node=sys.intern(status.nominated_node_name),
            told_reason=sys.intern(told.reason) if told and told.status == "False" else "",
            labels=self._shared_labels(meta.labels),
            bonds=shape.rules.bonds if shape else self._shapes.bonds(spec, meta.namespace, labels),
        )

    def group(self, group: PodGroup) -> GroupRecord:
        """The record of a PodGroup."""
        meta, spec = group.metadata, group.spec
        told = condition_of(group.status.conditions or (), CONDITION_SCHEDULED)
        owner = self._owner(meta)
        return GroupRecord(
            namespace=sys.intern(meta.namespace),
            name=sys.intern(meta.name),
            uid=meta.uid,
            resource_version=meta.resource_version,
            need=max(group.need, 1),
            is_gang=group.is_gang,
            priority=spec.priority,
            preemption_policy=spec.preemption_policy,
            topology_key=group.topology_key,
            takes_only_owner=owner.uid if meta.annotation(MANAGED_BY) == MANAGED_BY_TUTTI else "",
            leaves_whole=group.is_disrupted_whole,
            owner=owner,
            created_seconds=epoch_seconds(meta.creation_timestamp),
            terminating=meta.is_terminating,
            condition_status=told.status if told else "",
            condition_reason=told.reason if told else "",
            condition_message=told.message if told else "",
        )

    def _shared_labels(self, labels: dict[str, str] | None) -> dict[str, str]:
        if not labels:
            return _NO_LABELS
        key = frozenset(labels.items())
        found = self._labels.get(key)
        if found is None:
            if len(self._labels) >= _MOST_SHARED:
                self._labels.clear()
            found = self._labels[key] = {sys.intern(name): sys.intern(value) for name, value in labels.items()}
        return found

    def _owner(self, meta: Metadata) -> Owner:
        reference = controller_of(meta)
        if reference is None:
            return NO_OWNER
        owner = self._owners.get(reference.uid)
        if owner is None:
            if len(self._owners) >= _MOST_SHARED:
                self._owners.clear()
            owner = Owner(reference.uid, sys.intern(reference.kind), reference.name, sys.intern(reference.api_version))
            self._owners[reference.uid] = owner
        return owner

    def _profile(self, scheduler_name: str, priority: int, preemption_policy: str) -> Profile:
        key = (scheduler_name, priority, preemption_policy)
        profile = self._profiles.get(key)
        if profile is None:
            if len(self._profiles) >= _MOST_SHARED:
                self._profiles.clear()
            profile = self._profiles[key] = Profile(*key)
        return profile


def epoch_seconds(timestamp: str | None) -> float:
    """An RFC 3339 time stamp in seconds since 1970, 0 when absent or unreadable."""
    if not timestamp:
        return 0.0
    try:
        return datetime.fromisoformat(timestamp).timestamp()
    except ValueError:
        return 0.0
