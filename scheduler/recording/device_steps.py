"""Changes of devices as values: records are written as the objects they were made of, and made again of them."""

from typing import Any, Final

from scheduler.cache.cluster import ClusterState
from scheduler.cache.devices.records import class_record
from scheduler.recording.device_objects import (
    claim_template_object,
    device_class_object,
    resource_claim_object,
    slice_object,
)
from scheduler.recording.pods import PodWriter
from scheduler.recording.slim import slim

Arguments = tuple[Any, ...]
_NOTHING: Final = None
"""In the place of an object: it went."""


def write_device_class(arguments: Arguments, _: PodWriter) -> Arguments:
    """Of `DeviceState.set_class`."""
    name, record = arguments
    return (name, slim(device_class_object(record)) if record is not None else _NOTHING)


def read_device_class(arguments: Arguments, _: ClusterState) -> Arguments:
    """For `DeviceState.set_class`."""
    name, found = arguments
    return (name, class_record(found) if found is not None else _NOTHING)


def write_slice(arguments: Arguments, _: PodWriter) -> Arguments:
    """Of `DeviceState.set_slice`."""
    name, record = arguments
    return (name, slim(slice_object(record)) if record is not None else _NOTHING)


def read_slice(arguments: Arguments, state: ClusterState) -> Arguments:
    """For `DeviceState.set_slice`."""
    name, found = arguments
    return (name, state.devices.slim_slice(found) if found is not None else _NOTHING)


def write_device_claim(arguments: Arguments, _: PodWriter) -> Arguments:
    """Of `DeviceState.set_claim`."""
    key, record = arguments
    return (key, slim(resource_claim_object(record)) if record is not None else _NOTHING)


def read_device_claim(arguments: Arguments, state: ClusterState) -> Arguments:
    """For `DeviceState.set_claim`."""
    key, found = arguments
    return (key, state.devices.slim_claim(found) if found is not None else _NOTHING)


def write_claim_template(arguments: Arguments, _: PodWriter) -> Arguments:
    """Of `DeviceState.set_template`."""
    key, record = arguments
    return (key, slim(claim_template_object(record)) if record is not None else _NOTHING)


def read_claim_template(arguments: Arguments, state: ClusterState) -> Arguments:
    """For `DeviceState.set_template`."""
    key, found = arguments
    return (key, state.devices.slim_template(found) if found is not None else _NOTHING)


def write_assumed(arguments: Arguments, _: PodWriter) -> Arguments:
    """Of `DeviceState.assume`."""
    return (tuple(slim(resource_claim_object(record)) for record in arguments[0].values()),)


def read_assumed(arguments: Arguments, state: ClusterState) -> Arguments:
    """For `DeviceState.assume`."""
    return ({claim.metadata.key: state.devices.slim_claim(claim) for claim in arguments[0]},)
