"""Whose an object is: by the UID of its controller, never by its name."""

from api.constants import MANAGED_BY, MANAGED_BY_TUTTI
from api.meta import Metadata, controller_of
from kube.cache.store import KubeObject


def is_ours(metadata: Metadata, whose: KubeObject) -> bool:
    """Whether we made the object, for exactly this owner: by our annotation and the UID of its controller."""
    owner = controller_of(metadata)
    made_by_us = metadata.annotation(MANAGED_BY) == MANAGED_BY_TUTTI
    return made_by_us and owner is not None and owner.uid == whose.metadata.uid


def describe_holder(kind: str, holder: Metadata) -> str:
    """Who holds a name, for people."""
    if holder.is_terminating:
        return f"{kind} {holder.name} is being deleted"
    owner = controller_of(holder)
    whose = f"belongs to {owner.kind} {owner.name} (UID {owner.uid})" if owner else "was made by somebody else"
    return f"{kind} {holder.name} {whose}"


def counts_for(metadata: Metadata, owner_uid: str) -> bool:
    """Whether an object that refers to its owner by name means the one with this UID, and will stay.

    One without a controller is a user's own and counts; one whose controller is another object of the same name does not.
    """
    owner = controller_of(metadata)
    return not metadata.is_terminating and (owner is None or owner.uid == owner_uid)
