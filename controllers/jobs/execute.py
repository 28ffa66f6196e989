"""Carries out a plan: one small function per kind of step, in order, stopping at the first that fails.

What the steps rely on: every write names the UID (and mostly the version) of what it changes, so that a stale plan is
refused by the server; events follow the write they tell about; the client asks for the lease right before each write.
"""

import asyncio
import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

import msgspec

from api.compile import delegated_pod_group, pod_group_for_job
from api.constants import (
    EVENT_FAILED_POD_GROUP_CREATE,
    EVENT_FAILED_WORKLOAD_CREATE,
    EVENT_POD_GROUP_CREATED,
    EVENT_WORKLOAD_CREATED,
)
from api.job import Job
from api.podgroup import PodGroup, Workload
from controllers.announcer import Announcer
from controllers.fresh import Fresh
from controllers.gangs.creation import NameTaken, Outdated, OwnerGone, create_or_find
from controllers.gangs.group_objects import GroupObjectWriter
from controllers.gangs.steps import CreateWorkload, SetWorkloadMinimum, Warn
from controllers.jobs import patches
from controllers.jobs.external import gang_of, provider_of
from controllers.jobs.observed import JobPod
from controllers.jobs.steps import (
    AnnotatePods,
    ConfirmJob,
    CreatePodGroup,
    MakeGroupObjects,
    PatchJob,
    Plan,
    SetPodGroupMinimum,
    Step,
    UnlabelPods,
)
from controllers.jobs.store import JobStore
from controllers.kind_condition import ShowKindMissing
from controllers.metrics import Metrics
from controllers.provider_groups import ProviderGroups
from controllers.show_condition import show, utc_now
from kube.client.client import Client, PatchKind
from kube.client.errors import AnsweredError, Conflict, Invalid, KubeError, NotFound
from kube.client.resources import JOBS, PODS, Resource
from kube.groups.group_api import GroupAPI
from providers.base import Provider
from providers.gang import Gang
from providers.selection import Providers

T = TypeVar("T", Workload, PodGroup)

PODS_AT_ONCE: Final = 16


@dataclass(frozen=True, slots=True)
class Tools:
    """What the effects need; one value for the whole life of the process."""

    client: Client
    group_api: GroupAPI
    providers: Providers
    jobs: JobStore
    workloads: Fresh[Workload]
    pod_groups: Fresh[PodGroup]
    announcer: Announcer
    metrics: Metrics
    provider_groups: ProviderGroups
    now: Callable[[], dt.datetime] = utc_now


@dataclass(frozen=True, slots=True)
class _Progress:
    """What the pass knows by now: the Job, the `spec` of its pod template once it was read, and what it has created."""

    job: Job
    template_spec: dict[str, Any] | None = None
    workload: Workload | None = None
    group: PodGroup | None = None


async def carry_out(plan: Plan, job: Job, tools: Tools) -> None:
    """Take the steps of the plan.

    Raises:
        OwnerGone: the Job is not there any more.
        Outdated: the server refused a write because something has changed meanwhile.
        NameTaken: somebody else's object holds the name of ours.
        KubeError: anything else went wrong, or the lease is gone; the rest of the plan was not done.
    """
    progress = _Progress(job)
    for step in plan.steps:
        progress = await _take(step, progress, tools)


async def _take(step: Step, progress: _Progress, tools: Tools) -> _Progress:
    match step:
        case ConfirmJob():
            return await _confirm(progress, tools)
        case CreateWorkload():
            return replace(progress, workload=await _create_workload(step, progress.job, tools))
        case CreatePodGroup():
            return replace(progress, group=await _create_pod_group(step, progress, tools))
        case ShowKindMissing():
            return await _show(step, progress, tools)
        case MakeGroupObjects():
            return await _make_group_objects(step, progress, tools)
        case PatchJob():
            return await _patch_job(step, progress, tools)
        case _:
            await _take_aside(step, progress, tools)
            return progress


