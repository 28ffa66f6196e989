"""Kinds whose fields are known: unknown ones are told of and dropped.

That the values of known fields have the right types has been checked before (`wiretypes`).
"""

from collections.abc import Mapping
from typing import Any, Final

from localcluster.apiserver.kinds.kind import Object
from localcluster.apiserver.kinds.names import NameCheck, subdomain_problems
from localcluster.apiserver.kinds.plain import PlainStrategy
from localcluster.apiserver.protobuf.messages import MESSAGES, Field, Shape, flat_fields

_GATED: Final[Mapping[str, frozenset[str]]] = {
    "batch.v1.JobSpec": frozenset({"scheduling"}),
    "coordination.v1.LeaseSpec": frozenset({"preferredHolder", "strategy"}),
    "core.v1.PersistentVolumeClaimStatus": frozenset({"healthStatus"}),
    "core.v1.PodSpec": frozenset({"evictionResponders", "schedulingGroup"}),
    "core.v1.PodStatus": frozenset({"nodeAllocatableResourceClaimStatuses"}),
    "resource.v1.Device": frozenset({"nodeAllocatableResources"}),
    "resource.v1.DeviceAttribute": frozenset({"bools", "ints", "strings", "versions"}),
    "resource.v1.DeviceCounterConsumption": frozenset({"compatibilityGroups"}),
    "resource.v1.DeviceRequestAllocationResult": frozenset({"skipNodeOperations"}),
    "resource.v1.DeviceSubRequest": frozenset({"derivedAttributes"}),
    "resource.v1.ExactDeviceRequest": frozenset({"derivedAttributes"}),
    "resource.v1.ResourceSliceSpec": frozenset({"partitionTypeAttribute", "skipNodeOperations"}),
    "storage.v1.CSINode": frozenset({"status"}),
}
"""Fields behind feature gates that are off: dropped without a word."""

_MESSAGES: Final = {name.rpartition(".")[2]: name for name in MESSAGES if not name.startswith("events.")}
_OF_EVERY_KIND: Final = frozenset({"apiVersion", "kind"})
_TEMPLATES: Final = frozenset(
    {"JobTemplateSpec", "PersistentVolumeClaimTemplate", "PodTemplateSpec", "ResourceClaimTemplateSpec"}
)
"""They have metadata, as kinds do, and are none."""


def drop_unknown(message: str, obj: Object, path: str, complaints: list[str]) -> None:
    """Drop the fields that this message does not have, at any depth; a complaint about each is appended."""
    fields, gated = flat_fields(message), _GATED.get(message, frozenset())
    is_kind = "metadata" in fields and message.rpartition(".")[2] not in _TEMPLATES
    for key in tuple(obj):
        field = fields.get(key)
        if key in gated:
            del obj[key]
        elif field is not None:
            _look_into(field, obj[key], path + key, complaints)
        elif not (is_kind and key in _OF_EVERY_KIND):
            del obj[key]
            complaints.append(f'unknown field "{path}{key}"')


def _look_into(field: Field, value: Any, path: str, complaints: list[str]) -> None:
    if field.type not in MESSAGES:
        return
    if field.shape is Shape.LIST:
        for number, item in enumerate(value):
            drop_unknown(field.type, item, f"{path}[{number}].", complaints)
    elif field.shape is Shape.MAP:
        for key, item in value.items():
            drop_unknown(field.type, item, f"{path}.{key}.", complaints)
    else:
        drop_unknown(field.type, value, f"{path}.", complaints)


class TypedStrategy(PlainStrategy):
    """A kind with known fields."""

    def __init__(
        self,
        type_name: str,
        *,
        has_status: bool = False,
        counts_generations: bool = False,
        name_check: NameCheck = subdomain_problems,
    ) -> None:
        super().__init__(has_status=has_status, counts_generations=counts_generations, name_check=name_check)
        self.type_name = type_name

    def decode(self, obj: Object) -> list[str]:
        """Drop unknown fields; the complaints about them."""
        complaints: list[str] = []
        drop_unknown(_MESSAGES[self.type_name], obj, "", complaints)
        return complaints


def plain_strategy(type_name: str, **settings: Any) -> PlainStrategy:
    """The rules of a kind without rules of its own: its fields are checked if they are known."""
    return TypedStrategy(type_name, **settings) if type_name in _MESSAGES else PlainStrategy(**settings)
