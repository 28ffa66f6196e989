"""Carries out a plan for a LeaderWorkerSet: one small function per kind of step, in order, stopping at the first that fails.

What the steps rely on is as for Jobs: every write names the UID of what it changes or makes, events follow the write they tell
about, and the client asks for the lease right before each write. Groups of different replicas are created side by side.
"""

import asyncio
import datetime as dt
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec

from api.compile_replica import Replica, pod_group_for_replica
from api.constants import (
    EVENT_FAILED_POD_GROUP_CREATE,
    EVENT_FAILED_WORKLOAD_CREATE,
    EVENT_POD_GROUP_CREATED,
    EVENT_WORKLOAD_CREATED,
    LWS_GROUP_INDEX,
    MANAGED,
    MIN_RESOURCES,
)
from api.lws import LeaderWorkerSet
from api.podgroup import PodGroup, Workload
from api.replica import group_index, group_to_come
from controllers.announcer import Announcer
from controllers.fresh import Fresh
from controllers.gangs.creation import NameTaken, Outdated, OwnerGone, create_or_find
from controllers.gangs.group_objects import GroupObjectWriter
from controllers.gangs.steps import CreateWorkload, SetWorkloadMinimum, Warn
from controllers.jobs import patches
from controllers.kind_condition import ShowKindMissing
from controllers.leaderworkersets.observed import ReplicaPod
from controllers.leaderworkersets.steps import (
    ConfirmSet,
    CreateGroups,
    LetLeaderGoFirst,
    MakeReplicaObjects,
    SetPlan,
    Step,
    TellPods,
)
from controllers.metrics import Metrics
from controllers.owner_store import OwnerStore
from controllers.provider_groups import ProviderGroups
from controllers.show_condition import show, utc_now
from kube.client.client import Client, PatchKind
from kube.client.errors import AnsweredError, Conflict, KubeError, NotFound
from kube.client.resources import LEADER_WORKER_SETS, PODS, Resource
from kube.groups.group_api import GroupAPI
from providers.selection import Providers

AT_ONCE: Final = 16


@dataclass(frozen=True, slots=True)
class SetTools:
    """What the effects need; one value for as long as LeaderWorkerSets are watched."""

    client: Client
    group_api: GroupAPI
    providers: Providers
    sets: OwnerStore[LeaderWorkerSet]
    leaders: Fresh[ReplicaPod]
    workloads: Fresh[Workload]
    pod_groups: Fresh[PodGroup]
    announcer: Announcer
    metrics: Metrics
    provider_groups: ProviderGroups
    now: Callable[[], dt.datetime] = utc_now


@dataclass(frozen=True, slots=True)
class _Progress:
    """What the pass knows by now: the set, and the Workload it has created."""

    lws: LeaderWorkerSet
    workload: Workload | None = None


async def carry_out(plan: SetPlan, lws: LeaderWorkerSet, tools: SetTools) -> None:
    """Take the steps of the plan.

    Raises:
        OwnerGone: the set is not there any more.
        Outdated: the server refused a write because something has changed meanwhile.
        KindMissing: the cluster does not know the kind of group of a replica's scheduler.
        NameTaken: somebody else's object holds the name of ours.
        KubeError: anything else went wrong, or the lease is gone; the rest of the plan was not done.
    """
    progress = _Progress(lws)
    for step in plan.steps:
        progress = await _take(step, progress, tools)


async def _take(step: Step, progress: _Progress, tools: SetTools) -> _Progress:
    match step:
        case ConfirmSet():
            return replace(progress, lws=await _confirm(progress.lws, tools))
        case CreateWorkload():
            return replace(progress, workload=await _create_workload(step, progress.lws, tools))
        case SetWorkloadMinimum():
            await _set_workload_minimum(step, tools)
        case CreateGroups():
            workload = step.workload or progress.workload
            if workload is None:
                raise Outdated("the Workload of this pass was not made")
            await _all(_create_group(each, workload, progress.lws, tools) for each in step.replicas)
        case TellPods():
            await _all(_tell(pod, name, tools) for pod, name in step.pods)
        case LetLeaderGoFirst():
            await _let_leader_go_first(step, tools)
        case MakeReplicaObjects():
            await _make_objects(step, progress.lws, tools)
        case _:
            await _say(step, progress.lws, tools)
    return progress


async def _say(step: ShowKindMissing | Warn, lws: LeaderWorkerSet, tools: SetTools) -> None:
    if isinstance(step, Warn):
        tools.announcer.warn_once(lws, reason=step.reason, note=step.note, action=step.action)
        return
    shown = await show(step, tools.client, LEADER_WORKER_SETS, lws.metadata, now=tools.now)
    if shown is not None:
        tools.sets.put(msgspec.convert(shown, LeaderWorkerSet))


async def _confirm(lws: LeaderWorkerSet, tools: SetTools) -> LeaderWorkerSet:
    name = lws.metadata.name
    try:
        found = await tools.client.get(LEADER_WORKER_SETS, name, lws.metadata.namespace)
    except NotFound as error:
        raise OwnerGone(f"LeaderWorkerSet {name} is gone") from error
    live = msgspec.convert(found, LeaderWorkerSet)
    tools.sets.put(live)
    if live.metadata.uid != lws.metadata.uid:
        raise OwnerGone(f"LeaderWorkerSet {name} is another one now")
    if live.metadata.is_terminating or (live.spec, live.metadata.annotations) != (lws.spec, lws.metadata.annotations):
        raise Outdated(f"LeaderWorkerSet {name} has changed")
    return live


