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
from api.compositepodgroup import (
    COMPOSITE_KIND,
    CompositeGangPolicy,
    CompositePodGroupSpec,
    CompositeSchedulingPolicy,
)
from api.constants import LWS_GROUP_INDEX, LWS_NAME, LWS_REVISION, MIN_RESOURCES, PARENT_COMPOSITE
from api.gang import GroupIntent
from api.lws import LWS_GROUP, LWS_KIND, LWS_V1, LeaderWorkerSet
from api.meta import Metadata, OwnerReference, controlled_by
from api.names import composite_name, workload_name
from api.podgroup import GangPolicy, SchedulingPolicy, TypedReference, Workload, WorkloadReference
from api.replica import SET_TEMPLATE_NAME, TEMPLATE_NAME
from api.waiting import carried_by_tree


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
        parent: the CompositePodGroup over all replicas, empty when each starts by itself.
    """

    leader: Metadata
    group_name: str
    min_count: int
    priority_class_name: str = ""
    min_resources: str = ""
    said: Mapping[str, str] = field(default_factory=dict)
    parent: str = ""


def workload_for_set(lws: LeaderWorkerSet, intent: GroupIntent, *, api_version: str) -> dict[str, Any]:
    """The Workload of a LeaderWorkerSet, ready to be created; `api_version` is that of the group API in force."""
    metadata = lws.metadata
    return workload_manifest(
        metadata=metadata_of_ours(metadata.namespace, workload_name(metadata.name, metadata.uid), _set_owner(metadata)),
        controller=TypedReference(api_group=LWS_GROUP, kind=LWS_KIND, name=metadata.name),
        template=template_for(intent, TEMPLATE_NAME),
        api_version=api_version,
    )


def _set_owner(metadata: Metadata) -> OwnerReference:
    return controlled_by(LWS_V1, LWS_KIND, metadata)


def composite_for_set(lws: LeaderWorkerSet, intent: GroupIntent, workload: str, *, api_version: str) -> dict[str, Any]:
    """The CompositePodGroup over all replicas of a LeaderWorkerSet, ready to be created.

    Args:
        lws: the set.
        intent: what its replicas are.
        workload: name of its Workload.
        api_version: where CompositePodGroups are kept.
    """
    metadata = lws.metadata
    spec = CompositePodGroupSpec(
        scheduling_policy=CompositeSchedulingPolicy(gang=CompositeGangPolicy(min_group_count=max(lws.replicas, 1))),
        workload_ref=WorkloadReference(workload_name=workload, template_name=SET_TEMPLATE_NAME),
        priority_class_name=intent.priority_class_name,
    )
    return {
        "apiVersion": api_version,
        "kind": COMPOSITE_KIND,
        "metadata": metadata_of_ours(
            metadata.namespace,
            composite_name(metadata.name, metadata.uid),
            _set_owner(metadata),
            more=carried_by_tree(metadata),
        ),
        "spec": msgspec.to_builtins(spec),
    }


def pod_group_for_replica(
    replica: Replica, workload: Workload, *, api_version: str, names_parent_in_field: bool = True
) -> dict[str, Any]:
    """The PodGroup of a replica, made from the one template of its Workload, ready to be created.

    `names_parent_in_field` is false where the server drops the field that names the parent; then an annotation does.

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
    if replica.parent and not names_parent_in_field:
        metadata["annotations"][PARENT_COMPOSITE] = replica.parent
    manifest = pod_group_manifest(workload, own, metadata, api_version=api_version)
    if replica.parent and names_parent_in_field:
        manifest["spec"]["parentCompositePodGroupName"] = replica.parent
    return manifest
