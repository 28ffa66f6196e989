"""The Workload of a LeaderWorkerSet and the PodGroup of each of its replicas, as manifests (LWS KEP-407).

A group belongs to the leader pod of its replica and to nobody else: scaling down, rolling out, restarting and deleting all end
with the leader, and garbage collection does the rest. The reference does not block the leader's deletion: LWS deletes leaders
in the foreground, and a group of the built-in API waits for its pods in turn.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from api.compile import metadata_of_ours, pod_group_manifest, template_for, workload_manifest
from api.constants import LWS_GROUP_INDEX, LWS_NAME, LWS_REVISION, MIN_RESOURCES
from api.gang import GroupIntent
from api.lws import LWS_GROUP, LWS_KIND, LWS_V1, LeaderWorkerSet
from api.meta import Metadata, OwnerReference
from api.names import workload_name
from api.podgroup import GangPolicy, SchedulingPolicy, TypedReference, Workload
from api.replica import TEMPLATE_NAME


@dataclass(frozen=True, slots=True)
class Replica:
    """One replica, as far as its group depends on it.

    Attributes:
        leader: the metadata of its leader pod.
        group_name: the PodGroup that the leader names.
        min_count: members that must start together.
        priority_class_name: that of its pods.
        min_resources: value of the annotation of that name, empty for none.
        said: further annotations that the group takes over from its LeaderWorkerSet.
    """

    leader: Metadata
    group_name: str
    min_count: int
    priority_class_name: str = ""
    min_resources: str = ""
    said: Mapping[str, str] = field(default_factory=dict)


def workload_for_set(lws: LeaderWorkerSet, intent: GroupIntent, *, api_version: str) -> dict[str, Any]:
    """The Workload of a LeaderWorkerSet, ready to be created; `api_version` is that of the group API in force."""
    metadata = lws.metadata
    owner = OwnerReference(
        api_version=LWS_V1,
        kind=LWS_KIND,
        name=metadata.name,
        uid=metadata.uid,
        controller=True,
        block_owner_deletion=True,
    )
    return workload_manifest(
        metadata=metadata_of_ours(metadata.namespace, workload_name(metadata.name, metadata.uid), owner),
        controller=TypedReference(api_group=LWS_GROUP, kind=LWS_KIND, name=metadata.name),
        template=template_for(intent, TEMPLATE_NAME),
        api_version=api_version,
    )


def pod_group_for_replica(replica: Replica, workload: Workload, *, api_version: str) -> dict[str, Any]:
    """The PodGroup of a replica, made from the one template of its Workload, ready to be created.

    What depends on the replica's revision comes from the replica: its minimum and its priority class.
    """
    template = workload.spec.pod_group_templates[0]
    policy = template.scheduling_policy
    if policy.gang is not None:
        policy = SchedulingPolicy(gang=GangPolicy(min_count=replica.min_count))
    own = msgspec.structs.replace(
        template, scheduling_policy=policy, priority_class_name=replica.priority_class_name, priority=None
    )
    leader = replica.leader
    owner = OwnerReference(api_version="v1", kind="Pod", name=leader.name, uid=leader.uid, controller=True)
    metadata = metadata_of_ours(leader.namespace, replica.group_name, owner, more=replica.said)
    labels = {key: leader.label(key) for key in (LWS_NAME, LWS_GROUP_INDEX, LWS_REVISION)}
    metadata["labels"] = {key: value for key, value in labels.items() if value}
    if replica.min_resources:
        metadata["annotations"][MIN_RESOURCES] = replica.min_resources
    return pod_group_manifest(workload, own, metadata, api_version=api_version)
