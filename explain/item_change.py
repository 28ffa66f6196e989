"""An item that asks for something else: a view of the cluster in which only that differs, so that it can be decided upon.

Nothing is copied but what differs: the members keep their records, and signatures that ask for the same after the change are one.
Everything else is the cluster's own, so what is decided here is what the scheduler would decide.
"""

import copy
from collections.abc import Callable, Hashable, ItemsView, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
import numpy as np

from explain.device_views import SpecChange, asking_for, devices_of_nobody_but
from scheduler.algorithm.cluster_view import ClusterView
from scheduler.cache.cluster import ClusterState
from scheduler.cache.demand import Demand, PortTable
from scheduler.cache.node_rules import NodeRules
from scheduler.cache.nodes import PODS_ROW, NodeTable
from scheduler.cache.nominator import Nominator
from scheduler.cache.pod_group_state import MemberState, PendingPods, PodGroupState
from scheduler.cache.pod_signature import PodSignature
from scheduler.cache.records import AgreedFields, EntityKey, GroupRecord, PodRecord
from scheduler.cache.reservations import FuturePodReservations, Reservations
from scheduler.cache.selectors import Labels
from scheduler.cache.topology_index import ExistingTerm, TopologyIndex

_PLENTY: Final = 2**30
"""More pods than anybody asks for."""


class Change(msgspec.Struct, frozen=True):
    """What is different; nothing by default.

    Attributes:
        demand: of each pod.
        rules: of each pod.
        group: the PodGroup.
        priority: that of the group and its pods.
        claims: what each claim asks for that was made for one of the pods and has no devices yet.
        ignores_volumes: claims and disks of the pods count as none.
        ignores_devices: resource claims of the pods count as none.
        ignores_terms: rules of other pods about these count as none.
        ignores_held: nominations and reservations count as none.
        ignores_pods: nodes take any number of pods.
        is_alone: nobody else runs, and no room is kept for anybody.
    """

    demand: Callable[[Demand], Demand] | None = None
    rules: Callable[[NodeRules], NodeRules] | None = None
    group: Callable[[GroupRecord], GroupRecord] | None = None
    priority: int | None = None
    claims: SpecChange | None = None
    ignores_volumes: bool = False
    ignores_devices: bool = False
    ignores_terms: bool = False
    ignores_held: bool = False
    ignores_pods: bool = False
    is_alone: bool = False


ItemChange = Callable[[PodGroupState, Sequence[Change]], PodGroupState]
"""The item with these changes."""


def rules_with(rules: NodeRules, **changes: Any) -> NodeRules:
    """The same rules but for some fields, which are named as the arguments of `NodeRules`."""
    fields: dict[str, Any] = {
        "selector": rules.selector,
        "terms": rules.terms,
        "preferred": rules.preferred,
        "tolerations": rules.tolerations,
        "spread_constraints": rules.spread_constraints,
        "affinity_terms": rules.affinity_terms,
        "mounts": rules.mounts,
        "features": rules.features,
        "asks_devices": rules.asks_devices,
        "problem": rules.problem,
    }
    return NodeRules(**{**fields, **changes})


def demand_with(demand: Demand, amounts: Mapping[str, int]) -> Demand:
    """The same demand but for its amounts."""
    extended = demand.extended.with_amounts(demand.amounts, amounts) if demand.extended is not None else None
    return Demand(dict(amounts), demand.ports, demand.problem, extended)


def _without_devices(demand: Demand) -> Demand:
    """The demand as nodes have it that need no device for it."""
    return Demand(demand.amounts, demand.ports, demand.problem)


