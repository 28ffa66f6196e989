"""Writes that every gang needs, and what may go wrong with them.

An object of which there must be exactly one has a name that is a function of its owner's UID, so whoever creates it twice finds his
own. Whether it *is* his own is decided by the owner's UID, never by the name; and an answer that was lost is looked up before
anything else happens. What was created is counted, kept for the next pass, and reported as an event.
"""

import asyncio
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeVar

import msgspec

from api.compositepodgroup import CompositePodGroup
from api.constants import (
    EVENT_FAILED_POD_GROUP_CREATE,
    EVENT_FAILED_WORKLOAD_CREATE,
    EVENT_POD_GROUP_CREATED,
    EVENT_WORKLOAD_CREATED,
)
from api.errors import TuttiError
from api.meta import Metadata
from api.podgroup import POD_GROUP_KIND, WORKLOAD, PodGroup, Workload
from controllers.gangs.common_steps import SetWorkloadMinimum
from controllers.gangs.ownership import describe_holder, is_ours
from controllers.gangs.patches import workload_minimum_patch
from controllers.gangs.tools import Tools
from controllers.mutation_cache import MutationCache
from kube.cache.store import KubeObject
from kube.client.client import Client, PatchKind
from kube.client.errors import AlreadyExists, AnsweredError, Conflict, KubeError, NotFound
from kube.client.resources import Resource
from kube.process.trace import trace

T = TypeVar("T", bound=KubeObject)
G = TypeVar("G", Workload, PodGroup, CompositePodGroup)

Origin = Literal["created", "found"]


class Outdated(TuttiError):
    """The server has a newer state than the plan was made for: the pass is repeated, nothing is wrong."""


class OwnerGone(Outdated):
    """What the plan was made for is not there any more, or is another object of that name."""


@dataclass(eq=False)
class NameTaken(TuttiError):
    """An object that is not ours holds the name that ours must have."""

    holder: str

    def __str__(self) -> str:
        """Who holds it."""
        return self.holder


AT_ONCE: Final = 16

_EVENTS: Final = {
    WORKLOAD: (EVENT_WORKLOAD_CREATED, EVENT_FAILED_WORKLOAD_CREATE),
    POD_GROUP_KIND: (EVENT_POD_GROUP_CREATED, EVENT_FAILED_POD_GROUP_CREATE),
}


@dataclass(frozen=True, slots=True)
class Creation(Generic[G]):
    """A Workload or PodGroup that must exist exactly once.

    Attributes:
        resource: where it is created.
        manifest: the object whole.
        record: its type.
        owner: its controller, by whose UID an earlier attempt of ours is known.
        subject: what the events are about; of the kind that the recorder is for.
        whose: what it is made for, for people: `Job train`.
    """

    resource: Resource
    manifest: dict[str, Any]
    record: type[G]
    owner: KubeObject
    subject: KubeObject
    whose: str


def _trace(creation: Creation[Any], group: str) -> None:
    if creation.resource.kind == POD_GROUP_KIND:
        owner = creation.owner.metadata
        trace("admitted", owner.uid, namespace=owner.namespace, group=group, at=owner.creation_timestamp or "")
        trace("grouped", owner.uid, namespace=owner.namespace, group=group)


async def create(creation: Creation[G], tools: Tools[Any], seen: MutationCache[G]) -> G:
    """The object, created now or by an earlier attempt of ours; counted, and reported as an event.

    Args:
        creation: what is created, and for whom.
        tools: the client, events and metrics.
        seen: the objects of this kind that are known; shows it from now on.

    Raises:
        NameTaken: somebody else's object has the name.
        Outdated: what had the name vanished while we looked.
        KubeError: the server refused, or it is unknown what happened.
    """
    kind, whose = creation.resource.kind, creation.whose
    created_reason, failed_reason = _EVENTS[kind]
    try:
        made, origin = await create_or_find(
            tools.client, creation.resource, creation.manifest, creation.record, creation.owner
        )
    except NameTaken:
        tools.metrics.object_created(kind, "taken")
        raise
    except KubeError as error:
        tools.metrics.object_created(kind, "failed")
        if isinstance(error, AnsweredError) and not error.outcome_unknown:
            note = f"Failed to create {kind} for {whose}: {error.message}"
            tools.event_recorder.warn_once(creation.subject, reason=failed_reason, note=note, action=f"Create{kind}")
        raise
    tools.metrics.object_created(kind, origin)
    seen.note(made)
    if origin == "created":
        _trace(creation, made.metadata.name)
        note = f"Created {kind} {made.metadata.name} for {whose}"
        tools.event_recorder.normal(creation.subject, reason=created_reason, note=note, action=f"Create{kind}")
    return made


