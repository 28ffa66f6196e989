"""Statuses as text for people, in kube-scheduler's form: "0/7 nodes are available: 7 Insufficient cpu."."""

from collections.abc import Mapping
from typing import Final

from scheduler.plugins import taint_toleration
from scheduler.plugins.status import Certainty, Diagnosis, PodGroupDiagnosis, Status

NO_NODES: Final = "no nodes available to schedule pods"
_PROVED: Final = " Proved impossible: all placements were searched."
_KEPT: Final = " Some room is kept for other groups."


def message(status: Status) -> str:
    """The whole text of a status."""
    said = _without_post_filter(status)
    if not status.post_filter:
        return said
    if isinstance(status.diagnosis, Diagnosis):
        return f"{said} preemption: {status.post_filter}"
    return f"{said.removesuffix('.')}, pod group preemption: {status.post_filter}"


def member_message(group_message: str) -> str:
    """What a member is told that would have a place if its group had."""
    return f"pod group is unschedulable, {group_message}"


def sentence(
    nodes_total: int, nodes: Mapping[Status, int], *, pre_filter: Status | None = None, what_for: str = ""
) -> str:
    """The reasons of many nodes; they are sorted as text together with their counts, as kube-scheduler sorts them.

    Args:
        nodes_total: all nodes of the cluster.
        nodes: number of nodes by the status with which they are refused.
        pre_filter: told in the place of `nodes`, which have then not been looked at.
        what_for: for which pods, such as " for the rest".
    """
    if not nodes_total:
        return NO_NODES
    parts = sorted(f"{count} {text}" for text, count in _by_text(nodes).items())
    if pre_filter is not None:
        parts = [_text(pre_filter)]
    return f"0/{nodes_total} nodes are available{what_for}" + (f": {', '.join(parts)}." if parts else ".")


def _by_text(nodes: Mapping[Status, int]) -> Mapping[str, int]:
    """Number of nodes by reason; more than a few different taints are one reason."""
    taints = [status for status in nodes if status.plugin == taint_toleration.NAME]
    if len(taints) <= taint_toleration.MOST_NAMED:
        return {_text(status): count for status, count in nodes.items()}
    others = (status for status in nodes if status.plugin != taint_toleration.NAME)
    found = {_text(status): nodes[status] for status in others}
    return {**found, taint_toleration.REASON_UNNAMED: sum(nodes[status] for status in taints)}


def _without_post_filter(status: Status) -> str:
    found = status.diagnosis
    if isinstance(found, Diagnosis):
        return _of_nodes(found) + _kept(found)
    if isinstance(found, PodGroupDiagnosis):
        return _of_group(found)
    return _text(status) if status.cause is None else f"{_text(status)}: {message(status.cause)}"


def _text(status: Status) -> str:
    return status.text.format(*status.args) if status.args else status.text


def _of_nodes(found: Diagnosis, what_for: str = "") -> str:
    return sentence(found.nodes_total, found.nodes, pre_filter=found.pre_filter, what_for=what_for)


def _kept(found: Diagnosis) -> str:
    return _KEPT if found.room_is_kept else ""


def _of_group(found: PodGroupDiagnosis) -> str:
    to_come = f" and room for the {found.to_come} pods that come later" if found.to_come else ""
    beside = f" beside {found.scheduled} already scheduled" if found.scheduled else ""
    inside = f" inside one {found.topology_key} (best: {found.best_domain})" if found.topology_key else ""
    if found.wider_key:
        inside += f" and at most {found.wider_most} inside one {found.wider_key}"
    if found.slice_key:
        inside += f" in slices of {found.slice_size}, each inside one {found.slice_key}"
    reasons = _of_nodes(found.pod, " for the rest" if found.placed else "")
    return (
        f"minCount ({found.need - found.to_come}){to_come} cannot be satisfied: {found.placed} of {found.pending} pods "
        f"can be placed{beside}{inside}; {reasons}{_certainty(found)}{_kept(found.pod)}"
    )


def _certainty(found: PodGroupDiagnosis) -> str:
    if found.certainty is Certainty.PROVED:
        return _PROVED
    if not found.incomplete_reason:
        return ""
    within = f" within {found.search_steps} steps" if found.certainty is Certainty.NOT_FOUND else ""
    return f" A placement may exist that was not found{within}: {found.incomplete_reason}"
