"""The writes of the StatefulSet controller: claims, pods, the status. Every write names the UID it is meant for."""

import asyncio
from typing import Final

from kube.client.client import Client
from kube.client.errors import AlreadyExists, AnsweredError, Conflict, KubeError, NotFound
from kube.client.events import EventRecorder, ObjectReference
from kube.client.resources import PERSISTENT_VOLUME_CLAIMS, PODS, STATEFUL_SETS
from localcluster.controllers.documents import Document
from localcluster.controllers.expectations import Expectations
from localcluster.controllers.jobs.conclude import Happening
from localcluster.controllers.jobs.pods import Pod
from localcluster.controllers.statefulsets.history import History
from localcluster.controllers.statefulsets.model import StatefulSetStatus, status_document
from localcluster.controllers.statefulsets.newpod import claims_of, pod_of
from localcluster.controllers.statefulsets.plan import NewPod, Plan
from localcluster.controllers.together import all_of, first_error, in_slow_start

WRITES_AT_ONCE: Final = 32


class StatefulPodControl:
    """Carries out what was decided."""

    def __init__(self, client: Client, recorder: EventRecorder) -> None:
        self._client = client
        self._recorder = recorder
        self._limit = asyncio.Semaphore(WRITES_AT_ONCE)

    async def carry_out(
        self, document: Document, history: History, plan: Plan, expectations: Expectations
    ) -> KubeError | None:
        """Makes and deletes pods; the first error that another attempt may overcome."""
        for pod in plan.ended:
            note = f"StatefulSet {_slashed(document)} is recreating failed Pod {pod.metadata.name}"
            self._tell(document, Happening("RecreatingFailedPod", note, is_warning=True))

        async def create(new: NewPod) -> None:
            await self._create(document, history, new, expectations)

        async def delete(pod: Pod) -> None:
            await self._delete(document, pod, expectations)

        _, failed = await in_slow_start(create, plan.create, self._limit)
        return failed or first_error(await all_of(delete, plan.delete, self._limit))

    async def write_status(self, document: Document, status: StatefulSetStatus) -> Document:
        """Replaces the status unless the set changed meanwhile; the new document."""
        meta = document["metadata"]
        body = {**document, "status": status_document(status)}
        return await self._client.replace(STATEFUL_SETS, body, meta["name"], meta["namespace"], subresource="status")

    async def _create(self, document: Document, history: History, new: NewPod, expectations: Expectations) -> None:
        namespace = document["metadata"]["namespace"]
        manifest = pod_of(document, history.template(new.revision), new.ordinal, new.revision)
        name = manifest["metadata"]["name"]
        try:
            for claim in claims_of(document, new.ordinal):
                await self._create_claim(claim, namespace)
            pod = await self._client.create(PODS, manifest, namespace)
        except AlreadyExists:
            raise  # ours and not seen yet, or somebody else's and in the way: nothing to tell people
        except KubeError as error:
            message = error.message if isinstance(error, AnsweredError) else str(error)
            note = f"create Pod {name} in StatefulSet {document['metadata']['name']} failed error: {message}"
            self._tell(document, Happening("FailedCreate", note, is_warning=True))
            raise
        expectations.creations.add(pod["metadata"]["uid"])
        note = f"create Pod {name} in StatefulSet {document['metadata']['name']} successful"
        self._tell(document, Happening("SuccessfulCreate", note))

    async def _create_claim(self, claim: Document, namespace: str) -> None:
        try:
            await self._client.create(PERSISTENT_VOLUME_CLAIMS, claim, namespace, parse=False)
        except AlreadyExists:
            return  # the claim of an earlier pod with that name: that is what claims are for

    async def _delete(self, document: Document, pod: Pod, expectations: Expectations) -> None:
        namespace, name = pod.metadata.key
        try:
            await self._client.delete(PODS, name, namespace, uid=pod.metadata.uid)
        except (NotFound, Conflict):
            return  # it is gone, and another pod may have its name
        expectations.deletions.add(pod.metadata.uid)
        note = f"delete Pod {name} in StatefulSet {document['metadata']['name']} successful"
        self._tell(document, Happening("SuccessfulDelete", note))

    def _tell(self, document: Document, happening: Happening) -> None:
        meta = document["metadata"]
        self._recorder.record(
            ObjectReference("apps/v1", "StatefulSet", meta["namespace"], meta["name"], meta["uid"]),
            reason=happening.reason,
            note=happening.note,
            type="Warning" if happening.is_warning else "Normal",
            action="Sync",
        )


def _slashed(document: Document) -> str:
    return f"{document['metadata']['namespace']}/{document['metadata']['name']}"
