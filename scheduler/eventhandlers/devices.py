"""Follows slices, classes, claims, their templates and taint rules, and wakes the pods that wait for devices.

A released device, a new slice, a taint that goes: whom it may help is asked again at once.
"""

from collections.abc import Callable, Container, Iterable
from typing import Any, Final

from api.devices import DeviceClass, DeviceTaintRule, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from kube.cache.decoding import Converted, ListDecoder
from kube.cache.informer import Change, Informer
from kube.client.client import Client
from kube.client.errors import NotFound
from kube.client.resources import (
    DEVICE_CLASSES,
    DEVICE_TAINT_RULES,
    RESOURCE_CLAIM_TEMPLATES,
    RESOURCE_CLAIMS,
    RESOURCE_SLICES,
    Resource,
)
from scheduler.cache.cluster import ClusterState
from scheduler.cache.devices.record_factory import class_record
from scheduler.cache.records import StateChange
from scheduler.queue.item_errors import TAKE_IN, ItemErrors

DEVICES: Final[tuple[Resource, ...]] = (
    DEVICE_CLASSES,
    RESOURCE_SLICES,
    RESOURCE_CLAIMS,
    RESOURCE_CLAIM_TEMPLATES,
    DEVICE_TAINT_RULES,
)


async def serves_devices(client: Client) -> frozenset[str]:
    """The plural names of `resource.k8s.io/v1` that the server serves; empty where it is off, or older than 1.34.

    Raises:
        KubeError: nobody knows.
    """
    try:
        found = await client.request_json("GET", f"/apis/{RESOURCE_CLAIMS.api_version}")
    except NotFound:
        return frozenset()
    plurals = frozenset(str(resource.get("name")) for resource in found.get("resources") or [])
    needed = {resource.plural for resource in DEVICES if resource is not DEVICE_TAINT_RULES}
    return plurals if needed <= plurals else frozenset()


class DeviceEventHandlers:
    """What the watches tell goes into the state; `apply` takes what that changes, `noticed` is called after claims changed."""

    def __init__(
        self, state: ClusterState, apply: Callable[[StateChange], None], noticed: Callable[[], None] = lambda: None
    ) -> None:
        self._state = state
        self._apply = apply
        self._noticed = noticed

    def device_class(self, change: Change[Any]) -> None:
        """A DeviceClass came, changed or went."""
        self._concerns(self._state.devices.set_class(_either(change).metadata.name, change.new))

    def resource_slice(self, change: Change[Any]) -> None:
        """A ResourceSlice came, changed or went."""
        self._concerns(self._state.devices.set_slice(_either(change).metadata.name, change.new))

    def claim(self, change: Change[Any]) -> None:
        """A ResourceClaim came, changed or went."""
        self._concerns(self._state.devices.set_claim(_either(change).metadata.key, change.new))
        self._noticed()

    def template(self, change: Change[Any]) -> None:
        """A ResourceClaimTemplate came, changed or went."""
        self._concerns(self._state.devices.set_template(_either(change).metadata.key, change.new))

    def taint_rule(self, change: Change[DeviceTaintRule]) -> None:
        """A DeviceTaintRule came, changed or went."""
        self._concerns(self._state.devices.set_rule(_either(change).metadata.name, change.new))

    def _concerns(self, pod_uids: Iterable[str]) -> None:
        self._apply(self._state.waiting_pods.devices_changed(pod_uids))


def device_informers(
    reader: Client, state: ClusterState, handlers: DeviceEventHandlers, errors: ItemErrors, served: Container[str]
) -> tuple[Informer[Any], ...]:
    """One informer for each of `DEVICES` that is served, in that order; taint rules are the last, and came last."""
    devices = state.devices
    followed: tuple[tuple[Any, Callable[[Change[Any]], None]], ...] = (
        (Converted(ListDecoder(DeviceClass), class_record), handlers.device_class),
        (Converted(ListDecoder(ResourceSlice), devices.slim_slice), handlers.resource_slice),
        (Converted(ListDecoder(ResourceClaim), devices.slim_claim), handlers.claim),
        (Converted(ListDecoder(ResourceClaimTemplate), devices.slim_template), handlers.template),
        (ListDecoder(DeviceTaintRule), handlers.taint_rule),
    )
    informers: list[Informer[Any]] = []
    for resource, (decoder, changed) in zip(DEVICES, followed, strict=True):
        if resource.plural not in served:
            continue
        informer: Informer[Any] = Informer(reader, resource, decoder)
        informer.add_handler(errors.guarded(changed, TAKE_IN))
        informers.append(informer)
    return tuple(informers)


def _either(change: Change[Any]) -> Any:
    return change.new if change.new is not None else change.old
