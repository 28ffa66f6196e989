"""Everything the scheduler follows, and what hears of each change.

Pods are followed last, when the lease is held: only who schedules needs them, and they are most of the memory. Of what tells which
pods belong together (Services, and controllers that have a selector) only names and selectors are kept. They decide the default
spread constraints of a pod, which are never a reason to refuse it, so nobody is woken when they change. A StatefulSet that a pod
controls (the workers of a LeaderWorkerSet replica) says moreover which group its pods may join.
"""

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import msgspec

from api.compositepodgroup import CompositePodGroup
from api.meta import Metadata, controller_of
from api.namespace import Namespace
from api.node import Node
from api.pod import Pod
from api.podgroup import PodGroup
from api.priorityclass import PriorityClass
from kube.cache.decoding import Converted, ListDecoder
from kube.cache.informer import Change, Informer
from kube.client.client import Client
from kube.client.resources import (
    NAMESPACES,
    NODES,
    POD_DISRUPTION_BUDGETS,
    PODS,
    PRIORITY_CLASSES,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    SERVICES,
    STATEFUL_SETS,
    Resource,
)
from scheduler.cache.cluster import ClusterState
from scheduler.cache.default_topology_spread import DefaultSpreads, SelectorOwner, SimpleOwner
from scheduler.cache.disruption_budgets import Budget
from scheduler.cache.records import PodRecord
from scheduler.cache.selectors import RawSelector
from scheduler.eventhandlers.devices import DEVICES, DeviceEventHandlers, device_informers
from scheduler.eventhandlers.event_handlers import EventHandlers
from scheduler.eventhandlers.storage import STORAGE, StorageEventHandlers, storage_informers
from scheduler.queue.item_errors import TAKE_IN, ItemErrors

OWNERS: Final[tuple[Resource, ...]] = (SERVICES, REPLICATION_CONTROLLERS, REPLICA_SETS, STATEFUL_SETS)

POD_KIND: Final = "Pod"
Owner = TypeVar("Owner", SimpleOwner, SelectorOwner)


SetController = Callable[[str, str], None]
"""(UID of a StatefulSet, UID of the pod that controls it; "" when none does or it is gone)."""


def owner_informers(
    reader: Client, spreads: DefaultSpreads, set_controller: SetController, errors: ItemErrors
) -> tuple[Informer[Any], ...]:
    """One informer for each of `OWNERS`, in that order."""
    stateful_sets = _controllers(reader, STATEFUL_SETS, spreads, errors)

    def controlled(change: Change[SelectorOwner]) -> None:
        if change.old is not None and (change.new is None or change.new.metadata.uid != change.old.metadata.uid):
            set_controller(change.old.metadata.uid, "")
        if change.new is not None:
            set_controller(change.new.metadata.uid, _leader_of(change.new.metadata))

    stateful_sets.add_handler(errors.guarded(controlled, TAKE_IN))
    return (
        _services(reader, spreads, errors),
        _replication_controllers(reader, spreads, errors),
        _controllers(reader, REPLICA_SETS, spreads, errors),
        stateful_sets,
    )


def _services(reader: Client, spreads: DefaultSpreads, errors: ItemErrors) -> Informer[SimpleOwner]:
    def changed(change: Change[SimpleOwner]) -> None:
        owner = change.new or change.old or SimpleOwner()
        selector = owner.spec.selector if change.new is not None else None
        spreads.set_service(owner.metadata.namespace, owner.metadata.name, selector)

    informer: Informer[SimpleOwner] = Informer(reader, SERVICES, Converted(ListDecoder(SimpleOwner), _slim))
    informer.add_handler(errors.guarded(changed, TAKE_IN))
    return informer


def _replication_controllers(reader: Client, spreads: DefaultSpreads, errors: ItemErrors) -> Informer[SimpleOwner]:
    def changed(change: Change[SimpleOwner]) -> None:
        owner = change.new or change.old or SimpleOwner()
        selector = RawSelector(owner.spec.selector) if change.new is not None and owner.spec.selector else None
        spreads.set_owner(REPLICATION_CONTROLLERS.kind, owner.metadata.namespace, owner.metadata.name, selector)

    decoder = Converted(ListDecoder(SimpleOwner), _slim)
    informer: Informer[SimpleOwner] = Informer(reader, REPLICATION_CONTROLLERS, decoder)
    informer.add_handler(errors.guarded(changed, TAKE_IN))
    return informer


