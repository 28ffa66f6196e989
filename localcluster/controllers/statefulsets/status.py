"""What a StatefulSet's status says of its pods. Pure."""

import datetime
from collections.abc import Sequence

import msgspec

from localcluster.controllers.jobs.pods import Pod
from localcluster.controllers.statefulsets.model import ROLLING, StatefulSet, StatefulSetStatus, revision_of
from localcluster.controllers.statefulsets.plan import Revisions, is_available


def status_of(
    view: StatefulSet, pods: Sequence[Pod], revisions: Revisions, collisions: int, now: datetime.datetime
) -> StatefulSetStatus:
    """The status that these pods make; once all have the new revision and are ready, that is the current one."""
    staying = [pod for pod in pods if not pod.metadata.is_terminating]
    status = StatefulSetStatus(
        observed_generation=view.metadata.generation,
        replicas=len(pods),
        ready_replicas=sum(1 for pod in pods if pod.status.phase == "Running" and pod.is_ready),
        current_replicas=sum(1 for pod in staying if revision_of(pod) == revisions.current),
        updated_replicas=sum(1 for pod in staying if revision_of(pod) == revisions.update),
        current_revision=revisions.current,
        update_revision=revisions.update,
        collision_count=collisions,
        available_replicas=sum(1 for pod in pods if is_available(pod, view.spec.min_ready_seconds, now)),
    )
    wanted = view.spec.replicas
    counts = (status.updated_replicas, status.ready_replicas, status.replicas)
    if view.spec.update_strategy.type == ROLLING and counts == (wanted, wanted, wanted):
        return msgspec.structs.replace(status, current_replicas=wanted, current_revision=revisions.update)
    return status
