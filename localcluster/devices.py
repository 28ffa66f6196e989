"""The devices of hollow nodes: read from the command line's short form, told as classes and slices. Pure.

A device does nothing. A kind of devices called NAME is the DeviceClass NAME, of the driver NAME.hollow.tutti.scheduler; each node
is a pool of its own with one slice.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from api.errors import ConfigurationError

DRIVER_DOMAIN: Final = "hollow.tutti.scheduler"
MAX_DEVICES: Final = 128
"""As many as a slice may have."""
MAX_NAME_LENGTH: Final = 63 - len(DRIVER_DOMAIN) - 1
NUMA_NODES: Final = 2
GROUP: Final = "resource.k8s.io/v1"
_is_name: Final = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?").fullmatch

Manifest = dict[str, Any]
Devices = Mapping[str, int]
"""How many of each kind a node has."""


def parse_devices(text: str) -> dict[str, int]:
    """`gpu=8,nic=2` as a mapping; nothing for an empty text.

    Raises:
        ConfigurationError: a part is no `name=count`, or a name or a count is not possible.
    """
    devices: dict[str, int] = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        name, found, count = part.partition("=")
        if not found or not count.isascii() or not count.isdecimal():
            raise ConfigurationError(f"--devices: {part!r} is not of the form name=count, such as gpu=8")
        if not _is_name(name) or len(name) > MAX_NAME_LENGTH:
            raise ConfigurationError(
                f"--devices: {name!r} is no name: lower-case letters, digits and hyphens, a letter first, "
                f"at most {MAX_NAME_LENGTH} characters"
            )
        if name in devices:
            raise ConfigurationError(f"--devices: {name} is there twice")
        if not 1 <= int(count) <= MAX_DEVICES:
            raise ConfigurationError(f"--devices: {name}: a node has 1 to {MAX_DEVICES} devices of a kind, not {count}")
        devices[name] = int(count)
    return devices


def driver_of(name: str) -> str:
    """The driver of a kind of devices."""
    return f"{name}.{DRIVER_DOMAIN}"


def class_manifest(name: str) -> Manifest:
    """The class of all devices of a kind."""
    expression = f'device.driver == "{driver_of(name)}"'
    spec = {"selectors": [{"cel": {"expression": expression}}]}
    return {"apiVersion": GROUP, "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}


def slice_manifest(name: str, count: int, node: str, node_uid: str) -> Manifest:
    """What a node offers of a kind; it goes with the node."""
    owner = {"apiVersion": "v1", "kind": "Node", "name": node, "uid": node_uid, "controller": True}
    return {
        "apiVersion": GROUP,
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node}-{name}", "ownerReferences": [owner]},
        "spec": {
            "driver": driver_of(name),
            "nodeName": node,
            "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
            "devices": [_device(name, index, count) for index in range(count)],
        },
    }


def _device(name: str, index: int, count: int) -> Manifest:
    """A device that knows its number and on which half of the node it is."""
    numa = index * NUMA_NODES // count
    return {"name": f"{name}-{index}", "attributes": {"index": {"int": index}, "numa": {"int": numa}}}