async def _take_aside(
    step: AnnotatePods | UnlabelPods | SetWorkloadMinimum | SetPodGroupMinimum | Warn,
    progress: _Progress,
    tools: Tools,
) -> None:
    """Steps after which the pass knows no more than before."""
    match step:
        case AnnotatePods():
            provider, group = _known(progress.job, step.group or progress.group, tools)
            association = provider.association(group)
            await _patch_pods(step.pods, lambda pod: patches.pod_association_patch(pod.metadata, association), tools)
        case UnlabelPods():
            await _patch_pods(step.pods, lambda pod: patches.pod_release_patch(pod.metadata), tools)
        case SetWorkloadMinimum():
            await _set_workload_minimum(step, tools)
        case SetPodGroupMinimum():
            await _set_group_minimum(step, tools)
        case Warn():
            tools.announcer.warn_once(progress.job, reason=step.reason, note=step.note, action=step.action)


async def _confirm(progress: _Progress, tools: Tools) -> _Progress:
    job = progress.job
    try:
        document = await tools.client.get(JOBS, job.metadata.name, job.metadata.namespace)
    except NotFound as error:
        raise OwnerGone(f"Job {job.metadata.name} is gone") from error
    live = msgspec.convert(document, Job)
    tools.jobs.put(live)
    if live.metadata.uid != job.metadata.uid:
        raise OwnerGone(f"Job {job.metadata.name} is another one now")
    if live.metadata.is_terminating or _decisive(live) != _decisive(job):
        raise Outdated(f"Job {job.metadata.name} has changed")
    return replace(progress, job=live, template_spec=document["spec"]["template"]["spec"])


def _decisive(job: Job) -> object:
    """What plans are made of; the counts of the status change all the time and mean nothing here."""
    return job.spec, job.metadata.annotations, job.is_finished, job.status.start_time is None


async def _create_workload(step: CreateWorkload, job: Job, tools: Tools) -> Workload:
    resource = tools.group_api.workloads
    created, is_new = await _create(
        resource, step.manifest, Workload, job, tools, failure_reason=EVENT_FAILED_WORKLOAD_CREATE
    )
    tools.workloads.note(created)
    if is_new:
        note = f"Created Workload {created.metadata.name} for Job {job.metadata.name}"
        tools.announcer.tell(job, reason=EVENT_WORKLOAD_CREATED, note=note, action="CreateWorkload")
    return created


async def _create_pod_group(step: CreatePodGroup, progress: _Progress, tools: Tools) -> PodGroup:
    job, resource = progress.job, tools.group_api.pod_groups
    workload = step.workload or progress.workload
    if workload is None:
        raise Outdated("the Workload of this pass was not made")
    if step.template is not None:
        manifest = delegated_pod_group(job, workload, step.template, api_version=resource.api_version)
    else:
        manifest = pod_group_for_job(job, workload, api_version=resource.api_version)
    created, is_new = await _create(
        resource, manifest, PodGroup, job, tools, failure_reason=EVENT_FAILED_POD_GROUP_CREATE
    )
    tools.pod_groups.note(created)
    if is_new:
        note = f"Created PodGroup {created.metadata.name} for Job {job.metadata.name}"
        tools.announcer.tell(job, reason=EVENT_POD_GROUP_CREATED, note=note, action="CreatePodGroup")
    return created


async def _create(
    resource: Resource, manifest: dict[str, Any], record: type[T], job: Job, tools: Tools, *, failure_reason: str
) -> tuple[T, bool]:
    try:
        created, origin = await create_or_find(tools.client, resource, manifest, record, job)
    except NameTaken:
        tools.metrics.object_created(resource.kind, "taken")
        raise
    except AnsweredError as error:
        tools.metrics.object_created(resource.kind, "failed")
        if not error.outcome_unknown:
            note = f"Failed to create {resource.kind} for Job {job.metadata.name}: {error.message}"
            tools.announcer.warn_once(job, reason=failure_reason, note=note, action=f"Create{resource.kind}")
        raise
    except KubeError:
        tools.metrics.object_created(resource.kind, "failed")
        raise
    tools.metrics.object_created(resource.kind, origin)
    return created, origin == "created"


