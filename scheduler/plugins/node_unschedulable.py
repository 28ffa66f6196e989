"""NodeUnschedulable: cordoned nodes take only pods that tolerate being there."""

from typing import Final

from api.node import Taint
from scheduler.cache.node_columns import Slots
from scheduler.cache.node_rules import NodeRules
from scheduler.cache.nodes import NodeTable
from scheduler.plugins.interface import NodeStatuses
from scheduler.plugins.status import Code, Status
from scheduler.plugins.taint_toleration import tolerated

NAME: Final = "NodeUnschedulable"

REASON: Final = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "node(s) were unschedulable", plugin=NAME)
CORDONED: Final = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")


def filter_nodes(rules: NodeRules, nodes: NodeTable, slots: Slots) -> NodeStatuses | None:
    """Refuses nodes with `spec.unschedulable`, as if they carried the taint that comes with it."""
    if tolerated(CORDONED, rules.tolerations):
        return None
    return NodeStatuses.refuse(nodes.unschedulable[slots], REASON)
