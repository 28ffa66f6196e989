"""What Tutti must know about a gang scheduler in order to give it a gang.

A provider is a value without state: it says which metadata ties a pod to its group, which objects of its own the scheduler
needs beside Workload and PodGroup, and what it is able to do. It never talks to anybody; admission and the controllers carry
out what it says.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, Protocol

from api.constants import MANAGED, MANAGED_BY, MANAGED_BY_TUTTI, POD_GROUP, POD_GROUP_UID
from api.podgroup import PodGroup
from providers.gang import Gang, Role, StartupPolicy

__all__ = [
    "Capabilities",
    "External",
    "GroupKind",
    "MinMemberRule",
    "PodMetadata",
    "Provider",
    "StartupPolicy",
    "tutti_association",
]


class MinMemberRule(Enum):
    """How many members of a LeaderWorkerSet replica must be able to start at once, and in which group."""

    WHOLE_GROUP = "whole-group"
    """Leader and workers together."""

    LEADER_ONLY = "leader-only"
    """One group with a minimum of one; the room of the workers is reserved or checked by other means."""

    LEADER_FIRST = "leader-first"
    """One group with a minimum of one until the leader has a node, and of all from then on: somebody must raise it."""

    LEADER_APART = "leader-apart"
    """Two groups: the leader alone, and the workers, who start together or not at all."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a gang scheduler can do with a group.

    Attributes:
        counts_succeeded: members that have succeeded count towards the minimum, or it is asked for once only: the tail of a
            Job needs no lower one.
        mutable_minimum: the minimum of an existing group may change.
        topology: it can keep a gang inside one value of a node label.
        whole_disruption: it can preempt a gang as a whole or not at all.
        partial_minimum: the minimum may be lower than the number of pods.
        evicts_below_minimum: it evicts a running gang that stays below its minimum, even if the others have succeeded.
        timeout: it gives up after a time, which can be set.
        late_association: pods that exist already can still be told which group they belong to.
        needs_group: its pods must name their group before they start; False for one that counts them by itself.
        reads_pod_groups: it works from the cluster's own Workloads and PodGroups.
        needs_built_in_groups: it knows those of the built-in group API only.
    """

    counts_succeeded: bool
    mutable_minimum: bool
    topology: bool
    whole_disruption: bool
    partial_minimum: bool = True
    evicts_below_minimum: bool = False
    timeout: bool = False
    late_association: bool = False
    needs_group: bool = True
    reads_pod_groups: bool = False
    needs_built_in_groups: bool = False

    @property
    def holds_unsuspended(self) -> bool:
        """Whether pods of an owner that nobody suspends start together: they wait for their group, and can be told it later."""
        return self.needs_group and self.reads_pod_groups and self.late_association


@dataclass(frozen=True, slots=True)
class PodMetadata:
    """Labels and annotations a pod template must get; keys that are there already are overwritten."""

    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)

    def over(self, other: "PodMetadata") -> "PodMetadata":
        """Both; where they disagree, this one."""
        return PodMetadata({**other.labels, **self.labels}, {**other.annotations, **self.annotations})


@dataclass(frozen=True, slots=True)
class GroupKind:
    """A kind of group object that a gang scheduler brings along as a CRD."""

    group: str
    version: str
    plural: str
    kind: str

    @property
    def api_version(self) -> str:
        """`apiVersion` as manifests write it."""
        return f"{self.group}/{self.version}"

    @property
    def crd(self) -> str:
        """Name of the CustomResourceDefinition."""
        return f"{self.plural}.{self.group}"


class Provider(Protocol):
    """One gang scheduler."""

    @property
    def name(self) -> str:
        """The value of the annotation `provider` and of the label `managed`."""

    @property
    def scheduler_name(self) -> str:
        """The `schedulerName` of pods it places; admission writes it into templates that name none.

        Empty for a provider that works with any: the template keeps what it has.
        """

    def serves(self, scheduler_name: str) -> bool:
        """Whether pods with this `schedulerName` are its own."""

    @property
    def capabilities(self) -> Capabilities:
        """What this scheduler can do."""

    @property
    def kind(self) -> GroupKind | None:
        """The kind of its group objects, None when it has none of its own."""

    @property
    def group_keys(self) -> tuple[str, ...]:
        """Labels and annotations by which a pod belongs to a certain group of this scheduler.

        A template that carries one without being ours has a group of its own already.
        """

    @property
    def pod_keys(self) -> tuple[str, ...]:
        """All labels and annotations that `pod_metadata` may set."""

    @property
    def template_keys(self) -> tuple[str, ...]:
        """Those of `pod_keys` that say the same to every pod of every gang of one template."""

    def association(self, group: PodGroup) -> PodMetadata:
        """What ties a pod to this group in Tutti's own terms; the group exists (its UID is known)."""

    def pod_metadata(self, gang: Gang, role: Role) -> PodMetadata:
        """What the scheduler itself must find on a pod of that role; nothing where `association` says it all.

        Raises:
            InvalidGangSettings: the gang cannot be told to this scheduler.
        """

    def group_objects(self, gang: Gang) -> list[dict[str, Any]]:
        """Manifests of further objects the scheduler needs for this gang, ready to be created; often none."""

    def min_member_rule(self, policy: StartupPolicy) -> MinMemberRule:
        """How many members of a LeaderWorkerSet replica must fit before any of them starts."""


