"""What a gang scheduler that is not ours needs for one Job: its view of the gang, its group objects, its minimum. Pure.

A scheduler that counts only pods that have not ended would let the last pods of a Job wait for members that are done. So its
minimum follows the work that is left: when a pod waits, or at once where a gang below its minimum is evicted. It is never
raised again but with the Job.
"""

from collections.abc import Mapping
from typing import Any

from api.compile import job_owner
from api.job import Job
from api.podgroup import PodGroup
from controllers.gangs.schedulers import kind_missing, provider_of_pods, timeout_seconds
from controllers.jobs.observed import ObservedJob
from controllers.jobs.steps import (
    ApplyGroupObjects,
    Step,
)
from providers.base import Provider
from providers.gang import WORKER, Gang, Role, role_of
from providers.selection import Providers


def provider_of(job: Job, providers: Providers) -> Provider | None:
    """The gang scheduler that admission chose for the Job, None when its template names none."""
    return provider_of_pods(job.spec.template.metadata, providers)


def minimum_now(job: Job, provider: Provider, *, need: int, current: int | None) -> int:
    """The minimum of the gang for this scheduler: `need`, or less at the tail of the Job.

    Args:
        job: the Job with its counts.
        provider: its gang scheduler.
        need: the minimum while no pod has succeeded.
        current: the minimum of the group as it is, None when there is no group yet.
    """
    capabilities = provider.capabilities
    if capabilities.counts_succeeded:
        return need
    wanted = max(1, min(need, _left(job, need)))
    waiting = job.status.active > (job.status.ready or 0)
    if current is None or waiting or capabilities.evicts_below_minimum:
        return wanted
    return min(need, max(current, wanted))


def _left(job: Job, need: int) -> int:
    if job.spec.completions is not None:
        return job.spec.completions - job.status.succeeded
    # Without a number of completions no pod is made any more once one has succeeded.
    return job.status.active if job.status.succeeded else need


def gang_of(
    job: Job,
    group: PodGroup,
    provider: Provider,
    *,
    current: int | None = None,
    template_spec: Mapping[str, Any] | None = None,
) -> Gang:
    """The Job's gang in the terms of `providers`.

    Args:
        job: the Job with its counts.
        group: its PodGroup.
        provider: its gang scheduler.
        current: the minimum of the group as it is, None when there is no group yet.
        template_spec: `spec` of the pod template as the server has it; None leaves resources out.

    Raises:
        InvalidQuantity: a quantity in the template is out of bounds.
    """
    template, own = job.spec.template.metadata, job.metadata
    count = job.pods_at_once
    return Gang(
        name=group.metadata.name,
        namespace=own.namespace,
        min_count=minimum_now(job, provider, need=group.need, current=current),
        roles=(Role(WORKER, count) if template_spec is None else role_of(WORKER, count, template_spec),),
        owner=job_owner(job),
        labels={**(template.labels or {}), **(own.labels or {})},
        annotations={**(template.annotations or {}), **(own.annotations or {})},
        priority_class_name=group.spec.priority_class_name,
        timeout_seconds=timeout_seconds(job.metadata),
    )


def group_object_steps(seen: ObservedJob, group: PodGroup | None, providers: Providers) -> list[Step]:
    """The steps for the group objects of the Job's scheduler.

    Args:
        seen: the facts.
        group: the PodGroup they stand for; None: the one this pass creates.
        providers: the gang schedulers.
    """
    provider = provider_of(seen.job, providers)
    if provider is None or provider.kind is None:
        return []
    if seen.kind_missing:
        return [kind_missing(provider)]
    if group is None:
        return [ApplyGroupObjects(None)]
    current = {each.metadata.name: each.spec.min_member for each in seen.group_objects}
    known = max((count for count in current.values() if count is not None), default=None)
    wanted = provider.group_objects(gang_of(seen.job, group, provider, current=known))
    as_wanted = all(current.get(each["metadata"]["name"]) == each["spec"]["minMember"] for each in wanted)
    return [] if as_wanted else [ApplyGroupObjects(group, current=known)]
