"""How a pod names its group, and when that claim counts.

A group is looked up in the pod's own namespace only. The API field of the built-in group API comes first, our annotation
second. A group that we made for an owner takes only pods of that owner, by UID: otherwise anybody who may create pods could
join somebody else's gang and be counted as its quorum. The owner of a LeaderWorkerSet replica's group is its leader pod, which
is a member itself and controls the StatefulSet that controls the others.
"""

from api.constants import MANAGED, MANAGED_BY, MANAGED_BY_TUTTI, POD_GROUP
from api.meta import Metadata, controller_of
from api.pod import Pod


def group_name(pod: Pod) -> str | None:
    """Name of the PodGroup the pod claims, None when it claims none."""
    field = pod.spec.scheduling_group
    if field is not None and field.pod_group_name:
        return field.pod_group_name
    return pod.metadata.annotation(POD_GROUP) or None


def is_managed(pod: Pod) -> bool:
    """True for a pod that admission marked as part of a group, whether or not it names one yet."""
    return pod.metadata.label(MANAGED) is not None


def may_join(pod: Metadata, group: Metadata, *, above_uid: str = "") -> bool:
    """Whether a pod that names a group counts as its member.

    A group that is not ours (made by hand, or by the Job controller of the cluster) takes every pod that names it.

    Args:
        pod: the pod's metadata.
        group: the group's metadata.
        above_uid: UID of the controller of the pod's controller, where it has one.
    """
    if group.annotation(MANAGED_BY) != MANAGED_BY_TUTTI:
        return True
    group_owner, pod_owner = controller_of(group), controller_of(pod)
    if group_owner is None:
        return True
    if pod_owner is None:
        return pod.uid == group_owner.uid
    return group_owner.uid in {pod.uid, pod_owner.uid, above_uid}
