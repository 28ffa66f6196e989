"""Which devices are held: in the cluster, and on top of that by what has been decided in this attempt."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from scheduler.cache.devices.records import NO_AMOUNTS, Amounts, DeviceId, HeldDevice


class HeldDevices:
    """Devices that somebody has; `below` is what is held anyway and does not change meanwhile."""

    def __init__(self, held: Iterable[HeldDevice] = (), below: "HeldDevices | None" = None) -> None:
        self._below: Final = below
        self._whole: dict[DeviceId, int] = {}
        self._shares: dict[DeviceId, int] = {}
        self._consumed: dict[DeviceId, dict[str, int]] = {}
        self.add(held)

    def add(self, held: Iterable[HeldDevice]) -> None:
        """These are held from now on."""
        for one in held:
            if one.share_id or one.consumed:
                self._shares[one.id] = self._shares.get(one.id, 0) + 1
                _sum(self._consumed.setdefault(one.id, {}), one.consumed, 1)
            else:
                self._whole[one.id] = self._whole.get(one.id, 0) + 1

    def remove(self, held: Iterable[HeldDevice]) -> None:
        """These were added, and are held no more."""
        for one in held:
            if one.share_id or one.consumed:
                self._shares[one.id] -= 1
                _sum(self._consumed[one.id], one.consumed, -1)
                if not self._shares[one.id]:
                    del self._shares[one.id], self._consumed[one.id]
            else:
                self._whole[one.id] -= 1
                if not self._whole[one.id]:
                    del self._whole[one.id]

    def __contains__(self, device: DeviceId) -> bool:
        """Whether somebody has all of the device."""
        return device in self._whole or (self._below is not None and device in self._below)

    def __iter__(self) -> Iterator[DeviceId]:
        """Those that are held here whole; without those below."""
        return iter(self._whole)

    def is_shared(self, device: DeviceId) -> bool:
        """Whether somebody has a share of the device."""
        return device in self._shares or (self._below is not None and self._below.is_shared(device))

    def is_used(self, device: DeviceId) -> bool:
        """Whether somebody has the device or a share of it."""
        return device in self or self.is_shared(device)

    def consumed(self, device: DeviceId) -> Amounts:
        """What all shares of a device take of its capacities."""
        mine = self._consumed.get(device, NO_AMOUNTS)
        if self._below is None:
            return mine
        theirs = self._below.consumed(device)
        if not mine or not theirs:
            return mine or theirs
        found = dict(theirs)
        _sum(found, mine, 1)
        return found

    def times(self, device: DeviceId) -> int:
        """How often all of the device is held; more than once only while two are to have it one after the other."""
        mine = self._whole.get(device, 0)
        return mine if self._below is None else mine + self._below.times(device)

    def shares(self, device: DeviceId) -> int:
        """How many have a share of the device."""
        mine = self._shares.get(device, 0)
        return mine if self._below is None else mine + self._below.shares(device)

    def __len__(self) -> int:
        """Devices held here whole, and shares; without those below."""
        return len(self._whole) + sum(self._shares.values())


class HeldWithout(HeldDevices):
    """What is held `below` once some of it has been released; nothing is added to it."""

    def __init__(self, below: HeldDevices, released: Iterable[HeldDevice]) -> None:
        super().__init__()
        self._all: Final = below
        self._released: Final = HeldDevices(released)
        self._free: Final = frozenset(device for device in self._released if not self.times(device))

    def __contains__(self, device: DeviceId) -> bool:
        return device not in self._free and device in self._all

    def is_shared(self, device: DeviceId) -> bool:
        """Whether somebody still has a share of the device."""
        return self._all.is_shared(device) and self.shares(device) > 0

    def consumed(self, device: DeviceId) -> Amounts:
        """What is left of what all shares take."""
        taken, given_back = self._all.consumed(device), self._released.consumed(device)
        if not given_back:
            return taken
        left = dict(taken)
        _sum(left, given_back, -1)
        return left

    def times(self, device: DeviceId) -> int:
        """How often all of the device is still held."""
        return self._all.times(device) - self._released.times(device)

    def shares(self, device: DeviceId) -> int:
        """How many still have a share of the device."""
        return self._all.shares(device) - self._released.shares(device)


def _sum(into: dict[str, int], amounts: Mapping[str, int], sign: int) -> None:
    for name, amount in amounts.items():
        into[name] = into.get(name, 0) + sign * amount
