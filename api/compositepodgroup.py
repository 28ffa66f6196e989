"""CompositePodGroup (scheduling.k8s.io/v1alpha3 model, KEP-6012), built-in or as our own CRD: a group of groups, any number deep.

Its children are the PodGroups and CompositePodGroups that name it as their parent.
"""

from typing import Any, Final

import msgspec

from api.meta import NO_METADATA, Condition, Metadata
from api.podgroup import DisruptionMode, SchedulingConstraints, WorkloadReference

COMPOSITE_KIND: Final = "CompositePodGroup"

MOST_LEVELS: Final = 4
"""Levels of a tree, its PodGroups included."""


class CompositeGangPolicy(msgspec.Struct, frozen=True, rename="camel"):
    """All or nothing: no child starts before `min_group_count` can, each whole."""

    min_group_count: int = 1


class CompositeSchedulingPolicy(msgspec.Struct, frozen=True, omit_defaults=True):
    """Exactly one of `gang` and `basic`."""

    gang: CompositeGangPolicy | None = None
    basic: dict[str, Any] | None = None


class CompositePodGroupSpec(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """`spec` of a CompositePodGroup; everything but `gang.minGroupCount` is immutable."""

    scheduling_policy: CompositeSchedulingPolicy = CompositeSchedulingPolicy()
    parent_composite_pod_group_name: str | None = None
    workload_ref: WorkloadReference | None = None
    scheduling_constraints: SchedulingConstraints | None = None
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str = ""
    priority: int | None = None
    preemption_policy: str | None = None


class CompositePodGroupStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """`status` of a CompositePodGroup."""

    conditions: tuple[Condition, ...] | None = None


class CompositePodGroup(msgspec.Struct, frozen=True, omit_defaults=True):
    """A CompositePodGroup: groups that the scheduler starts together."""

    metadata: Metadata = NO_METADATA
    spec: CompositePodGroupSpec = CompositePodGroupSpec()
    status: CompositePodGroupStatus = CompositePodGroupStatus()

    @property
    def is_gang(self) -> bool:
        """True when its children start together, False when each starts as it can."""
        return self.spec.scheduling_policy.gang is not None

    @property
    def need(self) -> int:
        """Children that must start together: minGroupCount of a gang, 1 of a basic one."""
        gang = self.spec.scheduling_policy.gang
        return gang.min_group_count if gang else 1

    @property
    def parent(self) -> str:
        """Name of the CompositePodGroup it is a child of, empty for none."""
        return self.spec.parent_composite_pod_group_name or ""

    @property
    def is_disrupted_whole(self) -> bool:
        """True when preemption must take all pods below it or none."""
        mode = self.spec.disruption_mode
        return mode is not None and mode.is_whole

    @property
    def topology_key(self) -> str | None:
        """The node label inside one value of which all pods below it must be, None without such a constraint."""
        constraints = self.spec.scheduling_constraints
        return constraints.topology_key if constraints else None
