"""What devices of a claim must have in common, or in which they must differ."""

from collections.abc import Sequence
from typing import Final

from api.devices import DeviceAttribute, DeviceConstraint
from scheduler.cache.devices.records import DeviceRecord

Value = tuple[str, object]
"""The value of an attribute with its type: values of different types are different."""


def attribute_value(device: DeviceRecord, name: str) -> Value | None:
    """The value of an attribute of a device by its qualified name; None when it lacks it, or has a list there."""
    attributes = device.device.attributes or {}
    found = attributes.get(name)
    if found is None:
        domain, _, identifier = name.partition("/")
        found = attributes.get(identifier) if domain == device.id.driver else None
    return None if found is None else _plain(found)


def _plain(attribute: DeviceAttribute) -> Value | None:
    if attribute.string is not None:
        return ("string", attribute.string)
    if attribute.int_value is not None:
        return ("int", attribute.int_value)
    if attribute.bool_value is not None:
        return ("bool", attribute.bool_value)
    return None if attribute.version is None else ("version", attribute.version)


class Constraint:
    """One constraint of a claim with the devices that have been chosen so far; a stack."""

    __slots__ = ("_attribute", "_must_match", "_requests", "_values")

    def __init__(self, constraint: DeviceConstraint) -> None:
        self._must_match: Final = constraint.match_attribute is not None
        self._attribute: Final = constraint.match_attribute or constraint.distinct_attribute or ""
        self._requests: Final = frozenset(constraint.requests or ())
        self._values: list[Value] = []

    def concerns(self, names: Sequence[str]) -> bool:
        """Whether it is about a request with these names: its own, and for an alternative `request/alternative` too."""
        return not self._requests or not self._requests.isdisjoint(names)

    def add(self, device: DeviceRecord) -> bool:
        """Takes a device in; False when that would break the constraint, then nothing has changed."""
        value = attribute_value(device, self._attribute)
        if value is None:
            return False
        if self._must_match:
            if self._values and self._values[0] != value:
                return False
        elif value in self._values:
            return False
        self._values.append(value)
        return True

    def remove(self) -> None:
        """The device that came last goes again."""
        self._values.pop()
