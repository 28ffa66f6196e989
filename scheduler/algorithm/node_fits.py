"""Per signature: how many of its pods each node can take, how good the node is for the first of them, and which nodes are best.

These views are what makes a cycle cheap: they are computed once for all nodes and then follow the logs of changed nodes.
"""

from collections import OrderedDict
from heapq import heapify, heappop, heappush
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from scheduler.cache.cluster import ClusterState
from scheduler.cache.demand import PortTable
from scheduler.cache.node_columns import ChangeLog, Slots
from scheduler.cache.node_rules import NodeRules
from scheduler.cache.nodes import CPU_ROW, MEMORY_ROW, Amounts, NodeTable
from scheduler.cache.pod_signature import PodSignature
from scheduler.cache.steps import ONE_SCAN
from scheduler.plugins.framework import ImageScores, RuleScores, StaticFilterResult, total_score
from scheduler.plugins.node_ports import nodes_in_conflict
from scheduler.plugins.node_resources_fit import pods_that_fit
from scheduler.plugins.resource_allocation import ROWS, NodesWithPods, PodLoads
from scheduler.plugins.single_node_scores import SingleLoad, SingleNode, plain_loads

_KEPT: Final = 256
_STEP: Final = 2**32
"""Weight of a score against a slot; no cluster has as many nodes."""


class TopNodes:
    """Order is by score, then by slot: what a scheduler prefers that takes the first of equals. Ranks sort best first."""

    __slots__ = ("_floor", "_heap", "_is_known", "_rank_of")

    def __init__(self) -> None:
        self._heap: list[int] = []
        self._rank_of: dict[int, int] = {}
        self._floor: int | None = None
        """The rank of the worst node kept when all nodes were looked at; None when every node with room is kept."""
        self._is_known = False

    def forget(self) -> None:
        """Figures of many nodes changed."""
        self._is_known = False

    def update(self, slot: int, capacity: int, score: int) -> None:
        """The figures of a node are these now."""
        if not self._is_known:
            return
        rank = slot - score * _STEP
        if capacity and (self._floor is None or rank <= self._floor):
            self._rank_of[slot] = rank
            heappush(self._heap, rank)
        else:
            self._rank_of.pop(slot, None)

    def best(self, count: int, capacity: NDArray[np.int64], score: NDArray[np.int64]) -> list[int]:
        """The slots of the best so many nodes with room, best first; fewer when there are no more."""
        if not self._is_known or len(self._heap) > 4 * _KEPT:
            self._select(count, capacity, score)
        found = self._take(count)
        if len(found) < count and self._floor is not None:
            self._select(count, capacity, score)
            found = self._take(count)
        return [rank % _STEP for rank in found]

    def _select(self, count: int, capacity: NDArray[np.int64], score: NDArray[np.int64]) -> None:
        slots = np.flatnonzero(capacity)
        ranks = slots - score[slots] * _STEP
        keep = max(_KEPT, 2 * count)
        self._floor = None
        if len(ranks) > keep:
            ranks = np.partition(ranks, keep - 1)[:keep]
            self._floor = int(ranks[-1])
        self._heap = ranks.tolist()
        self._rank_of = {rank % _STEP: rank for rank in self._heap}
        heapify(self._heap)
        self._is_known = True

    def _take(self, count: int) -> list[int]:
        heap, rank_of = self._heap, self._rank_of
        found: list[int] = []
        while heap and len(found) < count:
            rank = heappop(heap)
            if rank_of.get(rank % _STEP) == rank and (not found or found[-1] != rank):
                found.append(rank)
        for rank in found:
            heappush(heap, rank)
        return found