async def _make_group_objects(step: MakeGroupObjects, progress: _Progress, tools: Tools) -> _Progress:
    progress = await _with_template(progress, tools)
    provider, group = _known(progress.job, step.group or progress.group, tools)
    if provider.kind is not None:
        job = progress.job
        writer = GroupObjectWriter(tools, job, job, f"Job {job.metadata.name}", provider, provider.kind)
        await writer.make(_gang(progress, group, provider, current=step.current))
    return progress


async def _show(step: ShowKindMissing, progress: _Progress, tools: Tools) -> _Progress:
    shown = await show(step, tools.client, JOBS, progress.job.metadata, now=tools.now)
    if shown is None:
        return progress
    job = msgspec.convert(shown, Job)
    tools.jobs.put(job)
    return replace(progress, job=job)


async def _patch_job(step: PatchJob, progress: _Progress, tools: Tools) -> _Progress:
    association = None
    if step.associate:
        provider, group = _known(progress.job, step.group or progress.group, tools)
        association = provider.association(group)
        if provider.group_keys:
            progress = await _with_template(progress, tools)
            gang = _gang(progress, group, provider)
            association = provider.pod_metadata(gang, gang.roles[0]).over(association)
    job = progress.job
    body = patches.job_patch(job, step, association)
    try:
        answer = await _patch(JOBS, body, job.metadata.name, job.metadata.namespace, tools, kind=PatchKind.JSON)
    except Invalid as error:
        if error.message == patches.TEST_FAILED:
            raise Outdated(f"Job {job.metadata.name} has changed") from error
        raise
    patched = msgspec.convert(answer, Job)
    tools.jobs.put(patched)
    return replace(progress, job=patched)


async def _with_template(progress: _Progress, tools: Tools) -> _Progress:
    """What only the server knows of a Job (its containers are not kept) is read when a scheduler has to be told."""
    return progress if progress.template_spec is not None else await _confirm(progress, tools)


def _gang(progress: _Progress, group: PodGroup, provider: Provider, *, current: int | None = None) -> Gang:
    return gang_of(progress.job, group, provider, current=current, template_spec=progress.template_spec)


def _known(job: Job, group: PodGroup | None, tools: Tools) -> tuple[Provider, PodGroup]:
    provider = provider_of(job, tools.providers)
    if group is None or provider is None:
        raise Outdated(f"Job {job.metadata.name} has no group yet")
    return provider, group


async def _patch_pods(pods: tuple[JobPod, ...], body_of: Callable[[JobPod], patches.Body], tools: Tools) -> None:
    room = asyncio.Semaphore(PODS_AT_ONCE)

    async def patch(pod: JobPod) -> None:
        async with room:
            await _patch(PODS, body_of(pod), pod.metadata.name, pod.metadata.namespace, tools)

    results = await asyncio.gather(*(patch(pod) for pod in pods), return_exceptions=True)
    failures = [result for result in results if isinstance(result, BaseException)]
    # The most telling failure first: being outdated is only a reason to look again.
    for failure in sorted(failures, key=lambda error: isinstance(error, Outdated)):
        raise failure


async def _set_workload_minimum(step: SetWorkloadMinimum, tools: Tools) -> None:
    metadata = step.workload.metadata
    body = patches.workload_minimum_patch(step.workload, step.min_count)
    resource = tools.group_api.workloads
    answer = await _patch(resource, body, metadata.name, metadata.namespace, tools, kind=PatchKind.JSON)
    tools.workloads.note(msgspec.convert(answer, Workload))


async def _set_group_minimum(step: SetPodGroupMinimum, tools: Tools) -> None:
    metadata = step.group.metadata
    body = patches.group_minimum_patch(metadata, step.min_count)
    answer = await _patch(tools.group_api.pod_groups, body, metadata.name, metadata.namespace, tools)
    tools.pod_groups.note(msgspec.convert(answer, PodGroup))


async def _patch(
    resource: Resource, body: Any, name: str, namespace: str, tools: Tools, *, kind: PatchKind = PatchKind.MERGE
) -> dict[str, Any]:
    try:
        return await tools.client.patch(resource, body, name, namespace, kind=kind)
    except (Conflict, NotFound) as error:
        raise Outdated(str(error)) from error
