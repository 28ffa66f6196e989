"""Runs the plugins that look at nodes alone: static filters, weighted scores (upstream: runtime/framework.go).

Filters and scores of one set of rules are evaluated for all nodes and kept current. A node that changed is judged anew when the
answer is next used, and only that node; heartbeats change nothing and so cost nothing here. Preferences and taints are normalised
among the nodes that can take the pod, so raw figures are kept and the score is made when it is known which nodes those are.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import numpy as np

from scheduler.cache.node_columns import Slots
from scheduler.cache.node_rules import NodeRules
from scheduler.cache.nodes import Amounts, NodeTable
from scheduler.cache.scoring import Weights
from scheduler.plugins import (
    image_locality,
    node_affinity,
    node_declared_features,
    node_unschedulable,
    taint_toleration,
)
from scheduler.plugins.interface import Codes, IntArray, Mask, StaticFilter, default_normalize_score
from scheduler.plugins.node_resources_balanced_allocation import (
    balanced_allocation,
    balanced_scores,
    best_balanced_allocation,
)
from scheduler.plugins.node_resources_fit import best_least_allocated, least_allocated, strategy_scores
from scheduler.plugins.resource_allocation import NodesWithPods, Numbers, PodLoads
from scheduler.plugins.status import Status

STATIC_FILTERS: Final[tuple[StaticFilter, ...]] = (
    node_unschedulable.filter_nodes,
    taint_toleration.filter_nodes,
    node_affinity.filter_nodes,
    node_declared_features.filter_nodes,
)
"""In the order of kube-scheduler's default profile: the first that refuses a node gives the reason."""

NO_NODE: Final = -1
MOST_IMAGE_SCORES: Final = 64


