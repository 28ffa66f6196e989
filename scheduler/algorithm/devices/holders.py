"""Claims by number with what each of them holds: "if these were released" is a question to arrays, however many there are."""

from collections.abc import Sequence
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.cache.cluster import ClusterState
from scheduler.cache.devices.held import HeldDevices
from scheduler.cache.devices.records import NO_AMOUNTS, Amounts, ClaimRecord, DeviceId, HeldDevice, PoolId
from scheduler.cache.node_columns import Slots

Mask = NDArray[np.bool_]
FAR: Final = -1
"""Several nodes reach its devices."""
NOWHERE: Final = -2
"""No node that is known does."""


class Holders:
    """Claims with devices; numbers count from 0 in the order of `claims`."""

    def __init__(self, state: ClusterState, claims: Sequence[ClaimRecord]) -> None:
        self.claims: Final = claims
        self._state: Final = state

    @cached_property
    def slots(self) -> Slots:
        """[claim] the only node to which its devices matter, or FAR, or NOWHERE."""
        near: dict[PoolId, int] = {}
        slots = np.full(len(self.claims), NOWHERE, dtype=np.intp)
        for number, claim in enumerate(self.claims):
            for one in claim.held:
                pool = one.id.pool_id
                slot = near.get(pool)
                if slot is None:
                    slot = near[pool] = self._slot_of(one)
                if slots[number] == NOWHERE:
                    slots[number] = slot
                elif slot not in (NOWHERE, slots[number]):
                    slots[number] = FAR
        return slots

    def holding(self, device: DeviceId) -> tuple[int, ...]:
        """Numbers of the claims that have a device or a share of it."""
        first = self._first.get(device)
        if first is None:
            return ()
        return (first, *self.further.get(device, ()))

    @cached_property
    def _first(self) -> dict[DeviceId, int]:
        return {one.id: number for number in range(len(self.claims) - 1, -1, -1) for one in self.claims[number].held}

    @cached_property
    def further(self) -> dict[DeviceId, set[int]]:
        """The other claims that have a device, of devices that more than one has: few, most of them shared."""
        found: dict[DeviceId, set[int]] = {}
        for number, claim in enumerate(self.claims):
            for one in claim.held:
                if self._first[one.id] != number:
                    found.setdefault(one.id, set()).add(number)
        return found

    def of(self, released: Mask) -> list[HeldDevice]:
        """What these claims hold."""
        return [held for number in np.flatnonzero(released).tolist() for held in self.claims[number].held]

    def _slot_of(self, held: HeldDevice) -> int:
        names = self._state.devices.nodes_with((held,))
        if names is None:
            return FAR
        slots = [self._state.nodes.slot_of[name] for name in names if name in self._state.nodes.slot_of]
        return slots[0] if slots else NOWHERE


class HeldAfter(HeldDevices):
    """What is held `below` once the claims of a mask have been released; nothing is added to it."""

    def __init__(self, below: HeldDevices, holders: Holders, released: Mask) -> None:
        super().__init__()
        self._all: Final = below
        self._holders: Final = holders
        self._mask: Final = released

    def __contains__(self, device: DeviceId) -> bool:
        return device in self._all and self.times(device) > 0

    def is_shared(self, device: DeviceId) -> bool:
        """Whether somebody still has a share of the device."""
        return self._all.is_shared(device) and self.shares(device) > 0

    def consumed(self, device: DeviceId) -> Amounts:
        """What is left of what all shares take."""
        given_back = HeldDevices(self._released(device)).consumed(device)
        taken = self._all.consumed(device)
        return (
            {name: taken.get(name, 0) - given_back.get(name, 0) for name in taken}
            if given_back
            else taken or NO_AMOUNTS
        )

    def times(self, device: DeviceId) -> int:
        """How often all of the device is still held."""
        return self._all.times(device) - HeldDevices(self._released(device)).times(device)

    def shares(self, device: DeviceId) -> int:
        """How many still have a share of the device."""
        return self._all.shares(device) - HeldDevices(self._released(device)).shares(device)

    def _released(self, device: DeviceId) -> list[HeldDevice]:
        numbers = [number for number in self._holders.holding(device) if self._mask[number]]
        return [one for number in numbers for one in self._holders.claims[number].held if one.id == device]
