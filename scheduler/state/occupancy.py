"""Who takes room on which node: every pod that is bound or assumed there, known node or not.

Pods on a node that is not known (not yet, or not any more) wait here and are counted when a node of that name appears.
"""

from typing import Final

from scheduler.state.demand import Demand
from scheduler.state.nodes import NodeFacts, NodeTable
from scheduler.state.ports import PortTable


class Occupancy:
    """Keeps the node table and the port table in step with who is where."""

    def __init__(self, nodes: NodeTable, ports: PortTable) -> None:
        self._nodes: Final = nodes
        self._ports: Final = ports
        self._on_node: dict[str, dict[str, Demand]] = {}

    def enter(self, node: str, uid: str, demand: Demand) -> None:
        """A pod takes its room."""
        self._on_node.setdefault(node, {})[uid] = demand
        self._ports.take(node, demand.ports)
        slot = self._nodes.slot_of.get(node)
        if slot is not None:
            self._nodes.take(slot, demand)

    def leave(self, node: str, uid: str) -> None:
        """A pod gives back what it took."""
        pods = self._on_node[node]
        demand = pods.pop(uid)
        if not pods:
            del self._on_node[node]
        self._ports.give_back(node, demand.ports)
        slot = self._nodes.slot_of.get(node)
        if slot is not None:
            self._nodes.give_back(slot, demand)

    def add_node(self, facts: NodeFacts) -> int:
        """A node appeared; those who are on it already are counted. Returns its slot."""
        slot, new_resources = self._nodes.add(facts)
        for demand in self._on_node.get(facts.name, {}).values():
            self._nodes.take(slot, demand)
        self._count_new(new_resources, but=facts.name)
        return slot

    def update_node(self, slot: int, facts: NodeFacts) -> None:
        """A known node says something new."""
        self._count_new(self._nodes.update(slot, facts))

    def _count_new(self, resources: tuple[str, ...], but: str = "") -> None:
        if not resources:
            return
        for node, pods in self._on_node.items():
            slot = self._nodes.slot_of.get(node)
            if slot is None or node == but:
                continue
            for demand in pods.values():
                for resource in resources:
                    self._nodes.count(slot, resource, demand.amounts.get(resource, 0))
