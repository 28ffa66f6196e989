"""NodeDeclaredFeatures: a pod that needs a feature of the kubelet goes to nodes that declare it."""

from typing import Final

from scheduler.filters.verdict import Verdict
from scheduler.state.changes import Slots
from scheduler.state.nodes import NodeTable
from scheduler.state.rules import NodeRules

REASON: Final = "node(s) didn't match Pod's required features"


def node_declared_features(rules: NodeRules, nodes: NodeTable, slots: Slots) -> Verdict | None:
    """Refuses nodes whose `status.declaredFeatures` lack one that the pod needs."""
    if not rules.features:
        return None
    return Verdict.refuse(~nodes.features.ask(rules.features.issubset, slots), REASON)
