"""The writes of the LeaderWorkerSet controller. What is there under a wanted name and is somebody else's stays as it is."""

from typing import Any, Final

import msgspec

from kube.client.client import Client
from kube.client.errors import AlreadyExists, Conflict, KubeError, NotFound
from kube.client.events import EventRecorder, ObjectReference
from kube.client.resources import (
    CONTROLLER_REVISIONS,
    LEADER_WORKER_SETS,
    PODS,
    SERVICES,
    STATEFUL_SETS,
)
from localcluster.controllers.documents import Document
from localcluster.controllers.leaderworkersets.model import LeaderWorkerSetStatus

PROGRESSING: Final = "GroupsProgressing"
UPDATING: Final = "GroupsUpdating"
RECREATING: Final = "RecreateGroup"
REVISING: Final = "CreatingRevision"
FAILED_CREATE: Final = "FailedCreate"


class ObjectControl:
    """Carries out what was decided."""

    def __init__(self, client: Client, recorder: EventRecorder) -> None:
        self._client = client
        self._recorder = recorder

    async def create_set(self, lws: Document, manifest: Document, what: str) -> bool:
        """Creates a StatefulSet; False when its name is taken."""
        try:
            await self._client.create(STATEFUL_SETS, manifest, manifest["metadata"]["namespace"], parse=False)
        except AlreadyExists:
            return False
        except KubeError as error:
            self.tell(lws, FAILED_CREATE, f"Failed to create {what}: {error}", is_warning=True)
            raise
        self.tell(lws, PROGRESSING, f"Created {what}")
        return True

    async def replace_set(self, document: Document) -> None:
        """Puts a changed StatefulSet, unless somebody else changed it meanwhile."""
        meta = document["metadata"]
        await self._client.replace(STATEFUL_SETS, document, meta["name"], meta["namespace"])

    async def create_service(self, manifest: Document) -> None:
        """Creates a headless service, if there is none of that name."""
        try:
            await self._client.create(SERVICES, manifest, manifest["metadata"]["namespace"], parse=False)
        except AlreadyExists:
            return

    async def create_revision(self, lws: Document, manifest: Document) -> Document:
        """Creates a ControllerRevision, or gives the one that an earlier attempt left."""
        meta = manifest["metadata"]
        try:
            made = await self._client.create(CONTROLLER_REVISIONS, manifest, meta["namespace"])
        except AlreadyExists:
            return await self._client.get(CONTROLLER_REVISIONS, meta["name"], meta["namespace"])
        self.tell(lws, REVISING, f"Creating revision {meta['name']}")
        return made

    async def delete_revision(self, revision: Document) -> None:
        """Deletes exactly this revision."""
        meta = revision["metadata"]
        try:
            await self._client.delete(CONTROLLER_REVISIONS, meta["name"], meta["namespace"], uid=meta["uid"])
        except (NotFound, Conflict):
            return

    async def delete_leader(self, lws: Document, leader: Document, reason: str) -> None:
        """Deletes exactly this leader, after all that it owns."""
        meta = leader["metadata"]
        try:
            await self._client.delete(PODS, meta["name"], meta["namespace"], uid=meta["uid"], propagation="Foreground")
        except (NotFound, Conflict):
            return
        self.tell(lws, RECREATING, reason)

    async def write_status(self, document: Document, status: LeaderWorkerSetStatus) -> None:
        """Replaces the status unless the LeaderWorkerSet changed meanwhile."""
        meta = document["metadata"]
        body = {**document, "status": msgspec.to_builtins(status)}
        await self._client.replace(LEADER_WORKER_SETS, body, meta["name"], meta["namespace"], subresource="status")

    def tell(self, lws: Document, reason: str, note: str, *, is_warning: bool = False) -> None:
        """An event about the LeaderWorkerSet."""
        meta: dict[str, Any] = lws["metadata"]
        self._recorder.record(
            ObjectReference(
                LEADER_WORKER_SETS.api_version, LEADER_WORKER_SETS.kind, meta["namespace"], meta["name"], meta["uid"]
            ),
            reason=reason,
            note=note,
            type="Warning" if is_warning else "Normal",
            action="Sync",
        )
