"""Which pods a StatefulSet should get or lose now.

Pure. Ordered sets take one step at a time and wait for it; parallel ones take all at once. Filling gaps and scaling down
come before updates, and an update never makes more pods unavailable than it may; a pod that is unavailable already and
of an old template costs a parallel set nothing, so it goes at once.
"""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import floor
from typing import Final

from localcluster.controllers.jobs.pods import Pod
from localcluster.controllers.statefulsets.model import ROLLING, StatefulSet, ordinal_of, revision_of
from localcluster.controllers.times import parse_time

_ENDED: Final = frozenset({"Failed", "Succeeded"})


@dataclass(frozen=True, slots=True)
class Revisions:
    """Names of two revisions: the one that pods below the partition have, and the one of the template as it is now."""

    current: str
    update: str


@dataclass(frozen=True, slots=True)
class NewPod:
    """A pod to make: its ordinal and the name of its revision."""

    ordinal: int
    revision: str


@dataclass(slots=True)
class Plan:
    """What to do about a set's pods; `ended` are those of `delete` that have ended and are to be made anew."""

    create: list[NewPod] = field(default_factory=list)
    delete: list[Pod] = field(default_factory=list)
    ended: list[Pod] = field(default_factory=list)


def plan_pods(view: StatefulSet, pods: Sequence[Pod], revisions: Revisions, now: datetime.datetime) -> Plan:
    """What to do now about the pods of a set; all of them must be its own."""
    if view.metadata.is_terminating:
        return Plan()
    plan = Plan()
    numbered = {ordinal: pod for pod in pods if (ordinal := ordinal_of(pod, view.metadata.name)) is not None}
    done = _fill(view, numbered, revisions, plan, now) and _shrink(view, numbered, plan, now)
    if done and view.spec.update_strategy.type == ROLLING:
        _update(view, numbered, revisions.update, plan, now)
    return plan


def is_available(pod: Pod, min_ready_seconds: int, now: datetime.datetime) -> bool:
    """Whether a pod runs, is ready, and has been for long enough."""
    if pod.status.phase != "Running" or not pod.is_ready:
        return False
    if min_ready_seconds <= 0:
        return True
    since = next((each.last_transition_time for each in pod.status.conditions if each.type == "Ready"), None)
    moment = parse_time(since)
    return moment is not None and (now - moment).total_seconds() >= min_ready_seconds


def most_unavailable(view: StatefulSet) -> int:
    """How many pods may be unavailable because of an update; at least one."""
    limit = view.spec.update_strategy.rolling_update.max_unavailable
    return max(1, scaled(limit, view.spec.replicas, round_up=False))


def scaled(value: int | str, total: int, *, round_up: bool) -> int:
    """A number, or a percentage of the total."""
    if isinstance(value, int):
        return value
    exact = int(value.removesuffix("%") or 0) * total
    return -floor(-exact / 100) if round_up else floor(exact / 100)


def _fill(
    view: StatefulSet, numbered: Mapping[int, Pod], revisions: Revisions, plan: Plan, now: datetime.datetime
) -> bool:
    """Makes what is missing; whether an ordered set may go on."""
    for ordinal in view.ordinals:
        pod = numbered.get(ordinal)
        waits = False
        if pod is None:
            plan.create.append(NewPod(ordinal, revision_for(view, ordinal, revisions)))
            waits = True
        elif pod.status.phase in _ENDED:
            if not pod.metadata.is_terminating:
                plan.delete.append(pod)
                plan.ended.append(pod)
            waits = True
        elif pod.metadata.is_terminating or not is_available(pod, view.spec.min_ready_seconds, now):
            waits = True
        if waits and not view.is_parallel:
            return False
    return True


def revision_for(view: StatefulSet, ordinal: int, revisions: Revisions) -> str:
    """Name of the revision that a new pod with that ordinal is made from."""
    strategy = view.spec.update_strategy
    first = view.spec.ordinals.start + strategy.rolling_update.partition
    return revisions.current if strategy.type == ROLLING and ordinal < first else revisions.update


def _shrink(view: StatefulSet, numbered: Mapping[int, Pod], plan: Plan, now: datetime.datetime) -> bool:
    """Deletes what is too much, highest first; whether an ordered set may go on."""
    wanted = view.ordinals
    unfit = [ordinal for ordinal in sorted(numbered) if not _is_healthy(numbered[ordinal])]
    for ordinal in sorted(numbered, reverse=True):
        pod = numbered[ordinal]
        if ordinal in wanted:
            continue
        if not pod.metadata.is_terminating:
            is_fit = is_available(pod, view.spec.min_ready_seconds, now) or ordinal == min(unfit, default=ordinal)
            if not view.is_parallel and not is_fit:
                return False
            plan.delete.append(pod)
        if not view.is_parallel:
            return False
    return True


def _is_healthy(pod: Pod) -> bool:
    return pod.status.phase == "Running" and pod.is_ready and not pod.metadata.is_terminating


def _update(view: StatefulSet, numbered: Mapping[int, Pod], update: str, plan: Plan, now: datetime.datetime) -> None:
    """Deletes pods of old revisions, highest first, as many as may be unavailable at a time."""

    def serves(pod: Pod | None) -> bool:
        return (
            pod is not None and not pod.metadata.is_terminating and is_available(pod, view.spec.min_ready_seconds, now)
        )

    going = {pod.metadata.uid for pod in plan.delete}
    room = most_unavailable(view) - sum(1 for ordinal in view.ordinals if not serves(numbered.get(ordinal)))
    first = view.spec.ordinals.start + view.spec.update_strategy.rolling_update.partition
    for ordinal in reversed(view.ordinals):
        pod = numbered.get(ordinal)
        if ordinal < first or pod is None or pod.metadata.is_terminating or pod.metadata.uid in going:
            continue
        if revision_of(pod) == update:
            continue
        if view.is_parallel and not serves(pod):
            plan.delete.append(pod)
        elif room > 0:
            plan.delete.append(pod)
            room -= 1
