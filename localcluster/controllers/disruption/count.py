"""What a budget allows, from its pods. Pure.

As the stock controller counts (pkg/controller/disruption): healthy are pods that are ready, stay, and were not evicted a
moment ago; the bounds in percent, and `maxUnavailable`, refer to what the pods' controllers want to run.
"""

import datetime
import math
from collections.abc import Iterable, Sequence
from typing import Final

from api.meta import Condition, condition_of
from localcluster.apiserver.selectors import matches_labels
from localcluster.controllers.disruption.model import ALLOWED, Budget, BudgetStatus, Member
from localcluster.controllers.times import parse_time, render_time

EVICTION_SECONDS: Final = 120.0
"""An evicted pod that is still there after so long counts as one that stays."""


class Uncountable(Exception):
    """The budget refers to what its pods' controllers want, and one of them does not say it."""


def members(budget: Budget, pods: Iterable[Member]) -> list[Member]:
    """The pods of the budget's namespace that it selects."""
    selector = budget.spec.selector
    if selector is None:
        return []
    return [pod for pod in pods if matches_labels(selector, pod.metadata.labels or {})]


def needs_scales(budget: Budget) -> bool:
    """Whether the bound refers to what controllers want: everything but a number that must be there."""
    return not isinstance(budget.spec.min_available, int)


def counted(budget: Budget, pods: Sequence[Member], wanted: int, now: datetime.datetime) -> BudgetStatus:
    """The status of a budget.

    Args:
        budget: the budget.
        pods: its members.
        wanted: how many pods the members' controllers want, all together; of no account unless `needs_scales`.
        now: the time.
    """
    evicted = {
        name: stamp
        for name, stamp in (budget.status.disrupted_pods or {}).items()
        if _is_recent(stamp, now) and any(pod.metadata.name == name and not pod.metadata.is_terminating for pod in pods)
    }
    healthy = sum(
        1 for pod in pods if pod.is_ready and not pod.metadata.is_terminating and pod.metadata.name not in evicted
    )
    expected = wanted if needs_scales(budget) else len(pods)
    desired = _desired(budget, expected)
    allowed = max(healthy - desired, 0) if expected > 0 else 0
    reason = "SufficientPods" if allowed else "InsufficientPods"
    return BudgetStatus(
        conditions=_conditions(budget, is_allowed=bool(allowed), reason=reason, message="", now=now),
        current_healthy=healthy,
        desired_healthy=desired,
        disrupted_pods=evicted or None,
        disruptions_allowed=allowed,
        expected_pods=expected,
        observed_generation=budget.metadata.generation,
    )


def refused(budget: Budget, why: str, now: datetime.datetime) -> BudgetStatus:
    """The status of a budget that cannot be counted: nothing is allowed."""
    before = budget.status
    return BudgetStatus(
        conditions=_conditions(budget, is_allowed=False, reason="SyncFailed", message=why, now=now),
        current_healthy=before.current_healthy,
        desired_healthy=before.desired_healthy,
        disrupted_pods=before.disrupted_pods,
        disruptions_allowed=0,
        expected_pods=before.expected_pods,
        observed_generation=budget.metadata.generation,
    )


def _is_recent(stamp: str, now: datetime.datetime) -> bool:
    evicted_at = parse_time(stamp)
    return evicted_at is not None and (now - evicted_at).total_seconds() < EVICTION_SECONDS


def _desired(budget: Budget, expected: int) -> int:
    spec = budget.spec
    if spec.max_unavailable is not None:
        return max(expected - _share(spec.max_unavailable, expected), 0)
    return _share(spec.min_available, expected) if spec.min_available is not None else 0


def _share(bound: int | str, expected: int) -> int:
    """A bound as a number of pods; shares are rounded up."""
    if isinstance(bound, int):
        return bound
    return math.ceil(int(bound.removesuffix("%")) * expected / 100)


def _conditions(
    budget: Budget, *, is_allowed: bool, reason: str, message: str, now: datetime.datetime
) -> tuple[Condition, ...]:
    """The budget's conditions with a new word on the one that is ours; its time is that of the last change."""
    status = "True" if is_allowed else "False"
    before = condition_of(budget.status.conditions, ALLOWED)
    stamp = render_time(now)
    if before is not None and before.status == status and before.last_transition_time:
        stamp = before.last_transition_time
    new = Condition(ALLOWED, status, reason, message, stamp, budget.metadata.generation)
    others = [each for each in budget.status.conditions if each.type != ALLOWED]
    return (*others, new)
