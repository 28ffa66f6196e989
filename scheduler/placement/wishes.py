"""The scores that depend on nodes alone: preferred node affinity, soft taints, images. Most pods have none of them.

Weights are those of kube-scheduler's default profile. Preferences and taints are normalised among the nodes that can take the
pod, so the figures are kept raw and the score is made when it is known which nodes those are.
"""

from functools import partial
from typing import Final

from scheduler.placement.followed import Followed
from scheduler.scores.image_locality import image_locality
from scheduler.scores.node_affinity import node_affinity
from scheduler.scores.normalise import Whole, by_most
from scheduler.scores.taint_toleration import taint_toleration
from scheduler.state.nodes import NodeTable
from scheduler.state.rules import NodeRules

WEIGHT_NODE_AFFINITY: Final = 2
WEIGHT_TAINT_TOLERATION: Final = 3
WEIGHT_IMAGE_LOCALITY: Final = 1

MOST_IMAGE_SCORES: Final = 64


class RuleWishes:
    """What one set of rules prefers."""

    def __init__(self, rules: NodeRules, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._has_preferred = bool(rules.preferred)
        self._preferred = Followed(nodes, partial(node_affinity, rules, nodes))
        self._taints = Followed(nodes, partial(taint_toleration, rules, nodes))

    def score(self, capacity: Whole) -> Whole | None:
        """The weighted scores by node slot among the nodes with room; None when no node is better than another."""
        has_soft_taints = len(self._nodes.soft_taints.values) > 1
        if not self._has_preferred and not has_soft_taints:
            return None
        feasible = capacity > 0
        total: Whole | None = None
        if self._has_preferred:
            total = WEIGHT_NODE_AFFINITY * by_most(self._preferred.values(), feasible)
        if has_soft_taints:
            share = WEIGHT_TAINT_TOLERATION * by_most(self._taints.values(), feasible, is_bad=True)
            total = share if total is None else total + share
        return total


class ImageWishes:
    """The image scores of the pods seen lately."""

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._scores: dict[tuple[str, ...], Whole | None] = {}
        self._state = (0, 0, 0)

    def score(self, images: tuple[str, ...]) -> Whole | None:
        """The weighted score by node slot; None when no node has any of the images."""
        nodes = self._nodes
        state = (nodes.images.version, len(nodes), nodes.slots)
        if state != self._state or len(self._scores) >= MOST_IMAGE_SCORES:
            self._scores.clear()
            self._state = state
        if images not in self._scores:
            found = image_locality(images, nodes.images, len(nodes), nodes.slots)
            self._scores[images] = None if found is None else WEIGHT_IMAGE_LOCALITY * found
        return self._scores[images]
