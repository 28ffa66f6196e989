"""The slim records the scheduler keeps: about half a KiB for a pod, where a decoded dictionary takes 35.

Strings that repeat (namespaces, group names, owners, nodes) are interned, and what pods have in common (amounts, rules,
priority) is one shared object. Records are values: a change makes a new one.
"""

from enum import IntEnum
from typing import Literal

import msgspec

from api.constants import EMBEDDED_PROVIDER
from api.degraded import WhenDegraded
from api.meta import Metadata
from api.topology import TopologyRequest
from api.waiting import Waiting
from scheduler.cache.demand import Demand
from scheduler.cache.devices.pod_claims import PodClaims
from scheduler.cache.node_rules import NodeRules
from scheduler.cache.pod_rules import AffinityTerms
from scheduler.cache.pod_signature import PodSignature
from scheduler.cache.pod_volumes import PodVolumes


class Phase(IntEnum):
    """The phase of a pod, as far as counting members needs it."""

    ACTIVE = 0
    SUCCEEDED = 1
    FAILED = 2


class AgreedFields(msgspec.Struct, frozen=True, gc=False):
    """What all members of a group must agree on (upstream refuses groups that do not)."""

    scheduler_name: str
    priority: int
    preemption_policy: str


class Owner(msgspec.Struct, frozen=True, gc=False):
    """The controller of an object: its UID decides membership, the rest is for events about it."""

    uid: str = ""
    kind: str = ""
    name: str = ""
    api_version: str = ""


NO_OWNER = Owner()


EntityKind = Literal["group", "pod", "composite"]


class EntityKey(msgspec.Struct, frozen=True, gc=False, order=True):
    """What the queue holds: a group, a lone pod, or a tree of groups by its root, by UID.

    A group key with an empty UID stands for the pods that name a PodGroup which does not exist; a composite key likewise.
    """

    kind: EntityKind
    namespace: str
    name: str
    uid: str


class PodRecord(msgspec.Struct, frozen=True, gc=False, eq=False, weakref=False):
    """A pod as the scheduler keeps it; `signature` is set only while the pod is unbound and ours to place."""

    namespace: str
    name: str
    uid: str
    resource_version: str
    group: str
    node_name: str
    phase: Phase
    terminating: bool
    gated: bool
    managed: bool
    owner: Owner
    created_seconds: float
    profile: AgreedFields
    demand: Demand
    signature: PodSignature | None
    nominated_node: str
    labels: dict[str, str]
    affinity_terms: AffinityTerms | None
    """What ties it to others, and others to it."""
    volumes: PodVolumes | None = None
    """Its claims and disks; None for most pods."""
    foreign_group: str = ""
    """The group it names, when it is a pod of another scheduler."""
    claims: PodClaims | None = None
    """Its ResourceClaims; None for most pods, and for those of other schedulers."""
    rules: NodeRules | None = None
    """Of a member of a group that has its node: where a replacement could run."""

    @property
    def key(self) -> tuple[str, str]:
        """(namespace, name)."""
        return (self.namespace, self.name)

    @property
    def metadata(self) -> Metadata:
        """What an informer's store needs of an object; made anew at each call."""
        return Metadata(name=self.name, namespace=self.namespace, uid=self.uid, resource_version=self.resource_version)

    @property
    def is_terminal(self) -> bool:
        """True when it holds no room any more."""
        return self.phase is not Phase.ACTIVE

    @property
    def is_bound(self) -> bool:
        """True when it has a node."""
        return self.node_name != ""

    @property
    def only_takes_room(self) -> bool:
        """Whether it is bound and concerns nobody but by the amounts that it takes, and its own group."""
        return (
            self.is_bound
            and self.phase is Phase.ACTIVE
            and self.volumes is None
            and self.claims is None
            and not self.foreign_group
            and not self.demand.ports
        )

    def decides_like(self, other: "PodRecord") -> bool:
        """True when nothing that scheduling looks at differs (status updates of a running pod, mostly)."""
        return self.labels == other.labels and self.decides_like_but_for_labels(other)

    def decides_like_but_for_labels(self, other: "PodRecord") -> bool:
        """True when nothing else that scheduling looks at differs."""
        return (
            self.node_name == other.node_name
            and self.phase is other.phase
            and self.terminating is other.terminating
            and self.gated is other.gated
            and self.demand is other.demand
            and self.signature is other.signature
            and self.profile == other.profile
            and self.group == other.group
            and self.managed is other.managed
            and self.owner.uid == other.owner.uid
            and self.affinity_terms is other.affinity_terms
            and self.volumes == other.volumes
            and self.foreign_group == other.foreign_group
            and self.claims == other.claims
        )


