"""NodeAffinity: `nodeSelector` and the required node affinity, on labels and on the node's name."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.filters.verdict import Verdict
from scheduler.state.changes import Slots
from scheduler.state.nodes import NodeTable
from scheduler.state.rules import NodeRules, Term
from scheduler.state.selectors import Requirement, matches

REASON: Final = "node(s) didn't match Pod's node affinity/selector"


def node_affinity(rules: NodeRules, nodes: NodeTable, slots: Slots) -> Verdict | None:
    """Refuses nodes that miss the selector, or every term of the required affinity."""
    if not rules.selector and rules.terms is None:
        return None
    accepted = meets_all(rules.selector, nodes, slots)
    if rules.terms is not None:
        any_term = np.zeros(len(slots), dtype=np.bool_)
        for term in rules.terms:
            if term:
                any_term |= meets_all(term, nodes, slots)
        accepted &= any_term
    return Verdict.refuse(~accepted, REASON)


def meets_all(requirements: Term, nodes: NodeTable, slots: Slots) -> NDArray[np.bool_]:
    """The nodes that meet all requirements of a term."""
    accepted = np.ones(len(slots), dtype=np.bool_)
    for requirement in requirements:
        accepted &= _meets(requirement, nodes, slots)
    return accepted


def _meets(requirement: Requirement, nodes: NodeTable, slots: Slots) -> NDArray[np.bool_]:
    column = nodes.label_column(requirement.key)
    if requirement.operator == "In":
        return column.one_of(requirement.values, slots)
    if requirement.operator == "NotIn":
        return ~column.one_of(requirement.values, slots)
    return column.ask(lambda value: matches(requirement, value), slots)
