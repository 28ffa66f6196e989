"""Slow and obvious counterparts of what the core does in closed form: plain loops over plain numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from scheduler.cache.demand import Demand
from scheduler.cache.nodes import NodeTable
from scheduler.plugins.framework import total_score
from scheduler.plugins.resource_allocation import NodesWithPods, PodLoads

Amounts = dict[str, int]


@dataclass
class Machine:
    """A node as plain numbers."""

    name: str
    free: Amounts
    got: int = 0
    pods: list[str] = field(default_factory=list)

    def fits(self, demand: Mapping[str, int]) -> bool:
        """Whether one more pod fits."""
        return all(self.free.get(name, 0) >= amount for name, amount in demand.items())

    def take(self, demand: Mapping[str, int]) -> None:
        """Puts a pod on the node."""
        for name, amount in demand.items():
            self.free[name] -= amount
        self.got += 1


def machines(table: NodeTable) -> list[Machine]:
    """The nodes of a table, by slot."""
    return [
        Machine(table.names[slot], dict(zip(table.resources, table.free[:, slot].tolist(), strict=True)))
        for slot in table.live_slots().tolist()
    ]


def greedy_feasible(table: NodeTable, demand: Mapping[str, int], count: int) -> bool:
    """Whether so many equal pods fit, put one by one on the first node that takes them."""
    nodes = machines(table)
    for _ in range(count):
        node = next((node for node in nodes if node.fits(demand)), None)
        if node is None:
            return False
        node.take(demand)
    return True


def greedy_spread(table: NodeTable, demand: Demand, count: int) -> dict[str, int]:
    """Pods per node when each pod in turn takes the best node, re-scored for every pod."""
    nodes = machines(table)
    free, scored = table.free.copy(), table.scored.copy()
    for _ in range(count):
        best = None
        for node in nodes:
            if not node.fits(demand.amounts):
                continue
            slot = table.slot_of[node.name]
            after = NodesWithPods(table.allocatable, free, scored, PodLoads.of(demand, 1), np.array([slot]))
            merit = (int(total_score(after)[0, 0]), -node.got, -slot)
            if best is None or merit > best[0]:
                best = (merit, node, slot)
        if best is None:
            break
        _, node, slot = best
        node.take(demand.amounts)
        for name, amount in demand.amounts.items():
            free[table.row_of[name], slot] -= amount
        scored[:, slot] += demand.scored
    return {node.name: node.got for node in nodes if node.got}
