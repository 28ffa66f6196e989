"""Collects the facts about one Job: by reference, never by name or owner alone.

A Workload belongs to a Job when its `spec.controllerRef` says so, a PodGroup to a Workload when its `spec.workloadRef` does
(KEP-5547). Only a name that we are about to use is looked up by name, to see whether it is free. All of it comes from
stores; the one exception are the pods of a Job that runs without a group, which are listed.
"""

import contextlib
from collections.abc import Awaitable, Callable, Hashable
from typing import Final

import msgspec

from api.compile import JOB_KIND, delegated_pod_group_name
from api.constants import JOB_UID_LABEL, KUEUE_JOB_UID
from api.gang import Delegated, delegation_of
from api.job import Job
from api.jobset import JobSet
from api.meta import Metadata, controller_of
from api.names import pod_group_name, workload_name
from api.parents.kinds import JOB_SET, kind_of
from api.podgroup import PodGroup, Workload
from controllers.gangs.indexes import BY_CONTROLLER, BY_WORKLOAD, index_workload
from controllers.gangs.ownership import counts_for, describe_holder
from controllers.gangs.pod import GangPod
from controllers.jobs.group_objects import provider_of
from controllers.jobs.kueue import KueueWorkload, ServedKueueWorkload, needs_kueue_workload
from controllers.jobs.observed import (
    ObservedJob,
    group_named_by,
    is_gated,
    is_over,
    is_suspended,
    needs_pods,
    waits_for_group,
)
from controllers.jobs.preemptors import Preemptors
from controllers.jobs.suspension import is_timed_out
from controllers.mutation_cache import MutationCache
from controllers.provider_groups import KindMissing, ProviderGroup, ProviderGroups
from kube.cache.decoding import ListDecoder
from kube.cache.store import Key
from kube.client.client import Client
from kube.client.errors import NotFound
from kube.client.resources import JOB_SETS, JOBS, KUEUE_WORKLOADS, PODS, Resource
from providers.selection import Providers

_PODS: Final = ListDecoder(GangPod)
_WORKLOADS: Final = ListDecoder(Workload)
_KUEUE_WORKLOADS: Final = ListDecoder(KueueWorkload)


def job_of_workload(workload: Workload) -> Key | None:
    """The Job that a Workload names as its controller, None when it names something else."""
    reference = workload.spec.controller_ref
    if reference is None or (reference.api_group, reference.kind) != (JOBS.group, JOB_KIND):
        return None
    return (workload.metadata.namespace, reference.name)


def owner_job(metadata: Metadata) -> Key | None:
    """The Job that controls an object, None when something else or nothing does."""
    owner = controller_of(metadata)
    if owner is None or (owner.api_version, owner.kind) != (JOBS.api_version, JOB_KIND):
        return None
    return (metadata.namespace, owner.name)


def _group_of(api_version: str) -> str:
    group, slash, _ = api_version.partition("/")
    return group if slash else ""


