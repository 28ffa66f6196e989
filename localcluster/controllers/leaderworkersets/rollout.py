"""How far a rollout may go now: how many leaders there should be, and from which index on they follow the new revision.

Pure. Groups are replaced from the highest index down. A group counts as done when its leader and its workers follow the new
revision and are ready. Surge groups have the indexes from `replicas` on; they are made first, and given up again as soon
as so few of the others are left that what may be unavailable covers them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from localcluster.controllers.leaderworkersets.model import LeaderWorkerSet
from localcluster.controllers.statefulsets.plan import scaled


@dataclass(frozen=True, slots=True)
class GroupState:
    """What is known of one group; one that is not there is neither."""

    ready: bool = False
    updated: bool = False

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do about it."""
        return self.ready and self.updated


@dataclass(frozen=True, slots=True)
class Leaders:
    """The StatefulSet of the leaders as it is: its replicas and partition, and how many groups were wanted then."""

    replicas: int
    partition: int
    wanted: int


@dataclass(frozen=True, slots=True)
class Target:
    """What the StatefulSet of the leaders should say."""

    partition: int
    replicas: int


def most_unavailable(view: LeaderWorkerSet) -> int:
    """How many leaders may be missing during an update; at least one."""
    rolling, replicas = view.rolling, view.spec.replicas
    unavailable = scaled(rolling.max_unavailable, replicas, round_up=False)
    return max(1, unavailable + scaled(rolling.max_surge, replicas, round_up=True))


def next_target(
    view: LeaderWorkerSet, leaders: Leaders | None, states: Sequence[GroupState], *, is_new_revision: bool
) -> Target:
    """Where the rollout goes from here; `states` has one entry for each replica of `leaders`."""
    target = _unlimited(view, leaders, states, is_new_revision=is_new_revision)
    return Target(max(target.partition, view.rolling.partition), target.replicas)


def _unlimited(
    view: LeaderWorkerSet, leaders: Leaders | None, states: Sequence[GroupState], *, is_new_revision: bool
) -> Target:
    replicas = view.spec.replicas
    if leaders is None:
        return Target(0, replicas)
    surge = min(scaled(view.rolling.max_surge, replicas, round_up=True), replicas)
    if is_new_revision:
        return Target(min(replicas, leaders.replicas), _with_surge(replicas, surge, unready=replicas))
    if leaders.partition == 0 and leaders.replicas == replicas:
        return Target(0, replicas)
    unready = sum(1 for index in range(replicas) if index >= len(states) or not states[index].is_done)
    wanted = _with_surge(replicas, surge, unready=unready)
    if leaders.wanted != replicas:
        return Target(min(leaders.partition, replicas + surge), wanted)
    step = scaled(view.rolling.max_unavailable, replicas, round_up=False) + leaders.replicas - replicas
    return Target(min(_partition(states, step), leaders.partition), wanted)


def _with_surge(replicas: int, surge: int, *, unready: int) -> int:
    """All surge groups while more are unready than those stand in for; then one less than the unready ones."""
    return replicas + (max(0, unready - 1) if unready <= surge else surge)


def _partition(states: Sequence[GroupState], step: int) -> int:
    """The lowest partition that keeps no more than `step` groups unavailable.

    Groups that are unready anyway, or done already, may be inside it at no cost: a rollout of groups of which none is ready
    would otherwise never begin.
    """
    done = 0
    while done < len(states) and states[len(states) - 1 - done].is_done:
        done += 1
    lowest = max(0, len(states) - done - step)
    partition = lowest + sum(1 for state in states[:lowest] if not state.ready)
    for index in range(min(partition, len(states) - 1), lowest - 1, -1):
        if states[index].ready and not states[index].updated:
            break
        partition = index
    return partition
