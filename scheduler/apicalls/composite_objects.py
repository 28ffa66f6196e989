"""CompositePodGroups as the API server has them: followed, and their conditions written, where there are any."""

from typing import Final

from api.compositepodgroup import CompositePodGroup
from api.constants import CONDITION_COMPOSITE_SCHEDULED
from api.meta import condition_of
from api.podgroup import PodGroup, PodGroupStatus
from kube.cache.decoding import ListDecoder
from kube.cache.informer import Informer
from kube.client.client import Client
from kube.client.resources import Resource
from scheduler.apicalls.conditions import TRUE, Identified
from scheduler.apicalls.dispatcher import APIDispatcher, Retries
from scheduler.apicalls.group_conditions import GroupConditions


def as_group(composite: CompositePodGroup) -> PodGroup:
    """What a CompositePodGroup has in common with a PodGroup: who it is, and its conditions."""
    return PodGroup(metadata=composite.metadata, status=PodGroupStatus(composite.status.conditions))


def has_started(conditions: GroupConditions | None, composite: Identified) -> bool:
    """Whether a CompositePodGroup says that it has had its start; `conditions` is None where the server has none of them."""
    said = condition_of(conditions.current(composite) if conditions is not None else (), CONDITION_COMPOSITE_SCHEDULED)
    return said is not None and said.status == TRUE


class CompositeObjects:
    """The informer of CompositePodGroups and what writes to them.

    Args:
        reader: follows.
        writer: writes.
        dispatcher: sends.
        resource: where they are kept; None where the server has none.
        retries: when a write is tried again.

    Attributes:
        informer: None without them.
        conditions: None without them.
    """

    def __init__(
        self, reader: Client, writer: Client, dispatcher: APIDispatcher, resource: Resource | None, retries: Retries
    ) -> None:
        self.informer: Final[Informer[CompositePodGroup] | None] = (
            Informer(reader, resource, ListDecoder(CompositePodGroup)) if resource is not None else None
        )
        self.conditions: Final = (
            GroupConditions(writer, dispatcher, resource, shown=self._shown, retries=retries)
            if resource is not None
            else None
        )

    def _shown(self, namespace: str, name: str) -> PodGroup | None:
        found = self.informer.store.get(namespace, name) if self.informer is not None else None
        return as_group(found) if found is not None else None
