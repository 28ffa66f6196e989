"""What there is to see at one moment: gangs, ordinary Jobs, nodes. Pure: objects in, rows out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from api.constants import (
    CONDITION_DISRUPTION_TARGET,
    CONDITION_POD_SCHEDULED,
    CONDITION_SCHEDULED,
    GATE,
    JOBSET_NAME,
    LWS_NAME,
)
from api.errors import InvalidQuantity
from api.membership import group_name
from api.meta import condition_of, controller_of
from api.node import Node
from api.pod import Pod
from api.podgroup import PodGroup
from api.requests import CPU, effective_requests, parse_amount
from localcluster.controllers.jobs.model import Job

WAITS: Final = "waits"
RUNS: Final = "runs"
LEAVES: Final = "leaves"
DONE: Final = "done"
FAILED: Final = "failed"
GATHERS: Final = "gathers"


@dataclass(frozen=True, slots=True)
class Members:
    """How far the pods of one gang or Job have got."""

    pending: int = 0
    bound: int = 0
    succeeded: int = 0
    failed: int = 0

    @property
    def started(self) -> int:
        """Pods that have a node or had one."""
        return self.bound + self.succeeded + self.failed


@dataclass(frozen=True, slots=True)
class Row:
    """One gang or ordinary Job.

    `need` is how many pods must start together, 1 for a Job that is no gang; `running` are the UIDs of pods with a node.
    """

    name: str
    is_gang: bool
    need: int
    members: Members
    state: str
    reason: str = ""
    running: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One node: pods on it, and its cpu in thousandths of a core."""

    name: str
    pods: int
    used_milli: int
    total_milli: int


@dataclass(frozen=True, slots=True)
class Overview:
    """Everything at one moment."""

    rows: tuple[Row, ...] = ()
    nodes: tuple[NodeRow, ...] = ()

    def row(self, name: str) -> Row | None:
        """The row of that name (a gang goes by its Job's name), or None."""
        return next((row for row in self.rows if row.name == name), None)


def overview_of(
    groups: Iterable[PodGroup], jobs: Iterable[Job], pods: Sequence[Pod], nodes: Iterable[Node]
) -> Overview:
    """The rows: gangs and ordinary Jobs by age, nodes by name."""
    by_uid = {job.metadata.uid: job for job in jobs}
    shown: list[tuple[str, Row]] = []
    grouped: set[str] = set()
    owners: set[str] = set()
    for group in groups:
        owner = controller_of(group.metadata)
        owners |= {owner.uid} if owner is not None else set()
        job = by_uid.get(owner.uid) if owner is not None else None
        if job is not None:
            grouped.add(job.metadata.uid)
        shown.append((group.metadata.creation_timestamp or "", _gang_row(group, job, pods)))
    for uid, job in by_uid.items():
        parent = controller_of(job.metadata)
        if uid not in grouped and (parent is None or parent.uid not in owners):
            shown.append((job.metadata.creation_timestamp or "", _job_row(job, pods)))
    rows = tuple(row for _, row in sorted(shown, key=lambda each: (each[0], each[1].name)))
    return Overview(rows, tuple(sorted((_node_row(node, pods) for node in nodes), key=_by_number)))


def _gang_row(group: PodGroup, job: Job | None, pods: Sequence[Pod]) -> Row:
    mine = [
        pod
        for pod in pods
        if pod.metadata.namespace == group.metadata.namespace and group_name(pod) == group.metadata.name
    ]
    members = _members(mine)
    name = job.metadata.name if job is not None else _set_name(group) or group.metadata.name
    running = frozenset(pod.metadata.uid for pod in mine if pod.spec.node_name and not pod.is_terminal)
    state, reason = _ended(job) or _state(group, members, mine)
    return Row(name, group.is_gang, group.need, members, state, reason, running)


def _set_name(group: PodGroup) -> str:
    """The LeaderWorkerSet or JobSet that a group is a part of, "" for none."""
    return group.metadata.label(LWS_NAME) or group.metadata.label(JOBSET_NAME) or ""


def _state(group: PodGroup, members: Members, pods: Sequence[Pod]) -> tuple[str, str]:
    """Once it has started, its condition is True for good, and what it does is seen by its pods alone."""
    if members.bound and any(_is_asked_to_leave(pod) for pod in pods):
        return LEAVES, "for somebody more important"
    scheduled = condition_of(group.status.conditions or (), CONDITION_SCHEDULED)
    if scheduled is not None and scheduled.status == "True":
        if members.pending and not members.bound:
            return WAITS, _refusal(pods)
        return (DONE if members.started and not members.pending and not members.bound else RUNS), ""
    if scheduled is None or members.started >= group.need:
        return (RUNS if members.bound else GATHERS), ""
    return WAITS, scheduled.message


def _is_asked_to_leave(pod: Pod) -> bool:
    asked = condition_of(pod.status.conditions, CONDITION_DISRUPTION_TARGET)
    return asked is not None and asked.status == "True" and not pod.is_terminal


def _refusal(pods: Sequence[Pod]) -> str:
    said = (condition_of(pod.status.conditions, CONDITION_POD_SCHEDULED) for pod in pods if not pod.spec.node_name)
    return next((each.message for each in said if each is not None and each.message), "")


def _job_row(job: Job, pods: Sequence[Pod]) -> Row:
    uid = job.metadata.uid
    members = _members(pod for pod in pods if (owner := controller_of(pod.metadata)) and owner.uid == uid)
    ended = _ended(job)
    if ended is not None:
        return Row(job.metadata.name, False, 1, members, *ended)
    if job.is_suspended:
        state, reason = (
            (GATHERS, "held until its group is made") if job.metadata.annotation(GATE) else (WAITS, "suspended")
        )
        return Row(job.metadata.name, False, 1, members, state, reason)
    return Row(job.metadata.name, False, 1, members, RUNS if members.bound else GATHERS)


def _ended(job: Job | None) -> tuple[str, str] | None:
    if job is None or not job.is_finished:
        return None
    failed = job.status.condition("Failed")
    return (FAILED, failed.message) if failed is not None else (DONE, "")


def _members(pods: Iterable[Pod]) -> Members:
    counts = {"pending": 0, "bound": 0, "succeeded": 0, "failed": 0}
    for pod in pods:
        if pod.status.phase in {"Succeeded", "Failed"}:
            counts[pod.status.phase.lower()] += 1
        else:
            counts["bound" if pod.spec.node_name else "pending"] += 1
    return Members(**counts)


def _node_row(node: Node, pods: Sequence[Pod]) -> NodeRow:
    name = node.metadata.name
    here = [pod for pod in pods if pod.spec.node_name == name and not pod.is_terminal]
    return NodeRow(name, len(here), sum(_cpu(pod) for pod in here), _amount(node.status.allocatable.get(CPU, "0")))


def _cpu(pod: Pod) -> int:
    try:
        return effective_requests(pod.spec).get(CPU, 0)
    except InvalidQuantity:
        return 0


def _amount(text: str) -> int:
    try:
        return parse_amount(CPU, text)
    except InvalidQuantity:
        return 0


def _by_number(row: NodeRow) -> tuple[str, int]:
    stem, _, number = row.name.rpartition("-")
    return (stem, int(number)) if number.isdigit() else (row.name, -1)
