"""The devices as one item may count on them: less those that are kept for others, with those that are about to be released.

Most items see the devices as they are, and share the counts that are kept of these. Where something differs, only the nodes that
it matters to are counted anew.
"""

from collections.abc import Hashable, Iterable
from typing import Final

from scheduler.algorithm.devices.counts import AskedClaims
from scheduler.algorithm.devices.table import ClaimCounts, DeviceTable
from scheduler.cache.cluster import ClusterState
from scheduler.cache.devices.held import HeldDevices, HeldWithout
from scheduler.cache.devices.records import HeldDevice
from scheduler.cache.records import EntityKey


class DeviceView:
    """What is held as one item sees it, and what each node has left then.

    Args:
        state: the cluster.
        kept: what nobody has yet and others are to have.
        released: what will be free when somebody has left.

    Attributes:
        held: all that the item cannot have.
    """

    def __init__(
        self, state: ClusterState, kept: tuple[HeldDevice, ...] = (), released: tuple[HeldDevice, ...] = ()
    ) -> None:
        self.table: Final = state.derived(DeviceTable)
        self.held: Final = _held(state.devices.held, kept, released)
        self._state: Final = state
        self._kept: Final = kept
        self._changed: Final = _slots_with(state, (*kept, *released))
        self._counts: dict[Hashable, ClaimCounts] = {}

    def releasing(self, released: Iterable[HeldDevice]) -> "DeviceView":
        """The same once these are free, too; to be asked of a view that releases nothing."""
        return DeviceView(self._state, self._kept, tuple(released))

    def counts(self, key: Hashable, asked: AskedClaims) -> ClaimCounts:
        """The counts for claims of one kind; `key` tells kinds apart."""
        found = self._counts.get(key)
        if found is None:
            found = self._counts[key] = self._count(key, asked)
        return found

    def _count(self, key: Hashable, asked: AskedClaims) -> ClaimCounts:
        base = self.table.counts(key, asked)
        if not self._changed:
            return base
        made = base.copy()
        for slot in sorted(self._changed):
            made.note(slot, self.table.count_on(slot, base, asked, self.held))
        return made


def view_of(state: ClusterState, key: EntityKey, priority: int) -> DeviceView:
    """The devices as an item of that priority sees them in a decision: without those that are kept for others."""
    kept = (*state.nominator.devices_against(key, priority), *state.future_reservations.devices_against(key, priority))
    return DeviceView(state, kept)


def _held(now: HeldDevices, kept: tuple[HeldDevice, ...], released: tuple[HeldDevice, ...]) -> HeldDevices:
    then = HeldWithout(now, released) if released else now
    return HeldDevices(kept, below=then) if kept else then


def _slots_with(state: ClusterState, devices: tuple[HeldDevice, ...]) -> frozenset[int]:
    if not devices:
        return frozenset()
    names = state.devices.nodes_with(devices)
    if names is None:
        return frozenset(state.nodes.live_slots().tolist())
    return frozenset(state.nodes.slot_of[name] for name in names if name in state.nodes.slot_of)
