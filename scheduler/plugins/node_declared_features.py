"""NodeDeclaredFeatures: a pod that needs a feature of the kubelet goes to nodes that declare it."""

from typing import Final

from scheduler.plugins.framework import NodeStatuses
from scheduler.plugins.status import Code, Status
from scheduler.state.changes import Slots
from scheduler.state.nodes import NodeTable
from scheduler.state.rules import NodeRules

NAME: Final = "NodeDeclaredFeatures"

REASON: Final = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "node(s) didn't match Pod's required features", plugin=NAME)


def filter_nodes(rules: NodeRules, nodes: NodeTable, slots: Slots) -> NodeStatuses | None:
    """Refuses nodes whose `status.declaredFeatures` lack one that the pod needs."""
    if not rules.features:
        return None
    return NodeStatuses.refuse(~nodes.features.ask(rules.features.issubset, slots), REASON)
