"""What Tutti must know about a gang scheduler in order to hand it a gang.

A provider is a value without state: it says which metadata ties a pod to its group, which objects of its own the scheduler
needs beside Workload and PodGroup, and what it is able to do. It never talks to anybody; admission and the controllers carry
out what it says.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from api.constants import MANAGED, MANAGED_BY, MANAGED_BY_TUTTI, POD_GROUP, POD_GROUP_UID
from api.podgroup import PodGroup


class StartupPolicy(Enum):
    """When the workers of a LeaderWorkerSet replica are created (LWS `spec.startupPolicy`)."""

    LEADER_CREATED = "LeaderCreated"
    LEADER_READY = "LeaderReady"


class MinMemberRule(Enum):
    """How many members a group must be able to start at once."""

    WHOLE_GROUP = "whole-group"
    LEADER_ONLY = "leader-only"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a gang scheduler can do with a group.

    Attributes:
        counts_succeeded: members that have succeeded count towards the minimum, so the tail of a Job needs no lower one.
        mutable_minimum: the minimum of an existing group may change.
        topology: it can keep a gang inside one value of a node label.
        whole_disruption: it can preempt a gang as a whole or not at all.
    """

    counts_succeeded: bool
    mutable_minimum: bool
    topology: bool
    whole_disruption: bool


@dataclass(frozen=True, slots=True)
class PodMetadata:
    """Labels and annotations a pod template must get; keys that are there already are overwritten."""

    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)


class Provider(Protocol):
    """One gang scheduler."""

    @property
    def name(self) -> str:
        """The value of the annotation `provider` and of the label `managed`."""

    @property
    def scheduler_name(self) -> str:
        """The `schedulerName` of pods it places; admission writes it into templates that name none."""

    @property
    def capabilities(self) -> Capabilities:
        """What this scheduler can do."""

    def association(self, group: PodGroup) -> PodMetadata:
        """What ties a pod to this group, which exists (its UID is known)."""

    def group_objects(self, group: PodGroup) -> list[dict[str, Any]]:
        """Manifests of further objects the scheduler needs for this group, ready to be created; often none."""

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
