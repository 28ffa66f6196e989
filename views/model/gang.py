"""What there is to say of one gang at one moment: its state, why, since when, how far its pods have got. Pure.

A state follows from what the pods do, not from the condition alone: `PodGroupInitiallyScheduled` stays True for good once the
gang has started, also when its pods have had to leave and wait again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from api.constants import (
    CONDITION_DISRUPTION_TARGET,
    CONDITION_POD_GROUP_SATISFIED,
    CONDITION_PREEMPTED_BY,
    CONDITION_SCHEDULED,
    CONDITION_TIMED_OUT,
    EVENT_PREEMPTING,
    JOBSET_JOB_INDEX,
    JOBSET_PART,
    LWS_GROUP_INDEX,
    LWS_NAME,
    REASON_INVALID,
    REASON_SCHEDULING_GATED,
    REASON_SCHEDULING_TIMEOUT,
    REASON_WAITING_FOR_MEMBERS,
    REASON_WAITING_FOR_POD_GROUP,
)
from api.meta import Condition, condition_of, controller_of
from api.podgroup import PodGroup
from views.model.records import FAILED as JOB_FAILED
from views.model.records import Member, Owner

Order = tuple[int, str, str]
"""Who is tried before whom: priority (the higher, the less), creation, UID."""

HOLDS: Final = frozenset(
    {REASON_INVALID, REASON_SCHEDULING_GATED, REASON_WAITING_FOR_MEMBERS, REASON_WAITING_FOR_POD_GROUP}
)
"""Reasons for which a gang is not tried at all."""


class State(StrEnum):
    """What a gang does."""

    SUSPENDED = "suspended"
    """Its Job is suspended and it has no pods."""
    HELD = "held"
    """It lacks something it must have before it is tried: members, its group, an open gate."""
    WAITING = "waiting"
    """It is in the queue."""
    GAVE_UP = "gave-up"
    """It has waited too long and is not tried any more."""
    STARTING = "starting"
    """It has its nodes, and fewer of its pods run than must start together."""
    RUNNING = "running"
    PREEMPTED = "preempted"
    """Its pods leave for somebody more important."""
    DONE = "done"
    FAILED = "failed"


IN_QUEUE: Final = frozenset({State.WAITING})
WITHOUT_NODES: Final = frozenset({State.HELD, State.WAITING, State.GAVE_UP})


@dataclass(frozen=True, slots=True)
class Counts:
    """The pods of a gang. `running` are those of `bound` that run; `bound` ones that ended are in `succeeded` or `failed`."""

    pending: int = 0
    bound: int = 0
    running: int = 0
    succeeded: int = 0
    failed: int = 0

    @property
    def started(self) -> int:
        """Those that count for the minimum: with a node, or done."""
        return self.bound + self.succeeded

    @property
    def all(self) -> int:
        """Those that exist and have not failed."""
        return self.pending + self.bound + self.succeeded


@dataclass(frozen=True, slots=True)
class Gang:
    """One gang, as a row.

    Attributes:
        namespace: where it is.
        group: name of its PodGroup.
        uid: of its PodGroup.
        owner: what it belongs to, as `job/NAME`, `lws/NAME` or `jobset/NAME`; `podgroup/NAME` when nobody made the group.
        replica: which replica of a LeaderWorkerSet, which replicated Job of a JobSet (or which Job of it) it is; empty for others.
        state: what it does.
        reason: why it does not run, one word; empty when it does.
        message: the same for people.
        created: RFC 3339.
        since: since when it waits, RFC 3339; empty when it does not.
        started: when it got its nodes for the first time, RFC 3339; empty before.
        priority: by which it is ordered.
        need: pods that must start together.
        counts: its pods.
        nodes: where they are, sorted.
        preempted_by: for whom it leaves, as `namespace/name`; empty when it does not or nothing says so.
        place: in the queue, from 1 on; 0 when it is not in it or that is not known.
        tree: the CompositePodGroup at the top of its tree, which is scheduled as one; empty when it is in none.
        tree_order: that of the tree in the queue; None when it is in none, or its root is not known.
    """

    namespace: str
    group: str
    uid: str
    owner: str
    state: State
    replica: str = ""
    reason: str = ""
    message: str = ""
    created: str = ""
    since: str = ""
    started: str = ""
    priority: int = 0
    need: int = 1
    counts: Counts = Counts()
    nodes: tuple[str, ...] = ()
    preempted_by: str = ""
    place: int = 0
    tree: str = ""
    tree_order: Order | None = None

    @property
    def title(self) -> str:
        """How people call it: its owner, and which replica."""
        return f"{self.owner}:{self.replica}" if self.replica else self.owner


def gang_of(group: PodGroup, members: Sequence[Member], owner: Owner | None) -> Gang:
    """The row of a group.

    Args:
        group: the PodGroup.
        members: the pods that name it.
        owner: its Job or LeaderWorkerSet; None when it has none or that cannot be read.
    """
    counts = counts_of(members)
    conditions = group.status.conditions or ()
    state = _state(group, members, counts, owner)
    reason, message = _why(state, conditions, members)
    asked = condition_of(conditions, CONDITION_PREEMPTED_BY)
    whom = asked.message.split("/")[:2] if asked is not None and asked.status == "True" else []
    return Gang(
        namespace=group.metadata.namespace,
        group=group.metadata.name,
        uid=group.metadata.uid,
        owner=owner_title(group),
        replica=part_of(group),
        state=state,
        reason=reason,
        message=message,
        created=group.metadata.creation_timestamp or "",
        since=_since(group, members) if state in WITHOUT_NODES else "",
        started=_started(conditions),
        priority=priority_of(group, members),
        need=group.need,
        counts=counts,
        nodes=tuple(sorted({pod.node for pod in members if pod.node and not pod.has_ended})),
        preempted_by="/".join(whom) if state is State.PREEMPTED else "",
    )


def counts_of(members: Iterable[Member]) -> Counts:
    """How far the pods have got; those that are being deleted before they had a node count for nothing."""
    pending = bound = running = succeeded = failed = 0
    for pod in members:
        if pod.phase == "Succeeded":
            succeeded += 1
        elif pod.phase == "Failed":
            failed += 1
        elif pod.node:
            bound += 1
            running += pod.phase == "Running"
        elif not pod.metadata.is_terminating:
            pending += 1
    return Counts(pending, bound, running, succeeded, failed)


def priority_of(group: PodGroup, members: Iterable[Member]) -> int:
    """By which it is ordered: its own; where it states none, the lowest of its pods (KEP-4671)."""
    if group.spec.priority is not None:
        return group.spec.priority
    return min((pod.priority for pod in members if not pod.has_ended), default=0)


def _state(group: PodGroup, members: Sequence[Member], counts: Counts, owner: Owner | None) -> State:
    conditions = group.status.conditions or ()
    if owner is not None and owner.outcome:
        return State.FAILED if owner.outcome == JOB_FAILED else State.DONE
    if counts.bound and (_is_true(conditions, CONDITION_DISRUPTION_TARGET) or any(p.is_preempted for p in members)):
        return State.PREEMPTED
    if not counts.pending and not counts.bound:
        return _state_without_pods(counts, owner)
    if counts.started < group.need and not counts.bound:
        return _state_in_front_of_the_nodes(conditions, members)
    return State.RUNNING if counts.running + counts.succeeded >= group.need else State.STARTING


def _state_without_pods(counts: Counts, owner: Owner | None) -> State:
    if owner is not None and owner.is_suspended:
        return State.SUSPENDED
    if counts.succeeded:
        return State.DONE
    return State.HELD


def _state_in_front_of_the_nodes(conditions: tuple[Condition, ...], members: Sequence[Member]) -> State:
    if _is_true(conditions, CONDITION_TIMED_OUT):
        return State.GAVE_UP
    scheduled = condition_of(conditions, CONDITION_SCHEDULED)
    if scheduled is not None and scheduled.status == "False" and scheduled.reason in HOLDS:
        return State.HELD
    return State.HELD if any(pod.is_gated for pod in members) else State.WAITING


def _why(state: State, conditions: tuple[Condition, ...], members: Sequence[Member]) -> tuple[str, str]:
    """The reason of the group's condition while that says something, else what its pods say."""
    satisfied = condition_of(conditions, CONDITION_POD_GROUP_SATISFIED)
    if state not in WITHOUT_NODES:
        is_degraded = satisfied is not None and satisfied.status == "False"
        return (satisfied.reason, satisfied.message) if satisfied is not None and is_degraded else ("", "")
    refused = condition_of(conditions, CONDITION_SCHEDULED)
    is_said = refused is not None and refused.status == "False"
    reason, message = (refused.reason, refused.message) if refused is not None and is_said else ("", "")
    if not is_said:
        reason, message = next(((pod.reason, pod.message) for pod in members if pod.reason and not pod.node), ("", ""))
    if state is State.GAVE_UP:
        reason = reason or REASON_SCHEDULING_TIMEOUT
    elif state is State.WAITING and any(pod.nominated and not pod.node for pod in members):
        reason = EVENT_PREEMPTING
    return reason, message


