"""Which nodes to clear, and whom that takes: nodes are cleared in the order of what each further place on them costs.

A node candidate is upstream's candidate: a node with the victims on it that make room there. On one node the least important leave
first, so what it can take after the first 1, 2, ... of them left is one running sum, computed for all nodes at once, and a
node has one candidate for each place more. A pod's cost is its own; that of a whole group is shared by as many places as it can
open, for whoever takes one of its pods has paid for all of them. Rules about other pods and host ports are not looked at here.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.algorithm.node_fits import fits_of
from scheduler.algorithm.overlay import ResourceOverlay
from scheduler.cache.node_columns import Slots
from scheduler.cache.pod_signature import PodSignature
from scheduler.cache.steps import ONE_SCAN
from scheduler.plugins.node_resources_fit import pods_that_fit
from scheduler.preemption.context import PotentialVictims, PreemptionContext
from scheduler.preemption.victims import LIFT, cheapest_first

Mask = NDArray[np.bool_]


class NodeCandidates:
    """Nodes with the victims that make places on them, best first; on one node they add to those that come before.

    Attributes:
        order: [potential victim that may leave] indexes into the potential victims, by node.
        start: [candidate] first of its victims in `order`.
        end: [candidate] last of them.
        slot: [candidate] the node.
        gain: [candidate] places it adds.
        needs_whole: [candidate] whether pods of a whole group are among its victims.
    """

    __slots__ = ("end", "gain", "needs_whole", "order", "slot", "start")

    def __init__(
        self, order: Slots, start: Slots, end: Slots, slot: Slots, gain: NDArray[np.int64], needs_whole: Mask
    ) -> None:
        self.order: Final = order
        self.start: Final = start
        self.end: Final = end
        self.slot: Final = slot
        self.gain: Final = gain
        self.needs_whole: Final = needs_whole

    def __len__(self) -> int:
        return len(self.end)

    def victims(self, index: int) -> Slots:
        """Indexes of the potential victims that leave for one candidate."""
        return self.order[self.start[index] : self.end[index] + 1]


def fits_by_node(
    context: PreemptionContext, resources: ResourceOverlay, signature: PodSignature, domain: Mask | None
) -> NDArray[np.int64]:
    """[node slot] how many pods of this signature fit on each node.

    Args:
        context: the snapshot.
        resources: what is free; filters that do not look at amounts refuse nodes, too, but no rule about other pods does.
        signature: of the pods.
        domain: [node slot] the nodes that may be used, None: all; 0 elsewhere.
    """
    state = context.state
    found = pods_that_fit(resources.free, state.nodes.resolve(signature.demand), slice(None))
    found[fits_of(state).of(signature).mask.codes != 0] = 0
    if domain is not None:
        found[~domain] = 0
    return found


def select_nodes(
    context: PreemptionContext,
    resources: ResourceOverlay,
    signature: PodSignature,
    count: int,
    potential: PotentialVictims,
    domain: Mask | None,
) -> tuple[NDArray[np.int64], Mask]:
    """Clears nodes until `count` pods of this signature fit.

    Args:
        context: the snapshot.
        resources: what there is before anybody leaves; not changed.
        signature: of the pods.
        count: how many of them.
        potential: who may leave.
        domain: [node slot] the nodes that may be used, None: all.

    Returns:
        [node slot] pods on each (their sum is less than `count` when that is all there is), and [pod] which of `potential`
        leave.
    """
    chosen = np.zeros(len(potential), dtype=np.bool_)
    inside = domain[potential.slot] if domain is not None else ~chosen
    resources = resources.copy()
    places = fits_by_node(context, resources, signature, domain)
    while (need := count - int(places.sum())) > 0:
        nodes = node_candidates(context, resources, signature, need, potential, inside & ~chosen, places)
        if not len(nodes):
            break
        leaving = _best_victims(nodes, need, potential) & ~chosen
        chosen |= leaving
        resources.add(potential.slot[leaving], potential.amounts[:, leaving])
        places = fits_by_node(context, resources, signature, domain)
    _give_whole_units_back(context, resources, signature, count, potential, chosen, places)
    return _trimmed(places, count, potential, chosen), chosen


def node_candidates(
    context: PreemptionContext,
    resources: ResourceOverlay,
    signature: PodSignature,
    need: int,
    potential: PotentialVictims,
    may_leave: Mask,
    places: NDArray[np.int64],
) -> NodeCandidates:
    """All node candidates for pods of this signature, best first; on one node an earlier one always comes before a later one.

    Args:
        context: the snapshot.
        resources: what there is before anybody leaves.
        signature: of the pods.
        need: how many places are missing.
        potential: the potential victims.
        may_leave: [pod] which of them to look at.
        places: [node slot] pods of this signature that fit in `resources`.
    """
    demand = context.state.nodes.resolve(signature.demand)
    context.state.nodes.steps.spend((10 + len(demand.rows)) * (ONE_SCAN + 20 * len(potential)))
    order = np.flatnonzero(may_leave)
    order = order[np.lexsort((potential.violates[order], potential.slot[order]))]
    slot = potential.slot[order]
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = slot[1:] != slot[:-1]
    begin = np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    after = np.full(len(order), np.iinfo(np.int64).max)
    for row, amount in zip(demand.rows.tolist(), demand.amounts.tolist(), strict=True):
        freed = np.cumsum(potential.amounts[row][order])
        freed -= np.where(begin > 0, freed[begin - 1], 0)
        after = np.minimum(after, (resources.free[row][slot] + freed) // amount)
    after = np.maximum(after, 0)
    after[fits_of(context.state).of(signature).mask.codes[slot] != 0] = 0
    before = np.empty_like(after)
    before[1:] = after[:-1]
    before[first] = places[slot[first]]
    gain = after - before
    return _cheapest_first(potential, order, slot, begin, gain, need)


def _cheapest_first(
    potential: PotentialVictims, order: Slots, slot: Slots, begin: Slots, gain: NDArray[np.int64], need: int
) -> NodeCandidates:
    """`slot`, `begin` (index of the first one on the same node) and `gain` have one entry per entry of `order`."""
    end = np.flatnonzero(gain > 0)
    start = begin[end]
    follows = np.zeros(len(end), dtype=np.bool_)
    follows[1:] = slot[end[1:]] == slot[end[:-1]]
    start[follows] = end[np.flatnonzero(follows) - 1] + 1
    pods, violations = _shares(potential, order, slot, need)
    priority_sums = np.concatenate([[0.0], np.cumsum(pods * (potential.priority[order] + LIFT))])
    violation_sums = np.concatenate([[0.0], np.cumsum(violations)])
    whole = np.concatenate([[0], np.cumsum(potential.in_whole[order])])
    tops = np.append(potential.priority[order], np.iinfo(np.int64).min)
    top = np.maximum.reduceat(tops, np.ravel(np.column_stack([start, end + 1])))[::2]
    gained = np.minimum(gain[end], need)
    ranking = cheapest_first(
        (violation_sums[end + 1] - violation_sums[start]) / gained,
        top,
        (priority_sums[end + 1] - priority_sums[start]) / gained,
        slot[end],
    )
    rank = np.empty(len(end), dtype=np.int64)
    rank[ranking] = np.arange(len(end))
    # A later candidate on a node includes the earlier ones, so it is never better than they are.
    node = np.cumsum(~follows) * len(end)
    rank = np.maximum.accumulate(rank + node) - node
    best = np.argsort(rank, kind="stable")
    needs_whole = whole[end + 1] > whole[start]
    return NodeCandidates(order, start[best], end[best], slot[end[best]], gain[end[best]], needs_whole[best])


def _shares(
    potential: PotentialVictims, order: Slots, slot: Slots, need: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What each row costs in pods, and in pods beyond a budget: once per unit and node."""
    unit, in_whole = potential.unit[order], potential.in_whole[order]
    pods = np.ones(len(order))
    if in_whole.any():
        again = np.zeros(len(order), dtype=np.bool_)
        again[1:] = (unit[1:] == unit[:-1]) & (slot[1:] == slot[:-1])
        _, inverse = np.unique(unit, return_inverse=True)
        nodes = np.bincount(inverse, weights=~again)[inverse]
        pods = np.where(in_whole, potential.size[order] / np.minimum(nodes, need), 1.0)
        pods[again] = 0.0
    return pods, pods * potential.violates[order]


