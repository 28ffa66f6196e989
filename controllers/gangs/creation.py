"""Creating an object of which there must be exactly one.

Its name is a function of its owner's UID, so whoever tries twice meets himself. Whether it *is* himself is decided by the
owner's UID, never by the name; and an answer that was lost is looked up before anything else happens.
"""

from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import msgspec

from api.errors import TuttiError
from controllers.gangs.ownership import describe_holder, is_ours
from kube.cache.store import KubeObject
from kube.client.client import Client
from kube.client.errors import AlreadyExists, KubeError, NotFound
from kube.client.resources import Resource

T = TypeVar("T", bound=KubeObject)

Origin = Literal["created", "found"]


class Outdated(TuttiError):
    """The server has moved on since the plan was made: look again, nothing is wrong."""


class OwnerGone(Outdated):
    """What the plan was made for is not there any more, or is another object of that name."""


@dataclass(eq=False)
class NameTaken(TuttiError):
    """An object that is not ours holds the name that ours must have."""

    holder: str

    def __str__(self) -> str:
        """Who holds it."""
        return self.holder


async def create_or_find(
    client: Client, resource: Resource, manifest: dict[str, Any], record: type[T], owner: KubeObject
) -> tuple[T, Origin]:
    """The object of the manifest, created now or by an earlier attempt of ours for the same owner.

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
