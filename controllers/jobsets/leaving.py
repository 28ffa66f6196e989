"""How a gang of a JobSet leaves whole: its Jobs are suspended, which the JobSet reverts at once.

The Job controller ends the pods of a suspended Job and counts no failure. The JobSet, which is not suspended, resumes the Job; the
pods that are made then are new ones, and wait. Recorded of both controllers: the pods are lost even where the Job is resumed before
all of them have been deleted. Where it is resumed before the Job controller has looked, it is suspended again.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Final

from api.constants import CONDITION_DISRUPTION_TARGET, JOB_UID_LABEL, JOBSET_UID
from api.job import Job
from api.jobset import JobSet
from api.meta import condition_of, controller_of
from api.parents.children import child_of
from api.podgroup import PodGroup
from controllers.gangs.pod import GangPod
from controllers.gangs.tools import Tools
from controllers.gangs.writes import Outdated
from kube.cache.decoding import ListDecoder
from kube.client.client import PatchKind
from kube.client.errors import Conflict, NotFound
from kube.client.resources import JOBS, PODS

_JOBS: Final = ListDecoder(Job)
_PODS: Final = ListDecoder(GangPod)


async def suspend_children(groups: tuple[PodGroup, ...], jobset: JobSet, tools: Tools[JobSet]) -> None:
    """Suspends the Jobs of these groups that have pods which are still to leave.

    Raises:
        Outdated: a Job has changed meanwhile.
        KubeError: Jobs or pods could not be listed, or a patch was refused.
    """
    asked = {group.metadata.name: _asked_at(group) for group in groups}
    async for job in _jobs_of(jobset, tools):
        child = child_of(job)
        since = asked.get(child.group_name) if child is not None else None
        if since is None or job.spec.suspend or job.is_finished or job.metadata.is_terminating:
            continue
        if any([is_to_leave(pod, since) async for pod in _pods_of(job, tools)]):
            await _suspend(job, tools)


def is_to_leave(pod: GangPod, asked_at: str) -> bool:
    """Whether a pod runs that was there when its group was asked to leave; times are RFC 3339 in whole seconds."""
    return pod.is_bound and not pod.is_over and (pod.metadata.creation_timestamp or "") <= asked_at


def _asked_at(group: PodGroup) -> str:
    asked = condition_of(group.status.conditions or (), CONDITION_DISRUPTION_TARGET)
    return (asked.last_transition_time if asked is not None else None) or ""


async def _jobs_of(jobset: JobSet, tools: Tools[JobSet]) -> AsyncIterator[Job]:
    uid = jobset.metadata.uid
    selector = f"{JOBSET_UID}={uid}"
    async for page in tools.client.list_pages(JOBS, jobset.metadata.namespace, label_selector=selector):
        for job in _JOBS.page(page).items:
            owner = controller_of(job.metadata)
            if owner is not None and owner.uid == uid:
                yield job


async def _pods_of(job: Job, tools: Tools[JobSet]) -> AsyncIterator[GangPod]:
    selector = f"{JOB_UID_LABEL}={job.metadata.uid}"
    async for page in tools.client.list_pages(PODS, job.metadata.namespace, label_selector=selector):
        for pod in _PODS.page(page).items:
            owner = controller_of(pod.metadata)
            if owner is not None and owner.uid == job.metadata.uid:
                yield pod


async def _suspend(job: Job, tools: Tools[JobSet]) -> None:
    body: Mapping[str, object] = {"metadata": {"uid": job.metadata.uid}, "spec": {"suspend": True}}
    try:
        await tools.client.patch(JOBS, body, job.metadata.name, job.metadata.namespace, kind=PatchKind.MERGE)
    except (Conflict, NotFound) as error:
        raise Outdated(str(error)) from error