class ChangedCluster(ClusterView):
    """The cluster with one item changed: whatever is not said here is the cluster's own.

    Args:
        state: the cluster, possibly with pods that are to come.
        key: the item.
        changes: what is different, one after the other.
        changed: makes the item as it is then.
    """

    def __init__(self, state: ClusterState, key: EntityKey, changes: Sequence[Change], changed: ItemChange) -> None:
        super().__init__(state)
        self._key: Final = key
        self._changes: Final = tuple(changes)
        members = state.item(key)
        self._replaced: Final = _replaced(state, members, self._changes)
        self._derived: Final[dict[Callable[..., object], object]] = {}
        self._members: Final = members if members is None else changed(members, self._changes)
        self._forgotten: Final = _forgotten(self._changes)

    def __getattr__(self, name: str) -> Any:
        replaced = self._replaced.get(name)
        return replaced if replaced is not None else getattr(self._state, name)

    def item(self, key: EntityKey) -> PodGroupState | None:
        """The members behind a key."""
        return self._members if key == self._key else self._state.item(key)

    def pod(self, uid: str) -> PodRecord | None:
        """A known pod."""
        found = self._state.pod(uid)
        if found is None or not self._forgotten or found.signature is None:
            return found
        return msgspec.structs.replace(found, **self._forgotten)

    def derived(self, make: Callable[[ClusterState], Any]) -> Any:
        """What `make` makes of this cluster: its own where the nodes are others."""
        if "nodes" not in self._replaced:
            return self._state.derived(make)
        if make not in self._derived:
            self._derived[make] = make(self.view)
        return self._derived[make]


def _forgotten(changes: Sequence[Change]) -> dict[str, None]:
    """Fields of pods' records that count as empty."""
    volumes = any(change.ignores_volumes for change in changes)
    devices = any(change.ignores_devices for change in changes)
    return dict.fromkeys((*(("volumes",) if volumes else ()), *(("claims",) if devices else ())))


def _replaced(state: ClusterState, members: PodGroupState | None, changes: Sequence[Change]) -> dict[str, object]:
    found: dict[str, object] = {}
    is_alone = any(change.is_alone for change in changes)
    if is_alone or any(change.ignores_held for change in changes):
        future = FuturePodReservations()
        found |= {
            "nominator": Nominator(),
            "future_reservations": future,
            "reservations": Reservations(beside=future),
        }
    if is_alone:
        own = list(members.pods(MemberState.BOUND)) if members is not None else []
        nodes = found["nodes"] = _emptied(state.nodes, own)
        found["topology_index"] = _index_of(nodes, own)
        found["ports"] = PortTable()
        if state.devices.claims:
            users = {pod.uid for pod in own} | ({members.group.uid} if members is not None and members.group else set())
            found["devices"] = devices_of_nobody_but(state.devices, users)
        return found
    if any(change.ignores_terms for change in changes):
        found["topology_index"] = _WithoutTerms(state.topology_index)
    asked = [change.claims for change in changes if change.claims is not None]
    if asked and members is not None:
        owners = [uid for waiting in members.pending.values() for uid in waiting.uids]
        found["devices"] = asking_for(state.devices, owners, asked[-1])
    if any(change.ignores_pods for change in changes):
        found["nodes"] = _with_free_pods(state.nodes)
    return found


def _with_free_pods(nodes: NodeTable) -> NodeTable:
    made = copy.copy(nodes)
    made.free = nodes.free.copy()
    made.free[PODS_ROW, nodes.alive] = _PLENTY
    return made


def _emptied(nodes: NodeTable, staying: Sequence[PodRecord]) -> NodeTable:
    made = copy.copy(nodes)
    made.free, made.scored = nodes.offered(slice(None)), np.zeros_like(nodes.scored)
    for pod in staying:
        slot = nodes.slot_of.get(pod.node_name)
        if slot is not None:
            made.free[:, slot] -= nodes.resolve(pod.demand).column
    return made


def _index_of(nodes: NodeTable, pods: Sequence[PodRecord]) -> TopologyIndex:
    pods_on: dict[str, dict[str, PodRecord]] = {}
    index = TopologyIndex(nodes, pods_on)
    for pod in pods:
        slot = nodes.slot_of.get(pod.node_name)
        if slot is not None:
            pods_on.setdefault(pod.node_name, {})[pod.uid] = pod
            index.enter(slot, pod)
    return index


class _WithoutTerms:
    """The pods that run, as if none of them minded who is beside it."""

    def __init__(self, index: Any) -> None:
        self._index: Final = index

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)

    def has_existing_terms(self, _namespace: str) -> bool:
        return False

    def existing_terms_for(self, _namespace: str, _labels: Labels) -> list[ExistingTerm]:
        return []