class StaticFilterResult:
    """The answer of all static filters together.

    Attributes:
        codes: `[node slot]`; 0 for nodes that accept the pod, `NO_NODE` for empty slots, else 1 + an index into `refusals`.
        refusals: with which statuses nodes are refused.
    """

    def __init__(self, rules: NodeRules, nodes: NodeTable) -> None:
        self._rules = rules
        self._nodes = nodes
        self.refusals: list[Status] = []
        self._code_of: dict[Status, int] = {}
        self.codes: Codes = np.empty(0, dtype=np.int32)
        self._position = 0

    def catch_up(self) -> None:
        """Judges the nodes that changed since the last call.

        Raises:
            OverBudgetError: that takes more steps than the computation under way may cost.
        """
        log = self._nodes.rule_changes
        if self._position == log.end and len(self.codes) == self._nodes.slots:
            return
        nodes = self._nodes
        slots = log.since(self._position, limit=nodes.slots // 4)
        is_anew = slots is None or len(self.codes) != nodes.slots
        if slots is None or is_anew:
            slots = np.arange(nodes.slots)
        nodes.steps.spend(self._rules.steps(len(slots)))
        if is_anew:
            self.refusals, self._code_of = [], {}
            self.codes = np.full(nodes.slots, NO_NODE, dtype=np.int32)
        codes = np.zeros(len(slots), dtype=np.int32)
        for filter_nodes in STATIC_FILTERS:
            found = filter_nodes(self._rules, nodes, slots)
            if found is not None:
                own = np.array([0, *map(self._code, found.refusals)], dtype=np.int32)
                codes = np.where(codes == 0, own[found.codes], codes)
        codes[~nodes.alive[slots]] = NO_NODE
        self.codes[slots] = codes
        self._position = log.end

    def told_last(self) -> Mask:
        """The nodes `[node slot]` whose status counts only if no other filter refuses them; it is the last of the profile."""
        codes = [
            1 + code for code, refusal in enumerate(self.refusals) if refusal.plugin == node_declared_features.NAME
        ]
        # In most clusters there are none, and looking for nothing takes as long as looking.
        return np.isin(self.codes, codes) if codes else np.zeros(len(self.codes), dtype=np.bool_)

    def _code(self, refusal: Status) -> int:
        code = self._code_of.get(refusal)
        if code is None:
            self.refusals.append(refusal)
            code = self._code_of[refusal] = len(self.refusals)
        return code


# --- scores ------------------------------------------------------------------------------------------------------------

Score = Callable[[NodesWithPods], Numbers]

SCORES: Final[tuple[tuple[Score, int], ...]] = ((least_allocated, 1), (balanced_allocation, 1))
"""(score, weight) as in kube-scheduler's default profile."""

_BEST: Final[Mapping[Score, Callable[[NodesWithPods, NodesWithPods], Numbers]]] = {
    least_allocated: best_least_allocated,
    balanced_allocation: best_balanced_allocation,
}
"""What no load exceeds, from the nodes under the least and under the most that is asked of each resource."""


def total_score(after: NodesWithPods) -> IntArray:
    """The weighted sum by the loads' profile, `[node, load]`."""
    scoring = after.loads.scoring
    if not scoring.is_usual:
        weights = scoring.weights
        total = weights.node_resources_fit * strategy_scores(after, scoring)
        if weights.balanced_allocation:
            total = total + weights.balanced_allocation * balanced_scores(after, scoring)
        return total.astype(np.int64)
    first, *others = (score(after) * weight if weight != 1 else score(after) for score, weight in SCORES)
    for other in others:
        first += other
    return first.astype(np.int64)


def best_score(allocatable: Amounts, free: Amounts, scored: Amounts, loads: PodLoads, slots: Slots | slice) -> IntArray:
    """What none of these loads exceeds on each node by the default profile, `[asked node]`; tables as for `NodesWithPods`."""
    least, most = (NodesWithPods(allocatable, free, scored, extreme, slots) for extreme in loads.extremes())
    best = sum(weight * _BEST[score](least, most)[:, 0] for score, weight in SCORES)
    return np.asarray(best, dtype=np.int64)


class PerNode:
    """One whole number per node slot."""

    def __init__(self, nodes: NodeTable, compute: Callable[[Slots], IntArray]) -> None:
        self._nodes: Final = nodes
        self._compute: Final = compute
        self._values: IntArray = np.empty(0, dtype=np.int64)
        self._position = 0

    def values(self) -> IntArray:
        """The current figures; not to be written to."""
        nodes, log = self._nodes, self._nodes.rule_changes
        if self._position == log.end and len(self._values) == nodes.slots:
            return self._values
        slots = log.since(self._position, limit=nodes.slots // 4)
        if slots is None or len(self._values) != nodes.slots:
            self._values = self._compute(np.arange(nodes.slots))
        else:
            self._values[slots] = self._compute(slots)
        self._position = log.end
        return self._values


class RuleScores:
    """What one set of rules prefers."""

    def __init__(self, rules: NodeRules, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._has_preferred = bool(rules.preferred)
        self._preferred = PerNode(nodes, partial(node_affinity.score_nodes, rules, nodes))
        self._taints = PerNode(nodes, partial(taint_toleration.score_nodes, rules, nodes))

    @property
    def differ(self) -> bool:
        """Whether any node can be better than another by them."""
        return self._has_preferred or len(self._nodes.soft_taints.values) > 1

    def score(self, capacity: IntArray, weights: Weights) -> IntArray | None:
        """The weighted scores by node slot among the nodes with room; None when no node is better than another."""
        has_soft_taints = len(self._nodes.soft_taints.values) > 1
        if not (self._has_preferred or has_soft_taints):
            return None
        feasible = capacity > 0
        total: IntArray | None = None
        if self._has_preferred:
            total = weights.node_affinity * default_normalize_score(self._preferred.values(), feasible)
        if has_soft_taints:
            share = weights.taint_toleration * default_normalize_score(self._taints.values(), feasible, is_bad=True)
            total = share if total is None else total + share
        return total


class ImageScores:
    """The image scores of the pods seen lately."""

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._scores: dict[tuple[str, ...], IntArray | None] = {}
        self._state = (0, 0, 0)

    def score(self, images: tuple[str, ...]) -> IntArray | None:
        """The score by node slot; None when no node has any of the images."""
        nodes = self._nodes
        state = (nodes.images.version, len(nodes), nodes.slots)
        if state != self._state or len(self._scores) >= MOST_IMAGE_SCORES:
            self._scores.clear()
            self._state = state
        if images not in self._scores:
            self._scores[images] = image_locality.score_nodes(images, nodes.images, len(nodes), nodes.slots)
        return self._scores[images]
