"""What happens to the deciding parts of a scheduler, step by step, as values: changes of what they know, and what they decide.

A change is the call of one method with its arguments, so that the same calls in the same order leave the same behind. Records and
other things that are shared are written as the objects they were made of.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from api.compositepodgroup import CompositePodGroup
from api.devices import DeviceClass, DeviceTaintRule, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from api.node import Node
from api.pod import Pod
from api.podgroup import PodGroup
from api.priorityclass import PriorityClass
from api.storage import Claim, StorageCapacity, StorageClass, Volume
from scheduler.cache.cluster import ClusterState
from scheduler.cache.disruption_budgets import Budget
from scheduler.cache.records import EntityKey
from scheduler.cache.reservations import Reservation
from scheduler.cache.selectors import RawSelector
from scheduler.cache.storage import DriverFacts
from scheduler.cache.volume_records import (
    CapacityRecord,
    ClaimKey,
    capacity_record,
    claim_record,
    class_record,
    volume_record,
)
from scheduler.core import Core
from scheduler.recording.device_steps import (
    read_assumed,
    read_claim_template,
    read_device_claim,
    read_device_class,
    read_slice,
    write_assumed,
    write_claim_template,
    write_device_claim,
    write_device_class,
    write_slice,
)
from scheduler.recording.inputs import ReservationState
from scheduler.recording.objects import (
    capacity_object,
    claim_object,
    class_object,
    group_object,
    volume_object,
)
from scheduler.recording.outcome import DecisionOutcome, PreemptionOutcome
from scheduler.recording.pods import PodWriter
from scheduler.recording.restore import reservation_of
from scheduler.recording.slim import slim
from scheduler.recording.step_arguments import Arguments, read_with, written_with


class Changed(msgspec.Struct, frozen=True, tag_field="step", tag="changed"):
    """The deciding parts were told something: the name of an `Operation`, and its arguments."""

    operation: str
    arguments: msgspec.Raw


class Decided(msgspec.Struct, frozen=True, tag_field="step", tag="decided"):
    """An item was decided on, at a time (monotonic seconds), with so many members wanted."""

    key: EntityKey
    now_seconds: float
    aim: int
    outcome: DecisionOutcome


class Preempted(msgspec.Struct, frozen=True, tag_field="step", tag="preempted"):
    """Victims were looked for, for an item that had just been refused."""

    key: EntityKey
    now_seconds: float
    outcome: PreemptionOutcome


Step = Changed | Decided | Preempted


def _as_they_are(arguments: Arguments, _: PodWriter) -> Arguments:
    return arguments


def _read_as_they_are(arguments: Arguments, _: ClusterState) -> Arguments:
    return arguments


class Operation(NamedTuple):
    """A method of the deciding parts that changes what they know.

    Attributes:
        subject: whose method it is.
        method: its name.
        types: of the arguments as values.
        write: makes values of the arguments.
        read: makes arguments of the values.
    """

    subject: Callable[[Core], Any]
    method: str
    types: Any
    write: Callable[[Arguments, PodWriter], Arguments] = _as_they_are
    read: Callable[[Arguments, ClusterState], Arguments] = _read_as_they_are


def _state(core: Core) -> Any:
    return core.state


def _devices(core: Core) -> Any:
    return core.state.devices


def _storage(core: Core) -> Any:
    return core.state.storage


def _write_pod(arguments: Arguments, writer: PodWriter) -> Arguments:
    (pod,) = arguments
    return (slim(pod) if isinstance(pod, Pod) else writer.pod(pod),)


def _write_group(arguments: Arguments, _: PodWriter) -> Arguments:
    (group,) = arguments
    return (slim(group) if isinstance(group, PodGroup) else group_object(group),)


def _slim_first(arguments: Arguments, _: PodWriter) -> Arguments:
    return (slim(arguments[0]), *arguments[1:])


def _read_node(arguments: Arguments, state: ClusterState) -> Arguments:
    return (state.slim_node(arguments[0]),)


def _write_capacity(arguments: Arguments, _: PodWriter) -> Arguments:
    key, record, storage_class = arguments
    return (key, capacity_object(record) if record is not None else None, storage_class)


def _read_capacity(arguments: Arguments, _: ClusterState) -> Arguments:
    key, found, storage_class = arguments
    record: CapacityRecord | None = capacity_record(found) if found is not None else None
    return (key, record, storage_class)


def _write_given(arguments: Arguments, _: PodWriter) -> Arguments:
    volumes, nodes = arguments
    return (tuple(volumes.items()), tuple(nodes.items()))


def _read_given(arguments: Arguments, _: ClusterState) -> Arguments:
    volumes, nodes = arguments
    return (dict(volumes), dict(nodes))


def _write_claims(arguments: Arguments, _: PodWriter) -> Arguments:
    return (tuple(arguments[0]),)


def _write_drivers(arguments: Arguments, _: PodWriter) -> Arguments:
    name, drivers, limits = arguments
    return (name, tuple(sorted(drivers)), dict(limits))


def _read_drivers(arguments: Arguments, _: ClusterState) -> Arguments:
    name, drivers, limits = arguments
    return (name, frozenset(drivers), limits)


def _write_reservation(arguments: Arguments, writer: PodWriter) -> Arguments:
    reservation: Reservation = arguments[0]
    return (writer.reservation(reservation),)


def _read_reservation(arguments: Arguments, state: ClusterState) -> Arguments:
    return (reservation_of(state, arguments[0]),)


OPERATIONS: Final[Mapping[str, Operation]] = {
    "node": Operation(_state, "upsert_node", tuple[Node], _slim_first, _read_node),
    "node gone": Operation(_state, "remove_node", tuple[str, ...]),
    "namespace": Operation(_state, "upsert_namespace", tuple[str, dict[str, str] | None]),
    "namespace gone": Operation(_state, "remove_namespace", tuple[str]),
    "composite": Operation(lambda core: core.state.composites, "upsert", tuple[CompositePodGroup], _slim_first),
    "composite gone": Operation(lambda core: core.state.composites, "remove", tuple[str, str, str]),
    "group": Operation(_state, "upsert_group", tuple[PodGroup], _write_group),
    "group gone": Operation(_state, "remove_group", tuple[str, str, str]),
    "priority class": Operation(_state, "set_priority_class", tuple[PriorityClass], _slim_first),
    "priority class gone": Operation(_state, "remove_priority_class", tuple[PriorityClass], _slim_first),
    "pod": Operation(_state, "upsert_pod", tuple[Pod], _write_pod),
    "pod gone": Operation(_state, "remove_pod", tuple[str, str, str]),
    "controller": Operation(_state, "set_controller", tuple[str, str]),
    "assume": Operation(_state, "assume", tuple[str, str, float]),
    "forget": Operation(_state, "forget", tuple[str]),
    "budget": Operation(lambda core: core.state.budgets, "upsert", tuple[Budget], _slim_first),
    "budget gone": Operation(lambda core: core.state.budgets, "remove", tuple[Budget], _slim_first),
    "service": Operation(
        lambda core: core.state.default_spreads, "set_service", tuple[str, str, dict[str, str] | None]
    ),
    "owner": Operation(lambda core: core.state.default_spreads, "set_owner", tuple[str, str, str, RawSelector | None]),
    "claim": Operation(
        _storage,
        "set_claim",
        tuple[ClaimKey, Claim | None],
        written_with(claim_object),
        read_with(lambda found, _: claim_record(found)),
    ),
    "volume": Operation(
        _storage,
        "set_volume",
        tuple[str, Volume | None],
        written_with(volume_object),
        read_with(lambda found, _: volume_record(found)),
    ),
    "storage class": Operation(
        _storage,
        "set_class",
        tuple[str, StorageClass | None],
        written_with(class_object),
        read_with(lambda found, _: class_record(found)),
    ),
    "driver": Operation(_storage, "set_driver", tuple[str, DriverFacts | None]),
    "capacity": Operation(
        _storage, "set_capacity", tuple[ClaimKey, StorageCapacity | None, str], _write_capacity, _read_capacity
    ),
    "give volumes": Operation(
        _storage,
        "give",
        tuple[tuple[tuple[ClaimKey, str], ...], tuple[tuple[ClaimKey, str], ...]],
        _write_given,
        _read_given,
    ),
    "take volumes back": Operation(_storage, "take_back", tuple[tuple[ClaimKey, ...]], _write_claims),
    "drivers of a node": Operation(
        lambda core: core.state.storage.attachments,
        "set_node",
        tuple[str, tuple[str, ...], dict[str, int]],
        _write_drivers,
        _read_drivers,
    ),
    "attachment": Operation(lambda core: core.state.storage.attachments, "attached", tuple[str, str, str | None]),
    "device class": Operation(
        _devices, "set_class", tuple[str, DeviceClass | None], write_device_class, read_device_class
    ),
    "resource slice": Operation(_devices, "set_slice", tuple[str, ResourceSlice | None], write_slice, read_slice),
    "resource claim": Operation(
        _devices, "set_claim", tuple[ClaimKey, ResourceClaim | None], write_device_claim, read_device_claim
    ),
    "claim template": Operation(
        _devices,
        "set_template",
        tuple[ClaimKey, ResourceClaimTemplate | None],
        write_claim_template,
        read_claim_template,
    ),
    "device taint rule": Operation(_devices, "set_rule", tuple[str, DeviceTaintRule | None], written_with(slim)),
    "assume claims": Operation(_devices, "assume", tuple[tuple[ResourceClaim, ...]], write_assumed, read_assumed),
    "take claims back": Operation(_devices, "take_back", tuple[tuple[ClaimKey, ...]], _write_claims),
    "give a claim back": Operation(_devices, "begin_release", tuple[ClaimKey]),
    "claim given back": Operation(_devices, "end_release", tuple[ClaimKey, str]),
    "nomination withdrawn": Operation(lambda core: core.state.nominator, "withdraw", tuple[EntityKey]),
    "reserve": Operation(
        lambda core: core.state.reservations, "put", tuple[ReservationState], _write_reservation, _read_reservation
    ),
    "reserve no more": Operation(lambda core: core.state.reservations, "drop", tuple[EntityKey]),
    "keep for later": Operation(
        lambda core: core.state.future_reservations,
        "put",
        tuple[ReservationState],
        _write_reservation,
        _read_reservation,
    ),
    "keep no more": Operation(lambda core: core.state.future_reservations, "drop", tuple[EntityKey]),
    "unresolvable": Operation(lambda core: core.evaluator, "unresolvable", tuple[EntityKey]),
    "started": Operation(lambda core: core.evaluator, "started", tuple[EntityKey]),
    "item gone": Operation(lambda core: core.evaluator, "gone", tuple[EntityKey]),
}
"""Everything that changes what decisions read, by the name it has in files."""

_DECODERS: Final = {name: msgspec.json.Decoder(operation.types) for name, operation in OPERATIONS.items()}


def write_change(name: str, arguments: Sequence[Any], writer: PodWriter) -> Changed:
    """The call of an operation as a value."""
    values = OPERATIONS[name].write(tuple(arguments), writer)
    return Changed(name, msgspec.Raw(msgspec.json.encode(values)))


def carry_out(change: Changed, core: Core) -> None:
    """Calls the operation again.

    Raises:
        KeyError: there is none of that name.
        msgspec.ValidationError: the arguments are none of its.
    """
    operation = OPERATIONS[change.operation]
    arguments = operation.read(_DECODERS[change.operation].decode(change.arguments), core.state)
    getattr(operation.subject(core), operation.method)(*arguments)
