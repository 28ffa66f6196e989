"""Giving users' objects back: Jobs that we hold are let go, and pods forget the group they belonged to.

What the patches say is pure and tested on its own; all of them are pinned to the version that was looked at.
"""

from collections.abc import Iterable
from typing import Any, Final

from api.constants import DEFAULT_SCHEDULER_NAME, GATE, GROUP, MANAGED, MANAGED_BY, MANAGED_BY_TUTTI
from install.removal import Object, each, list_if_served, patch_listed, remove_object
from kube.client.client import Client
from kube.client.errors import Invalid
from kube.client.resources import JOBS, PODS
from kube.groups.group_api import BUILT_IN, OWN

PROTECTION: Final = "scheduling.k8s.io/podgroup-protection"
"""Finalizer that the built-in group API puts on every PodGroup; with the group's members still running it stays."""

_FINISHED: Final = frozenset({"Complete", "Failed"})


def opening_patch(job: Object, *, template_too: bool = True) -> Object | None:
    """What lets a Job go that waits at our gate; None when it does not.

    The template's label goes in the same patch (`template_too`), so that the pods are nobody's gang. A Job that has run
    before may refuse that; then it is left as it is.
    """
    if GATE not in (job["metadata"].get("annotations") or {}):
        return None
    spec: dict[str, Any] = {"suspend": False}
    labels = (job["spec"]["template"].get("metadata") or {}).get("labels") or {}
    if template_too and MANAGED in labels:
        spec["template"] = {"metadata": {"labels": {MANAGED: None}}}
    return {"metadata": {"annotations": {GATE: None}}, "spec": spec}


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


def is_stranded_job(job: Object, scheduler_name: str = DEFAULT_SCHEDULER_NAME) -> bool:
    """Whether the Job will still make pods that only our scheduler would place."""
    conditions = (job.get("status") or {}).get("conditions") or []
    ended = any(each["type"] in _FINISHED and each["status"] == "True" for each in conditions)
    return not ended and job["spec"]["template"]["spec"].get("schedulerName") == scheduler_name


def is_stranded_pod(pod: Object, scheduler_name: str = DEFAULT_SCHEDULER_NAME) -> bool:
    """Whether the pod waits for our scheduler."""
    spec = pod["spec"]
    waits = not spec.get("nodeName") and (pod.get("status") or {}).get("phase", "Pending") == "Pending"
    return waits and spec.get("schedulerName") == scheduler_name


async def open_gates(client: Client) -> int:
    """Let every Job go that waits at our gate; how many did."""
    return await each(await list_if_served(client, JOBS), lambda job: _open(client, job))


async def _open(client: Client, job: Object) -> bool:
    try:
        return await patch_listed(client, JOBS, job, opening_patch)
    except Invalid:
        return await patch_listed(client, JOBS, job, lambda live: opening_patch(live, template_too=False))


async def disown_pods(client: Client) -> int:
    """Take the references to our own PodGroups off all pods; how many had one."""
    pods = await list_if_served(client, PODS, label_selector=MANAGED)
    return await each(pods, lambda pod: patch_listed(client, PODS, pod, unowned_patch))


async def delete_groups(client: Client) -> int:
    """Delete the Workloads and PodGroups that we made, in both group APIs; how many there were."""
    count = 0
    for api in (OWN, BUILT_IN):
        for group in _ours(await list_if_served(client, api.pod_groups)):
            if api is BUILT_IN:
                await patch_listed(client, api.pod_groups, group, unprotected_patch)
        for resource in (api.pod_groups, api.workloads):
            found = _ours(await list_if_served(client, resource))
            count += await each(found, lambda one, kind=resource: remove_object(client, kind, one))  # type: ignore[misc]
    return count


async def stranded(client: Client) -> list[str]:
    """Unfinished Jobs and waiting pods, as kind and namespace/name, that only our scheduler would place."""
    jobs = [job for job in await list_if_served(client, JOBS) if is_stranded_job(job)]
    pods = [pod for pod in await list_if_served(client, PODS) if is_stranded_pod(pod)]
    return [f"Job {_path(job)}" for job in jobs] + [f"pod {_path(pod)}" for pod in pods]


def _ours(found: Iterable[Object]) -> list[Object]:
    return [one for one in found if is_ours(one)]


def _path(found: Object) -> str:
    return f"{found['metadata'].get('namespace', '')}/{found['metadata']['name']}"


async def others_groups(client: Client) -> int:
    """How many Workloads and PodGroups of our own kinds somebody else made."""
    found = [await list_if_served(client, resource) for resource in (OWN.workloads, OWN.pod_groups)]
    return sum(not is_ours(one) for objects in found for one in objects)
