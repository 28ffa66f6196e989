"""How long a Job waits before it replaces failed pods: 10 s after the first failure in a row, doubled by each further one.

Pure. The count starts again with every success that is later than the failures.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from api.backoff import exponential_backoff
from localcluster.controllers.jobs.pods import ContainerStatus, Pod
from localcluster.controllers.times import parse_time

BASE_SECONDS: Final = 10.0
MAX_SECONDS: Final = 600.0

_EPOCH: Final = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


@dataclass(frozen=True, slots=True)
class Failures:
    """Failures since the last success, and when the last of them was."""

    count: int = 0
    last: datetime.datetime | None = None

    def after(self, succeeded: Sequence[Pod], failed: Sequence[Pod]) -> "Failures":
        """The record once these newly ended pods are taken in."""
        ends = sorted(finished_at(pod) for pod in failed)
        if not succeeded:
            return Failures(self.count + len(ends), ends[-1]) if ends else self
        success = max(finished_at(pod) for pod in succeeded)
        later = [end for end in ends if end > success]
        return Failures(len(later), later[-1] if later else None)

    def wait_seconds(self, now: datetime.datetime, *, base_seconds: float = BASE_SECONDS) -> float:
        """How long pods may not be made yet; 0 when they may."""
        if self.count == 0 or self.last is None:
            return 0.0
        pause = exponential_backoff(self.count, base_seconds=base_seconds, max_seconds=MAX_SECONDS)
        return max(0.0, pause - (now - self.last).total_seconds())


def finished_at(pod: Pod) -> datetime.datetime:
    """When the pod ended, by the best source there is: its containers, its readiness, its deletion, its creation."""
    ended = _containers_finished(pod) or _unready_since(pod) or _deleted_at(pod)
    return ended or parse_time(pod.metadata.creation_timestamp) or _EPOCH


def _containers_finished(pod: Pod) -> datetime.datetime | None:
    sidecars = {each.name for each in pod.spec.init_containers if each.restart_policy == "Always"}
    counted = [*pod.status.container_statuses]
    counted += [each for each in pod.status.init_container_statuses if each.name in sidecars]
    ends = [_container_finished(each) for each in counted]
    known = [end for end in ends if end is not None]
    return max(known) if known and len(known) == len(ends) else None


def _container_finished(container: ContainerStatus) -> datetime.datetime | None:
    ended = container.state.terminated
    return None if ended is None else parse_time(ended.finished_at)


def _unready_since(pod: Pod) -> datetime.datetime | None:
    for condition in pod.status.conditions:
        if condition.type == "Ready" and condition.status == "False":
            return parse_time(condition.last_transition_time)
    return None


def _deleted_at(pod: Pod) -> datetime.datetime | None:
    moment = parse_time(pod.metadata.deletion_timestamp)
    grace = datetime.timedelta(seconds=pod.metadata.deletion_grace_period_seconds or 0)
    return None if moment is None else moment - grace