def _controllers(
    reader: Client, resource: Resource, spreads: DefaultSpreads, errors: ItemErrors
) -> Informer[SelectorOwner]:
    def changed(change: Change[SelectorOwner]) -> None:
        owner = change.new or change.old or SelectorOwner()
        selector = owner.spec.selector if change.new is not None else None
        spreads.set_owner(resource.kind, owner.metadata.namespace, owner.metadata.name, selector)

    informer: Informer[SelectorOwner] = Informer(reader, resource, Converted(ListDecoder(SelectorOwner), _slim))
    informer.add_handler(errors.guarded(changed, TAKE_IN))
    return informer


def _slim(owner: Owner) -> Owner:
    whole = owner.metadata
    led_by = controller_of(whole)
    small = Metadata(
        name=whole.name,
        namespace=whole.namespace,
        uid=whole.uid,
        resource_version=whole.resource_version,
        owner_references=(led_by,) if led_by is not None and led_by.kind == POD_KIND else None,
    )
    return msgspec.structs.replace(owner, metadata=small)


def _leader_of(metadata: Metadata) -> str:
    leader = controller_of(metadata)
    return leader.uid if leader is not None and leader.kind == POD_KIND else ""


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
    devices: tuple[Informer[Any], ...] = ()
    """Empty while devices are not followed."""
    composites: Informer[CompositePodGroup] | None = None
    """None where the server has no CompositePodGroups."""

    @property
    def early(self) -> tuple[Informer[Any], ...]:
        """What is followed from the start, the lease held or not."""
        return (
            self.nodes,
            self.groups,
            *((self.composites,) if self.composites is not None else ()),
            self.budgets,
            self.namespaces,
            self.classes,
            *self.owners,
            *self.storage,
            *self.devices,
        )

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
        if self.composites is not None:
            yield "compositepodgroups", self.composites
        yield POD_DISRUPTION_BUDGETS.plural, self.budgets
        yield NAMESPACES.plural, self.namespaces
        yield PRIORITY_CLASSES.plural, self.classes
        for resource, informer in zip((*OWNERS, *STORAGE), (*self.owners, *self.storage), strict=True):
            yield resource.plural, informer
        for resource, informer in zip(DEVICES, self.devices, strict=False):
            yield resource.plural, informer


def build_informers(
    reader: Client,
    groups: Informer[PodGroup],
    state: ClusterState,
    handlers: EventHandlers,
    storage: StorageEventHandlers,
    errors: ItemErrors,
    devices: tuple[DeviceEventHandlers, Container[str]] | None = None,
    composites: Informer[CompositePodGroup] | None = None,
) -> Informers:
    """The informers, with their handlers.

    Args:
        reader: follows.
        groups: shared with who writes PodGroups.
        state: makes slim records.
        handlers: of pods, nodes, groups and what belongs to them.
        storage: of volumes and claims for them.
        errors: where exceptions about single items are noted.
        devices: hear of devices, and which of their kinds are served; None when nobody follows them.
        composites: as `groups`; None where the server has none.
    """
    informers = Informers(
        pods=Informer(reader, PODS, Converted(ListDecoder(Pod), handlers.pod_record)),
        nodes=Informer(reader, NODES, Converted(ListDecoder(Node), state.slim_node)),
        groups=groups,
        budgets=Informer(reader, POD_DISRUPTION_BUDGETS, ListDecoder(Budget)),
        namespaces=Informer(reader, NAMESPACES, ListDecoder(Namespace)),
        classes=Informer(reader, PRIORITY_CLASSES, ListDecoder(PriorityClass)),
        owners=owner_informers(reader, state.default_spreads, handlers.controller_changed, errors),
        storage=storage_informers(reader, storage, errors),
        devices=device_informers(reader, state, devices[0], errors, devices[1]) if devices is not None else (),
        composites=composites,
    )
    informers.pods.add_handler(handlers.pod_changed)
    informers.nodes.add_handler(handlers.node_changed)
    informers.groups.add_handler(handlers.group_changed)
    if composites is not None:
        composites.add_handler(handlers.composite_changed)
    informers.budgets.add_handler(handlers.budget_changed)
    informers.namespaces.add_handler(handlers.namespace_changed)
    informers.classes.add_handler(handlers.priority_class_changed)
    return informers
