"""How a pod names its group (KEP-4671).

A group is looked up in the pod's own namespace only. The API field of the built-in group API comes first, our annotation
second. Naming a group does not make a pod its member: a group that we made for an owner takes that owner's pods only, which
the scheduler checks by UID.
"""

from api.constants import MANAGED, POD_GROUP
from api.pod import Pod


def group_name(pod: Pod) -> str | None:
    """Name of the PodGroup that the pod names, None when it names none."""
    field = pod.spec.scheduling_group
    if field is not None and field.pod_group_name:
        return field.pod_group_name
    return pod.metadata.annotation(POD_GROUP) or None


def is_managed(pod: Pod) -> bool:
    """True for a pod that admission marked as part of a group, whether or not it names one yet."""
    return pod.metadata.label(MANAGED) is not None
