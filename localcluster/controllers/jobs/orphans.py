"""Lets go of pods whose Job is gone or has ended: nobody would ever count them, and their finalizer would hold them."""

from api.meta import OwnerReference
from kube.client.client import Client
from kube.client.errors import NotFound
from kube.client.resources import JOBS
from localcluster.controllers.documents import Whole
from localcluster.controllers.jobs.model import JOB_CONTROLLER, Job
from localcluster.controllers.jobs.pod_control import release_pod
from localcluster.controllers.jobs.pods import Pod


async def release_orphan(client: Client, pod: Pod, job: Whole[Job] | None, owner: OwnerReference | None) -> None:
    """Takes the finalizer off unless the pod's Job still runs.

    Args:
        client: reads and writes.
        pod: whose finalizer.
        job: its Job as we know it; None when we do not.
        owner: what the pod says its controller is; None for a pod without any.
    """
    if not pod.is_tracked:
        return
    if job is not None:
        waits = job.view.is_ours and not job.view.is_finished
    else:
        waits = owner is not None and await _waits(client, pod.metadata.namespace, owner)
    if not waits:
        await release_pod(client, pod)


async def _waits(client: Client, namespace: str, owner: OwnerReference) -> bool:
    """Whether the owner is no Job, or that very Job exists by the server's own word: ours may lag."""
    if owner.kind != JOBS.kind:
        return True
    try:
        found = await client.get(JOBS, owner.name, namespace)
    except NotFound:
        return False
    other = found["spec"].get("managedBy") not in {None, JOB_CONTROLLER}
    return bool(found["metadata"]["uid"] == owner.uid) or other
