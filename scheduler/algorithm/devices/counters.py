"""Counters that devices of one pool share: what devices held already take of them, and those that are being chosen."""

from typing import Final

from scheduler.algorithm.devices.pools import Pool
from scheduler.cache.devices.held import HeldDevices
from scheduler.cache.devices.records import DeviceRecord


class PoolCounters:
    """What is left of the counters of a pool, also for devices on other nodes; less than nothing is nothing."""

    __slots__ = ("_left",)

    def __init__(self, pool: Pool, held: HeldDevices) -> None:
        self._left: Final = {
            (name, counter): amount for name, amounts in pool.counters.items() for counter, amount in amounts.items()
        }
        for one in (*pool.slices, *pool.others):
            for device in one.devices:
                if device.counters and held.is_used(device.id):
                    self.give_back(device, -1)

    def take(self, device: DeviceRecord) -> bool:
        """Takes what a device needs; False when that is not left, then nothing has changed."""
        if any(self._left.get(name, 0) < amount for name, amount in device.counters.items()):
            return False
        self.give_back(device, -1)
        return True

    def give_back(self, device: DeviceRecord, sign: int = 1) -> None:
        """What the device took is there again."""
        for name, amount in device.counters.items():
            self._left[name] = self._left.get(name, 0) + sign * amount
