"""Workload and PodGroup (scheduling.k8s.io/v1beta1 model, KEP-4671), built-in or as our own CRDs: the schema is the same."""

from typing import Any, Final

import msgspec

from api.constants import PARENT_COMPOSITE
from api.meta import NO_METADATA, Condition, Metadata
from api.topology import TopologyRequest
from api.topology_annotations import group_topology

WORKLOAD: Final = "Workload"
POD_GROUP_KIND: Final = "PodGroup"


class GangPolicy(msgspec.Struct, frozen=True, rename="camel"):
    """All or nothing: no member starts before `min_count` can."""

    min_count: int = 1


class SchedulingPolicy(msgspec.Struct, frozen=True, omit_defaults=True):
    """Exactly one of `gang` and `basic`."""

    gang: GangPolicy | None = None
    basic: dict[str, Any] | None = None


class DisruptionMode(msgspec.Struct, frozen=True, omit_defaults=True):
    """Exactly one of `all` (preempted as a whole or not at all) and `single`."""

    all: dict[str, Any] | None = None
    single: dict[str, Any] | None = None

    @property
    def is_whole(self) -> bool:
        """True when preemption must take all pods or none."""
        return self.all is not None


class TopologyConstraint(msgspec.Struct, frozen=True):
    """All members inside one value of this node label."""

    key: str


class SchedulingConstraints(msgspec.Struct, frozen=True):
    """Where the members must be in relation to each other."""

    topology: tuple[TopologyConstraint, ...] = ()

    @property
    def topology_key(self) -> str | None:
        """The node label inside one value of which all pods must be, None without such a constraint."""
        return self.topology[0].key if self.topology else None


class PodGroupTemplate(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One template of a Workload; a PodGroup made from it repeats its settings."""

    name: str
    scheduling_policy: SchedulingPolicy
    scheduling_constraints: SchedulingConstraints | None = None
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str = ""
    priority: int | None = None


class TypedReference(msgspec.Struct, frozen=True, rename="camel"):
    """An object in the same namespace by kind and name."""

    kind: str = ""
    name: str = ""
    api_group: str = ""


class WorkloadSpec(msgspec.Struct, frozen=True, rename="camel"):
    """`spec` of a Workload."""

    controller_ref: TypedReference | None = None
    pod_group_templates: tuple[PodGroupTemplate, ...] = ()


class Workload(msgspec.Struct, frozen=True):
    """A Workload: what its owner asks of the scheduler. It has no status."""

    metadata: Metadata = NO_METADATA
    spec: WorkloadSpec = WorkloadSpec()


class WorkloadReference(msgspec.Struct, frozen=True, rename="camel"):
    """The Workload and its template that a PodGroup was made from."""

    workload_name: str
    template_name: str


class PodGroupSpec(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """`spec` of a PodGroup; everything but `gang.minCount` is immutable."""

    scheduling_policy: SchedulingPolicy = SchedulingPolicy()
    workload_ref: WorkloadReference | None = None
    scheduling_constraints: SchedulingConstraints | None = None
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str = ""
    priority: int | None = None
    preemption_policy: str | None = None
    parent_composite_pod_group_name: str | None = None

    @property
    def topology_key(self) -> str | None:
        """The one key of its constraints, None without."""
        return self.scheduling_constraints.topology_key if self.scheduling_constraints else None


class PodGroupStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """`status` of a PodGroup."""

    conditions: tuple[Condition, ...] | None = None


class PodGroup(msgspec.Struct, frozen=True, omit_defaults=True):
    """A PodGroup: the unit the scheduler places whole."""

    metadata: Metadata = NO_METADATA
    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()

    @property
    def is_gang(self) -> bool:
        """True for a gang, False for a basic group."""
        return self.spec.scheduling_policy.gang is not None

    @property
    def need(self) -> int:
        """Members that must start together: minCount of a gang, 1 of a basic group."""
        gang = self.spec.scheduling_policy.gang
        return gang.min_count if gang else 1

    @property
    def parent(self) -> str:
        """Name of the CompositePodGroup it is a child of, empty for none; the field counts before the annotation."""
        return self.spec.parent_composite_pod_group_name or self.metadata.annotation(PARENT_COMPOSITE) or ""

    @property
    def is_disrupted_whole(self) -> bool:
        """True when preemption must take all of its pods or none."""
        mode = self.spec.disruption_mode
        return mode is not None and mode.is_whole

    @property
    def topology(self) -> TopologyRequest:
        """How close its members are to be: what its annotations say where they are usable, else its field."""
        return group_topology(self.metadata, spec_key=self.spec.topology_key, is_gang=self.is_gang)

    @property
    def topology_key(self) -> str | None:
        """The node label inside one value of which all members must be, None without such a constraint."""
        return self.topology.required_key