class ChangedMembers(PodGroupState):
    """The members of an item that ask for something else; not to be changed."""

    __slots__ = ("_members",)

    def __init__(
        self,
        members: PodGroupState,
        changes: Sequence[Change],
        known: dict[Hashable, PodSignature] | None = None,
    ) -> None:
        """`known` has signatures that were made for others with the same changes, and gets those that are made here."""
        super().__init__(members.key, members.is_assumed)
        self._members = members
        self.lineage, self.problem, self.group = members.lineage, members.problem, members.group
        self.profiles = members.profiles
        for change in changes:
            if change.group is not None and self.group is not None:
                self.group = change.group(self.group)
            if change.priority is not None:
                self._raise(change.priority)
        self.pending = _changed_pending(members, changes, {} if known is None else known)

    def _raise(self, priority: int) -> None:
        if self.group is not None and self.group.priority is not None:
            self.group = msgspec.structs.replace(self.group, priority=priority)
        self.profiles = type(self.profiles)()
        for profile, count in self._members.profiles.items():
            raised = AgreedFields(profile.scheduler_name, priority, profile.preemption_policy)
            self.profiles[raised] += count

    def count(self, state: MemberState) -> int:
        """How many pods stand like that."""
        return self._members.count(state)

    def pods(self, *states: MemberState) -> Iterator[PodRecord]:
        """The pods that stand like that; all of them when nothing is said."""
        return self._members.pods(*states)

    def by_state(self) -> ItemsView[MemberState, Mapping[str, PodRecord]]:
        """All pods by how they stand."""
        return self._members.by_state()


class _Together(PendingPods):
    """Pending pods of several signatures that ask for the same now."""

    def __init__(self, parts: Sequence[PendingPods]) -> None:
        super().__init__()
        pairs = [(key, uid) for part in parts for key, uid in zip(part.keys, part.uids, strict=False)]
        rest = [uid for part in parts for uid in part.uids[len(part.keys) :]]
        self._keys = [key for key, _ in sorted(pairs)]
        self._uids = [*(uid for _, uid in sorted(pairs)), *rest]

    def __len__(self) -> int:
        return len(self._uids)


def _changed_pending(
    members: PodGroupState, changes: Sequence[Change], known: dict[Hashable, PodSignature]
) -> dict[PodSignature, PendingPods]:
    parts: dict[PodSignature, list[PendingPods]] = {}
    for signature, waiting in members.pending.items():
        parts.setdefault(_changed(signature, changes, known), []).append(waiting)
    return {signature: waiting[0] if len(waiting) == 1 else _Together(waiting) for signature, waiting in parts.items()}


def _changed(signature: PodSignature, changes: Sequence[Change], known: dict[Hashable, PodSignature]) -> PodSignature:
    demand, rules = signature.demand, signature.rules
    for change in changes:
        demand = change.demand(demand) if change.demand is not None else demand
        rules = change.rules(rules) if change.rules is not None else rules
        if change.ignores_volumes and rules.mounts:
            rules = rules_with(rules, mounts=False)
        if change.ignores_devices and rules.asks_devices:
            rules = rules_with(rules, asks_devices=False)
        if change.ignores_devices and demand.extended is not None:
            demand = _without_devices(demand)
    if demand is signature.demand and rules is signature.rules:
        return signature
    base_key = (_content(demand, rules), id(signature.scoring))
    base = known.get(base_key)
    if base is None:
        base = known[base_key] = PodSignature(demand, rules, scoring=signature.scoring)
    if signature is signature.base:
        return base
    key = (base_key, signature.images)
    found = known.get(key)
    if found is None:
        found = known[key] = PodSignature(base.demand, base.rules, signature.images, base, signature.scoring)
    return found


def _content(demand: Demand, rules: NodeRules) -> Hashable:
    return (
        tuple(sorted(demand.amounts.items())),
        demand.extended,
        demand.ports,
        rules.selector,
        rules.terms,
        rules.preferred,
        rules.tolerations,
        rules.spread_constraints,
        rules.affinity_terms.terms if rules.affinity_terms is not None else (),
        rules.mounts,
        rules.features,
        rules.asks_devices,
        rules.problem,
    )
