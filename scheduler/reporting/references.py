"""Object references for events: what the user owns comes first, what it is about second."""

from api.podgroup import POD_GROUP_KIND
from kube.client.events import ObjectReference
from kube.client.resources import Resource
from scheduler.state.records import GroupRecord, Owner, PodRecord


def pod_reference(pod: PodRecord) -> ObjectReference:
    """The pod itself."""
    return ObjectReference("v1", "Pod", pod.namespace, pod.name, pod.uid)


def group_reference(group: GroupRecord, pod_groups: Resource) -> ObjectReference:
    """The PodGroup, in the group API in force."""
    return ObjectReference(pod_groups.api_version, POD_GROUP_KIND, group.namespace, group.name, group.uid)


def owner_reference(owner: Owner, namespace: str) -> ObjectReference | None:
    """The controller of an object (a Job, say), None when it has none."""
    if not owner.uid:
        return None
    return ObjectReference(owner.api_version, owner.kind, namespace, owner.name, owner.uid)
