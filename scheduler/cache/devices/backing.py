"""Which device class stands for which extended resource."""

from collections.abc import Iterable

from api.constants import DEVICE_CLASS_PREFIX
from scheduler.cache.devices.records import ClassRecord


def backing(classes: Iterable[ClassRecord]) -> dict[str, str]:
    """The name of the class by that of the resource; of classes that name the same one the newest, then the first by name."""
    found: dict[str, str] = {}
    by_name = sorted(classes, key=lambda one: one.name, reverse=True)
    for one in sorted(by_name, key=lambda one: one.metadata.creation_timestamp or ""):
        if one.extended_resource:
            found[one.extended_resource] = one.name
        found[DEVICE_CLASS_PREFIX + one.name] = one.name
    return found