def _best_victims(nodes: NodeCandidates, need: int, potential: PotentialVictims) -> Mask:
    """[pod] who leaves for the best candidates: as many as are needed, but of those with a whole group only one at a time."""
    enough = int(np.searchsorted(np.cumsum(nodes.gain), need)) + 1
    wholes = np.flatnonzero(nodes.needs_whole)
    count = min(enough, len(nodes), int(wholes[0]) + 1 if len(wholes) else enough)
    marks = np.zeros(len(nodes.order) + 1, dtype=np.int64)
    np.add.at(marks, nodes.start[:count], 1)
    np.subtract.at(marks, nodes.end[:count] + 1, 1)
    chosen = np.zeros(len(potential), dtype=np.bool_)
    chosen[nodes.order[np.cumsum(marks[:-1]) > 0]] = True
    whole = chosen & potential.in_whole
    if whole.any():
        chosen |= np.isin(potential.unit, np.unique(potential.unit[whole]))
    return chosen


def _give_whole_units_back(
    context: PreemptionContext,
    resources: ResourceOverlay,
    signature: PodSignature,
    count: int,
    potential: PotentialVictims,
    chosen: Mask,
    places: NDArray[np.int64],
) -> None:
    """Groups without which enough places remain stay, the most important first; changes `resources`, `chosen` and `places`."""
    whole = np.flatnonzero(chosen & potential.in_whole)
    if not len(whole):
        return
    demand = context.state.nodes.resolve(signature.demand)
    spare = int(places.sum()) - count
    for unit in dict.fromkeys(potential.unit[whole[::-1]].tolist()):
        context.state.nodes.steps.spend(20 * ONE_SCAN + 2 * len(whole))
        rows = whole[potential.unit[whole] == unit]
        slots = np.unique(potential.slot[rows])
        before = resources.free[:, slots].copy()
        resources.add(potential.slot[rows], -potential.amounts[:, rows])
        now = np.where(places[slots] > 0, pods_that_fit(resources.free, demand, slots), 0)
        lost = int((places[slots] - now).sum())
        if lost <= spare:
            spare -= lost
            places[slots] = now
            chosen[rows] = False
        else:
            resources.free[:, slots] = before


def _trimmed(places: NDArray[np.int64], count: int, potential: PotentialVictims, chosen: Mask) -> NDArray[np.int64]:
    """At most `count` places: on nodes that nobody has to leave first, then on those that fewest have to."""
    cost = np.bincount(potential.slot[chosen], minlength=len(places))
    order = np.flatnonzero(places)
    order = order[np.lexsort((order, cost[order]))]
    taken = np.diff(np.minimum(np.cumsum(places[order]), count), prepend=0)
    trimmed = np.zeros_like(places)
    trimmed[order] = taken
    return trimmed
