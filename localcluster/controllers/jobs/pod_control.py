"""The writes of the Job controller: pods made in a slow start, deleted and let go, and the Job's status.

Slow start: 1, 2, 4, ... pods at once, and no further batch after one that had a failure, so that a full quota is met by a
few requests and not by hundreds. Every write names the UID it is meant for.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from api.constants import REASON_NAMESPACE_TERMINATING
from kube.client.client import Client, PatchKind
from kube.client.errors import AnsweredError, Conflict, Forbidden, KubeError, NotFound
from kube.client.events import EventRecorder, ObjectReference
from kube.client.resources import JOBS, PODS
from localcluster.controllers.documents import Document
from localcluster.controllers.expectations import Expectations
from localcluster.controllers.jobs.conclude import Handled, Happening
from localcluster.controllers.jobs.model import Job, JobStatus
from localcluster.controllers.jobs.newpod import pod_of
from localcluster.controllers.jobs.plan import NewPod, PodPlan
from localcluster.controllers.jobs.pods import TRACKING_FINALIZER, Pod
from localcluster.controllers.together import all_of, first_error, in_slow_start

WRITES_AT_ONCE: Final = 32


@dataclass(slots=True)
class Outcome:
    """What became of the writes for one Job's pods, and the first error that another attempt may overcome."""

    handled: Handled
    error: KubeError | None = None


class PodControl:
    """Carries out what was decided."""

    def __init__(self, client: Client, recorder: EventRecorder) -> None:
        self._client = client
        self._recorder = recorder
        self._limit = asyncio.Semaphore(WRITES_AT_ONCE)

    async def carry_out(self, document: Document, plan: PodPlan, expectations: Expectations) -> Outcome:
        """Deletes or makes pods."""
        if plan.delete:
            return await self._delete_all(document, plan.delete, expectations, uncount=plan.uncount)
        return await self._create_all(document, plan.create, expectations)

    async def release(self, pods: Sequence[Pod], expectations: Expectations) -> tuple[set[str], KubeError | None]:
        """Takes the tracking finalizer off; the UIDs of those that do not have it any more, and the first error."""
        results = await all_of(self._release, pods, self._limit)
        gone = {pod.metadata.uid for pod, error in zip(pods, results, strict=True) if error is None}
        expectations.released |= gone
        return gone, first_error(results)

    async def write_status(self, document: Document, status: JobStatus) -> Document:
        """Replaces the Job's status unless the Job changed meanwhile; the new document."""
        meta = document["metadata"]
        body = {**document, "status": msgspec.to_builtins(status)}
        return await self._client.replace(JOBS, body, meta["name"], meta["namespace"], subresource="status")

    def tell(self, job: Job, happening: Happening) -> None:
        """An event about the Job."""
        meta = job.metadata
        self._recorder.record(
            ObjectReference("batch/v1", "Job", meta.namespace, meta.name, meta.uid),
            reason=happening.reason,
            note=happening.note,
            type="Warning" if happening.is_warning else "Normal",
            action="Sync",
        )

    # --- creating ----------------------------------------------------------------------------------------------------

    async def _create_all(self, document: Document, new: Sequence[NewPod], expectations: Expectations) -> Outcome:
        async def create(pod: NewPod) -> None:
            await self._create(document, pod, expectations)

        created, failed = await in_slow_start(create, new, self._limit)
        return Outcome(Handled(created=created, complete=failed is None), failed)

    async def _create(self, document: Document, new: NewPod, expectations: Expectations) -> None:
        try:
            pod = await self._client.create(PODS, pod_of(document, new), document["metadata"]["namespace"])
        except KubeError as error:
            expectations.is_unsure |= error.outcome_unknown
            if not _is_terminating_namespace(error):
                message = error.message if isinstance(error, AnsweredError) else str(error)
                self._tell(document, Happening("FailedCreate", f"Error creating: {message}", is_warning=True))
            raise
        expectations.creations.add(pod["metadata"]["uid"])
        self._tell(document, Happening("SuccessfulCreate", f"Created pod: {pod['metadata']['name']}"))

    # --- deleting ----------------------------------------------------------------------------------------------------

    async def _delete_all(
        self, document: Document, pods: Sequence[Pod], expectations: Expectations, *, uncount: bool
    ) -> Outcome:
        async def delete(pod: Pod) -> None:
            if uncount:
                await self._release(pod)
                expectations.released.add(pod.metadata.uid)
            await self._delete(pod)
            expectations.deletions.add(pod.metadata.uid)
            self._tell(document, Happening("SuccessfulDelete", f"Deleted pod: {pod.metadata.name}"))

        results = await all_of(delete, pods, self._limit)
        gone = [pod for pod, error in zip(pods, results, strict=True) if error is None]
        handled = Handled(
            deleted=len(gone), deleted_ready=sum(1 for pod in gone if pod.is_ready), complete=len(gone) == len(pods)
        )
        return Outcome(handled, first_error(results))

    async def _delete(self, pod: Pod) -> None:
        namespace, name = pod.metadata.key
        try:
            await self._client.delete(PODS, name, namespace, uid=pod.metadata.uid)
        except (NotFound, Conflict):
            return  # it is gone, and another pod may have its name

    async def _release(self, pod: Pod) -> None:
        await release_pod(self._client, pod)

    def _tell(self, document: Document, happening: Happening) -> None:
        self.tell(msgspec.convert({"metadata": document["metadata"]}, Job), happening)


async def release_pod(client: Client, pod: Pod) -> None:
    """Takes the tracking finalizer off exactly this pod.

    Raises:
        Invalid: its finalizers are not what they were when it was read.
    """
    finalizers = pod.metadata.finalizers or ()
    if TRACKING_FINALIZER not in finalizers:
        return
    path = f"/metadata/finalizers/{finalizers.index(TRACKING_FINALIZER)}"
    patch = [
        {"op": "test", "path": "/metadata/uid", "value": pod.metadata.uid},
        {"op": "test", "path": path, "value": TRACKING_FINALIZER},
        {"op": "remove", "path": path},
    ]
    namespace, name = pod.metadata.key
    try:
        await client.patch(PODS, patch, name, namespace, kind=PatchKind.JSON, parse=False)
    except NotFound:
        return


def _is_terminating_namespace(error: KubeError) -> bool:
    return isinstance(error, Forbidden) and error.has_cause(REASON_NAMESPACE_TERMINATING)
