"""Lets go of pods whose Job is gone or has ended: nobody would ever count them, and their finalizer would hold them."""

from kube.client.client import Client
from kube.client.errors import NotFound
from kube.client.resources import JOBS
from localcluster.controllers.documents import Whole
from localcluster.controllers.jobs.hands import release_pod
from localcluster.controllers.jobs.model import JOB_CONTROLLER, Job
from localcluster.controllers.jobs.pods import Pod


async def release_orphan(client: Client, pod: Pod, job: Whole[Job] | None, job_name: str, job_uid: str) -> None:
    """Takes the finalizer off unless the pod's Job still runs; `job` is what we know of it, None when it is unknown."""
    if not pod.is_tracked:
        return
    if job is not None:
        waits = job.view.is_ours and not job.view.is_finished
    else:
        waits = await _runs(client, pod.metadata.namespace, job_name, job_uid)
    if not waits:
        await release_pod(client, pod)


async def _runs(client: Client, namespace: str, name: str, uid: str) -> bool:
    """Whether that very Job exists, by the server's own word: ours may lag."""
    try:
        found = await client.get(JOBS, name, namespace)
    except NotFound:
        return False
    other = found["spec"].get("managedBy") not in {None, JOB_CONTROLLER}
    return bool(found["metadata"]["uid"] == uid) or other
