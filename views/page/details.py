"""One gang in detail, for whoever clicks on it. Pure."""

from typing import Any, Final

from api.podgroup import PodGroup
from api.topology import TopologyRequest
from views.model.branch import said_of_level
from views.model.levels import levels_above
from views.model.objects import Objects
from views.page.rows import milliseconds

MOST_PODS: Final = 500


def details_of(group: PodGroup, objects: Objects, *, can_explain: bool) -> dict[str, Any]:
    """Its conditions and pods, what it asks for, and the groups of groups that it is in."""
    members = sorted(objects.members_of(group), key=lambda pod: pod.metadata.name)
    return {
        "uid": group.metadata.uid,
        "topology": _topology(group.topology),
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
        "levels": [
            {
                "name": level.name,
                "state": str(level.state) if level.composite is not None else "",
                "said": said_of_level(level, objects),
                "since": milliseconds(level.since),
                "message": ": ".join(filter(None, (level.reason, level.message))),
            }
            for level in levels_above(group, objects)
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


def _topology(asked: TopologyRequest) -> str:
    parts = [f"inside one {level.key}" if level.is_required else f"in few {level.key}" for level in asked.levels]
    if asked.slice_size:
        parts.append(f"slices of {asked.slice_size} inside one {asked.slice_key}")
    return ", ".join(parts)
