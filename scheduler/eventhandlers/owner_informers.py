"""Follows what tells which pods belong together: Services and the controllers that have a selector.

They decide the default spread constraints of a pod, which are a wish and never a reason to refuse it; so nobody is woken when
they change, and of each only its name and its selector is kept. A StatefulSet that a pod controls (the workers of a
LeaderWorkerSet replica) says moreover which group its pods may join.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import msgspec

from api.meta import Metadata, controller_of
from kube.cache.decoding import Converted, ListDecoder
from kube.cache.informer import Change, Informer
from kube.client.client import Client
from kube.client.resources import REPLICA_SETS, REPLICATION_CONTROLLERS, SERVICES, STATEFUL_SETS, Resource
from scheduler.cache.default_topology_spread import DefaultSpreads, SelectorOwner, SimpleOwner
from scheduler.cache.selectors import RawSelector
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
