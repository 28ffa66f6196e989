"""Whose an object is: by the UID of its controller, never by its name."""

from api.constants import MANAGED_BY, MANAGED_BY_TUTTI
from api.meta import Metadata, controller_of
from kube.cache.store import KubeObject


def is_ours(metadata: Metadata, whose: KubeObject) -> bool:
    """Whether we made the object, for exactly this owner."""
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
