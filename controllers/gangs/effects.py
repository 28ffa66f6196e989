"""Writes that gangs of every kind need: what is created once is counted, kept for the next pass, and told where people look."""

import asyncio
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar

import msgspec

from api.constants import (
    EVENT_FAILED_POD_GROUP_CREATE,
    EVENT_FAILED_WORKLOAD_CREATE,
    EVENT_POD_GROUP_CREATED,
    EVENT_WORKLOAD_CREATED,
)
from api.meta import Metadata
from api.podgroup import POD_GROUP_KIND, WORKLOAD, PodGroup, Workload
from controllers.announcer import Announcer
from controllers.fresh import Fresh
from controllers.gangs.creation import NameTaken, Outdated, create_or_find
from controllers.gangs.patches import workload_minimum_patch
from controllers.gangs.steps import SetWorkloadMinimum
from controllers.metrics import Metrics
from kube.cache.store import KubeObject
from kube.client.client import Client, PatchKind
from kube.client.errors import AnsweredError, Conflict, KubeError, NotFound
from kube.client.resources import Resource

T = TypeVar("T", Workload, PodGroup)

AT_ONCE: Final = 16

_EVENTS: Final = {
    WORKLOAD: (EVENT_WORKLOAD_CREATED, EVENT_FAILED_WORKLOAD_CREATE),
    POD_GROUP_KIND: (EVENT_POD_GROUP_CREATED, EVENT_FAILED_POD_GROUP_CREATE),
}


class Writers(Protocol):
    """What is needed to write and to tell about it."""

    @property
    def client(self) -> Client:
        """The API server."""

    @property
    def announcer(self) -> Announcer:
        """Events."""

    @property
    def metrics(self) -> Metrics:
        """Counters."""


@dataclass(frozen=True, slots=True)
class Creation(Generic[T]):
    """A Workload or PodGroup that must exist exactly once.

    Attributes:
        resource: where it is created.
        manifest: the object whole.
        record: its type.
        owner: its controller, by whose UID an earlier attempt of ours is known.
        subject: on what events are told, of the kind that the announcer speaks about.
        whose: what it is made for, for people: `Job train`.
    """

    resource: Resource
    manifest: dict[str, Any]
    record: type[T]
    owner: KubeObject
    subject: KubeObject
    whose: str


async def create(creation: Creation[T], writers: Writers, seen: Fresh[T]) -> T:
    """The object, created now or by an earlier attempt of ours; `seen` shows it from now on.

    Raises:
        NameTaken: somebody else's object has the name.
        Outdated: what had the name vanished while we looked.
        KubeError: the server refused, or it is unknown what happened.
    """
    kind, whose = creation.resource.kind, creation.whose
    created_reason, failed_reason = _EVENTS[kind]
    try:
        made, origin = await create_or_find(
            writers.client, creation.resource, creation.manifest, creation.record, creation.owner
        )
    except NameTaken:
        writers.metrics.object_created(kind, "taken")
        raise
    except KubeError as error:
        writers.metrics.object_created(kind, "failed")
        if isinstance(error, AnsweredError) and not error.outcome_unknown:
            note = f"Failed to create {kind} for {whose}: {error.message}"
            writers.announcer.warn_once(creation.subject, reason=failed_reason, note=note, action=f"Create{kind}")
        raise
    writers.metrics.object_created(kind, origin)
    seen.note(made)
    if origin == "created":
        note = f"Created {kind} {made.metadata.name} for {whose}"
        writers.announcer.tell(creation.subject, reason=created_reason, note=note, action=f"Create{kind}")
    return made


async def patch(
    client: Client, resource: Resource, metadata: Metadata, body: Any, *, kind: PatchKind = PatchKind.MERGE
) -> dict[str, Any]:
    """The object after the patch.

    Raises:
        Outdated: it is gone, or not the one or not the version that the patch means.
        KubeError: anything else.
    """
    try:
        return await client.patch(resource, body, metadata.name, metadata.namespace, kind=kind)
    except (Conflict, NotFound) as error:
        raise Outdated(str(error)) from error


async def set_workload_minimum(
    step: SetWorkloadMinimum, client: Client, resource: Resource, seen: Fresh[Workload]
) -> None:
    """Carry out that step.

    Raises:
        Outdated: the Workload is gone.
        KubeError: anything else.
    """
    body = workload_minimum_patch(step.workload, step.min_count)
    answer = await patch(client, resource, step.workload.metadata, body, kind=PatchKind.JSON)
    seen.note(msgspec.convert(answer, Workload))


async def all_of(works: Iterable[Coroutine[Any, Any, object]]) -> None:
    """Do all of them, some at once; then raise what is most telling of what went wrong."""
    room = asyncio.Semaphore(AT_ONCE)

    async def one(work: Coroutine[Any, Any, object]) -> None:
        async with room:
            await work

    results = await asyncio.gather(*(one(work) for work in works), return_exceptions=True)
    failures = [result for result in results if isinstance(result, BaseException)]
    # Being outdated is only a reason to look again.
    for failure in sorted(failures, key=lambda error: isinstance(error, Outdated)):
        raise failure