def _since(group: PodGroup, members: Sequence[Member]) -> str:
    """A gang that has run once waits since its pods were made again, any other since its group was made."""
    if _is_true(group.status.conditions or (), CONDITION_SCHEDULED):
        pending = [pod.metadata.creation_timestamp or "" for pod in members if not pod.node and not pod.has_ended]
        return min(pending, default=group.metadata.creation_timestamp or "")
    return group.metadata.creation_timestamp or ""


def _started(conditions: tuple[Condition, ...]) -> str:
    scheduled = condition_of(conditions, CONDITION_SCHEDULED)
    return (scheduled.last_transition_time or "") if scheduled is not None and scheduled.status == "True" else ""


def part_of(group: PodGroup) -> str:
    """Which part of its owner a group is, as `Gang.replica` says it."""
    part, index = group.metadata.label(JOBSET_PART), group.metadata.label(JOBSET_JOB_INDEX)
    if part:
        return f"{part}-{index}" if index else part
    return group.metadata.label(LWS_GROUP_INDEX) or ""


def owner_title(group: PodGroup) -> str:
    """What a group belongs to, as `Gang.owner` says it."""
    of_set = group.metadata.label(LWS_NAME)
    if of_set:
        return f"lws/{of_set}"
    owner = controller_of(group.metadata)
    if owner is None:
        return f"podgroup/{group.metadata.name}"
    return f"{owner.kind.lower()}/{owner.name}"


def _is_true(conditions: tuple[Condition, ...], condition_type: str) -> bool:
    found = condition_of(conditions, condition_type)
    return found is not None and found.status == "True"
