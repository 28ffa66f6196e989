"""Follows volumes, claims, storage classes and what drivers say, and wakes the pods that wait for one of them.

All of these are small and few beside pods; of each only what decides is kept (`scheduler.cache.volume_records`).
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from api.storage import Attachment, Claim, CsiDriver, CsiNode, StorageCapacity, StorageClass, Volume
from kube.cache.decoding import Converted, ListDecoder
from kube.cache.informer import Change, Informer
from kube.client.client import Client
from kube.client.resources import (
    CSI_DRIVERS,
    CSI_NODES,
    CSI_STORAGE_CAPACITIES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    STORAGE_CLASSES,
    VOLUME_ATTACHMENTS,
    Resource,
)
from scheduler.cache.cluster import ClusterState
from scheduler.cache.records import StateChange
from scheduler.cache.storage import DriverFacts
from scheduler.cache.volume_records import (
    CapacityRecord,
    ClaimRecord,
    ClassRecord,
    VolumeRecord,
    capacity_record,
    claim_record,
    class_record,
    volume_record,
)
from scheduler.queue.item_errors import TAKE_IN, ItemErrors

STORAGE: Final[tuple[Resource, ...]] = (
    PERSISTENT_VOLUMES,
    PERSISTENT_VOLUME_CLAIMS,
    STORAGE_CLASSES,
    CSI_NODES,
    CSI_DRIVERS,
    CSI_STORAGE_CAPACITIES,
    VOLUME_ATTACHMENTS,
)


class StorageEventHandlers:
    """What the watches tell goes into the state; `apply` takes what that changes, `noticed` is called after every change."""

    def __init__(
        self, state: ClusterState, apply: Callable[[StateChange], None], noticed: Callable[[], None] = lambda: None
    ) -> None:
        self._state = state
        self._apply = apply
        self._noticed = noticed

    def volume(self, name: str, record: VolumeRecord | None) -> None:
        """A PersistentVolume came, changed or went."""
        self._concerns(self._state.storage.set_volume(name, record))

    def claim(self, key: tuple[str, str], record: ClaimRecord | None) -> None:
        """A PersistentVolumeClaim came, changed or went."""
        self._concerns(self._state.storage.set_claim(key, record))

    def storage_class(self, name: str, record: ClassRecord | None) -> None:
        """A StorageClass came, changed or went."""
        self._concerns(self._state.storage.set_class(name, record))

    def node(self, name: str, node: CsiNode | None) -> None:
        """What a node's drivers can do."""
        drivers = (node.spec.drivers or ()) if node else ()
        limits = {
            driver.name: driver.allocatable.count
            for driver in drivers
            if driver.allocatable is not None and driver.allocatable.count is not None
        }
        storage = self._state.storage
        is_more = storage.attachments.set_node(name, frozenset(driver.name for driver in drivers), limits)
        self._concerns(storage.all_waiting() if is_more else ())

    def driver(self, name: str, driver: CsiDriver | None) -> None:
        """What a driver asks of schedulers."""
        facts = None
        if driver is not None:
            spec = driver.spec
            facts = DriverFacts(bool(spec.storage_capacity), bool(spec.prevent_pod_scheduling_if_missing))
        self._concerns(self._state.storage.set_driver(name, facts))

    def capacity(self, record: CapacityRecord, *, is_gone: bool) -> None:
        """What is left of a class somewhere."""
        key = record.metadata.key
        self._concerns(self._state.storage.set_capacity(key, None if is_gone else record, record.storage_class))

    def attachment(self, name: str, attachment: Attachment, *, is_gone: bool) -> None:
        """A volume is attached to a node, or is no more."""
        spec, storage = attachment.spec, self._state.storage
        storage.attachments.attached(
            spec.node_name, name, None if is_gone else spec.source.persistent_volume_name or ""
        )
        self._concerns(storage.all_waiting() if is_gone else ())

    def _concerns(self, pod_uids: Iterable[str]) -> None:
        self._apply(self._state.waiting_pods.storage_changed(pod_uids))
        self._noticed()


def storage_informers(reader: Client, handlers: StorageEventHandlers, errors: ItemErrors) -> tuple[Informer[Any], ...]:
    """One informer for each of `STORAGE`, in that order."""
    follow = _Follow(reader, errors)
    return (
        follow.records(PERSISTENT_VOLUMES, Converted(ListDecoder(Volume), volume_record), handlers.volume),
        follow.keyed(PERSISTENT_VOLUME_CLAIMS, Converted(ListDecoder(Claim), claim_record), handlers.claim),
        follow.records(STORAGE_CLASSES, Converted(ListDecoder(StorageClass), class_record), handlers.storage_class),
        follow.records(CSI_NODES, ListDecoder(CsiNode), handlers.node),
        follow.records(CSI_DRIVERS, ListDecoder(CsiDriver), handlers.driver),
        follow.both(
            CSI_STORAGE_CAPACITIES,
            Converted(ListDecoder(StorageCapacity), capacity_record),
            lambda record, is_gone: handlers.capacity(record, is_gone=is_gone),
        ),
        follow.both(
            VOLUME_ATTACHMENTS,
            ListDecoder(Attachment),
            lambda record, is_gone: handlers.attachment(record.metadata.name, record, is_gone=is_gone),
        ),
    )


class _Follow:
    """Makes informers whose changes call a handler."""

    def __init__(self, reader: Client, errors: ItemErrors) -> None:
        self._reader = reader
        self._errors = errors

    def records(self, resource: Resource, decoder: Any, tell: Callable[[str, Any], None]) -> Informer[Any]:
        """Told by name, with None for what has gone."""

        def changed(change: Change[Any]) -> None:
            tell(_either(change).metadata.name, change.new)

        return self._made(resource, decoder, changed)

    def keyed(self, resource: Resource, decoder: Any, tell: Callable[[tuple[str, str], Any], None]) -> Informer[Any]:
        """Told by namespace and name, with None for what has gone."""

        def changed(change: Change[Any]) -> None:
            tell(_either(change).metadata.key, change.new)

        return self._made(resource, decoder, changed)

    def both(self, resource: Resource, decoder: Any, tell: Callable[[Any, bool], None]) -> Informer[Any]:
        """Told with the object, also when it has gone."""

        def changed(change: Change[Any]) -> None:
            tell(_either(change), change.new is None)

        return self._made(resource, decoder, changed)

    def _made(self, resource: Resource, decoder: Any, changed: Callable[[Change[Any]], None]) -> Informer[Any]:
        informer: Informer[Any] = Informer(self._reader, resource, decoder)
        informer.add_handler(self._errors.guarded(changed, TAKE_IN))
        return informer


def _either(change: Change[Any]) -> Any:
    return change.new if change.new is not None else change.old
