"""CompositePodGroups as the API server has them: followed, and their conditions written, where there are any."""

from typing import Final

from api.compositepodgroup import CompositePodGroup
from api.podgroup import PodGroup, PodGroupStatus
from kube.cache.decoding import ListDecoder
from kube.cache.informer import Informer
from kube.client.client import Client
from kube.client.resources import Resource
from scheduler.apicalls.dispatcher import APIDispatcher, Retries
from scheduler.apicalls.group_conditions import GroupConditions


def as_group(composite: CompositePodGroup) -> PodGroup:
    """What a CompositePodGroup has in common with a PodGroup: who it is, and its conditions."""
    return PodGroup(metadata=composite.metadata, status=PodGroupStatus(composite.status.conditions))


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
