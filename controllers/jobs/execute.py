"""Carries out a plan: one small function per kind of step, in order, stopping at the first that fails.

What the steps rely on: every write names the UID (and mostly the version) of what it changes, so that a stale plan is
refused by the server; events follow the write they tell about; the client asks for the lease right before each write.
"""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from api.compile import delegated_pod_group, pod_group_for_job
from api.job import Job
from api.podgroup import PodGroup, Workload
from controllers.announcer import Announcer
from controllers.gangs.group_objects import GroupObjectWriter
from controllers.gangs.patches import Body, group_minimum_patch, pod_association_patch, pod_release_patch
from controllers.gangs.steps import CreateWorkload, SetWorkloadMinimum, Warn
from controllers.gangs.writes import Creation, G, Outdated, OwnerGone, all_of, create, patch, set_workload_minimum
from controllers.jobs.external import gang_of, provider_of
from controllers.jobs.kueue import LetGoOnInQueue, StopInQueue, go_on_patch, stop_patch
from controllers.jobs.observed import JobPod
from controllers.jobs.patches import TEST_FAILED, job_patch
from controllers.jobs.steps import (
    AnnotatePods,
    ConfirmJob,
    CreatePodGroup,
    JobPlan,
    MakeGroupObjects,
    PatchJob,
    SetPodGroupMinimum,
    UnlabelPods,
)
from controllers.kind_condition import ShowKindMissing
from controllers.metrics import Metrics
from controllers.mutation_cache import MutationCache
from controllers.owner_cache import OwnerCache
from controllers.provider_groups import ProviderGroups
from controllers.show_condition import show, utc_now
from kube.client.client import Client, PatchKind
from kube.client.errors import Conflict, Invalid, NotFound
from kube.client.resources import JOBS, PODS, Resource
from kube.groups.group_api import GroupAPI
from providers.base import Provider
from providers.gang import Gang
from providers.selection import Providers


@dataclass(frozen=True, slots=True)
class Tools:
    """What the effects need; one value for the whole life of the process."""

    client: Client
    group_api: GroupAPI
    providers: Providers
    jobs: OwnerCache[Job]
    workloads: MutationCache[Workload]
    pod_groups: MutationCache[PodGroup]
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


async def execute(plan: JobPlan, job: Job, tools: Tools) -> None:
    """Take the steps of the plan.

    Raises:
        OwnerGone: the Job is not there any more.
        Outdated: the server refused a write because something has changed meanwhile.
        NameTaken: somebody else's object holds the name of ours.
        InvalidObject: what the Job asks for cannot be said to its gang scheduler.
        KubeError: anything else went wrong, or the lease is gone; the rest of the plan was not done.
    """
    progress = _Progress(job)
    for step in plan.steps:
        match step:
            case ConfirmJob():
                if not tools.jobs.was_just_shown(progress.job):
                    progress = await _confirm(progress, tools)
            case CreateWorkload():
                creation = _creation(tools.group_api.workloads, step.manifest, Workload, progress.job)
                progress = replace(progress, workload=await create(creation, tools, tools.workloads))
            case CreatePodGroup():
                progress = replace(progress, group=await _create_pod_group(step, progress, tools))
            case ShowKindMissing():
                progress = await _show(step, progress, tools)
            case MakeGroupObjects():
                progress = await _make_group_objects(step, progress, tools)
            case PatchJob():
                progress = await _patch_job(step, progress, tools)
            case _:
                await _execute_other(step, progress, tools)


async def _execute_other(
    step: AnnotatePods | UnlabelPods | SetWorkloadMinimum | SetPodGroupMinimum | StopInQueue | LetGoOnInQueue | Warn,
    progress: _Progress,
    tools: Tools,
) -> None:
    """Steps after which the pass knows no more than before."""
    match step:
        case AnnotatePods():
            provider, group = _known(progress.job, step.group or progress.group, tools)
            association = provider.association(group)
            await _patch_pods(step.pods, lambda pod: pod_association_patch(pod.metadata, association), tools)
        case UnlabelPods():
            await _patch_pods(step.pods, lambda pod: pod_release_patch(pod.metadata), tools)
        case SetWorkloadMinimum():
            await set_workload_minimum(step, tools.client, tools.group_api.workloads, tools.workloads)
        case SetPodGroupMinimum():
            await _set_group_minimum(step, tools)
        case StopInQueue(queued, why):
            await patch(tools.client, queued.resource, queued.workload.metadata, stop_patch(queued.workload, why))
        case LetGoOnInQueue(queued):
            await patch(tools.client, queued.resource, queued.workload.metadata, go_on_patch(queued.workload))
        case Warn():
            tools.announcer.warn_once(progress.job, reason=step.reason, note=step.note, action=step.action)


async def _confirm(progress: _Progress, tools: Tools) -> _Progress:
    job = progress.job
    try:
        document = await tools.client.get(JOBS, job.metadata.name, job.metadata.namespace)
    except NotFound as error:
        raise OwnerGone(f"Job {job.metadata.name} is gone") from error
    live = msgspec.convert(document, Job)
    tools.jobs.note(live)
    if live.metadata.uid != job.metadata.uid:
        raise OwnerGone(f"Job {job.metadata.name} is another one now")
    if live.metadata.is_terminating or _decisive(live) != _decisive(job):
        raise Outdated(f"Job {job.metadata.name} has changed")
    return replace(progress, job=live, template_spec=document["spec"]["template"]["spec"])


def _decisive(job: Job) -> object:
    """What plans are made of; the counts of the status change all the time and mean nothing here."""
    return job.spec, job.metadata.annotations, job.is_finished, job.status.start_time is None


def _creation(resource: Resource, manifest: dict[str, Any], record: type[G], job: Job) -> Creation[G]:
    return Creation(resource, manifest, record, owner=job, subject=job, whose=f"Job {job.metadata.name}")


async def _create_pod_group(step: CreatePodGroup, progress: _Progress, tools: Tools) -> PodGroup:
    job, resource = progress.job, tools.group_api.pod_groups
    workload = step.workload or progress.workload
    if workload is None:
        raise Outdated("the Workload of this pass was not made")
    if step.template is not None:
        manifest = delegated_pod_group(job, workload, step.template, api_version=resource.api_version)
    else:
        manifest = pod_group_for_job(job, workload, api_version=resource.api_version)
    return await create(_creation(resource, manifest, PodGroup, job), tools, tools.pod_groups)


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
    tools.jobs.note(job)
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
    body = job_patch(job, step, association)
    try:
        answer = await tools.client.patch(JOBS, body, job.metadata.name, job.metadata.namespace, kind=PatchKind.JSON)
    except (Conflict, NotFound) as error:
        raise Outdated(str(error)) from error
    except Invalid as error:
        if error.message == TEST_FAILED:
            raise Outdated(f"Job {job.metadata.name} has changed") from error
        raise
    patched = msgspec.convert(answer, Job)
    tools.jobs.note(patched)
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


async def _patch_pods(pods: tuple[JobPod, ...], body_of: Callable[[JobPod], Body], tools: Tools) -> None:
    await all_of(patch(tools.client, PODS, pod.metadata, body_of(pod)) for pod in pods)


async def _set_group_minimum(step: SetPodGroupMinimum, tools: Tools) -> None:
    body = group_minimum_patch(step.group.metadata, step.min_count)
    answer = await patch(tools.client, tools.group_api.pod_groups, step.group.metadata, body)
    tools.pod_groups.note(msgspec.convert(answer, PodGroup))
