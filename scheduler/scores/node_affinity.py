"""NodeAffinity, preferred: the weights of the wishes that a node meets."""

import numpy as np

from scheduler.filters.node_affinity import meets_all
from scheduler.scores.normalise import Whole
from scheduler.state.changes import Slots
from scheduler.state.nodes import NodeTable
from scheduler.state.rules import NodeRules


def node_affinity(rules: NodeRules, nodes: NodeTable, slots: Slots) -> Whole:
    """The sum of weights per node; the more the better."""
    nodes.steps.spend(rules.steps(len(slots)))
    total = np.zeros(len(slots), dtype=np.int64)
    for weight, term in rules.preferred:
        total += weight * meets_all(term, nodes, slots)
    return total
