"""Carries out a plan for a LeaderWorkerSet: one small function per kind of step, in order, stopping at the first that fails.

What the steps rely on is as for Jobs: every write names the UID of what it changes or makes, events follow the write they tell
about, and the client asks for the lease right before each write. Groups of different replicas are created side by side.
"""

from dataclasses import dataclass, field, replace

import msgspec

from api.compile_replica import Replica, composite_for_set, pod_group_for_replica
from api.compositepodgroup import CompositePodGroup
from api.constants import EVENT_INVALID_GANG_SETTINGS, LWS_GROUP_INDEX, MIN_RESOURCES
from api.gang import GroupIntent
from api.lws import LeaderWorkerSet
from api.owner_topology import said_of_topology
from api.podgroup import PodGroup, Workload
from api.replica import group_index, group_to_come
from controllers.gangs.common_steps import CreateWorkload, SetWorkloadMinimum, ShowKindMissing, Warn
from controllers.gangs.group_object_writer import GroupObjectWriter
from controllers.gangs.kind_missing_condition import show_kind_missing
from controllers.gangs.kueue_topologies import kueue_levels
from controllers.gangs.patches import group_minimum_patch, pod_association_patch
from controllers.gangs.schedulers import provider_of_pods
from controllers.gangs.tools import Tools
from controllers.gangs.writes import (
    Creation,
    Outdated,
    all_of,
    create,
    create_or_find,
    patch,
    read_owner,
    set_workload_minimum,
)
from controllers.leaderworkersets.observed import ReplicaPod
from controllers.leaderworkersets.steps import (
    AnnotateReplicaPods,
    ApplyReplicaGroupObjects,
    ConfirmSet,
    CreateComposite,
    CreateGroups,
    LowerMinimumToLeader,
    SetCompositeMinimum,
    SetPlan,
)
from controllers.mutation_cache import MutationCache
from kube.client.errors import Invalid
from kube.client.resources import LEADER_WORKER_SETS, PODS, Resource
from kube.groups.composites import has_parent_field


@dataclass(frozen=True)
class SetTools(Tools[LeaderWorkerSet]):
    """What reads and writes need; one value for as long as LeaderWorkerSets are watched.

    Attributes:
        leaders: all leader pods, our own recent writes included.
        composites: where CompositePodGroups are kept; None where the server has none.
    """

    leaders: MutationCache[ReplicaPod] = field(kw_only=True)
    composites: Resource | None = field(kw_only=True, default=None)


async def execute(plan: SetPlan, lws: LeaderWorkerSet, tools: SetTools) -> None:
    """Take the steps of the plan.

    Raises:
        OwnerGone: the set is not there any more.
        Outdated: the server refused a write because something has changed meanwhile.
        KindMissing: the cluster does not know the kind of group of a replica's scheduler.
        NameTaken: somebody else's object holds the name of ours.
        KubeError: anything else went wrong, or the lease is gone; the rest of the plan was not done.
    """
    made: Workload | None = None
    for step in plan.steps:
        match step:
            case ConfirmSet():
                lws = await _confirm(lws, tools)
            case CreateWorkload():
                whose = f"LeaderWorkerSet {lws.metadata.name}"
                resource = tools.group_api.workloads
                creation = Creation(resource, step.manifest, Workload, owner=lws, subject=lws, whose=whose)
                made = await create(creation, tools, tools.workloads)
            case CreateComposite():
                name = step.workload or (made.metadata.name if made is not None else "")
                await make_composite(lws, step.intent, name, tools)
            case SetCompositeMinimum():
                await set_composite_minimum(step, lws, tools)
            case CreateGroups():
                workload = step.workload or made
                if workload is None:
                    raise Outdated("the Workload of this pass was not made")
                said = said_of_topology(lws, await kueue_levels(tools.client, lws))
                replicas = [replace(each, said={**each.said, **said}) for each in step.replicas]
                await all_of(_create_group(each, workload, lws, tools) for each in replicas)
            case AnnotateReplicaPods():
                await all_of(_associate(pod, name, tools) for pod, name in step.pods)
            case _:
                await _execute_other(step, lws, tools)


