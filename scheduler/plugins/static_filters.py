"""The static filters of one set of rules, evaluated for all nodes and kept current.

A node that changed is judged anew when the mask is next used, and only that node; heartbeats change nothing and so cost
nothing here.
"""

from typing import Final

import numpy as np

from scheduler.cache.node_columns import Slots
from scheduler.cache.node_rules import NodeRules
from scheduler.cache.nodes import NodeTable
from scheduler.plugins import node_affinity, node_declared_features, node_unschedulable, taint_toleration
from scheduler.plugins.framework import Codes, Mask, StaticFilter
from scheduler.plugins.status import Status

STATIC_FILTERS: Final[tuple[StaticFilter, ...]] = (
    node_unschedulable.filter_nodes,
    taint_toleration.filter_nodes,
    node_affinity.filter_nodes,
    node_declared_features.filter_nodes,
)
"""In the order of kube-scheduler's default profile: the first that refuses a node gives the reason."""

NO_NODE: Final = -1


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
        slots = log.since(self._position, limit=self._nodes.slots // 4)
        if slots is None or len(self.codes) != self._nodes.slots:
            slots = np.arange(self._nodes.slots)
            self._nodes.steps.spend(self._rules.steps(len(slots)))
            self.refusals, self._code_of = [], {}
            self.codes = np.full(self._nodes.slots, NO_NODE, dtype=np.int32)
        else:
            self._nodes.steps.spend(self._rules.steps(len(slots)))
        self.codes[slots] = self._judge(slots)
        self._position = log.end

    def told_last(self) -> Mask:
        """The nodes `[node slot]` whose status counts only if no other filter refuses them; it is the last of the profile."""
        codes = [
            1 + code for code, refusal in enumerate(self.refusals) if refusal.plugin == node_declared_features.NAME
        ]
        return np.isin(self.codes, codes)

    def _judge(self, slots: Slots) -> Codes:
        codes = np.zeros(len(slots), dtype=np.int32)
        for judge in STATIC_FILTERS:
            found = judge(self._rules, self._nodes, slots)
            if found is None:
                continue
            own = np.array([0, *map(self._code, found.refusals)], dtype=np.int32)
            codes = np.where(codes == 0, own[found.codes], codes)
        codes[~self._nodes.alive[slots]] = NO_NODE
        return codes

    def _code(self, refusal: Status) -> int:
        code = self._code_of.get(refusal)
        if code is None:
            self.refusals.append(refusal)
            code = self._code_of[refusal] = len(self.refusals)
        return code