def tutti_association(provider: str, group: PodGroup) -> PodMetadata:
    """The metadata by which Tutti itself knows the pods of a group, whoever places them.

    The UID makes admission add an owner reference. A group that is not ours may outlive the pods' Job, and the garbage
    collector would keep the pods with it, so pods name such a group without referring to it.
    """
    annotations = {POD_GROUP: group.metadata.name}
    if group.metadata.annotation(MANAGED_BY) == MANAGED_BY_TUTTI:
        annotations[POD_GROUP_UID] = group.metadata.uid
    return PodMetadata(labels={MANAGED: provider}, annotations=annotations)


class External:
    """A gang scheduler that is not ours. Each says what is special about it; what it does not say is as here."""

    name: ClassVar[str]
    capabilities: ClassVar[Capabilities]
    kind: ClassVar[GroupKind | None] = None
    usual_scheduler_name: ClassVar[str]
    """The `schedulerName` it answers to unless an installation configured another one; empty: whatever the template says."""

    def __init__(self, scheduler_name: str | None = None) -> None:
        self._scheduler_name = self.usual_scheduler_name if scheduler_name is None else scheduler_name

    @property
    def scheduler_name(self) -> str:
        """The `schedulerName` of its pods."""
        return self._scheduler_name

    def serves(self, scheduler_name: str) -> bool:
        """Whether it is the `schedulerName` of its pods."""
        return scheduler_name == self._scheduler_name

    @property
    def group_keys(self) -> tuple[str, ...]:
        """None."""
        return ()

    @property
    def pod_keys(self) -> tuple[str, ...]:
        """Only those that name a group."""
        return self.group_keys

    @property
    def template_keys(self) -> tuple[str, ...]:
        """All that do not name a group."""
        return tuple(key for key in self.pod_keys if key not in self.group_keys)

    def association(self, group: PodGroup) -> PodMetadata:
        """Our own label and annotations; the scheduler's come from `pod_metadata`."""
        return tutti_association(self.name, group)

    def pod_metadata(self, gang: Gang, role: Role) -> PodMetadata:  # noqa: ARG002
        """Nothing."""
        return PodMetadata()

    def group_objects(self, gang: Gang) -> list[dict[str, Any]]:  # noqa: ARG002
        """None."""
        return []

    def min_member_rule(self, policy: StartupPolicy) -> MinMemberRule:  # noqa: ARG002
        """The whole group."""
        return MinMemberRule.WHOLE_GROUP
