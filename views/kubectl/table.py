"""Gangs as text: the table of `kubectl gang list`, the tree of `kubectl gang tree`, and both for programs. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from kube.client.resources import Resource
from views.kubectl.ages import age
from views.model.branch import Branch
from views.model.gang import Gang

LIST_API_VERSION: Final = "views.tutti.scheduler/v1"
_SHOWN_NODES: Final = 3
_GAP: Final = "   "


def headings(*, with_namespace: bool, is_wide: bool) -> list[str]:
    """The titles of the columns."""
    found = ["NAMESPACE"] if with_namespace else []
    found += ["GANG", "STATE", "WAITING", "PLACE", "REASON", "PODS", "NODES", "AGE"]
    return [*found, "PRIORITY", "PODGROUP", "TREE", "ON", "MESSAGE"] if is_wide else found


def cells(gang: Gang, now: datetime, *, with_namespace: bool, is_wide: bool) -> list[str]:
    """The row of a gang."""
    counts = gang.counts
    found = [gang.namespace] if with_namespace else []
    found += [
        gang.title,
        str(gang.state),
        age(gang.since, now),
        str(gang.place) if gang.place else "-",
        gang.reason or (f"for {gang.preempted_by}" if gang.preempted_by else "-"),
        f"{counts.started}/{gang.need}/{counts.all}",
        str(len(gang.nodes)) if gang.nodes else "-",
        age(gang.created, now),
    ]
    if is_wide:
        found += [str(gang.priority), gang.group, gang.tree or "-", _some(gang.nodes), gang.message or "-"]
    return found


def table(
    gangs: Sequence[Gang], now: datetime, *, with_namespace: bool, is_wide: bool, has_heading: bool = True
) -> str:
    """All of them, one line each."""
    rows = [headings(with_namespace=with_namespace, is_wide=is_wide)] if has_heading else []
    rows += [cells(gang, now, with_namespace=with_namespace, is_wide=is_wide) for gang in gangs]
    return "\n".join(aligned(rows))


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines with their columns below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [_GAP.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def names(gangs: Sequence[Gang], pod_groups: Resource) -> str:
    """As `kubectl get -o name`: what other commands of kubectl take."""
    return "\n".join(f"{pod_groups.kind.lower()}.{pod_groups.group}/{gang.group}" for gang in gangs)


def document(gangs: Sequence[Gang]) -> dict[str, Any]:
    """The list for programs; docs/kubectl-gang.md has the schema."""
    return {"apiVersion": LIST_API_VERSION, "kind": "GangList", "items": [as_json(gang) for gang in gangs]}


def as_json(gang: Gang) -> dict[str, Any]:
    """One gang for programs: empty and unknown fields are left out."""
    counts = {**asdict(gang.counts), "started": gang.counts.started, "all": gang.counts.all}
    found = {
        "namespace": gang.namespace,
        "podGroup": gang.group,
        "compositePodGroup": gang.tree,
        "uid": gang.uid,
        "owner": gang.owner,
        "replica": gang.replica,
        "state": str(gang.state),
        "reason": gang.reason,
        "message": gang.message,
        "created": gang.created,
        "waitingSince": gang.since,
        "place": gang.place,
        "preemptedBy": gang.preempted_by,
        "nodes": list(gang.nodes),
    }
    always = {"priority": gang.priority, "minCount": gang.need, "pods": counts}
    return {key: value for key, value in found.items() if value} | always


def tree(branch: Branch, now: datetime) -> str:
    """The tree, one object a line."""
    return "\n".join([_line(branch, now), *_below(branch, "", now)])


def _below(branch: Branch, indent: str, now: datetime) -> Iterator[str]:
    for child in branch.children:
        is_last = child is branch.children[-1]
        yield f"{indent}{'└─ ' if is_last else '├─ '}{_line(child, now)}"
        yield from _below(child, indent + ("   " if is_last else "│  "), now)


def _line(branch: Branch, now: datetime) -> str:
    state = f"{branch.state} for {age(branch.since, now)}" if branch.since else branch.state
    remark = ", ".join(filter(None, (state, branch.said)))
    return f"{branch.title}  {remark}" if remark else branch.title


def _some(nodes: Sequence[str]) -> str:
    if not nodes:
        return "-"
    more = f" and {len(nodes) - _SHOWN_NODES} more" if len(nodes) > _SHOWN_NODES else ""
    return ",".join(nodes[:_SHOWN_NODES]) + more
