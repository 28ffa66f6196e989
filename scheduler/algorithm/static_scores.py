"""The scores that depend on nodes alone: preferred node affinity, soft taints, images. Most pods have none of them.

Preferences and taints are normalised among the nodes that can take the pod, so raw figures are kept and the score is made when
it is known which nodes those are.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np

from scheduler.cache.node_columns import Slots
from scheduler.cache.node_rules import NodeRules
from scheduler.cache.nodes import NodeTable
from scheduler.cache.scoring import Weights
from scheduler.plugins import image_locality, node_affinity, taint_toleration
from scheduler.plugins.framework import IntArray, default_normalize_score


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


MOST_IMAGE_SCORES: Final = 64


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
