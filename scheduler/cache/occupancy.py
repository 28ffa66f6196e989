"""Who takes room on which node: every pod that is bound or assumed there, known node or not.

Pods on a node that is not known (not yet, or not any more) are kept here and are counted when a node of that name appears.
"""

from collections.abc import Callable, Mapping
from typing import Final

from scheduler.cache.assigned_pods import AssignedPods
from scheduler.cache.demand import PortTable
from scheduler.cache.nodes import NodeFacts, NodeTable
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.records import Assumption, GroupRecord, PodRecord
from scheduler.cache.storage import Storage
from scheduler.cache.topology_index import TopologyIndex


class Occupancy:
    """Keeps the tables by node in step with where pods are.

    Args:
        nodes: free amounts.
        ports: host ports that are taken.
        assigned_pods: the bound pods.
        topology_index: pods as rules about other pods see them.
        storage: claims in use.
        pods_on: the pods that take room, by node name and UID; shared with `topology_index`, changed here only.
        assumed: by UID the pods that we decided to bind and that are not known to be bound.
        group_of: the group that a pod leaves with.
    """

    def __init__(
        self,
        nodes: NodeTable,
        ports: PortTable,
        assigned_pods: AssignedPods,
        topology_index: TopologyIndex,
        storage: Storage,
        pods_on: dict[str, dict[str, PodRecord]],
        assumed: Mapping[str, Assumption],
        group_of: Callable[[PodRecord], GroupRecord | None],
    ) -> None:
        self._assumed: Final = assumed
        self._nodes: Final = nodes
        self._ports: Final = ports
        self._assigned_pods: Final = assigned_pods
        self._topology_index: Final = topology_index
        self._storage: Final = storage
        self._pods_on: Final = pods_on
        self._group_of: Final = group_of

    def node_of(self, pod: PodRecord) -> str:
        """The name of the node on which a pod takes room, empty when it takes none."""
        if pod.is_terminal:
            return ""
        assumption = self._assumed.get(pod.uid)
        return pod.node_name or (assumption.node_name if assumption else "")

    def enter(self, pod: PodRecord) -> tuple[str, bool]:
        """A pod takes its room, if it has a node; that node, and whether somebody may have waited for it to be there."""
        node = self.node_of(pod)
        if not node:
            return "", False
        self._ports.take(node, pod.demand.ports)
        slot = self._nodes.slot_of.get(node)
        if pod.volumes is not None:
            self._storage.enter(node, pod)
        is_waited_for = slot is not None and self._topology_index.enter(slot, pod)
        self._pods_on.setdefault(node, {})[pod.uid] = pod
        if slot is not None:
            self._nodes.take(slot, pod.demand)
        if pod.is_bound:
            self._assigned_pods.enter(pod, self._group_of(pod))
        return node, is_waited_for

    def enter_bound(self, pod: PodRecord) -> None:
        """As `enter` of a pod that is bound and takes amounts only: no ports and no volumes. For many that come at once."""
        node = pod.node_name
        slot = self._nodes.slot_of.get(node)
        if slot is not None:
            self._topology_index.enter(slot, pod)
            self._nodes.take(slot, pod.demand)
        pods = self._pods_on.get(node)
        if pods is None:
            pods = self._pods_on[node] = {}
        pods[pod.uid] = pod
        self._assigned_pods.enter(pod, self._group_of(pod))

    def leave(self, pod: PodRecord) -> tuple[str, bool]:
        """A pod gives back what it took; its node, and whether its absence may matter by more than its room."""
        node = self.node_of(pod)
        if not node:
            return "", False
        pods = self._pods_on[node]
        del pods[pod.uid]
        if not pods:
            del self._pods_on[node]
        self._ports.give_back(node, pod.demand.ports)
        if pod.volumes is not None:
            self._storage.leave(node, pod)
        self._assigned_pods.leave(pod.uid)
        slot = self._nodes.slot_of.get(node)
        if slot is None:
            return node, False
        self._nodes.give_back(slot, pod.demand)
        return node, self._topology_index.leave(slot, pod)

    def refresh(self, pod: PodRecord) -> None:
        """Exchanges the record of a pod for one that decides alike."""
        node = self.node_of(pod)
        if node:
            self._pods_on[node][pod.uid] = pod

    def regroup(self, members: PodGroupState) -> None:
        """A group has changed: notes anew with whom its pods would leave their nodes."""
        for pod in members.pods():
            self._assigned_pods.regroup((pod,), self._group_of(pod))

    def add_node(self, facts: NodeFacts) -> int:
        """A node appeared; those who are on it already are counted. Returns its slot."""
        pods = self._pods_on.pop(facts.name, {})
        slot, new_resources = self._nodes.add(facts)
        for pod in pods.values():
            self._nodes.take(slot, pod.demand)
            self._topology_index.enter(slot, pod)
            self._pods_on.setdefault(facts.name, {})[pod.uid] = pod
        self._count_new(new_resources, but=facts.name)
        return slot

    def update_node(self, slot: int, facts: NodeFacts) -> None:
        """A known node says something new."""
        self._count_new(self._nodes.update(slot, facts))

    def remove_node(self, name: str) -> None:
        """A node went; those who are on it wait for one of that name."""
        slot = self._nodes.slot_of[name]
        for pod in self._pods_on.get(name, {}).values():
            self._topology_index.leave(slot, pod)
        self._nodes.remove(name)

    def _count_new(self, resources: tuple[str, ...], but: str = "") -> None:
        if not resources:
            return
        for node, pods in self._pods_on.items():
            slot = self._nodes.slot_of.get(node)
            if slot is None or node == but:
                continue
            for pod in pods.values():
                for resource in resources:
                    self._nodes.count(slot, resource, pod.demand.amounts.get(resource, 0))
