"""Per shape: how many of its pods each node can take and how good the node is for the first of them.

These views are what makes a cycle cheap: they are computed once for all nodes and then follow the logs of changed nodes.
"""

from collections import OrderedDict

import numpy as np
from numpy.typing import NDArray

from scheduler.filters.mask import RuleMask
from scheduler.filters.node_ports import ports_taken
from scheduler.filters.resources_fit import slots_for_pods
from scheduler.placement.wishes import ImageWishes, RuleWishes
from scheduler.scores.after import After
from scheduler.scores.total import total_score
from scheduler.state.changes import Slots
from scheduler.state.nodes import NodeTable
from scheduler.state.ports import PortTable
from scheduler.state.rules import NodeRules
from scheduler.state.shapes import Shape

LEAST_FITS = 64
FITS_BYTES = 64 * 1024 * 1024
"""Room for views of shapes; the least recently used go first."""


class Fit:
    """`capacity` and `score` by node slot; `total` is the sum of the capacities."""

    def __init__(self, shape: Shape, mask: RuleMask, wishes: RuleWishes, nodes: NodeTable, ports: PortTable) -> None:
        self.shape = shape
        self.mask = mask
        self.wishes = wishes
        self.capacity: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self.score: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self.total = 0
        self._nodes = nodes
        self._ports = ports
        self._room_position = 0
        self._rule_position = 0

    def catch_up(self) -> None:
        """Looks again at the nodes that changed since the last call."""
        nodes = self._nodes
        room, rules = nodes.room_changes, nodes.rule_changes
        if (self._room_position, self._rule_position) == (room.end, rules.end) and len(self.capacity) == nodes.slots:
            return
        self.mask.catch_up()
        by_room = room.since(self._room_position, limit=nodes.slots // 4)
        by_rules = rules.since(self._rule_position, limit=nodes.slots // 4)
        self._room_position, self._rule_position = room.end, rules.end
        if by_room is None or by_rules is None or len(self.capacity) != nodes.slots:
            used = np.arange(nodes.reach)
            self.capacity = np.zeros(nodes.slots, dtype=np.int64)
            self.score = np.zeros(nodes.slots, dtype=np.int64)
            self.capacity[: nodes.reach] = self._capacity(used, slice(nodes.reach))
            self.score[: nodes.reach] = self._score(slice(nodes.reach))
            self.total = int(self.capacity.sum())
            return
        slots = np.union1d(by_room, by_rules) if len(by_rules) else by_room
        before = int(self.capacity[slots].sum())
        self.capacity[slots] = self._capacity(slots, slots)
        self.score[slots] = self._score(slots)
        self.total += int(self.capacity[slots].sum()) - before

    def _capacity(self, slots: Slots, where: Slots | slice) -> NDArray[np.int64]:
        demand = self._nodes.resolve(self.shape.demand)
        capacity = slots_for_pods(self._nodes.free, demand, where)
        capacity *= self.mask.codes[where] == 0
        ports = self.shape.demand.ports
        if ports:
            capacity = np.minimum(capacity, 1)
            capacity[ports_taken(ports, self._nodes, self._ports, slots)] = 0
        return capacity

    def _score(self, slots: Slots | slice) -> NDArray[np.int64]:
        nodes = self._nodes
        after = After(nodes.allocatable, nodes.free, nodes.scored, self.shape.demand, slots, 1)
        return total_score(after)[:, 0]


class FitCache:
    """The fits of the shapes in use."""

    def __init__(self, nodes: NodeTable, ports: PortTable) -> None:
        self._nodes = nodes
        self._ports = ports
        self._fits: OrderedDict[Shape, Fit] = OrderedDict()
        self._rules: OrderedDict[NodeRules, tuple[RuleMask, RuleWishes]] = OrderedDict()
        self._images = ImageWishes(nodes)

    def of(self, shape: Shape) -> Fit:
        """The current fit of a shape, shared by all shapes of its base."""
        base = shape.base
        fit = self._fits.get(base)
        if fit is None:
            mask, wishes = self._compiled(base.rules)
            fit = self._fits[base] = Fit(base, mask, wishes, self._nodes, self._ports)
            while len(self._fits) > self._limit():
                self._fits.popitem(last=False)
        else:
            self._fits.move_to_end(base)
        fit.catch_up()
        return fit

    def wishes(self, shape: Shape, capacity: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """What a shape's wishes add to the score of each node, when it has room on some; None when they change nothing."""
        rules, images = self._compiled(shape.rules)[1].score(capacity), self._images.score(shape.images)
        if rules is None or images is None:
            return images if rules is None else rules
        return rules + images

    def _compiled(self, rules: NodeRules) -> tuple[RuleMask, RuleWishes]:
        found = self._rules.get(rules)
        if found is None:
            found = self._rules[rules] = (RuleMask(rules, self._nodes), RuleWishes(rules, self._nodes))
            while len(self._rules) > self._limit():
                self._rules.popitem(last=False)
        else:
            self._rules.move_to_end(rules)
        return found

    def _limit(self) -> int:
        return max(LEAST_FITS, FITS_BYTES // (16 * self._nodes.slots))
