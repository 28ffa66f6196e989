"""TaintToleration: nodes with fewer taints of effect PreferNoSchedule that the pod does not tolerate are better."""

import numpy as np

from scheduler.filters.taint_toleration import tolerated
from scheduler.scores.normalise import Whole
from scheduler.state.changes import Slots
from scheduler.state.nodes import NodeTable
from scheduler.state.rules import NodeRules


def taint_toleration(rules: NodeRules, nodes: NodeTable, slots: Slots) -> Whole:
    """Untolerated soft taints per node; the fewer the better."""
    codes = nodes.soft_taints.codes[slots]
    counts = np.zeros(len(nodes.soft_taints.values), dtype=np.int64)
    for code in np.unique(codes).tolist():
        taints = nodes.soft_taints.values[code]
        counts[code] = sum(not tolerated(taint, rules.tolerations) for taint in taints)
    return counts[codes]
