"""Changes of devices as values: records are written as the objects they were made of, and made again of them."""

from typing import Final

from scheduler.cache.cluster import ClusterState
from scheduler.cache.devices.record_factory import class_record
from scheduler.recording.device_objects import (
    claim_template_object,
    device_class_object,
    resource_claim_object,
    slice_object,
)
from scheduler.recording.pods import PodWriter
from scheduler.recording.slim import slim
from scheduler.recording.step_arguments import Arguments, read_with, written_with

write_device_class: Final = written_with(lambda record: slim(device_class_object(record)))
read_device_class: Final = read_with(lambda found, _: class_record(found))
write_slice: Final = written_with(lambda record: slim(slice_object(record)))
read_slice: Final = read_with(lambda found, state: state.devices.slim_slice(found))
write_device_claim: Final = written_with(lambda record: slim(resource_claim_object(record)))
read_device_claim: Final = read_with(lambda found, state: state.devices.slim_claim(found))
write_claim_template: Final = written_with(lambda record: slim(claim_template_object(record)))
read_claim_template: Final = read_with(lambda found, state: state.devices.slim_template(found))


def write_assumed(arguments: Arguments, _: PodWriter) -> Arguments:
    """Of `DeviceState.assume`."""
    return (tuple(slim(resource_claim_object(record)) for record in arguments[0].values()),)


def read_assumed(arguments: Arguments, state: ClusterState) -> Arguments:
    """For `DeviceState.assume`."""
    return ({claim.metadata.key: state.devices.slim_claim(claim) for claim in arguments[0]},)