async def create_or_find(
    client: Client, resource: Resource, manifest: dict[str, Any], record: type[T], owner: KubeObject
) -> tuple[T, Origin]:
    """The object of the manifest, created now or by an earlier attempt of ours for the same owner.

    Args:
        client: the API server.
        resource: where it is created.
        manifest: the object whole; its name is a function of the owner's UID.
        record: its type.
        owner: its controller.

    Raises:
        NameTaken: somebody else's object, or one that is being deleted, has the name.
        Outdated: what had the name vanished while we looked.
        KubeError: the server refused, or it is unknown what happened and nothing is to be found.
    """
    try:
        answer = await client.create(resource, manifest, owner.metadata.namespace)
    except AlreadyExists:
        return await _find(client, resource, manifest, record, owner), "found"
    except KubeError as error:
        if not error.outcome_unknown:
            raise
        try:
            return await _find(client, resource, manifest, record, owner), "created"
        except Outdated:
            # It may still arrive; the next attempt has the same name and cannot make a second one.
            raise error from None
    return msgspec.convert(answer, record), "created"


async def _find(client: Client, resource: Resource, manifest: dict[str, Any], record: type[T], owner: KubeObject) -> T:
    name = manifest["metadata"]["name"]
    try:
        found = msgspec.convert(await client.get(resource, name, owner.metadata.namespace), record)
    except NotFound as error:
        raise Outdated(f"{resource.kind} {name} was there and is gone") from error
    if found.metadata.is_terminating or not is_ours(found.metadata, owner):
        raise NameTaken(describe_holder(resource.kind, found.metadata))
    return found


async def read_owner(tools: Tools[T], resource: Resource, record: type[T], owner: T) -> tuple[T, dict[str, Any]]:
    """The owner as the server has it, as a record and whole; what was read is noted.

    Args:
        tools: the client, and the owners that are known.
        resource: the kind of the owner.
        record: its type.
        owner: as it is known.

    Raises:
        OwnerGone: it is not there any more, or another object has its name.
        KubeError: the server did not answer.
    """
    name = owner.metadata.name
    try:
        document = await tools.client.get(resource, name, owner.metadata.namespace)
    except NotFound as error:
        raise OwnerGone(f"{resource.kind} {name} is gone") from error
    live = msgspec.convert(document, record)
    tools.owners.note(live)
    if live.metadata.uid != owner.metadata.uid:
        raise OwnerGone(f"{resource.kind} {name} is another one now")
    return live, document


async def patch(
    client: Client, resource: Resource, metadata: Metadata, body: Any, *, kind: PatchKind = PatchKind.MERGE
) -> dict[str, Any]:
    """The object after the patch.

    Args:
        client: the API server.
        resource: the kind of the object.
        metadata: says its name.
        body: the patch; it names the UID, and the version where that matters.
        kind: of the patch.

    Raises:
        Outdated: it is gone, or not the one or not the version that the patch means.
        KubeError: anything else.
    """
    try:
        return await client.patch(resource, body, metadata.name, metadata.namespace, kind=kind)
    except (Conflict, NotFound) as error:
        raise Outdated(str(error)) from error


async def set_workload_minimum(step: SetWorkloadMinimum, tools: Tools[Any]) -> None:
    """Carry out that step.

    Raises:
        Outdated: the Workload is gone.
        KubeError: anything else.
    """
    body = workload_minimum_patch(step.workload, step.min_count)
    answer = await patch(tools.client, tools.group_api.workloads, step.workload.metadata, body, kind=PatchKind.JSON)
    tools.workloads.note(msgspec.convert(answer, Workload))


async def all_of(works: Iterable[Coroutine[Any, Any, object]]) -> None:
    """Await all of them, at most `AT_ONCE` at once.

    Raises:
        Exception: one that a work raised, Outdated only if no work raised another.
    """
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(work: Coroutine[Any, Any, object]) -> None:
        async with slots:
            await work

    results = await asyncio.gather(*(one(work) for work in works), return_exceptions=True)
    failures = [result for result in results if isinstance(result, BaseException)]
    # Being outdated is only a reason to look again.
    for failure in sorted(failures, key=lambda error: isinstance(error, Outdated)):
        raise failure