async def _execute_other(
    step: SetWorkloadMinimum | LowerMinimumToLeader | ApplyReplicaGroupObjects | ShowKindMissing | Warn,
    lws: LeaderWorkerSet,
    tools: SetTools,
) -> None:
    match step:
        case SetWorkloadMinimum():
            await set_workload_minimum(step, tools)
        case LowerMinimumToLeader():
            await _lower_minimum_to_leader(step, tools)
        case ApplyReplicaGroupObjects():
            await _apply_group_objects(step, lws, tools)
        case ShowKindMissing():
            shown = await show_kind_missing(step, tools, LEADER_WORKER_SETS, lws.metadata)
            if shown is not None:
                tools.owners.note(msgspec.convert(shown, LeaderWorkerSet))
        case Warn():
            tools.event_recorder.warn_once(lws, reason=step.reason, note=step.note, action=step.action)


async def _confirm(lws: LeaderWorkerSet, tools: SetTools) -> LeaderWorkerSet:
    live, _ = await read_owner(tools, LEADER_WORKER_SETS, LeaderWorkerSet, lws)
    if live.metadata.is_terminating or (live.spec, live.metadata.annotations) != (lws.spec, lws.metadata.annotations):
        raise Outdated(f"LeaderWorkerSet {lws.metadata.name} has changed")
    return live


async def _create_group(replica: Replica, workload: Workload, lws: LeaderWorkerSet, tools: SetTools) -> PodGroup:
    resource, leader = tools.group_api.pod_groups, replica.leader
    index = leader.label(LWS_GROUP_INDEX) or str(group_index(leader))
    in_field = tools.composites is None or has_parent_field(tools.group_api, tools.composites)
    manifest = pod_group_for_replica(
        replica, workload, api_version=resource.api_version, names_parent_in_field=in_field
    )
    whose = f"replica {index} of LeaderWorkerSet {lws.metadata.name}"
    creation = Creation(resource, manifest, PodGroup, owner=ReplicaPod(leader), subject=lws, whose=whose)
    return await create(creation, tools, tools.pod_groups)


async def make_composite(lws: LeaderWorkerSet, intent: GroupIntent, workload: str, tools: SetTools) -> None:
    """Creates the CompositePodGroup over all replicas, or finds the one of an earlier attempt.

    Raises:
        NameTaken: somebody else's object has the name.
        KubeError: the server refused, or it is unknown what happened.
    """
    resource = tools.composites
    if resource is None:
        return
    manifest = composite_for_set(lws, intent, workload, api_version=resource.api_version)
    await create_or_find(tools.client, resource, manifest, CompositePodGroup, lws)


async def set_composite_minimum(step: SetCompositeMinimum, lws: LeaderWorkerSet, tools: SetTools) -> None:
    """Changes how many replicas start together; where the server has that for good, the user is told."""
    resource, metadata = tools.composites, step.composite.metadata
    if resource is None:
        return
    body = {
        "metadata": {"uid": metadata.uid},
        "spec": {"schedulingPolicy": {"gang": {"minGroupCount": step.min_group_count}}},
    }
    try:
        await patch(tools.client, resource, metadata, body)
    except Invalid:
        note = (
            f"{step.composite.need} replicas start together, as when it was created: this server lets nobody change "
            f"minGroupCount of CompositePodGroup {metadata.name}; create the set again to have it otherwise"
        )
        tools.event_recorder.warn_once(lws, reason=EVENT_INVALID_GANG_SETTINGS, note=note, action="SetMinimum")


async def _apply_group_objects(step: ApplyReplicaGroupObjects, lws: LeaderWorkerSet, tools: SetTools) -> None:
    metadata = step.leader.metadata
    provider = provider_of_pods(metadata, tools.providers)
    if provider is None or provider.kind is None:
        return
    whose = f"replica {group_index(metadata)} of LeaderWorkerSet {lws.metadata.name}"
    await GroupObjectWriter(tools, step.leader, lws, whose, provider, provider.kind).make(step.gang)


async def _lower_minimum_to_leader(step: LowerMinimumToLeader, tools: SetTools) -> None:
    metadata = step.group.metadata
    body = group_minimum_patch(metadata, 1)
    body["metadata"]["annotations"] = {MIN_RESOURCES: step.min_resources}
    answer = await patch(tools.client, tools.group_api.pod_groups, metadata, body)
    tools.pod_groups.note(msgspec.convert(answer, PodGroup))


async def _associate(pod: ReplicaPod, group_name: str, tools: SetTools) -> None:
    metadata = pod.metadata
    provider = provider_of_pods(metadata, tools.providers)
    if provider is None:
        return
    association = provider.association(group_to_come(group_name, metadata.namespace))
    answer = await patch(tools.client, PODS, metadata, pod_association_patch(metadata, association))
    patched = msgspec.convert(answer, ReplicaPod)
    if tools.leaders.get(*metadata.key) is not None:
        tools.leaders.note(patched)
