"""Devices as they are taken from a scheduler at work, and as they are taken in again: slices, classes, claims, rules."""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from api.devices import DeviceTaintRule, ResourceClaim
from scheduler.cache.devices.record_factory import class_record
from scheduler.cache.devices.records import ClaimRecord, ClassRecord, SliceRecord
from scheduler.cache.devices.state import DeviceState
from scheduler.recording.device_objects import (
    claim_template_object,
    device_class_object,
    resource_claim_object,
    slice_object,
)
from scheduler.recording.inputs import ClusterObjects, DecisionInputs, Devices, SchedulerState
from scheduler.recording.slim import slim


@dataclass(frozen=True, slots=True)
class TakenDevices:
    """References to everything about devices, in the order in which it was met; `are` says whether there can be any."""

    are: Devices
    classes: tuple[ClassRecord, ...]
    slices: tuple[SliceRecord, ...]
    claims: tuple[ClaimRecord, ...]
    templates: tuple[ClaimRecord, ...]
    assumed: tuple[ClaimRecord, ...]
    rules: tuple[DeviceTaintRule, ...]

    @staticmethod
    def of(devices: DeviceState) -> "TakenDevices":
        """What is known now."""
        return TakenDevices(
            are="followed" if devices.is_followed else "unknown" if devices.is_unknown else "unserved",
            classes=tuple(devices.classes.values()),
            slices=tuple(devices.slices.values()),
            claims=tuple(devices.claims.values()),
            templates=tuple(devices.templates.values()),
            assumed=tuple(devices.assumed.values()),
            rules=tuple(devices.rules.values()),
        )

    def objects(self) -> Iterator[tuple[str, msgspec.Struct]]:
        """The objects with their kinds."""
        for one in self.classes:
            yield "deviceclasses", slim(device_class_object(one))
        for offered in self.slices:
            yield "resourceslices", slim(slice_object(offered))
        for claim in self.claims:
            yield "resourceclaims", slim(resource_claim_object(claim))
        for template in self.templates:
            yield "resourceclaimtemplates", slim(claim_template_object(template))
        for rule in self.rules:
            yield "devicetaintrules", slim(rule)

    def assumed_claims(self) -> tuple[ResourceClaim, ...]:
        """Claims as they will be."""
        return tuple(slim(resource_claim_object(claim)) for claim in self.assumed)


def take_in_devices(devices: DeviceState, inputs: DecisionInputs) -> None:
    """All objects about devices of these inputs, in the order in which they were met."""
    devices.is_followed, devices.is_unknown = inputs.devices == "followed", inputs.devices == "unknown"
    _take_in(devices, inputs.objects)


def _take_in(devices: DeviceState, objects: ClusterObjects) -> None:
    for one in objects.deviceclasses:
        devices.set_class(one.metadata.name, class_record(one))
    for offered in objects.resourceslices:
        devices.set_slice(offered.metadata.name, devices.slim_slice(offered))
    for claim in objects.resourceclaims:
        devices.set_claim(claim.metadata.key, devices.slim_claim(claim))
    for template in objects.resourceclaimtemplates:
        devices.set_template(template.metadata.key, devices.slim_template(template))
    for rule in objects.devicetaintrules:
        devices.set_rule(rule.metadata.name, rule)


def assume_claims(devices: DeviceState, known: SchedulerState) -> None:
    """What was decided about claims and is on its way to the API server."""
    devices.assume({claim.metadata.key: devices.slim_claim(claim) for claim in known.assumed_claims})
    for released in known.released_claims:
        devices.restore_release(released.key, released.until_version)
