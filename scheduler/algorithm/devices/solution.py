"""What a search for devices finds."""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from api.devices import DeviceTaint
from scheduler.algorithm.devices.requests import Request
from scheduler.cache.devices.records import Amounts, DeviceRecord, HeldDevice, SliceRecord

HARD_EFFECTS: Final = frozenset({"NoSchedule", "NoExecute"})

Taints = Callable[[DeviceRecord], Sequence[DeviceTaint]]


def taints_of_slice(device: DeviceRecord) -> Sequence[DeviceTaint]:
    """The taints that a device has in its slice."""
    return device.taints


class Chosen(msgspec.Struct, frozen=True, eq=False, gc=False):
    """A device for a request; `consumed` is what a share takes of each capacity, None when the device is taken whole."""

    request: Request
    device: DeviceRecord
    slice: SliceRecord
    consumed: Amounts | None = None

    @property
    def held(self) -> HeldDevice:
        """What nobody else can have any more, unless this is access of an administrator."""
        if self.consumed is None:
            return HeldDevice(self.device.id)
        return HeldDevice(self.device.id, self.request.name, self.consumed)


class Solution(msgspec.Struct, frozen=True, eq=False, gc=False):
    """Devices for all claims, in the order of the claims; `alternatives` says which one of each request was taken."""

    devices: tuple[tuple[Chosen, ...], ...]
    alternatives: tuple[tuple[int, ...], ...]
