"""TaintToleration: a node's NoSchedule and NoExecute taints keep away pods that do not tolerate them; PreferNoSchedule scores.

The reason names the taint, as kube-scheduler did for years. Recent versions leave the taint out because a cluster may have
a different one on each node; we do so only then (`MOST_NAMED`).
"""

from collections.abc import Iterable
from typing import Final

import numpy as np

from api.node import Taint
from scheduler.cache.node_columns import Slots
from scheduler.cache.node_rules import NodeRules, Toleration
from scheduler.cache.nodes import NodeTable
from scheduler.plugins.interface import IntArray, NodeStatuses
from scheduler.plugins.status import Code, Status

NAME: Final = "TaintToleration"

REASON_UNNAMED: Final = "node(s) had untolerated taint(s)"
MOST_NAMED: Final = 3


def filter_nodes(rules: NodeRules, nodes: NodeTable, slots: Slots) -> NodeStatuses | None:
    """Refuses nodes with a taint of a hard effect that no toleration matches; the first such taint is the reason."""
    codes = nodes.taints.codes[slots]
    present = np.unique(codes).tolist()
    offending = {
        code: found for code in present if (found := untolerated(nodes.taints.values[code], rules.tolerations))
    }
    if not offending:
        return None
    number_of: dict[Status, int] = {}
    code_of = np.zeros(len(nodes.taints.values), dtype=np.int32)
    for code, taint in offending.items():
        code_of[code] = number_of.setdefault(refusal(taint), len(number_of) + 1)
    return NodeStatuses(code_of[codes], tuple(number_of))


def score_nodes(rules: NodeRules, nodes: NodeTable, slots: Slots) -> IntArray:
    """How many taints of effect PreferNoSchedule of each node no toleration matches, in the order of `slots`; fewer is better."""
    codes = nodes.soft_taints.codes[slots]
    counts = np.zeros(len(nodes.soft_taints.values), dtype=np.int64)
    for code in np.unique(codes).tolist():
        taints = nodes.soft_taints.values[code]
        counts[code] = sum(not tolerated(taint, rules.tolerations) for taint in taints)
    return counts[codes]


def refusal(taint: Taint) -> Status:
    """With what nodes are refused that have this taint."""
    text = f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}"
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, text, plugin=NAME)


def untolerated(taints: Iterable[Taint], tolerations: tuple[Toleration, ...]) -> Taint | None:
    """The first of the taints that no toleration matches."""
    return next((taint for taint in taints if not tolerated(taint, tolerations)), None)


def tolerated(taint: Taint, tolerations: tuple[Toleration, ...]) -> bool:
    """Whether one of the tolerations matches the taint."""
    return any(_tolerates(toleration, taint) for toleration in tolerations)


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    match toleration.operator:
        case "Exists":
            return True
        case "" | "Equal":
            return toleration.key != "" and toleration.value == taint.value
        case "Lt" | "Gt":
            return toleration.key != "" and _compares(toleration, taint)
    return False


def _compares(toleration: Toleration, taint: Taint) -> bool:
    try:
        bound, value = int(toleration.value[:20]), int(taint.value[:20])
    except ValueError:
        return False
    return value < bound if toleration.operator == "Lt" else value > bound
