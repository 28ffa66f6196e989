"""Everything the scheduler follows, and what hears of each change.

Pods are followed last, when the lease is held: only who schedules needs them, and they are most of the memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from api.namespace import Namespace
from api.node import Node
from api.pod import Pod
from api.podgroup import PodGroup
from api.priorityclass import PriorityClass
from kube.cache.decoding import Converted, ListDecoder
from kube.cache.informer import Informer
from kube.client.client import Client
from kube.client.resources import NAMESPACES, NODES, POD_DISRUPTION_BUDGETS, PODS, PRIORITY_CLASSES
from scheduler.cache.cluster import ClusterState
from scheduler.cache.disruption import Budget
from scheduler.cache.records import PodRecord
from scheduler.eventhandlers.event_handlers import EventHandlers
from scheduler.eventhandlers.owner_informers import OWNERS, owner_informers
from scheduler.eventhandlers.storage import STORAGE, StorageEventHandlers, storage_informers
from scheduler.preemption.victim_priorities import VictimPriorities
from scheduler.queue.item_errors import TAKE_IN, ItemErrors


@dataclass(frozen=True, slots=True)
class Informers:
    """One informer for each kind."""

    pods: Informer[PodRecord]
    nodes: Informer[Node]
    groups: Informer[PodGroup]
    budgets: Informer[Budget]
    namespaces: Informer[Namespace]
    classes: Informer[PriorityClass]
    owners: tuple[Informer[Any], ...]
    storage: tuple[Informer[Any], ...]

    @property
    def early(self) -> tuple[Informer[Any], ...]:
        """What is followed from the start, the lease held or not."""
        return (self.nodes, self.groups, self.budgets, self.namespaces, self.classes, *self.owners, *self.storage)

    @property
    def all(self) -> tuple[Informer[Any], ...]:
        """What is followed while scheduling."""
        return (self.pods, *self.early)

    @property
    def is_synced(self) -> bool:
        """Whether all of them have seen the cluster whole."""
        return all(informer.synced.is_set() for informer in self.all)

    def by_resource(self) -> Iterator[tuple[str, Informer[Any]]]:
        """Each with the plural name of what it follows."""
        yield PODS.plural, self.pods
        yield NODES.plural, self.nodes
        yield "podgroups", self.groups
        yield POD_DISRUPTION_BUDGETS.plural, self.budgets
        yield NAMESPACES.plural, self.namespaces
        yield PRIORITY_CLASSES.plural, self.classes
        for resource, informer in zip((*OWNERS, *STORAGE), (*self.owners, *self.storage), strict=True):
            yield resource.plural, informer


def build_informers(
    reader: Client,
    groups: Informer[PodGroup],
    state: ClusterState,
    handlers: EventHandlers,
    priorities: VictimPriorities,
    storage: StorageEventHandlers,
    errors: ItemErrors,
) -> Informers:
    """The informers, with their handlers; `groups` is shared with who writes PodGroups."""
    informers = Informers(
        pods=Informer(reader, PODS, Converted(ListDecoder(Pod), handlers.pod_record)),
        nodes=Informer(reader, NODES, Converted(ListDecoder(Node), state.slim_node)),
        groups=groups,
        budgets=Informer(reader, POD_DISRUPTION_BUDGETS, ListDecoder(Budget)),
        namespaces=Informer(reader, NAMESPACES, ListDecoder(Namespace)),
        classes=Informer(reader, PRIORITY_CLASSES, ListDecoder(PriorityClass)),
        owners=owner_informers(reader, state.default_spreads, handlers.controller_changed, errors),
        storage=storage_informers(reader, storage, errors),
    )
    informers.pods.add_handler(handlers.pod_changed)
    informers.nodes.add_handler(handlers.node_changed)
    informers.groups.add_handler(handlers.group_changed)
    informers.budgets.add_handler(handlers.budget_changed)
    informers.namespaces.add_handler(handlers.namespace_changed)
    informers.classes.add_handler(errors.guarded(priorities.class_changed, TAKE_IN))
    return informers