class JobObserver:
    """Looks Jobs up in the stores of Workloads and PodGroups."""

    def __init__(
        self,
        client: Client,
        resource: Resource,
        workloads: MutationCache[Workload],
        pod_groups: MutationCache[PodGroup],
        group_objects: Callable[[Job], Awaitable[tuple[ProviderGroup, ...]]],
    ) -> None:
        """Facts come from these.

        Args:
            client: for what no store has: pods, Workloads of parents, Workloads of Kueue.
            resource: where Workloads are.
            workloads: indexed by `WORKLOAD_INDEXERS`.
            pod_groups: indexed by `POD_GROUP_INDEXERS`.
            group_objects: gives what the Job's own gang scheduler has for it; may raise KindMissing.
        """
        self._client = client
        self._group_objects = group_objects
        self._resource = resource
        self._workloads = workloads
        self._pod_groups = pod_groups
        self._preemptors = Preemptors(client, pod_groups)

    async def observe(self, job: Job) -> ObservedJob:
        """The facts about the Job.

        Raises:
            KubeError: its pods, its parent, the Workloads of its parent, the group objects of its scheduler, or a pod that wants
                its room could not be read.
        """
        delegated = delegation_of(job)
        workloads = await self._workloads_of(job, delegated)
        groups = self._groups_of(workloads[0], job, delegated) if len(workloads) == 1 else ()
        named = group_named_by(job)
        named_group = self._pod_groups.get(job.metadata.namespace, named) if named else None
        if named_group is not None and not counts_for(named_group.metadata, job.metadata.uid):
            named_group = None
        objects = await self._group_objects_of(job)
        return ObservedJob(
            job=job,
            workloads=workloads,
            pod_groups=groups,
            named_group=named_group,
            name_taken=self._name_taken(job, workloads, named_group or next(iter(groups), None), delegated),
            pods=await self._pods_of(job) if needs_pods(job) else (),
            group_objects=objects or (),
            kind_missing=objects is None,
            kueue_workload=await self._kueue_workload(job, named_group),
            is_preemptor_gone=await self._is_preemptor_gone(job, named_group),
            is_parent_suspended=await self._is_parent_suspended(job),
        )

    async def _is_preemptor_gone(self, job: Job, group: PodGroup | None) -> bool:
        if group is None or is_over(job) or is_suspended(job):
            return False
        return await self._preemptors.is_gone(group)

    async def _is_parent_suspended(self, job: Job) -> bool:
        owner = controller_of(job.metadata)
        if owner is None or kind_of(owner) is not JOB_SET or not (is_gated(job) and is_suspended(job)):
            return False
        try:
            found = await self._client.get(JOB_SETS, owner.name, job.metadata.namespace)
        except NotFound:
            return False
        jobset = msgspec.convert(found, JobSet)
        return jobset.metadata.uid == owner.uid and jobset.is_suspended

    async def _group_objects_of(self, job: Job) -> tuple[ProviderGroup, ...] | None:
        if is_over(job):
            return ()
        try:
            return await self._group_objects(job)
        except KindMissing:
            return None

    async def _workloads_of(self, job: Job, delegated: Delegated | None) -> tuple[Workload, ...]:
        if delegated is None:
            key: Hashable = (job.metadata.namespace, JOBS.group, JOB_KIND, job.metadata.name)
            found = self._workloads.by_index(BY_CONTROLLER, key)
            return tuple(each for each in found if counts_for(each.metadata, job.metadata.uid))
        parent = delegated.parent
        key = (job.metadata.namespace, _group_of(parent.api_version), parent.kind, parent.name)
        known = self._workloads.by_index(BY_CONTROLLER, key)
        if not known and waits_for_group(job):
            # Its parent made the Workload right before the Job; the Job may have been reported first.
            known = [each for each in await self._all_workloads(job) if key in index_workload(each)]
        return tuple(each for each in known if counts_for(each.metadata, parent.uid))

    async def _all_workloads(self, job: Job) -> list[Workload]:
        found: list[Workload] = []
        async for page in self._client.list_pages(self._resource, job.metadata.namespace):
            found += _WORKLOADS.page(page).items
        return found

    def jobs_of_workload(self, workload: Workload) -> set[Key]:
        """The Jobs that may be concerned when this Workload changes."""
        keys = {job_of_workload(workload), owner_job(workload.metadata)}
        for group in self._pod_groups.by_index(BY_WORKLOAD, workload.metadata.key):
            keys.add(owner_job(group.metadata))
        return {key for key in keys if key is not None}

    def jobs_of_group(self, group: PodGroup) -> set[Key]:
        """The Jobs that may be concerned when this group changes."""
        keys = {owner_job(group.metadata)}
        if group.spec.workload_ref is not None:
            workload = self._workloads.get(group.metadata.namespace, group.spec.workload_ref.workload_name)
            keys.add(job_of_workload(workload) if workload is not None else None)
        return {key for key in keys if key is not None}

    def _groups_of(self, workload: Workload, job: Job, delegated: Delegated | None) -> tuple[PodGroup, ...]:
        found = self._pod_groups.by_index(BY_WORKLOAD, workload.metadata.key)
        mine = tuple(group for group in found if counts_for(group.metadata, job.metadata.uid))
        # Beside this Job's, there may be groups of its siblings, made by hand or by others; only its own is meant.
        return mine if delegated is None else tuple(group for group in mine if controller_of(group.metadata))

    def _name_taken(
        self, job: Job, workloads: tuple[Workload, ...], group: PodGroup | None, delegated: Delegated | None
    ) -> str:
        namespace = job.metadata.namespace
        if delegated is not None:
            if group is not None:
                return ""
            holding = self._pod_groups.get(namespace, delegated_pod_group_name(job, delegated.template))
            return "" if holding is None else describe_holder("PodGroup", holding.metadata)
        if not workloads:
            name = workload_name(job.metadata.name, job.metadata.uid)
            holder = self._workloads.get(namespace, name)
            return "" if holder is None else describe_holder("Workload", holder.metadata)
        templates = workloads[0].spec.pod_group_templates
        if group is not None or len(workloads) != 1 or len(templates) != 1:
            return ""
        found = self._pod_groups.get(namespace, pod_group_name(workloads[0].metadata.name, templates[0].name))
        return "" if found is None else describe_holder("PodGroup", found.metadata)

    async def _kueue_workload(self, job: Job, group: PodGroup | None) -> ServedKueueWorkload | None:
        if is_over(job) or not needs_kueue_workload(job, group, gives_up=is_timed_out(group)):
            return None
        selector = f"{KUEUE_JOB_UID}={job.metadata.uid}"
        for resource in KUEUE_WORKLOADS:
            with contextlib.suppress(NotFound):
                async for page in self._client.list_pages(resource, job.metadata.namespace, label_selector=selector):
                    for found in _KUEUE_WORKLOADS.page(page).items:
                        if (owner := controller_of(found.metadata)) is not None and owner.uid == job.metadata.uid:
                            return ServedKueueWorkload(resource, found)
                return None
        return None

    async def _pods_of(self, job: Job) -> tuple[GangPod, ...]:
        pods: list[GangPod] = []
        selector = f"{JOB_UID_LABEL}={job.metadata.uid}"
        async for page in self._client.list_pages(PODS, job.metadata.namespace, label_selector=selector):
            pods += _PODS.page(page).items
        return tuple(pod for pod in pods if _is_pod_of(pod, job))


async def group_objects_of(job: Job, *, providers: Providers, groups: ProviderGroups) -> tuple[ProviderGroup, ...]:
    """The objects that the Job's gang scheduler has for it; none for a scheduler without a kind of its own.

    Raises:
        KindMissing: the cluster does not know the kind.
        KubeError: they could not be listed.
    """
    provider = provider_of(job, providers)
    if provider is None or provider.kind is None:
        return ()
    return await groups.owned(provider.kind, job.metadata.uid)


def _is_pod_of(pod: GangPod, job: Job) -> bool:
    # The label can be set by anybody who may create pods; the controller reference is checked by the garbage collector.
    owner = controller_of(pod.metadata)
    return owner is not None and owner.uid == job.metadata.uid
