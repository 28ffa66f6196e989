"""NodeAffinity: `nodeSelector` and node affinity, on labels and on the node's name.

Required terms filter; the weights of preferred terms that a node meets are its score.
"""

from typing import Final

import numpy as np

from scheduler.cache.node_columns import Slots
from scheduler.cache.node_rules import NodeRules, NodeTerm
from scheduler.cache.nodes import NodeTable
from scheduler.cache.selectors import Requirement, matches
from scheduler.plugins.interface import IntArray, Mask, NodeStatuses
from scheduler.plugins.status import Code, Status

NAME: Final = "NodeAffinity"

REASON: Final = Status(
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "node(s) didn't match Pod's node affinity/selector", plugin=NAME
)


def filter_nodes(rules: NodeRules, nodes: NodeTable, slots: Slots) -> NodeStatuses | None:
    """Refuses nodes that miss the selector, or every term of the required affinity."""
    if not rules.selector and rules.terms is None:
        return None
    accepted = _meets_all(rules.selector, nodes, slots)
    if rules.terms is not None:
        any_term = np.zeros(len(slots), dtype=np.bool_)
        for term in rules.terms:
            if term:
                any_term |= _meets_all(term, nodes, slots)
        accepted &= any_term
    return NodeStatuses.refuse(~accepted, REASON)


def score_nodes(rules: NodeRules, nodes: NodeTable, slots: Slots) -> IntArray:
    """The sum of the weights of the preferred terms that each node meets, in the order of `slots`; not normalised.

    Raises:
        OverBudgetError: that is more than the computation under way may cost.
    """
    nodes.steps.spend(rules.steps(len(slots)))
    total = np.zeros(len(slots), dtype=np.int64)
    for weight, term in rules.preferred:
        total += weight * _meets_all(term, nodes, slots)
    return total


def _meets_all(requirements: NodeTerm, nodes: NodeTable, slots: Slots) -> Mask:
    accepted = np.ones(len(slots), dtype=np.bool_)
    for requirement in requirements:
        accepted &= _meets(requirement, nodes, slots)
    return accepted


def _meets(requirement: Requirement, nodes: NodeTable, slots: Slots) -> Mask:
    column = nodes.label_column(requirement.key)
    if requirement.operator == "In":
        return column.one_of(requirement.values, slots)
    if requirement.operator == "NotIn":
        return ~column.one_of(requirement.values, slots)
    return column.ask(lambda value: matches(requirement, value), slots)