async def _create_workload(step: CreateWorkload, lws: LeaderWorkerSet, tools: SetTools) -> Workload:
    resource = tools.group_api.workloads
    with _watched(resource, lws, tools, failure_reason=EVENT_FAILED_WORKLOAD_CREATE):
        created, origin = await create_or_find(tools.client, resource, step.manifest, Workload, lws)
    tools.metrics.object_created(resource.kind, origin)
    tools.workloads.note(created)
    if origin == "created":
        note = f"Created Workload {created.metadata.name} for LeaderWorkerSet {lws.metadata.name}"
        tools.announcer.tell(lws, reason=EVENT_WORKLOAD_CREATED, note=note, action="CreateWorkload")
    return created


async def _create_group(replica: Replica, workload: Workload, lws: LeaderWorkerSet, tools: SetTools) -> None:
    resource, leader = tools.group_api.pod_groups, replica.leader
    manifest = pod_group_for_replica(replica, workload, api_version=resource.api_version)
    with _watched(resource, lws, tools, failure_reason=EVENT_FAILED_POD_GROUP_CREATE):
        created, origin = await create_or_find(tools.client, resource, manifest, PodGroup, ReplicaPod(leader))
    tools.metrics.object_created(resource.kind, origin)
    tools.pod_groups.note(created)
    if origin == "created":
        index = leader.label(LWS_GROUP_INDEX) or str(group_index(leader))
        note = f"Created PodGroup {created.metadata.name} for replica {index} of LeaderWorkerSet {lws.metadata.name}"
        tools.announcer.tell(lws, reason=EVENT_POD_GROUP_CREATED, note=note, action="CreatePodGroup")


@contextmanager
def _watched(resource: Resource, lws: LeaderWorkerSet, tools: SetTools, *, failure_reason: str) -> Iterator[None]:
    """Counts a creation that fails, and says why where people look."""
    try:
        yield
    except NameTaken:
        tools.metrics.object_created(resource.kind, "taken")
        raise
    except KubeError as error:
        tools.metrics.object_created(resource.kind, "failed")
        if isinstance(error, AnsweredError) and not error.outcome_unknown:
            note = f"Failed to create {resource.kind} for LeaderWorkerSet {lws.metadata.name}: {error.message}"
            tools.announcer.warn_once(lws, reason=failure_reason, note=note, action=f"Create{resource.kind}")
        raise


async def _set_workload_minimum(step: SetWorkloadMinimum, tools: SetTools) -> None:
    body = patches.workload_minimum_patch(step.workload, step.min_count)
    answer = await _patch(tools.group_api.workloads, body, step.workload.metadata.key, tools, kind=PatchKind.JSON)
    tools.workloads.note(msgspec.convert(answer, Workload))


async def _make_objects(step: MakeReplicaObjects, lws: LeaderWorkerSet, tools: SetTools) -> None:
    metadata = step.leader.metadata
    provider = tools.providers.named(metadata.label(MANAGED) or "")
    if provider is None or provider.kind is None:
        return
    whose = f"replica {group_index(metadata)} of LeaderWorkerSet {lws.metadata.name}"
    await GroupObjectWriter(tools, step.leader, lws, whose, provider, provider.kind).make(step.gang)


async def _let_leader_go_first(step: LetLeaderGoFirst, tools: SetTools) -> None:
    metadata = step.group.metadata
    body = patches.group_minimum_patch(metadata, 1)
    body["metadata"]["annotations"] = {MIN_RESOURCES: step.min_resources}
    answer = await _patch(tools.group_api.pod_groups, body, metadata.key, tools)
    tools.pod_groups.note(msgspec.convert(answer, PodGroup))


async def _tell(pod: ReplicaPod, group_name: str, tools: SetTools) -> None:
    metadata = pod.metadata
    provider = tools.providers.named(metadata.label(MANAGED) or "")
    if provider is None:
        return
    association = provider.association(group_to_come(group_name, metadata.namespace))
    answer = await _patch(PODS, patches.pod_association_patch(metadata, association), metadata.key, tools)
    told = msgspec.convert(answer, ReplicaPod)
    if tools.leaders.get(*metadata.key) is not None:
        tools.leaders.note(told)


async def _patch(
    resource: Resource, body: Any, key: tuple[str, str], tools: SetTools, *, kind: PatchKind = PatchKind.MERGE
) -> dict[str, Any]:
    namespace, name = key
    try:
        return await tools.client.patch(resource, body, name, namespace, kind=kind)
    except (Conflict, NotFound) as error:
        raise Outdated(str(error)) from error


async def _all(works: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Do all of them, some at once; then raise what is most telling of what went wrong."""
    room = asyncio.Semaphore(AT_ONCE)

    async def one(work: Coroutine[Any, Any, None]) -> None:
        async with room:
            await work

    results = await asyncio.gather(*(one(work) for work in works), return_exceptions=True)
    failures = [result for result in results if isinstance(result, BaseException)]
    for failure in sorted(failures, key=lambda error: isinstance(error, Outdated)):
        raise failure
