"""What a history tells of pods, groups, claims and leases: values that grow with each record, and no judgement."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from api import constants

Object = dict[str, Any]
Key = tuple[str, str]
"""Namespace and name: where to look. Identity is the UID."""

OUR_SCHEDULER = constants.DEFAULT_SCHEDULER_NAME


@dataclass(slots=True)
class Pod:
    """A pod; times are seconds since the epoch, 0.0 for what has not happened.

    Attributes:
        owner: UID of its controller.
        group: the PodGroup that it names.
        bound_by: the user who bound it; the scheduler it names where only watches tell.
        runs_at: when it was told to run although no answered bind was seen, so that an unanswered one counts as carried out.
        was_put: it had its node from the start, past every scheduler.
        left_at: when its deletion was asked for.
        ended_at: when it took no room any more.
        succeeded: whether that was because it had done its work.
        nominated: the node it is nominated to.
        marked_at: when our scheduler was answered that the pod has its mark (the condition `DisruptionTarget`); after that it
            looks once more whether the pod has to leave, and deletes it.
        claimed: the extended resources for which it was told that it has a claim.
    """

    key: Key
    uid: str
    spec: Object
    labels: Object
    owner: str
    group: Key | None
    created_at: float
    node: str = ""
    bound_at: float = 0.0
    bound_by: str = ""
    runs_at: float = 0.0
    was_put: bool = False
    left_at: float = 0.0
    ended_at: float = 0.0
    succeeded: bool = False
    nominated: str = ""
    marked_at: float = 0.0
    claimed: frozenset[str] = frozenset()

    @property
    def ended(self) -> bool:
        """Whether it takes no room any more."""
        return self.ended_at > 0.0

    @property
    def leaves(self) -> bool:
        """Whether it has ended, or its deletion was asked for."""
        return self.ended or self.left_at > 0.0

    @property
    def is_ours(self) -> bool:
        """Whether it names our scheduler, or one of its profiles."""
        return str(self.spec.get("schedulerName")).split("-")[0] == OUR_SCHEDULER

    @property
    def priority(self) -> int:
        """Its priority as admission resolved it."""
        return int(self.spec.get("priority") or 0)


@dataclass(slots=True)
class Condition:
    """A condition as it was last written."""

    status: str
    reason: str
    message: str
    since: float


@dataclass(slots=True)
class Group:
    """A PodGroup.

    Attributes:
        minimum: how many must be bound for it to have started; 1 for a basic group.
        whole: it leaves as a whole (disruption mode `all`).
        owner: UID of its controller.
        is_made_by_us: it carries our mark.
        restarts_after_seconds: it wants to leave as a whole when members are missing for so long; None when it does not.
        is_only_reported: nothing is to be done about it when members are missing.
        bound: UIDs of the members that are bound and have not ended.
        satisfied: its minimum was bound once.
        parent: name of the CompositePodGroup it is a child of, empty for none.
    """

    key: Key
    uid: str
    creator: str
    made_at: float
    minimum: int = 1
    is_gang: bool = False
    whole: bool = False
    has_topology: bool = False
    priority: int | None = None
    owner: str = ""
    is_made_by_us: bool = False
    restarts_after_seconds: float | None = None
    is_only_reported: bool = False
    bound: set[str] = field(default_factory=set)
    satisfied: bool = False
    parent: str = ""
    conditions: dict[str, Condition] = field(default_factory=dict)

    def is_true(self, condition: str) -> bool:
        """Whether this condition was last said to be True."""
        found = self.conditions.get(condition)
        return found is not None and found.status == "True"


@dataclass(slots=True)
class Composite:
    """A CompositePodGroup.

    Attributes:
        minimum: how many of its children must have started for it to have; 1 for a basic one.
        parent: name of the CompositePodGroup it is a child of, empty for none.
        whole: all below it leaves together (disruption mode `all`).
        satisfied: its minimum had started once.
    """

    key: Key
    uid: str
    minimum: int = 1
    parent: str = ""
    whole: bool = False
    satisfied: bool = False


Device = tuple[str, str, str]
"""Driver, pool and name."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A ResourceClaim and what it holds.

    Attributes:
        owner: UID of its controller, the pod it was made for.
        entry: of that pod.
        devices: without those that several claims may hold at a time.
        allocation: as it was written; empty while there is none.
        consumers: UID of those it is reserved for -> since when.
        allocated_by: who wrote the allocation.
        held_since: when it got its devices; 0.0 while it has none.
        version: the newest that was seen; 0 where none was told.
    """

    key: Key
    uid: str
    owner: str = ""
    entry: str = ""
    devices: frozenset[Device] = frozenset()
    allocation: Object = field(default_factory=dict)
    consumers: Mapping[str, float] = field(default_factory=dict)
    allocated_by: str = ""
    held_since: float = 0.0
    version: int = 0


@dataclass(frozen=True, slots=True)
class LeaseWrite:
    """Somebody wrote a Lease: who holds it since; an empty holder gave it back."""

    holder: str
    received: float
    completed: float


def belongs(pod: Pod, group: Group) -> bool:
    """Whether a pod counts for the group that it names: who only says so does not.

    Of the replicas of LeaderWorkerSets the log does not have the chain of owners; whoever carries their label counts.
    """
    is_free = not group.is_made_by_us or not group.owner or constants.LWS_NAME in pod.labels
    return is_free or group.owner in (pod.owner, pod.labels.get(constants.JOBSET_UID))


def status_of(found: Object) -> Object:
    """The status of an object; empty for an answer that is a Status itself, whose field of that name is a word."""
    status = found.get("status")
    return status if isinstance(status, dict) else {}


def controller_of(metadata: Object) -> str:
    """UID of the controller among the owners, empty when there is none."""
    owners = metadata.get("ownerReferences") or []
    return next((str(owner["uid"]) for owner in owners if owner.get("controller")), "")


def group_named_by(pod: Object) -> Key | None:
    """The PodGroup that a pod names: by its field, else by our annotation."""
    metadata = pod.get("metadata", {})
    name = (pod.get("spec", {}).get("schedulingGroup") or {}).get("podGroupName")
    name = name or (metadata.get("annotations") or {}).get(constants.POD_GROUP)
    return (metadata.get("namespace", ""), name) if name else None
