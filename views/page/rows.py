"""Gangs, nodes and evictions as the page gets them: short, with numbers instead of names and time stamps. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from api.requests import CPU, PODS
from views.model.gang import Gang
from views.model.records import Machine, Member

Row = dict[str, Any]

_FIRST_RESOURCES: Final = (CPU, "memory", PODS)
_NOT_SHOWN: Final = ("hugepages-", "attachable-volumes-", "ephemeral-storage")


def milliseconds(time: str) -> int:
    """Since 1970, of an RFC 3339 time; 0 for none."""
    try:
        return round(datetime.fromisoformat(time).timestamp() * 1000) if time else 0
    except ValueError:
        return 0


def gang_row(number: int, gang: Gang) -> Row:
    """One gang; `number` is what node rows call it."""
    counts = gang.counts
    return {
        "id": number,
        "uid": gang.uid,
        "ns": gang.namespace,
        "name": gang.title,
        "group": gang.group,
        "tree": gang.tree,
        "state": str(gang.state),
        "reason": gang.reason,
        "message": gang.message,
        "created": milliseconds(gang.created),
        "since": milliseconds(gang.since),
        "priority": gang.priority,
        "need": gang.need,
        "pods": [counts.pending, counts.bound, counts.running, counts.succeeded, counts.failed],
        "nodes": len(gang.nodes),
        "by": gang.preempted_by,
    }


def resources_of(machines: Iterable[Machine]) -> list[str]:
    """The resources that a node can be coloured by: cpu, memory, devices by name, pods."""
    found = {name for machine in machines for name in machine.allocatable if not name.startswith(_NOT_SHOWN)}
    devices = sorted(found - set(_FIRST_RESOURCES))
    return [name for name in (CPU, "memory", *devices, PODS) if name in found]


def node_row(
    machine: Machine, pods: Sequence[Member], resources: Sequence[str], numbers: Mapping[tuple[str, str], int]
) -> Row:
    """One node.

    Args:
        machine: the node.
        pods: those that hold room on it.
        resources: what `total` and `used` list, in this order.
        numbers: gangs by (namespace, PodGroup).
    """
    used: dict[str, int] = {}
    gangs: dict[int, int] = {}
    for pod in pods:
        for name, amount in pod.requests.items():
            used[name] = used.get(name, 0) + amount
        number = numbers.get((pod.metadata.namespace, pod.group), 0)
        gangs[number] = gangs.get(number, 0) + 1
    return {
        "name": machine.metadata.name,
        "total": [machine.allocatable.get(name, 0) for name in resources],
        "used": [used.get(name, 0) for name in resources],
        "gangs": sorted(([number, count] for number, count in gangs.items()), key=lambda pair: (-pair[1], pair[0])),
        "closed": machine.is_unschedulable,
    }
