"""The cluster as the scheduler sees it: events in, what they may wake out.

Invariants, each checked against a slow recount in the tests: every non-terminal pod on a known node counts against it,
whoever bound it, and so does every assumed pod; pods on unknown nodes are remembered and counted when the node appears; an
assumption ends only by the watch showing the pod bound or gone, or by `forget`. No method raises for what a user wrote.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, TypeVar, cast

from api.errors import TuttiError
from api.node import Node
from api.pod import Pod, PodSpec
from api.podgroup import PodGroup
from api.priorityclass import PriorityClass
from scheduler.cache.announced_claims import AnnouncedClaims
from scheduler.cache.assigned_pods import AssignedPods
from scheduler.cache.assumed_pods import AssumedPods
from scheduler.cache.comparer import Drift, compare
from scheduler.cache.composites import CompositePodGroups
from scheduler.cache.default_topology_spread import DefaultSpreads
from scheduler.cache.demand import Demand, PortTable
from scheduler.cache.devices.state import DeviceState
from scheduler.cache.disruption_budgets import Budgets
from scheduler.cache.entities import Entities, ForeignGroups
from scheduler.cache.groups_with_spare_nodes import GroupsWithSpareNodes
from scheduler.cache.losses import Losses, loses_place
from scheduler.cache.nodes import NodeTable, facts_of
from scheduler.cache.nominator import ForeignNominations, Nominator
from scheduler.cache.occupancy import Occupancy
from scheduler.cache.pod_group_state import MemberState, PodGroupState
from scheduler.cache.pod_group_tree import queued_item
from scheduler.cache.pod_groups import PodGroups
from scheduler.cache.pod_scheduling_properties import decides_nothing
from scheduler.cache.pod_signature import PodSignature, Texts
from scheduler.cache.priority_classes import PriorityClasses
from scheduler.cache.record_factory import RecordFactory
from scheduler.cache.records import NO_CHANGE, Assumption, EntityKey, GroupRecord, PodRecord, StateChange
from scheduler.cache.reservations import FuturePodReservations, Reservations
from scheduler.cache.scoring import Scoring
from scheduler.cache.storage import Storage
from scheduler.cache.topology_index import TopologyIndex
from scheduler.cache.waiting_pods import WaitingPods


class UnknownPod(TuttiError):
    """A pod was to be assumed that is not known, or is bound already."""


Derived = TypeVar("Derived")


class ClusterState:
    """All records, the node table and the assumptions; one writer, no locks."""

    def __init__(
        self,
        scheduler_names: frozenset[str],
        scorings: Mapping[str, Scoring] = MappingProxyType({}),
        most_members: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        """By scheduler name: how nodes are scored, where not as usual, and how large groups may be, where that is limited."""
        self.most_members: Final = most_members
        self.scheduler_names: Final = scheduler_names
        self.nodes: Final = NodeTable()
        self.ports: Final = PortTable()
        self.classes: Final = PriorityClasses()
        self.assigned_pods: Final = AssignedPods(self.nodes, self.classes)
        self.nominator: Final = Nominator()
        self.future_reservations: Final = FuturePodReservations()
        self.reservations: Final = Reservations(beside=self.future_reservations)
        self.losses: Final = Losses()
        self.with_spare_nodes: Final = GroupsWithSpareNodes()
        self.budgets: Final = Budgets()
        self.foreign_groups: Final = ForeignGroups()
        self._foreign_nominations = ForeignNominations(self.nominator, scheduler_names)
        self._records: Final = RecordFactory(scheduler_names, scorings)
        self._pods: Final[dict[str, PodRecord]] = {}
        self._derived: dict[Callable[[ClusterState], object], object] = {}
        pods_on: dict[str, dict[str, PodRecord]] = {}
        self.topology_index: Final = TopologyIndex(self.nodes, pods_on)
        self.default_spreads: Final = DefaultSpreads()
        self.storage: Final = Storage(self.nodes)
        self.devices: Final = DeviceState(self.nodes)
        announced_claims = AnnouncedClaims(self.devices)
        self.assumed_pods: Final = AssumedPods(self._pods, self.node_uid)
        self._assumed: Final = self.assumed_pods.by_uid
        self.entities: Final = Entities(scheduler_names, self._assumed.__contains__)
        self._occupancy: Final = Occupancy(
            self.nodes,
            self.ports,
            self.assigned_pods,
            self.topology_index,
            self.storage,
            pods_on,
            self._assumed,
            self.entities.leaves_with,
        )
        self.waiting_pods: Final = WaitingPods(self._pods, self.entities, self.storage, self.devices, announced_claims)
        self.composites: Final = CompositePodGroups(self._records, self.entities, self._occupancy.regroup)
        self._groups: Final = PodGroups(
            self.entities,
            self.composites,
            self._occupancy.regroup,
            self.losses,
            self.with_spare_nodes,
            announced_claims,
        )

    # --- records -----------------------------------------------------------------------------------------------------

    def slim_pod(self, pod: Pod) -> PodRecord:
        """The record of a pod, to be kept instead of it."""
        return self._records.pod(pod)

    def slim_node(self, node: Node) -> Node:
        """What to keep of a node."""
        return self._records.node(node)

    def slim_group(self, group: PodGroup) -> GroupRecord:
        """The record of a PodGroup."""
        return self._records.group(group)

    # --- nodes -------------------------------------------------------------------------------------------------------

    def upsert_node(self, node: Node) -> StateChange:
        """A node came, or says something new; a heartbeat changes nothing."""
        facts = facts_of(node)
        slot = self.nodes.slot_of.get(facts.name)
        if slot is not None:
            known = self.nodes.facts[slot]
            if known is not None and known.uid == facts.uid:
                self.nodes.images.set(slot, node.status.images)
            if known == facts:
                return NO_CHANGE
            if known is not None and known.uid == facts.uid:
                self._occupancy.update_node(slot, facts)
                return StateChange(freed=(slot,))
            self._occupancy.remove_node(facts.name)
        slot = self._occupancy.add_node(facts)
        self.nodes.images.set(slot, node.status.images)
        return StateChange(freed=(slot,))

    def remove_node(self, name: str, uid: str = "") -> StateChange:
        """A node went; its pods stay known until their own events. Another UID than the known one is ignored."""
        if self.node_uid(name) is not None and uid in {"", self.node_uid(name)}:
            self._occupancy.remove_node(name)
        return NO_CHANGE

    def node_uid(self, name: str) -> str | None:
        """The UID of a known node."""
        slot = self.nodes.slot_of.get(name)
        facts = self.nodes.facts[slot] if slot is not None else None
        return facts.uid if facts else None

    @property
    def nodes_total(self) -> int:
        """Known nodes."""
        return len(self.nodes)

    # --- namespaces --------------------------------------------------------------------------------------------------

    def upsert_namespace(self, name: str, labels: Mapping[str, str] | None) -> StateChange:
        """A namespace came or has other labels now: rules about other pods may choose namespaces by label."""
        return self._room_anywhere() if self.topology_index.set_namespace(name, labels) else NO_CHANGE

    def remove_namespace(self, name: str) -> StateChange:
        """A namespace went."""
        return self._room_anywhere() if self.topology_index.set_namespace(name, None) else NO_CHANGE

    # --- groups ------------------------------------------------------------------------------------------------------

    def upsert_group(self, group: PodGroup | GroupRecord) -> StateChange:
        """A PodGroup came, or says something new."""
        return self._groups.upsert(group if isinstance(group, GroupRecord) else self.slim_group(group))

    def remove_group(self, namespace: str, name: str, uid: str) -> StateChange:
        """A PodGroup went; its unbound pods are held until one of that name exists again."""
        return self._groups.remove(namespace, name, uid)

    def set_priority_class(self, found: PriorityClass) -> tuple[EntityKey, ...]:
        """A PriorityClass came: as victims, the groups that name it have another priority now. Those groups."""
        return self._class_counts(found.metadata.name) if self.classes.put(found) else ()

    def remove_priority_class(self, gone: PriorityClass) -> tuple[EntityKey, ...]:
        """A PriorityClass went; as `set_priority_class`."""
        return self._class_counts(gone.metadata.name) if self.classes.drop(gone) else ()

    def _class_counts(self, name: str) -> tuple[EntityKey, ...]:
        named = self.entities.of_class(name)
        for members in named:
            self._occupancy.regroup(members)
        return tuple(members.key for members in named)

    def group(self, key: EntityKey) -> GroupRecord | None:
        """The PodGroup behind an item."""
        members = self.entities.get(key)
        return members.group if members else None

    # --- pods --------------------------------------------------------------------------------------------------------

    def upsert_pod(self, pod: Pod | PodRecord) -> StateChange:
        """A pod came, or says something new. A pod replaced by one of the same name must have been removed before."""
        record = pod if isinstance(pod, PodRecord) else self.slim_pod(pod)
        old = self._pods.get(record.uid)
        unheld = self._slots(self._foreign_nominations.moved(old, record))
        members = self.entities.of_pod(record)
        if old is not None and decides_nothing(old, record, members, self.topology_index):
            self._pods[record.uid] = record
            if members is not None:
                members.refresh(record)
            self._occupancy.refresh(record)
            return StateChange(freed=unheld) if unheld else NO_CHANGE
        assumption = self._assumed.get(record.uid)
        left, is_missed = self._occupancy.leave(old) if old else ("", False)
        if record.is_bound or record.is_terminal:
            self._assumed.pop(record.uid, None)
            self.nominator.delete_pod(record.uid)
        self._pods[record.uid] = record
        self.foreign_groups.moved(old, record)
        entered, is_noticed = self._occupancy.enter(record)
        keeps_room = not left or (left == entered and old is not None and old.demand is record.demand)
        freed = () if keeps_room and not is_missed else self._slots(left)
        if is_noticed:
            freed += self._slots(entered)
        gone = self.entities.leave(old, record) if old else ()
        item = self.entities.enter(record)
        is_new_bind = record.is_bound and (old is None or not old.is_bound) and not record.is_terminal
        is_confirmed = is_new_bind and assumption is not None and assumption.node_name == record.node_name
        keys = (item,) if item else ()
        if is_new_bind and item is not None and assumption is None:
            self.future_reservations.taken(item, record.node_name, record.demand)
        if old is not None:
            self._note_loss(old, record)
        sharers = self.waiting_pods.note_volumes(old, record) if record.volumes is not None else ()
        if record.claims is not None or record.demand.extended is not None:
            self.waiting_pods.note_claims(old, record)
        return StateChange(
            items=sharers if is_confirmed else (*keys, *sharers),
            gone=gone,
            freed=freed + unheld,
            bound=(keys or gone) if is_new_bind else (),
        )

    def take_in_pods(self, pods: Iterable[Pod]) -> None:
        """Many new pods come at once, and nobody is to hear of it: as `upsert_pod` of one after the other, in half the time."""
        is_unexpected = not (self._assumed or len(self.nominator) or len(self.future_reservations))
        with self.many_pods():
            for record in map(self._records.pod, pods):
                if is_unexpected and record.uid not in self._pods and record.only_takes_room:
                    self._pods[record.uid] = record
                    self._occupancy.enter_bound(record)
                    self.entities.enter(record)
                else:
                    self.upsert_pod(record)

    @contextlib.contextmanager
    def many_pods(self) -> Iterator[None]:
        """While this lasts new pods come, one after the other, and nothing is asked: what they take is counted at its end."""
        self.topology_index.put_off()
        with self.nodes.many_taken(), self.assigned_pods.many_enter():
            yield

    def remove_pod(self, namespace: str, name: str, uid: str) -> StateChange:  # noqa: ARG002 - identity is the UID
        """A pod went, with its assumption if it had one."""
        old = self._pods.get(uid)
        if old is None:
            return NO_CHANGE
        self.foreign_groups.moved(old, None)
        freed = self._slots(self._occupancy.leave(old)[0]) + self._slots(self._foreign_nominations.moved(old, None))
        self._assumed.pop(uid, None)
        self.nominator.delete_pod(uid)
        del self._pods[uid]
        gone = self.entities.leave(old, None)
        members = self.entities.of_pod(old)
        items: tuple[EntityKey, ...] = (members.key,) if members and not gone else ()
        self._note_loss(old, None)
        if old.volumes is not None:
            items += self.waiting_pods.note_volumes(old, None)
        self.waiting_pods.note_claims(old, None)
        return StateChange(items=items, gone=gone, freed=freed)

    def pod(self, uid: str) -> PodRecord | None:
        """A known pod."""
        return self._pods.get(uid)

    @property
    def pods_total(self) -> int:
        """Known pods."""
        return len(self._pods)

    @property
    def pods(self) -> Mapping[str, PodRecord]:
        """All known pods by UID."""
        return self._pods

    def demand_of(self, spec: PodSpec) -> Demand:
        """What a pod with this spec takes of a node; pods that are known and say the same share it."""
        return self._records.demand(spec)

    def signature_of(self, pod: PodRecord) -> PodSignature | None:
        """What a replacement of a member that has, or had, its node would have; None when it is none."""
        return self._records.signature_of(pod)

    def texts(self) -> Texts:
        """What the API server's bytes say of everything that records have in common."""
        return self._records.texts()

    # --- controllers of pods -----------------------------------------------------------------------------------------

    def set_controller(self, uid: str, pod_uid: str) -> StateChange:
        """A controller of pods is controlled by a pod in turn: its pods may belong to that pod's group; "" for no longer."""
        leader = self.entities.set_lineage(uid, pod_uid)
        members = self._led_by(leader, is_search_worth_it=not pod_uid) if leader else None
        if members is None or (pod_uid and not members.count(MemberState.BARRED)):
            return NO_CHANGE
        members.set_group(members.group, members.key)
        self._occupancy.regroup(members)
        return StateChange(items=(members.key,))

    def _led_by(self, pod_uid: str, *, is_search_worth_it: bool) -> PodGroupState | None:
        """The item of a pod's own group; of a pod that is not known it has to be searched among all groups."""
        leader = self._pods.get(pod_uid)
        members = self.entities.of_pod(leader) if leader is not None else None
        if leader is None and is_search_worth_it:
            members = self.entities.of_owner(pod_uid)
        return None if members is None or members.is_lone or members.is_empty else members

    # --- assumptions -------------------------------------------------------------------------------------------------

    def assume(self, pod_uid: str, node_name: str, deadline_seconds: float) -> StateChange:
        """Counts a pod on the node it is about to be bound to.

        Raises:
            UnknownPod: the pod is not known or has a node already.
        """
        record = self._pods.get(pod_uid)
        if record is None or record.is_bound or record.is_terminal:
            raise UnknownPod(f"pod {pod_uid} is not known as an unbound pod")
        self._occupancy.leave(record)
        self._assumed[pod_uid] = Assumption(node_name, self.node_uid(node_name) or "", deadline_seconds)
        self.nominator.delete_pod(pod_uid, has_place=True)
        _, is_noticed = self._occupancy.enter(record)
        members = self.entities.reconsider(record)
        if members is not None:
            self.future_reservations.taken(members.key, node_name, record.demand)
        return StateChange(freed=self._slots(node_name)) if is_noticed else NO_CHANGE

    def forget(self, pod_uid: str) -> StateChange:
        """Undoes `assume`: the bind is known not to have happened."""
        record = self._pods.get(pod_uid)
        if record is None or pod_uid not in self._assumed:
            return NO_CHANGE
        freed = self._slots(self._occupancy.leave(record)[0])
        del self._assumed[pod_uid]
        members = self.entities.reconsider(record)
        return StateChange(items=(members.key,) if members else (), freed=freed)

    @property
    def assumptions(self) -> Mapping[str, Assumption]:
        """All assumptions by UID of the pod."""
        return self._assumed

    def assumption(self, pod_uid: str) -> Assumption | None:
        """The assumption of a pod."""
        return self._assumed.get(pod_uid)

    # --- items -------------------------------------------------------------------------------------------------------

    def item(self, key: EntityKey) -> PodGroupState | None:
        """The members behind a key, None when the key is no item (any more)."""
        return self.entities.get(key)

    def item_of(self, pod_uid: str) -> EntityKey | None:
        """The item a pod belongs to; None for unknown, foreign and bound lone pods."""
        record = self._pods.get(pod_uid)
        members = self.entities.of_pod(record) if record else None
        return members.key if members else None

    def queued_item_of(self, pod_uid: str) -> EntityKey | None:
        """The item that is scheduled for a pod: the one it belongs to, or the tree of that."""
        record = self._pods.get(pod_uid)
        members = self.entities.of_pod(record) if record else None
        return queued_item(members) if members is not None else None

    def nodes_in_use(self, members: PodGroupState) -> list[str]:
        """Names of the nodes that members are bound to or assumed on."""
        return [node for _, node in self.placed_members(members)]

    def placed_members(self, members: PodGroupState) -> list[tuple[PodRecord, str]]:
        """Members that are bound or assumed, and the names of their nodes."""
        placed = members.pods(MemberState.ASSUMED, MemberState.BOUND)
        return [(pod, node) for pod in placed if (node := self._occupancy.node_of(pod))]

    def recount(self, pods: Iterable[PodRecord]) -> Drift:
        """Compares what is kept here with a fresh list of all pods."""
        return compare(self.nodes, self._pods, self._assumed, pods)

    # --- what layers above keep ---------------------------------------------------------------------------------------

    def derived(self, make: Callable[["ClusterState"], Derived]) -> Derived:
        """What `make` makes of this cluster, made at the first call and kept as long as the cluster is.

        For tables of layers above that follow the change logs of the node table. The same function gets the same table.
        """
        found = self._derived.get(make)
        if found is None:
            found = self._derived[make] = make(self)
        return cast("Derived", found)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _room_anywhere(self) -> StateChange:
        return StateChange(freed=tuple(self.nodes.live_slots().tolist()))

    def _slots(self, node: str) -> tuple[int, ...]:
        slot = self.nodes.slot_of.get(node)
        return () if slot is None else (slot,)

    def _note_loss(self, old: PodRecord, new: PodRecord | None) -> None:
        group = self.entities.group_of(old) if loses_place(old, new) else None
        if group is not None and group.is_gang:
            self.losses.lost(group.item, old)
