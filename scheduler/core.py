"""The parts of a scheduler that decide, without client, event loop or write: made here for the process and for replays.

They share one cluster and one clock, and whoever makes them brings both the events and the time.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from scheduler.algorithm.future_pods import ClusterWithFuturePods
from scheduler.cache.cluster import ClusterState
from scheduler.cache.records import StateChange
from scheduler.preemption.evaluator import Evaluator, PreemptionLimits
from scheduler.queue.item_errors import ItemErrors
from scheduler.queue.scheduling_queue import SchedulingQueue
from scheduler.queue.settings import QueueSettings
from scheduler.reservations.starvation import StarvationReservations
from scheduler.settings import SchedulerSettings

DECIDING: Final = frozenset(
    {
        "scheduler_name",
        "profiles",
        "initial_backoff_seconds",
        "max_backoff_seconds",
        "desired_wait_seconds",
        "set_aside_seconds",
        "reserve_after_seconds",
        "reserve_seconds",
        "decision_steps",
        "preemption",
        "victim_deadline_seconds",
        "eviction_pause_seconds",
        "max_eviction_pause_seconds",
        "keep_remainder_seconds",
        "assume_seconds",
    }
)
"""The settings that have a part in any decision; the others are about when and how things are written and said."""


@dataclass(frozen=True, slots=True)
class Core:
    """The parts that decide.

    Attributes:
        state: the cluster as it is.
        seen: the cluster to decide on: as it is, with pods to come.
        queue: which item is next.
        evaluator: who leaves for whom.
        starvation: what is reserved for groups that have waited too long.
        may_evict: whether anybody may be asked to leave.
    """

    state: ClusterState
    seen: ClusterWithFuturePods
    queue: SchedulingQueue
    evaluator: Evaluator
    starvation: StarvationReservations
    may_evict: bool


def build_core(
    settings: SchedulerSettings,
    *,
    clock: Callable[[], float],
    epoch: Callable[[], float],
    apply: Callable[[StateChange], None],
    errors: ItemErrors | None = None,
) -> Core:
    """The parts that decide, about an empty cluster.

    Args:
        settings: of the scheduler.
        clock: monotonic seconds.
        epoch: seconds since 1970.
        apply: takes what giving reserved room back changes.
        errors: where exceptions about single items are noted.
    """
    errors = errors if errors is not None else ItemErrors()
    state = _cluster_state(settings)
    seen = ClusterWithFuturePods(state)
    queue_settings = _queue_settings(settings)
    queue = SchedulingQueue(clock, queue_settings, epoch, errors)
    return Core(
        state=state,
        seen=seen,
        queue=queue,
        evaluator=Evaluator(seen.view, _preemption_limits(settings)),
        starvation=StarvationReservations(seen.view, queue, clock, queue_settings, apply=apply, errors=errors),
        may_evict=settings.preemption,
    )


def deciding_settings(settings: SchedulerSettings) -> dict[str, Any]:
    """The settings that have a part in any decision, as a settings file has them; defaults are left out."""
    found: Mapping[str, Any] = settings.model_dump(mode="json", include=set(DECIDING), exclude_defaults=True)
    return dict(found)


def _cluster_state(settings: SchedulerSettings) -> ClusterState:
    profiles = settings.profiles
    limits = {profile.scheduler_name: profile.limits.members for profile in profiles}
    state = ClusterState(
        settings.scheduler_names,
        {profile.scheduler_name: profile.scoring() for profile in profiles},
        {name: members for name, members in limits.items() if members is not None},
    )
    state.nodes.steps.most = settings.decision_steps
    return state


def _queue_settings(settings: SchedulerSettings) -> QueueSettings:
    return QueueSettings(
        initial_backoff_seconds=settings.initial_backoff_seconds,
        max_backoff_seconds=settings.max_backoff_seconds,
        desired_wait_seconds=settings.desired_wait_seconds,
        set_aside_seconds=settings.set_aside_seconds,
        reserve_after_seconds=settings.reserve_after_seconds,
        reserve_seconds=settings.reserve_seconds,
    )


def _preemption_limits(settings: SchedulerSettings) -> PreemptionLimits:
    return PreemptionLimits(
        victim_deadline_seconds=settings.victim_deadline_seconds,
        initial_pause_seconds=settings.eviction_pause_seconds,
        max_pause_seconds=settings.max_eviction_pause_seconds,
    )