class GroupRecord(msgspec.Struct, frozen=True, gc=False):
    """A PodGroup as the scheduler keeps it; `leaves_whole` is its disruption mode `all`."""

    namespace: str
    name: str
    uid: str
    resource_version: str
    min_count: int
    is_gang: bool
    priority: int | None
    preemption_class: str
    """The PriorityClass that counts when somebody wants its room, empty for that of `priority`."""
    preemption_policy: str | None
    topology: TopologyRequest
    """How close its members are to be."""
    takes_only_owner: str
    leaves_whole: bool
    owner: Owner
    created_seconds: float
    terminating: bool
    condition_message: str
    waiting: Waiting
    """What its annotations say of how long it waits, and for how many pods."""
    has_timed_out: bool
    """Its condition says that it has given up."""
    min_resources: str = ""
    """What those of its pods will ask for that come later, as its annotation says it."""
    provider: str = ""
    """The gang scheduler it was made for, empty when nobody says."""
    preempted_by: str = ""
    """UID of the group or pod for which it is asked to leave, empty when it is not."""
    is_restarting: bool = False
    """It is asked to leave so that it starts anew, and has not left yet."""
    is_left_behind: bool = False
    """We made it for an owner that has gone without it (`kubectl delete --cascade=orphan`): nobody makes its pods anew."""
    when_degraded: WhenDegraded = WhenDegraded()
    """What its annotations say of the time when members are missing."""
    short_since_seconds: float = 0.0
    """Since when its condition says that members are missing (seconds since 1970); 0 when it does not."""
    parent: str = ""
    """Name of the CompositePodGroup it is a child of, empty for none."""
    is_tree: bool = False
    """It is a CompositePodGroup, which stands for all that is below it."""

    @property
    def topology_key(self) -> str | None:
        """The narrowest level inside one domain of which all members must be, None for anywhere."""
        return self.topology.required_key

    @property
    def is_foreign(self) -> bool:
        """True when it was made for another scheduler."""
        return self.provider not in ("", EMBEDDED_PROVIDER)

    @property
    def item(self) -> EntityKey:
        """Its key in the queue."""
        return EntityKey("group", self.namespace, self.name, self.uid)

    @property
    def is_leaving(self) -> bool:
        """Whether it ends, makes room for somebody, or is about to start anew, as a predecessor may have asked it."""
        return self.terminating or bool(self.preempted_by) or self.is_restarting

    def decides_like(self, other: "GroupRecord") -> bool:
        """True when nothing that scheduling looks at differs (our own status writes, mostly)."""
        return (
            self.uid == other.uid
            and self.min_count == other.min_count
            and self.is_gang == other.is_gang
            and self.priority == other.priority
            and self.preemption_class == other.preemption_class
            and self.preemption_policy == other.preemption_policy
            and self.topology == other.topology
            and self.takes_only_owner == other.takes_only_owner
            and self.is_left_behind == other.is_left_behind
            and self.leaves_whole == other.leaves_whole
            and self.waiting == other.waiting
            and self.when_degraded == other.when_degraded
            and self.min_resources == other.min_resources
            and self.parent == other.parent
        )


class CompositeRecord(msgspec.Struct, frozen=True, gc=False):
    """A CompositePodGroup as the scheduler keeps it; `min_group_count` is 1 for a basic one."""

    namespace: str
    name: str
    uid: str
    parent: str
    min_group_count: int
    is_gang: bool
    priority: int | None
    preemption_policy: str | None
    topology_key: str | None
    leaves_whole: bool
    owner: Owner
    created_seconds: float
    waiting: Waiting = Waiting()
    """What its annotations say of how long it waits; that of the root counts."""
    condition_message: str = ""
    has_timed_out: bool = False
    """Its condition says that it has given up."""

    @property
    def item(self) -> EntityKey:
        """Its key in the queue, where it is the root of its tree."""
        return EntityKey("composite", self.namespace, self.name, self.uid)

    def decides_like(self, other: "CompositeRecord") -> bool:
        """True when nothing that scheduling looks at differs (our own status writes, mostly)."""
        told = {"condition_message": self.condition_message, "has_timed_out": self.has_timed_out}
        return msgspec.structs.replace(other, **told) == self


class StateChange(msgspec.Struct, frozen=True):
    """What an event changed, as far as it can make somebody schedulable; falsy when it changed nothing."""

    items: tuple[EntityKey, ...] = ()
    """Items whose content changed in a way that matters."""
    gone: tuple[EntityKey, ...] = ()
    """Keys that are items no longer."""
    freed: tuple[int, ...] = ()
    """Node slots where room appeared, or may have."""
    bound: tuple[EntityKey, ...] = ()
    """Items of which a member was seen bound."""

    def __bool__(self) -> bool:
        return bool(self.items or self.gone or self.freed or self.bound)


NO_CHANGE = StateChange()


class Assumption(msgspec.Struct, frozen=True, gc=False):
    """A pod we decided to bind: it takes its room until the watch confirms it or the bind is known to have failed."""

    node_name: str
    node_uid: str
    deadline_seconds: float


class MemberCounts(msgspec.Struct, frozen=True, gc=False):
    """The members of an item by what they are doing; failed and leaving ones are in none of these."""

    pending: int = 0
    gated: int = 0
    assumed: int = 0
    bound: int = 0
    succeeded: int = 0
    barred: int = 0
    """Pods that name the group but may not join it; not members."""
    min_count: int = 1

    @property
    def known(self) -> int:
        """Members there are."""
        return self.pending + self.gated + self.scheduled_count

    @property
    def scheduled_count(self) -> int:
        """Members that have their place or needed one once."""
        return self.assumed + self.bound + self.succeeded

    @property
    def confirmed(self) -> int:
        """Members whose bind the API server has shown us."""
        return self.bound + self.succeeded
