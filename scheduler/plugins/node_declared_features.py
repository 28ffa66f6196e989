"""NodeDeclaredFeatures: a pod that needs a feature of the kubelet goes to nodes that declare it."""

from typing import Final

from scheduler.plugins.framework import NodeStatuses
from scheduler.state.changes import Slots
from scheduler.state.nodes import NodeTable
from scheduler.state.rules import NodeRules

REASON: Final = "node(s) didn't match Pod's required features"


def filter_nodes(rules: NodeRules, nodes: NodeTable, slots: Slots) -> NodeStatuses | None:
    """Refuses nodes whose `status.declaredFeatures` lack one that the pod needs."""
    if not rules.features:
        return None
    return NodeStatuses.refuse(~nodes.features.ask(rules.features.issubset, slots), REASON)
