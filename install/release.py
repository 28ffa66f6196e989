"""Giving users' objects back: Jobs that we hold are let go, and pods forget the group they belonged to.

What the patches say is pure and tested on its own; all of them are pinned to the version that was looked at.
"""

from collections.abc import Iterable
from typing import Any, Final

from api.constants import (
    GATE,
    GROUP,
    HELD,
    HELD_AND_GATED,
    KUEUE_QUEUE,
    MANAGED,
    MANAGED_BY,
    MANAGED_BY_TUTTI,
    STOPPED_IN_QUEUE,
    SUSPENDED,
)
from install.removal import Object, each, list_if_served, patch_listed, remove_object
from kube.client.client import Client
from kube.client.errors import Invalid
from kube.client.resources import JOBS, KUEUE_WORKLOADS, PODS
from kube.groups.composites import first_served
from kube.groups.discovery import served_group_apis
from kube.groups.group_api import BUILT_IN_COMPOSITES, OWN, OWN_COMPOSITES, one_version_each

PROTECTION: Final = "scheduling.k8s.io/podgroup-protection"
"""Finalizer that the built-in group API puts on every PodGroup; with the group's members still running it stays."""


def opening_patch(job: Object, *, template_too: bool = True) -> Object | None:
    """What lets a Job go that waits at our gate; None when it does not.

    The template's label goes in the same patch (`template_too`), so that the pods are nobody's gang. A Job that has run
    before may refuse that; then it is left as it is.
    """
    annotations = job["metadata"].get("annotations") or {}
    if GATE not in annotations:
        return None
    is_queued = KUEUE_QUEUE in (job["metadata"].get("labels") or {})
    # Kueue has queued it behind the admission policy that has suspended it, and resumes it.
    is_left_to_kueue = annotations.get(HELD) == HELD_AND_GATED and is_queued
    spec: dict[str, Any] = {} if is_left_to_kueue else {"suspend": False}
    labels = (job["spec"]["template"].get("metadata") or {}).get("labels") or {}
    if template_too and MANAGED in labels:
        spec["template"] = {"metadata": {"labels": {MANAGED: None}}}
    return {"metadata": {"annotations": {GATE: None}}, "spec": spec}


def resuming_patch(job: Object) -> Object | None:
    """What resumes a Job that the controllers suspended when its group gave up; None when it was somebody else."""
    metadata = job["metadata"]
    mark = (metadata.get("annotations") or {}).get(SUSPENDED)
    if not job["spec"].get("suspend") or mark != f"{metadata.get('uid')}/{metadata.get('generation')}":
        return None
    return {"metadata": {"annotations": {SUSPENDED: None}}, "spec": {"suspend": False}}


def going_on_patch(workload: Object) -> Object | None:
    """What lets Kueue admit a Job again that the controllers stopped in its queue; None when it was somebody else."""
    if STOPPED_IN_QUEUE not in (workload["metadata"].get("annotations") or {}):
        return None
    return {"metadata": {"annotations": {STOPPED_IN_QUEUE: None}}, "spec": {"active": True}}


def unowned_patch(pod: Object) -> Object | None:
    """What takes the owner references to our own PodGroups off a pod; None when it has none.

    Once the kind is gone, the garbage collector could not look such an owner up and would never finish with the pod.
    """
    owners = pod["metadata"].get("ownerReferences") or []
    kept = [owner for owner in owners if owner["apiVersion"].partition("/")[0] != GROUP]
    return None if len(kept) == len(owners) else {"metadata": {"ownerReferences": kept}}


def unprotected_patch(group: Object) -> Object | None:
    """What takes the protection finalizer off a PodGroup; None when it has none."""
    finalizers = group["metadata"].get("finalizers") or []
    kept = [finalizer for finalizer in finalizers if finalizer != PROTECTION]
    return None if len(kept) == len(finalizers) else {"metadata": {"finalizers": kept}}


def is_ours(found: Object) -> bool:
    """Whether we made the object."""
    return (found["metadata"].get("annotations") or {}).get(MANAGED_BY) == MANAGED_BY_TUTTI


async def open_gates(client: Client) -> int:
    """Let every Job go that waits at our gate; how many did."""
    return await each(await list_if_served(client, JOBS), lambda job: _open(client, job))


async def _open(client: Client, job: Object) -> bool:
    try:
        return await patch_listed(client, JOBS, job, opening_patch)
    except Invalid:
        return await patch_listed(client, JOBS, job, lambda live: opening_patch(live, template_too=False))


async def resume_jobs(client: Client) -> int:
    """Resume every Job that was suspended when its group gave up and that nobody has changed since; how many there were."""
    jobs = await list_if_served(client, JOBS)
    return await each(jobs, lambda job: patch_listed(client, JOBS, job, resuming_patch))


async def resume_in_queue(client: Client) -> int:
    """Let every Job go on in Kueue that the controllers stopped there; how many there were."""
    for resource in KUEUE_WORKLOADS:
        if found := await list_if_served(client, resource):
            return await each(found, lambda one, kind=resource: patch_listed(client, kind, one, going_on_patch))  # type: ignore[misc]
    return 0


async def disown_pods(client: Client) -> int:
    """Take the references to our own PodGroups off all pods; how many had one."""
    pods = await list_if_served(client, PODS, label_selector=MANAGED)
    return await each(pods, lambda pod: patch_listed(client, PODS, pod, unowned_patch))


async def delete_groups(client: Client) -> int:
    """Delete the Workloads, PodGroups and CompositePodGroups that we made, in both group APIs; how many there were."""
    count = 0
    # Of our own kinds one alone may be left.
    for api in one_version_each(await served_group_apis(client) | {OWN}):
        for group in _ours(await list_if_served(client, api.pod_groups)):
            if api.guards_itself:
                await patch_listed(client, api.pod_groups, group, unprotected_patch)
        for resource in (api.pod_groups, api.workloads):
            found = _ours(await list_if_served(client, resource))
            count += await each(found, lambda one, kind=resource: remove_object(client, kind, one))  # type: ignore[misc]
    built_in = await first_served(client, BUILT_IN_COMPOSITES)
    for resource in filter(None, (built_in, OWN_COMPOSITES)):
        found = _ours(await list_if_served(client, resource))
        count += await each(found, lambda one, kind=resource: remove_object(client, kind, one))  # type: ignore[misc]
    return count


def _ours(found: Iterable[Object]) -> list[Object]:
    return [one for one in found if is_ours(one)]


async def others_groups(client: Client) -> int:
    """How many Workloads and PodGroups of our own kinds somebody else made."""
    found = [await list_if_served(client, resource) for resource in (OWN.workloads, OWN.pod_groups, OWN_COMPOSITES)]
    return sum(not is_ours(one) for objects in found for one in objects)
