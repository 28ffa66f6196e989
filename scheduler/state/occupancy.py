"""Who takes room on which node: every pod that is bound or assumed there, known node or not.

Pods on a node that is not known (not yet, or not any more) wait here and are counted when a node of that name appears.
"""

from typing import Final

from scheduler.state.demand import PortTable
from scheduler.state.nodes import NodeFacts, NodeTable
from scheduler.state.records import PodRecord
from scheduler.state.topology_index import Neighbours
from scheduler.state.volumes import Storage


class Occupancy:
    """Keeps the node table, the port table and the neighbours in step with who is where."""

    def __init__(
        self,
        nodes: NodeTable,
        ports: PortTable,
        neighbours: Neighbours,
        storage: Storage,
        tenants: dict[str, dict[str, PodRecord]],
    ) -> None:
        self._nodes: Final = nodes
        self._ports: Final = ports
        self._neighbours: Final = neighbours
        self._storage: Final = storage
        self._tenants: Final = tenants

    def enter(self, node: str, pod: PodRecord) -> bool:
        """A pod takes its room; True when somebody may have waited for it to be there."""
        self._ports.take(node, pod.demand.ports)
        slot = self._nodes.slot_of.get(node)
        if pod.volumes is not None:
            self._storage.enter(node, pod)
        is_asked_for = slot is not None and self._neighbours.enter(slot, pod)
        self._tenants.setdefault(node, {})[pod.uid] = pod
        if slot is not None:
            self._nodes.take(slot, pod.demand)
        return is_asked_for

    def leave(self, node: str, pod: PodRecord) -> bool:
        """A pod gives back what it took; True when its absence may matter by more than its room."""
        pods = self._tenants[node]
        del pods[pod.uid]
        if not pods:
            del self._tenants[node]
        self._ports.give_back(node, pod.demand.ports)
        if pod.volumes is not None:
            self._storage.leave(node, pod)
        slot = self._nodes.slot_of.get(node)
        if slot is None:
            return False
        self._nodes.give_back(slot, pod.demand)
        return self._neighbours.leave(slot, pod)

    def refresh(self, node: str, pod: PodRecord) -> None:
        """Exchanges the record of a pod for one that decides alike."""
        self._tenants[node][pod.uid] = pod

    def add_node(self, facts: NodeFacts) -> int:
        """A node appeared; those who are on it already are counted. Returns its slot."""
        pods = self._tenants.pop(facts.name, {})
        slot, new_resources = self._nodes.add(facts)
        for pod in pods.values():
            self._nodes.take(slot, pod.demand)
            self._neighbours.enter(slot, pod)
            self._tenants.setdefault(facts.name, {})[pod.uid] = pod
        self._count_new(new_resources, but=facts.name)
        return slot

    def update_node(self, slot: int, facts: NodeFacts) -> None:
        """A known node says something new."""
        self._count_new(self._nodes.update(slot, facts))

    def remove_node(self, name: str) -> None:
        """A node went; those who are on it wait for one of that name."""
        slot = self._nodes.slot_of[name]
        for pod in self._tenants.get(name, {}).values():
            self._neighbours.leave(slot, pod)
        self._nodes.remove(name)

    def _count_new(self, resources: tuple[str, ...], but: str = "") -> None:
        if not resources:
            return
        for node, pods in self._tenants.items():
            slot = self._nodes.slot_of.get(node)
            if slot is None or node == but:
                continue
            for pod in pods.values():
                for resource in resources:
                    self._nodes.count(slot, resource, pod.demand.amounts.get(resource, 0))
