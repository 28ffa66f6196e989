"""Reasons of many nodes as one sentence, in kube-scheduler's form: "0/7 nodes are available: 7 Insufficient cpu."."""

from collections.abc import Mapping
from typing import Final

from scheduler.plugins.taint_toleration import MOST_NAMED, REASON_UNNAMED

NO_NODES: Final = "no nodes available to schedule pods"
_TAINT_PREFIX: Final = REASON_UNNAMED.removesuffix("(s)")


def sentence(nodes_total: int, nodes_by_reason: Mapping[str, int], *, what_for: str = "") -> str:
    """The whole sentence; reasons are sorted as text together with their counts, as kube-scheduler sorts them.

    A reason of 0 nodes is about the pod itself: nodes have not been looked at for it.
    `what_for` says for which pods, such as " for the rest".
    """
    if not nodes_total:
        return NO_NODES
    if not nodes_by_reason:
        return f"0/{nodes_total} nodes are available{what_for}."
    parts = sorted(f"{count} {reason}" if count else reason for reason, count in _few_taints(nodes_by_reason).items())
    return f"0/{nodes_total} nodes are available{what_for}: {', '.join(parts)}."


def _few_taints(nodes_by_reason: Mapping[str, int]) -> Mapping[str, int]:
    taints = [reason for reason in nodes_by_reason if reason.startswith(_TAINT_PREFIX)]
    if len(taints) <= MOST_NAMED:
        return nodes_by_reason
    others = {reason: count for reason, count in nodes_by_reason.items() if reason not in taints}
    return {**others, REASON_UNNAMED: sum(nodes_by_reason[reason] for reason in taints)}
