"""How many pods nodes have devices for once some claims are released, of claims that come down to counting devices.

Who looks for victims asks that for very many sets of claims. Each device that such pods can mean is looked at once; after that a
set of claims is a mask, and the counts are sums.
"""

from collections.abc import Hashable, Sequence
from typing import Final

import numpy as np

from scheduler.algorithm.devices.constraints import attribute_value
from scheduler.algorithm.devices.counts import AskedClaims
from scheduler.algorithm.devices.holders import Holders, Mask
from scheduler.algorithm.devices.table import ClaimCounts, DeviceTable, Meant
from scheduler.cache.devices.held import HeldDevices
from scheduler.cache.devices.records import DeviceRecord
from scheduler.cache.node_columns import Slots
from scheduler.cache.steps import Steps
from scheduler.plugins import dynamic_resources as plugin

_FREE: Final = -1
_TAKEN: Final = -2
"""Instead of the number of the claim that has a device: nobody has it, or somebody who keeps it."""
_A_DEVICE: Final = 500
"""Steps of finding out who has a device."""
_A_SUM: Final = 10
"""Steps of a device whenever claims are released."""


class FreedCounts:
    """The devices that claims of one kind mean, on the nodes where releasing something can matter.

    Args:
        asked: the claims, with one request for devices that are taken whole.
        slots: the nodes.
        meant: node by node the devices that are meant.
        holders: claims that can be released.
        held: what is held as long as none is.
        steps: what may be spent.
    """

    def __init__(
        self,
        asked: AskedClaims,
        slots: Slots,
        meant: Sequence[Sequence[Meant]],
        holders: Holders,
        held: HeldDevices,
        steps: Steps,
    ) -> None:
        request = asked.counted
        self._each: Final = request.count if request is not None else 1
        self._slots: Final = slots
        self._meant: Final = meant
        self._numbers: Final = {slot: number for number, slot in enumerate(slots.tolist())}
        self._steps: Final = steps
        sizes = np.array([len(devices) for devices in meant], dtype=np.intp)
        steps.spend(_A_DEVICE * int(sizes.sum()))
        self._begins: Final[Slots] = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        self._at: Final = np.repeat(np.arange(len(slots), dtype=np.intp), sizes)
        """[device] on which of the nodes it is."""
        self._alike_in: Final = asked.alike_in
        self._holder: Final = np.array(
            [self._holder_of(device, holders, held) for devices in meant for _, device in devices], dtype=np.intp
        )
        """[device] which claim has it."""
        self._kind, self._at_of_kind = self._kinds()

    @staticmethod
    def of(
        table: DeviceTable,
        slots: Slots,
        base: ClaimCounts,
        asked: AskedClaims,
        holders: Holders,
        held: HeldDevices,
        steps: Steps,
    ) -> "FreedCounts | None":
        """The same for these nodes; None where there is more to it: devices that are shared, of several nodes, or in two claims."""
        if asked.counted is None or base.crosses:
            return None
        meant: list[Sequence[Meant]] = []
        for slot in slots.tolist():
            found = table.meant_on(slot, base, asked)
            if found is None or any(not one.node_name or device.id in holders.further for one, device in found):
                return None
            meant.append(found)
        return FreedCounts(asked, slots, meant, holders, held, steps)

    def counts(self, base: ClaimCounts, released: Mask) -> ClaimCounts:
        """The counts once these claims are released; elsewhere they are those of `base`."""
        self._steps.spend(_A_SUM * len(self._holder) + len(base.pods))
        left = self._holder == _FREE
        has_holder = self._holder >= 0
        left[has_holder] = released[self._holder[has_holder]]
        made = _CountsThen(base, self, left)
        of_kind = np.bincount(self._kind[left], minlength=len(self._at_of_kind)) // self._each
        pods = np.zeros(len(self._slots), dtype=np.int64)
        np.add.at(pods, self._at_of_kind, of_kind)
        made.pods[self._slots] = pods
        made.scores[self._slots] = 0
        for slot in self._slots[pods > 0].tolist() if made.refusals else ():
            made.refusals.pop(slot, None)
        for slot in self._slots[pods == 0].tolist():
            made.refusals.setdefault(slot, plugin.REASON)
        return made

    def devices_on(self, slot: int, left: Mask) -> Sequence[Meant] | None:
        """Those of a node that are free, `left` is [device]; None for other nodes than these."""
        number = self._numbers.get(slot)
        if number is None:
            return None
        here = left[self._begins[number] : self._begins[number + 1]]
        return [one for one, is_left in zip(self._meant[number], here.tolist(), strict=True) if is_left]

    # --- inside ------------------------------------------------------------------------------------------------------

    def _holder_of(self, device: DeviceRecord, holders: Holders, held: HeldDevices) -> int:
        if self._alike_in and attribute_value(device, self._alike_in) is None:
            return _TAKEN
        times = held.times(device.id)
        if not times:
            return _FREE
        numbers = holders.holding(device.id)
        return numbers[0] if times == 1 and numbers else _TAKEN

    def _kinds(self) -> tuple[Slots, Slots]:
        """([device] a number that devices share which one claim can have together, [number] on which of the nodes these are)."""
        if not self._alike_in:
            return self._at, np.arange(len(self._slots), dtype=np.intp)
        numbers: dict[tuple[int, Hashable], int] = {}
        devices = (device for found in self._meant for _, device in found)
        kinds = [
            numbers.setdefault((at, attribute_value(device, self._alike_in)), len(numbers))
            for at, device in zip(self._at.tolist(), devices, strict=True)
        ]
        return np.array(kinds, dtype=np.intp), np.array([at for at, _ in numbers], dtype=np.intp)


class _CountsThen(ClaimCounts):
    """Counts of which the devices themselves are listed for those nodes only that are asked about.

    Args:
        base: the counts without releasing anything; copied.
        freed: the devices.
        left: [device] whether it is free then.
    """

    __slots__ = ("_freed", "_left")

    def __init__(self, base: ClaimCounts, freed: FreedCounts, left: Mask) -> None:
        super().__init__(base.asked, base.eligible)
        self.pods, self.scores = base.pods.copy(), base.scores.copy()
        self.refusals, self.free = dict(base.refusals), base.free
        self._freed: Final = freed
        self._left: Final = left

    def free_on(self, slot: int) -> Sequence[Meant] | None:
        """As of any counts."""
        return self.free.get(slot) if self.asked.alike_in else self.left_on(slot)

    def left_on(self, slot: int) -> Sequence[Meant] | None:
        """As of any counts."""
        found = self._freed.devices_on(slot, self._left)
        return self.free.get(slot) if found is None else found
