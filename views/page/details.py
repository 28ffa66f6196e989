"""One gang in detail, for whoever clicks on it. Pure."""

from typing import Any, Final

from api.podgroup import PodGroup
from views.model.objects import Objects
from views.page.rows import milliseconds

MOST_PODS: Final = 500


def details_of(group: PodGroup, objects: Objects, *, can_explain: bool) -> dict[str, Any]:
    """Its conditions and pods, and what it asks for."""
    members = sorted(objects.members_of(group), key=lambda pod: pod.metadata.name)
    return {
        "uid": group.metadata.uid,
        "topology": group.topology_key or "",
        "whole": group.is_disrupted_whole,
        "conditions": [
            {
                "type": each.type,
                "status": each.status,
                "reason": each.reason,
                "message": each.message,
                "at": milliseconds(each.last_transition_time or ""),
            }
            for each in group.status.conditions or ()
        ],
        "pods": [
            {
                "name": pod.metadata.name,
                "phase": pod.phase,
                "node": pod.node,
                "nominated": pod.nominated,
                "leaves": pod.is_preempted,
                "reason": pod.reason,
            }
            for pod in members[:MOST_PODS]
        ],
        "more": max(len(members) - MOST_PODS, 0),
        "explains": can_explain,
    }
