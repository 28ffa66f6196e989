"""When a pod's trouble is its whole group's: the restart policies. Pure.

A pod belongs to a group by the UIDs of its owners, never by name: a worker that is still going while its leader has been made
again already must not bring the new leader down.
"""

from collections.abc import Sequence

from api.constants import LWS_REVISION
from localcluster.controllers.jobs.pods import Pod
from localcluster.controllers.leaderworkersets.model import RECREATE, RECREATE_AFTER_START, LeaderWorkerSet
from localcluster.controllers.leaderworkersets.names import AFTER_START_ANNOTATION


def is_in_trouble(pod: Pod) -> bool:
    """Whether a pod is going, or one of its containers was started again."""
    if pod.metadata.is_terminating:
        return True
    containers = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    return pod.status.phase in {"Pending", "Running"} and any(each.restart_count > 0 for each in containers)


def failed_pod(
    view: LeaderWorkerSet, size: int, leader: Pod, present: Sequence[Pod], lost: Sequence[Pod]
) -> Pod | None:
    """The pod because of which the group is to be made again; None when it may stay.

    Args:
        view: the LeaderWorkerSet.
        size: pods of the group in its revision.
        leader: its leader.
        present: the leader and those workers that its own StatefulSet made.
        lost: workers of that StatefulSet that went since the last look.
    """
    template = view.spec.leader_worker_template
    if template.restart_policy not in {RECREATE, RECREATE_AFTER_START} or leader.metadata.is_terminating:
        return None
    waits = (
        template.restart_policy == RECREATE_AFTER_START or view.metadata.annotation(AFTER_START_ANNOTATION) is not None
    )
    if waits and (len(present) + len(lost) < size or any(pod.status.phase == "Pending" for pod in present)):
        return None
    revision = leader.metadata.label(LWS_REVISION)
    suspects = [*lost, *(pod for pod in present if is_in_trouble(pod))]
    return next((pod for pod in suspects if pod.metadata.label(LWS_REVISION) == revision), None)
