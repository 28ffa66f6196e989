"""NodeDeclaredFeatures: a pod that needs a feature of the kubelet goes to nodes that declare it."""

from typing import Final

from scheduler.cache.node_columns import Slots
from scheduler.cache.node_rules import NodeRules
from scheduler.cache.nodes import NodeTable
from scheduler.plugins.interface import NodeStatuses
from scheduler.plugins.status import Code, Status

NAME: Final = "NodeDeclaredFeatures"

REASON: Final = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "node(s) didn't match Pod's required features", plugin=NAME)


def filter_nodes(rules: NodeRules, nodes: NodeTable, slots: Slots) -> NodeStatuses | None:
    """Refuses nodes whose `status.declaredFeatures` lack one that the pod needs."""
    if not rules.features:
        return None
    return NodeStatuses.refuse(~nodes.features.ask(rules.features.issubset, slots), REASON)
