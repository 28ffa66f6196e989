"""What a LeaderWorkerSet's status says of its groups. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from api.constants import LEADER_INDEX, LWS_NAME, LWS_WORKER_INDEX
from api.meta import Condition
from localcluster.controllers.leaderworkersets.model import LeaderWorkerSet, LeaderWorkerSetStatus

AVAILABLE: Final = "Available"
PROGRESSING: Final = "Progressing"
UPDATING: Final = "UpdateInProgress"

_WORDS: Final = {
    AVAILABLE: ("AllGroupsReady", "All replicas are ready"),
    PROGRESSING: ("GroupsProgressing", "Replicas are progressing"),
    UPDATING: ("GroupsUpdating", "Rolling Upgrade is in progress"),
}
_EXCLUSIVE: Final = {AVAILABLE: {PROGRESSING, UPDATING}, PROGRESSING: {AVAILABLE}, UPDATING: {AVAILABLE}}


@dataclass(frozen=True, slots=True)
class Group:
    """One group as far as the status counts it.

    Attributes:
        index: its index; from `replicas` on it is a surge group.
        ready: its leader runs and is ready, and so are all of its workers.
        updated: its leader and its workers follow the newest revision.
        has_workers: its workers' StatefulSet is there, or it needs none.
    """

    index: int
    ready: bool
    updated: bool
    has_workers: bool = True


@dataclass(frozen=True, slots=True)
class StatusUpdate:
    """A status, the conditions that became True with it, and whether the newest revision is all there is."""

    status: LeaderWorkerSetStatus
    news: tuple[Condition, ...]
    is_done: bool


def status_update(view: LeaderWorkerSet, groups: Sequence[Group], *, leaders: int, now: str) -> StatusUpdate:
    """What to write and tell of a LeaderWorkerSet; `leaders` is how many its StatefulSet reports."""
    replicas, partition = view.spec.replicas, view.rolling.partition
    whole = [group for group in groups if group.has_workers]
    counted = [group for group in whole if group.index < replicas]
    moving = [group for group in counted if group.index >= partition]
    updated = sum(1 for group in moving if group.updated)
    done = sum(1 for group in moving if group.updated and group.ready)
    if updated < len(moving):
        types = [UPDATING, PROGRESSING]
    elif sum(1 for group in counted if group.ready) == replicas and done == len(moving):
        types = [AVAILABLE]
    else:
        types = [PROGRESSING]
    wanted = [_condition(each, view.metadata.generation, now) for each in types]
    conditions, news = _merged(view.status.conditions, wanted, now)
    status = LeaderWorkerSetStatus(
        conditions=conditions,
        hpa_pod_selector=view.status.hpa_pod_selector
        or f"{LWS_NAME}={view.metadata.name},{LWS_WORKER_INDEX}={LEADER_INDEX}",
        observed_generation=view.metadata.generation,
        ready_replicas=sum(1 for group in whole if group.ready),
        replicas=leaders,
        updated_replicas=sum(1 for group in whole if group.updated),
    )
    return StatusUpdate(status, news, is_done=partition == 0 and done == replicas)


def _condition(kind: str, generation: int, now: str) -> Condition:
    reason, message = _WORDS[kind]
    return Condition(
        type=kind,
        status="True",
        reason=reason,
        message=message,
        last_transition_time=now,
        observed_generation=generation,
    )


def _merged(
    before: Sequence[Condition], wanted: Sequence[Condition], now: str
) -> tuple[tuple[Condition, ...], tuple[Condition, ...]]:
    """The conditions after these hold, in the order in which they first came up, and those that are new."""
    after = {each.type: each for each in before}
    news: list[Condition] = []
    for condition in wanted:
        known = after.get(condition.type)
        if known is None or known.status != condition.status:
            after[condition.type] = condition
            news.append(condition)
        for other in _EXCLUSIVE[condition.type] & after.keys():
            if after[other].status == "True":
                after[other] = msgspec.structs.replace(after[other], status="False", last_transition_time=now)
    return tuple(after.values()), tuple(news)
