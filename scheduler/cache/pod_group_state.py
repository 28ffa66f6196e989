"""The pods of one group, or one lone pod, by what they are doing: kept per event, so that a cycle counts and sorts nothing.

Who counts (KEP-4671 and the choices where it is silent): failed members do not, succeeded ones do. A member that is being
deleted does not count either, bound or not: its place is about to be free, and a replacement must not start on the strength
of siblings that are leaving. Pods that name the group but belong to another owner are `barred`.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, ItemsView, Iterator, Mapping, Sequence
from enum import IntEnum
from typing import Final, Protocol

from api.parents.kinds import is_child_pod_of
from scheduler.cache.pod_signature import PodSignature
from scheduler.cache.ranks import rank_of
from scheduler.cache.records import AgreedFields, EntityKey, GroupRecord, MemberCounts, Phase, PodRecord

POLICY_NEVER: Final = "Never"

PendingKey = tuple[str, int, str]
"""The rank of a pod, and its name."""


class PendingPods:
    """UIDs in the order of ranks, of pods without a rank in that of names; a decision takes the first so many `uids`."""

    __slots__ = ("_keys", "_uids")

    def __init__(self) -> None:
        self._keys: list[PendingKey] = []
        self._uids: list[str] = []

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def keys(self) -> Sequence[PendingKey]:
        """Of the pods that exist, sorted."""
        return self._keys

    @property
    def first_name(self) -> str:
        """The name of the first of them."""
        return self._keys[0][2]

    @property
    def uids(self) -> Sequence[str]:
        """In the order of the keys."""
        return self._uids

    def add(self, pod: PodRecord) -> None:
        """Takes in a pod."""
        key = _pending_key(pod)
        index = bisect_left(self._keys, key)
        self._keys.insert(index, key)
        self._uids.insert(index, pod.uid)

    def extend(self, others: "PendingPods") -> None:
        """Takes in all of these behind its own; of such a one nothing is removed."""
        self._keys.extend(others.keys)
        self._uids.extend(others.uids)

    def first(self, count: int) -> "PendingPods":
        """The first so many of them."""
        found = PendingPods()
        found._keys, found._uids = list(self.keys[:count]), list(self.uids[:count])
        return found

    def remove(self, pod: PodRecord) -> None:
        """Lets a pod go; of two pods of one name (a predecessor that is not gone yet) the right one."""
        # Those that get a place leave in this order.
        is_first = self._uids[0] == pod.uid
        index = 0 if is_first else self._uids.index(pod.uid, bisect_left(self._keys, _pending_key(pod)))
        del self._keys[index], self._uids[index]


def _pending_key(pod: PodRecord) -> PendingKey:
    return (*rank_of(pod), pod.name)


class MemberState(IntEnum):
    """What a pod is to its item."""

    OUT = 0
    BARRED = 1
    PENDING = 2
    GATED = 3
    ASSUMED = 4
    BOUND = 5
    SUCCEEDED = 6


_NO_LINEAGE: Mapping[str, str] = {}
_TO_AGREE = frozenset({MemberState.PENDING, MemberState.GATED, MemberState.ASSUMED, MemberState.BOUND})


class TreeOfGroups(Protocol):
    """What a group knows of the tree it belongs to."""

    key: EntityKey
    is_stale: bool
    """Its groups have changed since it was looked at."""


class PodGroupState:
    """The pods that name one group, or one lone pod (`is_lone`)."""

    __slots__ = (
        "_by_state",
        "_oldest_seconds",
        "group",
        "is_assumed",
        "is_lone",
        "key",
        "lineage",
        "pending",
        "problem",
        "profiles",
        "tree",
    )

    def __init__(self, key: EntityKey, is_assumed: Callable[[str], bool]) -> None:
        self.key = key
        self.is_lone = key.kind == "pod"
        self.group: GroupRecord | None = None
        self.lineage: Mapping[str, str] = _NO_LINEAGE
        """UID of a controller -> UID of the pod that controls it in turn."""
        self.pending: dict[PodSignature, PendingPods] = {}
        """The pods to be placed, by signature."""
        self.profiles: Counter[AgreedFields] = Counter()
        """How many living members have which profile; a sound group has one."""
        self.problem = ""
        """Why none of them can be placed, whatever the nodes have; empty when that is not so."""
        self.is_assumed = is_assumed
        self.tree: TreeOfGroups | None = None
        """The tree of groups it belongs to, which is scheduled in its place."""
        self._by_state: dict[MemberState, dict[str, PodRecord]] = {}
        self._oldest_seconds: float | None = None
        """When the oldest pending pod was created, once somebody has asked and as long as it holds."""

    @property
    def min_count(self) -> int:
        """Members that must start together."""
        return self.group.min_count if self.group else 1

    @property
    def priority(self) -> int:
        """The group's; where it states none, the lowest of its living members', which decides whether all can start (KEP-4671)."""
        if self.group is not None and self.group.priority is not None:
            return self.group.priority
        return min((profile.priority for profile in self.profiles), default=0)

    @property
    def may_preempt(self) -> bool:
        """Whether its preemptionPolicy allows it; that of the group counts before that of its pods."""
        if self.group is not None and self.group.preemption_policy is not None:
            return self.group.preemption_policy != POLICY_NEVER
        return not any(profile.preemption_policy == POLICY_NEVER for profile in self.profiles)

    @property
    def waits_since_seconds(self) -> float:
        """What its age counts from in the queue (seconds since 1970).

        A group keeps its age until it has its minimum. What waits of one that runs counts from its own creation, or a group that
        lives long and keeps adding pods would come before everybody else for ever.
        """
        if self.group is None:
            return min((pod.created_seconds for pod in self.pods()), default=0.0)
        if self.scheduled_count < self.min_count or not self.pending_count:
            return self.group.created_seconds
        return max(self.group.created_seconds, self._oldest_pending_seconds())

    def counts(self) -> MemberCounts:
        """Members by state."""
        return MemberCounts(
            pending=self.count(MemberState.PENDING),
            gated=self.count(MemberState.GATED),
            assumed=self.count(MemberState.ASSUMED),
            bound=self.count(MemberState.BOUND),
            succeeded=self.count(MemberState.SUCCEEDED),
            barred=self.count(MemberState.BARRED),
            min_count=self.min_count,
        )

    def count(self, state: MemberState) -> int:
        """How many pods stand like that."""
        pods = self._by_state.get(state)
        return len(pods) if pods else 0

    @property
    def pending_count(self) -> int:
        """Members to be placed now."""
        return self.count(MemberState.PENDING)

    @property
    def scheduled_count(self) -> int:
        """Members that have their place."""
        return self.count(MemberState.ASSUMED) + self.count(MemberState.BOUND) + self.count(MemberState.SUCCEEDED)

    @property
    def is_empty(self) -> bool:
        """True when no pod names it."""
        return not self._by_state

    def by_state(self) -> ItemsView[MemberState, Mapping[str, PodRecord]]:
        """The pods by UID, for each state in which there are some."""
        return self._by_state.items()

    def pods(self, *states: MemberState) -> Iterator[PodRecord]:
        """The pods that stand like that; all of them when nothing is said."""
        for state in states or tuple(self._by_state):
            yield from self._by_state.get(state, {}).values()

    def put(self, pod: PodRecord) -> None:
        """Takes in a pod, or its newer record, or notices that it has been assumed or forgotten."""
        self.drop(pod.uid)
        self.enter(pod)

    def enter(self, pod: PodRecord) -> None:
        """Takes in a pod that is not known."""
        if self.tree is not None:
            self.tree.is_stale = True
        state = self._judge(pod)
        pods = self._by_state.get(state)
        if pods is None:
            self._by_state[state] = {pod.uid: pod}
        else:
            pods[pod.uid] = pod
        if state in _TO_AGREE:
            self.profiles[pod.profile] += 1
        if state is MemberState.PENDING and self._oldest_seconds is not None:
            self._oldest_seconds = min(self._oldest_seconds, pod.created_seconds)
        if state is MemberState.PENDING and pod.signature is not None:
            waiting = self.pending.get(pod.signature)
            if waiting is None:
                waiting = self.pending[pod.signature] = PendingPods()
            waiting.add(pod)

    def is_pending_like(self, pod: PodRecord, other: PodRecord) -> bool:
        """Whether a pod wants a place in the same turn by either record."""
        states = {self._judge(pod), self._judge(other)}
        return states == {MemberState.PENDING} and rank_of(pod) == rank_of(other)

    def refresh(self, pod: PodRecord) -> None:
        """Exchanges the record of a known pod for one that decides alike."""
        if self.tree is not None:
            self.tree.is_stale = True
        for pods in self._by_state.values():
            if pod.uid in pods:
                pods[pod.uid] = pod

    def drop(self, uid: str) -> None:
        """Forgets a pod, if known."""
        if self.tree is not None:
            self.tree.is_stale = True
        for state, pods in self._by_state.items():  # noqa: B007 (both are used below)
            if uid in pods:
                break
        else:
            return
        pod = pods.pop(uid)
        if not pods:
            del self._by_state[state]
        if state in _TO_AGREE:
            self.profiles[pod.profile] -= 1
            if not self.profiles[pod.profile]:
                del self.profiles[pod.profile]
        if state is MemberState.PENDING and pod.created_seconds == self._oldest_seconds:
            self._oldest_seconds = None
        if state is MemberState.PENDING and pod.signature is not None:
            waiting = self.pending[pod.signature]
            waiting.remove(pod)
            if not waiting:
                del self.pending[pod.signature]

    def take_over(self, members: "PodGroupState") -> None:
        """Makes these the same members as those, to be changed on their own; for a new one."""
        self.lineage = members.lineage
        self.group = members.group
        for pod in members.pods():
            self.put(pod)

    def set_group(self, group: GroupRecord | None, key: EntityKey) -> None:
        """Another PodGroup, or none, stands behind the name: every pod that names it is judged anew."""
        self.group, self.key = group, key
        for pod in list(self.pods()):
            self.put(pod)

    def _oldest_pending_seconds(self) -> float:
        if self._oldest_seconds is None:
            self._oldest_seconds = min((pod.created_seconds for pod in self.pods(MemberState.PENDING)), default=0.0)
        return self._oldest_seconds

    def _judge(self, pod: PodRecord) -> MemberState:
        if pod.phase is Phase.FAILED:
            return MemberState.OUT
        if self.group and self.group.takes_only_owner and not is_of(pod, self.group.takes_only_owner, self.lineage):
            return MemberState.OUT if pod.is_terminal or pod.terminating else MemberState.BARRED
        if pod.phase is Phase.SUCCEEDED:
            return MemberState.SUCCEEDED
        if pod.terminating:
            return MemberState.OUT
        if pod.is_bound:
            return MemberState.BOUND
        if self.is_assumed(pod.uid):
            return MemberState.ASSUMED
        return MemberState.GATED if pod.gated else MemberState.PENDING


def is_of(pod: PodRecord, owner_uid: str, lineage: Mapping[str, str]) -> bool:
    """Whether a pod belongs to an owner: it is the owner, or the owner controls it, or controls its controller."""
    if owner_uid in (pod.owner.uid, pod.uid) or lineage.get(pod.owner.uid) == owner_uid:
        return True
    return is_child_pod_of(pod.labels, pod.owner.kind, owner_uid)
