"""Gives existing volumes to claims, and says for which node a claim's volume is to be made.

Both are small patches that name the UID and the version of what they change; none is ever sent without a version. When one is
refused because something changed meanwhile, or its answer is lost, the object is read until an answer comes: what we wanted may
be there already, or somebody else may have been faster.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from api.constants import BOUND_BY_CONTROLLER, SELECTED_NODE
from kube.client.client import Client
from kube.client.errors import BadRequest, Conflict, Forbidden, Invalid, KubeError, NotFound
from kube.client.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from scheduler.apicalls.dispatcher import APIDispatcher, Retries
from scheduler.cache.volume_records import ClaimRecord, VolumeRecord

Object = dict[str, Any]
Ended = Callable[[str], None]
"""Told once how a write ended: an empty text when it is done, else why it cannot be."""

_CHANGED_BY_OTHERS: Final = "somebody else changed it at the same time"


@dataclass(frozen=True, slots=True)
class StaticBinding:
    """An existing volume for a claim."""

    claim: ClaimRecord
    volume: VolumeRecord

    @property
    def is_done(self) -> bool:
        """Whether the volume says so already."""
        return self.volume.claim == self.claim.key and self.volume.claim_uid == self.claim.metadata.uid


@dataclass(frozen=True, slots=True)
class DynamicProvisioning:
    """A volume is to be made for a claim so that this node reaches it."""

    claim: ClaimRecord
    node_name: str

    @property
    def is_done(self) -> bool:
        """Whether the claim says so already."""
        return self.claim.selected_node == self.node_name


Write = StaticBinding | DynamicProvisioning


class ClaimWriter:
    """Hands the writes in as urgent calls: pods wait for them as they wait for their binds."""

    def __init__(self, client: Client, dispatcher: APIDispatcher, retries: Retries) -> None:
        self._client = client
        self._dispatcher = dispatcher
        self._retries = retries

    def submit(self, write: Write, ended: Ended, is_wanted: Callable[[], bool]) -> None:
        """Queue a write; it is repeated until it is done, cannot be done, or is wanted no more.

        Args:
            write: what is to be written.
            ended: told once how it ended, unless it is wanted no more.
            is_wanted: asked before every attempt.
        """
        version = (write.volume if isinstance(write, StaticBinding) else write.claim).metadata.resource_version
        self._queue(write, version, ended, is_wanted)

    def _queue(self, write: Write, version: str, ended: Ended, is_wanted: Callable[[], bool]) -> None:
        async def send() -> str:
            if not is_wanted():
                return self._overtaken(write)
            return await self._send(write, version, ended, is_wanted)

        self._dispatcher.add_urgent(send)

    def _queue_read(self, write: Write, ended: Ended, is_wanted: Callable[[], bool]) -> None:
        async def look() -> str:
            if not is_wanted():
                return self._overtaken(write)
            return await self._read(write, ended, is_wanted)

        self._dispatcher.add_urgent(look)

    async def _send(self, write: Write, version: str, ended: Ended, is_wanted: Callable[[], bool]) -> str:
        resource, name, namespace = _where(write)
        try:
            await self._client.patch(resource, _patch(write, version), name, namespace, parse=False)
        except (NotFound, Forbidden, BadRequest, Invalid) as error:
            return self._end(write, ended, str(error))
        except Conflict:
            return await self._read(write, ended, is_wanted)
        except KubeError as error:
            if error.outcome_unknown:
                return await self._read(write, ended, is_wanted)
            self._retries.add(_key(write), lambda: self._queue(write, version, ended, is_wanted), error)
            return "retry"
        return self._end(write, ended, "")

    async def _read(self, write: Write, ended: Ended, is_wanted: Callable[[], bool]) -> str:
        resource, name, namespace = _where(write)
        try:
            found = await self._client.get(resource, name, namespace)
        except NotFound as error:
            return self._end(write, ended, str(error))
        except KubeError as error:
            self._retries.add(_key(write), lambda: self._queue_read(write, ended, is_wanted), error)
            return "unknown"
        problem = _ended_at_volume(write, found) if isinstance(write, StaticBinding) else _ended_at_claim(write, found)
        if problem is None:
            version = str(found["metadata"]["resourceVersion"])
            self._retries.add(_key(write), lambda: self._queue(write, version, ended, is_wanted))
            return "retry"
        return self._end(write, ended, problem)

    def _overtaken(self, write: Write) -> str:
        self._retries.forget(_key(write))
        return "overtaken"

    def _end(self, write: Write, ended: Ended, problem: str) -> str:
        self._retries.forget(_key(write))
        ended(problem)
        return "failed" if problem else "written"


def _where(write: Write) -> tuple[Any, str, str | None]:
    if isinstance(write, StaticBinding):
        return PERSISTENT_VOLUMES, write.volume.metadata.name, None
    return PERSISTENT_VOLUME_CLAIMS, write.claim.metadata.name, write.claim.metadata.namespace


def _key(write: Write) -> tuple[str, str]:
    return ("claim", write.claim.metadata.uid)


def _patch(write: Write, version: str) -> Object:
    if isinstance(write, DynamicProvisioning):
        annotations = {SELECTED_NODE: write.node_name}
        return {"metadata": {"uid": write.claim.metadata.uid, "resourceVersion": version, "annotations": annotations}}
    claim, volume = write.claim.metadata, write.volume
    meta: Object = {"uid": volume.metadata.uid, "resourceVersion": version}
    if volume.claim != write.claim.key:
        meta["annotations"] = {BOUND_BY_CONTROLLER: "yes"}
    reference = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": claim.namespace,
        "name": claim.name,
        "uid": claim.uid,
        "resourceVersion": claim.resource_version,
    }
    return {"metadata": meta, "spec": {"claimRef": reference}}


def _ended_at_volume(write: StaticBinding, found: Object) -> str | None:
    """What came of it; None when it can be tried again."""
    claim = write.claim.metadata
    if found["metadata"].get("uid") != write.volume.metadata.uid:
        return f'persistentvolume "{write.volume.metadata.name}" was replaced by another of its name'
    reference = found.get("spec", {}).get("claimRef")
    if not reference:
        return None
    is_ours = (reference.get("namespace"), reference.get("name")) == (claim.namespace, claim.name)
    if is_ours and reference.get("uid") == claim.uid:
        return ""
    return None if is_ours and not reference.get("uid") else _taken(write)


def _taken(write: StaticBinding) -> str:
    return f'persistentvolume "{write.volume.metadata.name}": {_CHANGED_BY_OTHERS}'


def _ended_at_claim(write: DynamicProvisioning, found: Object) -> str | None:
    claim = write.claim.metadata
    if found["metadata"].get("uid") != claim.uid:
        return f'persistentvolumeclaim "{claim.name}" was replaced by another of its name'
    if found.get("spec", {}).get("volumeName"):
        return ""
    node = (found["metadata"].get("annotations") or {}).get(SELECTED_NODE)
    if not node:
        return None
    return "" if node == write.node_name else f'persistentvolumeclaim "{claim.name}": {_CHANGED_BY_OTHERS}'
