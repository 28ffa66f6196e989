"""Carries out a plan: one small function per kind of step, in order, stopping at the first that fails.

What the steps rely on: every write names the UID (and mostly the version) of what it changes, so that a stale plan is
refused by the server; events follow the write they tell about; the client asks for the lease right before each write.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec

from api.compile import delegated_pod_group, pod_group_for_job
from api.constants import GATE, GATE_POD_GROUP, HELD, MANAGED, POD_GROUP, SUSPENDED
from api.job import Job
from api.podgroup import PodGroup, Workload
from controllers.gangs.common_steps import CreateWorkload, SetWorkloadMinimum, ShowKindMissing, Warn
from controllers.gangs.group_object_writer import GroupObjectWriter
from controllers.gangs.kind_missing_condition import show_kind_missing
from controllers.gangs.kueue_topologies import kueue_levels
from controllers.gangs.patches import Body, group_minimum_patch, pod_association_patch, pod_release_patch
from controllers.gangs.pod import GangPod
from controllers.gangs.tools import Tools
from controllers.gangs.writes import Creation, G, Outdated, all_of, create, patch, read_owner, set_workload_minimum
from controllers.jobs.group_objects import gang_of, provider_of
from controllers.jobs.kueue import SetKueueWorkloadActive, active_patch, is_left_to_kueue
from controllers.jobs.observed import is_gated, is_suspended
from controllers.jobs.steps import (
    AnnotatePods,
    ApplyGroupObjects,
    ConfirmJob,
    CreatePodGroup,
    JobPlan,
    PatchJob,
    SetPodGroupMinimum,
    UnlabelPods,
)
from kube.client.client import PatchKind
from kube.client.errors import Conflict, Invalid, NotFound
from kube.client.resources import JOBS, PODS, Resource
from kube.process.trace import trace
from providers.base import PodMetadata, Provider
from providers.gang import Gang

TEST_FAILED: Final = "the server rejected our request due to an error in our request"
"""What the API server says when a test of a JSON patch fails, or a path in it is not there; no other refusal has these words."""

TEMPLATE: Final = "spec/template/metadata"


@dataclass(frozen=True, slots=True)
class _Progress:
    """What the pass knows by now: the Job, the `spec` of its pod template once it was read, and what it has created."""

    job: Job
    template_spec: dict[str, Any] | None = None
    workload: Workload | None = None
    group: PodGroup | None = None


async def execute(plan: JobPlan, job: Job, tools: Tools[Job]) -> None:
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
                if not tools.owners.was_just_shown(progress.job):
                    progress = await _confirm(progress, tools)
            case CreateWorkload():
                creation = _creation(tools.group_api.workloads, step.manifest, Workload, progress.job)
                progress = replace(progress, workload=await create(creation, tools, tools.workloads))
            case CreatePodGroup():
                progress = replace(progress, group=await _create_pod_group(step, progress, tools))
            case ShowKindMissing():
                progress = await _show(step, progress, tools)
            case ApplyGroupObjects():
                progress = await _apply_group_objects(step, progress, tools)
            case PatchJob():
                progress = await _patch_job(step, progress, tools)
            case _:
                await _execute_other(step, progress, tools)


async def _execute_other(
    step: AnnotatePods | UnlabelPods | SetWorkloadMinimum | SetPodGroupMinimum | SetKueueWorkloadActive | Warn,
    progress: _Progress,
    tools: Tools[Job],
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
            await set_workload_minimum(step, tools)
        case SetPodGroupMinimum():
            await _set_group_minimum(step, tools)
        case SetKueueWorkloadActive(served, stopped_for):
            await patch(
                tools.client, served.resource, served.workload.metadata, active_patch(served.workload, stopped_for)
            )
        case Warn():
            tools.event_recorder.warn_once(progress.job, reason=step.reason, note=step.note, action=step.action)


async def _confirm(progress: _Progress, tools: Tools[Job]) -> _Progress:
    job = progress.job
    live, document = await read_owner(tools, JOBS, Job, job)
    if live.metadata.is_terminating or _decisive(live) != _decisive(job):
        raise Outdated(f"Job {job.metadata.name} has changed")
    return replace(progress, job=live, template_spec=document["spec"]["template"]["spec"])


def _decisive(job: Job) -> object:
    """What plans are made of; the counts of the status change all the time and mean nothing here."""
    return job.spec, job.metadata.annotations, job.is_finished, job.status.start_time is None


def _creation(resource: Resource, manifest: dict[str, Any], record: type[G], job: Job) -> Creation[G]:
    return Creation(resource, manifest, record, owner=job, subject=job, whose=f"Job {job.metadata.name}")


async def _create_pod_group(step: CreatePodGroup, progress: _Progress, tools: Tools[Job]) -> PodGroup:
    job, resource = progress.job, tools.group_api.pod_groups
    workload = step.workload or progress.workload
    if workload is None:
        raise Outdated("the Workload of this pass was not made")
    if step.template is not None:
        manifest = delegated_pod_group(job, workload, step.template, api_version=resource.api_version)
    else:
        topologies = await kueue_levels(tools.client, job)
        manifest = pod_group_for_job(job, workload, api_version=resource.api_version, topologies=topologies)
    return await create(_creation(resource, manifest, PodGroup, job), tools, tools.pod_groups)


async def _apply_group_objects(step: ApplyGroupObjects, progress: _Progress, tools: Tools[Job]) -> _Progress:
    progress = await _with_template(progress, tools)
    provider, group = _known(progress.job, step.group or progress.group, tools)
    if provider.kind is not None:
        job = progress.job
        writer = GroupObjectWriter(tools, job, job, f"Job {job.metadata.name}", provider, provider.kind)
        await writer.make(_gang(progress, group, provider, current=step.current))
    return progress


async def _show(step: ShowKindMissing, progress: _Progress, tools: Tools[Job]) -> _Progress:
    shown = await show_kind_missing(step, tools, JOBS, progress.job.metadata)
    if shown is None:
        return progress
    job = msgspec.convert(shown, Job)
    tools.owners.note(job)
    return replace(progress, job=job)


async def _patch_job(step: PatchJob, progress: _Progress, tools: Tools[Job]) -> _Progress:
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
    tools.owners.note(patched)
    opened_for = step.group or progress.group
    if step.open_gate and opened_for is not None:
        trace("gate opened", job.metadata.uid, namespace=job.metadata.namespace, group=opened_for.metadata.name)
    return replace(progress, job=patched)


async def _with_template(progress: _Progress, tools: Tools[Job]) -> _Progress:
    """What only the server knows of a Job (its containers are not kept) is read when a scheduler has to be told."""
    return progress if progress.template_spec is not None else await _confirm(progress, tools)


def _gang(progress: _Progress, group: PodGroup, provider: Provider, *, current: int | None = None) -> Gang:
    return gang_of(progress.job, group, provider, current=current, template_spec=progress.template_spec)


def _known(job: Job, group: PodGroup | None, tools: Tools[Job]) -> tuple[Provider, PodGroup]:
    provider = provider_of(job, tools.providers)
    if group is None or provider is None:
        raise Outdated(f"Job {job.metadata.name} has no group yet")
    return provider, group


async def _patch_pods(pods: tuple[GangPod, ...], body_of: Callable[[GangPod], Body], tools: Tools[Job]) -> None:
    await all_of(patch(tools.client, PODS, pod.metadata, body_of(pod)) for pod in pods)


async def _set_group_minimum(step: SetPodGroupMinimum, tools: Tools[Job]) -> None:
    body = group_minimum_patch(step.group.metadata, step.min_count)
    answer = await patch(tools.client, tools.group_api.pod_groups, step.group.metadata, body)
    tools.pod_groups.note(msgspec.convert(answer, PodGroup))


# --- the patch of a Job ------------------------------------------------------------------------------------------------------


def job_patch(job: Job, step: PatchJob, association: PodMetadata | None) -> list[Body]:
    """The one JSON patch of a Job.

    It names what it was decided on instead of the version: the Job controller writes the status of a new Job at the same
    moment, which changes the version and nothing that matters here.

    Args:
        job: as it is known; the patch fails on any other in what matters.
        step: what is to be changed.
        association: labels and annotations that the provider wants in the pod template, None: none.
    """
    operations = _unchanged(job)
    if step.unmanage:
        operations.append({"op": "remove", "path": _pointer(TEMPLATE, "labels", MANAGED)})
    if association is not None:
        operations += _added("labels", job.spec.template.metadata.labels, association.labels)
        operations += _added("annotations", job.spec.template.metadata.annotations, association.annotations)
    if step.open_gate and is_gated(job):
        operations.append({"op": "remove", "path": _pointer("metadata", "annotations", GATE)})
        if job.metadata.annotation(HELD) is not None:
            operations.append({"op": "remove", "path": _pointer("metadata", "annotations", HELD)})
        if step.resume and is_suspended(job) and not is_left_to_kueue(job):
            operations.append({"op": "replace", "path": "/spec/suspend", "value": False})
    if step.close_gate or step.suspend:
        if job.metadata.annotations is None:
            operations.append({"op": "add", "path": "/metadata/annotations", "value": {}})
        operations += _marked_suspension(job) if step.suspend else [_annotated(GATE, GATE_POD_GROUP)]
        operations.append({"op": "replace", "path": "/spec/suspend", "value": True})
    return operations


def _marked_suspension(job: Job) -> list[Body]:
    """The mark counts for the generation that this very patch makes, and for no later one."""
    now = job.metadata.generation
    return [
        {"op": "test", "path": "/metadata/generation", "value": now},
        _annotated(SUSPENDED, f"{job.metadata.uid}/{now + 1}"),
    ]


def _annotated(key: str, value: str) -> Body:
    return {"op": "add", "path": _pointer("metadata", "annotations", key), "value": value}


def _unchanged(job: Job) -> list[Body]:
    """Tests that the server makes first: this very Job, its size, whether it is held, and what its template says of groups."""
    template = job.spec.template.metadata
    expected: list[tuple[str, Any]] = [
        ("/metadata/uid", job.metadata.uid),
        ("/spec/parallelism", job.spec.parallelism),
        ("/spec/completions", job.spec.completions),
        ("/spec/suspend", job.spec.suspend),
    ]
    if job.metadata.annotations is not None:
        expected.append((_pointer("metadata", "annotations", GATE), job.metadata.annotation(GATE)))
    for kind, present, key in (
        ("labels", template.labels, MANAGED),
        ("annotations", template.annotations, POD_GROUP),
    ):
        path = _pointer(TEMPLATE, kind) if not present else _pointer(TEMPLATE, kind, key)
        expected.append((path, present.get(key) if present else None))
    return [{"op": "test", "path": path, "value": value} for path, value in expected]


def _added(kind: str, present: dict[str, str] | None, wanted: dict[str, str]) -> list[Body]:
    if not present:
        return [{"op": "add", "path": _pointer(TEMPLATE, kind), "value": dict(wanted)}] if wanted else []
    return [
        {"op": "add", "path": _pointer(TEMPLATE, kind, key), "value": value}
        for key, value in wanted.items()
        if present.get(key) != value
    ]


def _pointer(*parts: str) -> str:
    first, *rest = parts
    return "/".join([f"/{first}", *(part.replace("~", "~0").replace("/", "~1") for part in rest)])