LEAST_FITS = 64
FITS_BYTES = 64 * 1024 * 1024
MOST_FITS = 256
"""Room for views of signatures; the least recently used go first."""
FEW = 32
"""Changed nodes that are looked at one by one."""
MOST_ALIKE = 64
"""States of nodes whose figures are remembered per signature."""
_SCANS_OF_A_FIT = 70
"""Operations on all nodes that a new view takes."""
_SCANS_OF_A_TOTAL = 10
UNKNOWN = np.iinfo(np.int64).min
"""Stands for the score of a second pod that nobody has asked for yet."""


class Supply(Protocol):
    """What is free on which node slot, and a log of the slots where that changed."""

    @property
    def free(self) -> Amounts:
        """One row per resource and one column per node slot; not to be written to."""

    @property
    def room_changes(self) -> ChangeLog:
        """The slots that changed."""


class Fit:
    """How one signature fits on the nodes; arrays are `[node]`, by node slot, and not to be written to.

    Args:
        signature: the signature.
        mask: the static filters of its rules.
        static_scores: the scores of its rules.
        nodes: the node table.
        supply: what is free.
        ports: the host ports that are taken.

    Attributes:
        capacity: how many pods each node can take, rules about other pods apart.
        score: how good each node is for a first pod, as far as amounts decide.
        top_nodes: the best nodes for a first pod.
    """

    def __init__(
        self,
        signature: PodSignature,
        mask: StaticFilterResult,
        static_scores: RuleScores,
        nodes: NodeTable,
        supply: Supply,
        ports: PortTable,
    ) -> None:
        self.signature = signature
        self.mask = mask
        self.static_scores = static_scores
        self.capacity: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self.score: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._second: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self.top_nodes = TopNodes()
        self._nodes = nodes
        self._supply = supply
        self._ports = ports
        self._load, self._two = (
            PodLoads.of(signature.demand, depth, signature.scoring, nodes.row_of) for depth in (1, 2)
        )
        self._single_load: SingleLoad | None = None
        self._alike: dict[tuple[int, ...], tuple[int, int, int]] = {}
        self._room_position = 0
        self._rule_position = 0

    def second(self, slots: Slots) -> NDArray[np.int64]:
        """How good these few nodes are for a second pod once they have a first one."""
        if UNKNOWN in self._second[slots].tolist():
            self._second[slots] = [second for _, _, second in self._figures(slots)]
        return self._second[slots]

    @property
    def is_plain(self) -> bool:
        """Whether `figures_on` may be asked: only amounts decide, and they are scored as in the default profile."""
        return self.signature.scoring.is_usual and not self.signature.demand.ports

    def figures_on(self, slot: int, free: Amounts, scored: Amounts) -> tuple[int, int]:
        """Capacity and score of one node with other amounts than it has, `[resource, node]` as in the node table.

        In plain numbers: for one node a call of numpy costs more than the whole figure.
        """
        nodes = self._nodes
        demand = nodes.resolve(self.signature.demand)
        capacity = 0
        if not demand.missing and not self.mask.codes[slot]:
            asked = zip(demand.rows.tolist(), demand.amounts.tolist(), strict=True)
            capacity = max(0, min(free.item(row, slot) // amount for row, amount in asked))
        if self._single_load is None:
            (self._single_load,) = plain_loads(self._load)
        node = SingleNode(
            *(nodes.allocatable.item(row, slot) for row in (CPU_ROW, MEMORY_ROW)),
            *(free.item(row, slot) for row in (CPU_ROW, MEMORY_ROW)),
            *(scored.item(row, slot) for row in range(len(ROWS))),
        )
        return capacity, int(node.score(self._single_load))

    def catch_up(self) -> None:
        """Looks again at the nodes that changed since the last call."""
        nodes = self._nodes
        room, rules = self._supply.room_changes, nodes.rule_changes
        if (self._room_position, self._rule_position) == (room.end, rules.end) and len(self.capacity) == nodes.slots:
            return
        self.mask.catch_up()
        nodes.steps.spend(_SCANS_OF_A_FIT * (ONE_SCAN + nodes.slots) if len(self.capacity) != nodes.slots else ONE_SCAN)
        by_room = room.since(self._room_position, limit=nodes.slots // 4)
        by_rules = rules.since(self._rule_position, limit=nodes.slots // 4)
        self._room_position, self._rule_position = room.end, rules.end
        if by_room is None or by_rules is None or len(self.capacity) != nodes.slots:
            self._compute_all()
            return
        slots = np.union1d(by_room, by_rules) if len(by_rules) else by_room
        if len(slots) <= FEW:
            self._compute_few(slots)
        else:
            self._compute_many(slots)

    def _compute_all(self) -> None:
        nodes = self._nodes
        self.capacity = np.zeros(nodes.slots, dtype=np.int64)
        self.score = np.zeros(nodes.slots, dtype=np.int64)
        used = np.arange(nodes.used_slots)
        self.capacity[: nodes.used_slots] = self._capacity(used, slice(nodes.used_slots))
        self.score[: nodes.used_slots] = self._scores(self._load, slice(nodes.used_slots))[:, 0]
        self._second = np.full(nodes.slots, UNKNOWN)
        self.top_nodes.forget()

    def _compute_many(self, slots: Slots) -> None:
        self.capacity[slots] = self._capacity(slots, slots)
        self.score[slots] = self._scores(self._load, slots)[:, 0]
        self._second[slots] = UNKNOWN
        self.top_nodes.forget()

    def _compute_few(self, slots: Slots) -> None:
        for slot, (capacity, score, second) in zip(slots.tolist(), self._figures(slots), strict=True):
            self.capacity[slot], self.score[slot], self._second[slot] = capacity, score, second
            self.top_nodes.update(slot, capacity, score)

    def _figures(self, slots: Slots) -> list[tuple[int, int, int]]:
        """Capacity, score and that of a second pod; nodes of the same amounts have the same ones.

        Most of a stream of gangs meet such nodes.
        """
        if self.signature.demand.ports or self._load.others:
            return list(
                zip(self._capacity(slots, slots).tolist(), *self._scores(self._two, slots).T.tolist(), strict=True)
            )
        nodes, alike = self._nodes, self._alike
        rows = (*self._supply.free[:, slots].tolist(), *nodes.allocatable[: len(ROWS), slots].tolist())
        states = list(zip(*rows, *nodes.scored[:, slots].tolist(), strict=True))
        if not alike.keys() >= set(states):
            if len(alike) >= MOST_ALIKE:
                alike.clear()
            room = pods_that_fit(self._supply.free, nodes.resolve(self.signature.demand), slots)
            alike.update(
                zip(states, zip(room.tolist(), *self._scores(self._two, slots).T.tolist(), strict=True), strict=True)
            )
        codes = self.mask.codes[slots].tolist()
        found = [alike[state] for state in states]
        return [figures if code == 0 else (0, *figures[1:]) for figures, code in zip(found, codes, strict=True)]

    def _capacity(self, slots: Slots, where: Slots | slice) -> NDArray[np.int64]:
        return _capacity(self.signature, self.mask, self._supply, (self._nodes, self._ports), slots, where)

    def _scores(self, loads: PodLoads, slots: Slots | slice) -> NDArray[np.int64]:
        """`[slot, load]`."""
        return total_score(NodesWithPods(self._nodes.allocatable, self._supply.free, self._nodes.scored, loads, slots))


def _capacity(
    signature: PodSignature,
    mask: StaticFilterResult,
    supply: Supply,
    cluster: tuple[NodeTable, PortTable],
    slots: Slots,
    where: Slots | slice,
) -> NDArray[np.int64]:
    """How many pods of this signature each of these nodes can take; `where` are the same nodes as `slots`."""
    nodes, ports = cluster
    capacity = pods_that_fit(supply.free, nodes.resolve(signature.demand), where)
    capacity *= mask.codes[where] == 0
    if signature.demand.ports:
        capacity = np.minimum(capacity, 1)
        capacity[nodes_in_conflict(signature.demand.ports, nodes, ports, slots)] = 0
    return capacity


class FitCache:
    """The fits of the signatures in use."""

    def __init__(self, nodes: NodeTable, ports: PortTable, supply: Supply | None = None) -> None:
        """`supply` is what is free for those who ask, if it is not all that is free."""
        self._nodes = nodes
        self.supply: Supply = nodes if supply is None else supply
        self._ports = ports
        self._fits: OrderedDict[PodSignature, Fit] = OrderedDict()
        self._rules: OrderedDict[NodeRules, tuple[StaticFilterResult, RuleScores]] = OrderedDict()
        self._images = ImageScores(nodes)
        self._used: set[PodSignature] = set()
        """Those of the signatures that were asked for since `forget_unused`."""

    def of(self, signature: PodSignature) -> Fit:
        """The current fit of a signature, shared by all signatures of its base."""
        base = signature.base
        self._used.add(base)
        fit = self._fits.get(base)
        if fit is None:
            mask, static_scores = self._compiled(base.rules)
            fit = self._fits[base] = Fit(base, mask, static_scores, self._nodes, self.supply, self._ports)
            while len(self._fits) > self._limit():
                self._used.discard(self._fits.popitem(last=False)[0])
        else:
            self._fits.move_to_end(base)
        fit.catch_up()
        return fit

    def forget_unused(self) -> None:
        """The fits that nobody has asked for since this was called last go; who asks has them made anew."""
        for base in self._fits.keys() - self._used:
            del self._fits[base]
        self._used.clear()

    def total(self, signature: PodSignature) -> int:
        """How many of its pods all nodes together can take, rules about other pods apart; makes no view that would be kept."""
        base = signature.base
        fit = self._fits.get(base)
        if fit is not None:
            fit.catch_up()
            return int(fit.capacity.sum())
        nodes = self._nodes
        nodes.steps.spend(_SCANS_OF_A_TOTAL * (ONE_SCAN + nodes.slots))
        used = np.arange(nodes.used_slots)
        cluster = (nodes, self._ports)
        where = slice(nodes.used_slots)
        return int(_capacity(base, self.mask(base.rules), self.supply, cluster, used, where).sum())

    def static_scores(self, signature: PodSignature, capacity: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """What a signature's preferences add to the score of each node, when it has room on some; None when they change nothing."""
        weights = signature.scoring.weights
        rules, images = (
            self._compiled(signature.rules)[1].score(capacity, weights),
            self._images.score(signature.images),
        )
        if images is None or not weights.image_locality:
            return rules
        images = weights.image_locality * images
        return images if rules is None else rules + images

    def mask(self, rules: NodeRules) -> StaticFilterResult:
        """The nodes that accept pods with these rules, as far as nodes alone decide."""
        mask = self._compiled(rules)[0]
        mask.catch_up()
        return mask

    def has_preferences(self, rules: NodeRules) -> bool:
        """Whether rules and nodes make some nodes better than others, images apart."""
        return self._compiled(rules)[1].differ

    def _compiled(self, rules: NodeRules) -> tuple[StaticFilterResult, RuleScores]:
        found = self._rules.get(rules)
        if found is None:
            found = self._rules[rules] = (StaticFilterResult(rules, self._nodes), RuleScores(rules, self._nodes))
            while len(self._rules) > self._limit():
                self._rules.popitem(last=False)
        else:
            self._rules.move_to_end(rules)
        return found

    def _limit(self) -> int:
        return min(max(LEAST_FITS, FITS_BYTES // (24 * self._nodes.slots)), MOST_FITS)


def fits_of(state: ClusterState) -> FitCache:
    """The fits on all that is free in the cluster, kept with it."""
    return state.derived(_on_all_that_is_free)


def _on_all_that_is_free(state: ClusterState) -> FitCache:
    return FitCache(state.nodes, state.ports)
